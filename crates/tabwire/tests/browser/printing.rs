//! Pages as paper: as many pages as there are, as large as wanted, with what was wanted on them.

use serde_json::{Value, json};

use crate::{
    pictures::decode,
    stage::{Stage, with},
};

/// A paper as it arrived.
struct Paper {
    bytes: Vec<u8>,
    told: Value,
}

impl Paper {
    /// Width and height of its pages, in points, as it says itself.
    fn size(&self) -> (f64, f64) {
        let text = String::from_utf8_lossy(&self.bytes);
        let (_, rest) = text.split_once("/MediaBox").unwrap();
        let numbers = rest.trim_start().trim_start_matches('[').split(']').next().unwrap();
        let numbers: Vec<f64> = numbers.split_whitespace().map(|it| it.parse().unwrap()).collect();
        (numbers[2], numbers[3])
    }
}

async fn print(stage: &Stage, how: Value) -> Paper {
    let args = with(json!({"action": "pdf"}), how);
    let told = stage.client.call("browser_content", args).await;
    let file = &told["file"];
    assert_eq!(file["mimeType"], "application/pdf", "{told}");
    let uri = file["uri"].as_str().unwrap_or_else(|| panic!("{told}"));
    let read = stage.client.read(uri).await;
    let bytes = decode(read["contents"][0]["blob"].as_str().unwrap_or_else(|| panic!("{read}")));
    assert!(bytes.starts_with(b"%PDF-"), "{told}");
    Paper { bytes, told }
}

#[tokio::test]
async fn a_page_is_printed_as_wanted() {
    let stage = &Stage::at("/paper.html").await;
    let plain = print(stage, json!({})).await;
    stage.site.report("printed").await;
    assert_eq!((&plain.told["pages"], plain.size()), (&json!(3), (612.0, 792.0)));
    let wide = print(stage, json!({"landscape": true})).await;
    assert_eq!(wide.size(), (792.0, 612.0));
    let small = print(stage, json!({"paperWidth": 4, "paperHeight": 5})).await;
    assert_eq!(small.size(), (288.0, 360.0));
    // What does not fit on one page goes on the next.
    let large = print(stage, json!({"scale": 2, "paperWidth": 4, "paperHeight": 5})).await;
    assert!(large.told["pages"].as_u64() > small.told["pages"].as_u64(), "{}", large.told);
    let painted = print(stage, json!({"printBackground": true})).await;
    assert_ne!(painted.bytes.len(), plain.bytes.len(), "the background is on it");
}

#[tokio::test]
async fn one_that_is_too_large_is_refused_with_advice() {
    let stage = &Stage::at("/paper.html").await;
    stage.client.evaluate("addNoise(2200)").await;
    let args = json!({"action": "pdf", "timeoutMs": 60_000});
    let words = stage.client.fails("browser_content", args, "TOO_LARGE").await;
    assert!(words.contains("11 MiB") && words.contains("browser_content get"), "{words}");
}

#[tokio::test]
async fn wrong_arguments_are_named_with_what_is_right() {
    let stage = &Stage::at("/paper.html").await;
    for (more, part) in [
        (json!({"scale": 0}), "from 0.1 to 2"),
        (json!({"scale": 3}), "from 0.1 to 2"),
        (json!({"paperWidth": 0}), "paperWidth"),
        (json!({"paperHeight": 201}), "from 1 to 200"),
        (json!({"landscape": "yes"}), "landscape"),
        (json!({"fullPage": true}), "`fullPage`"),
    ] {
        let args = with(json!({"action": "pdf"}), more);
        let codes = "invalid_argument|INVALID_ARGUMENT";
        let words = stage.client.fails("browser_content", args.clone(), codes).await;
        assert!(words.contains(part), "{args}: {part:?} not in {words}");
    }
}
