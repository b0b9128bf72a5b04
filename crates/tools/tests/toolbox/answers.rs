//! What a browser answered, as a model and a program get it.

use serde_json::{Value, json};
use tools::{Image, Link, Output, shelf};

use crate::fake::{Abilities, Stage, spec};

async fn content(action: &str, answer: Value) -> Output {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    for command in ["browser_screenshot", "browser_pdf", "browser_get_content"] {
        chrome.answers(command, Ok(answer.clone()));
    }
    stage.call("browser_content", json!({ "action": action })).await.unwrap()
}

#[tokio::test]
async fn a_picture_stands_apart_and_is_only_described() {
    let data = "A".repeat(16_000);
    let answer = json!({"image": {"mimeType": "image/png", "data": data}, "width": 640});
    let output = content("screenshot", answer).await;
    assert_eq!(output.text, "screenshot, image/png, 12 KB\n{\"width\":640}");
    let about = json!({"mimeType": "image/png", "bytes": 12_000});
    assert_eq!(output.structured, json!({"image": about, "width": 640}));
    assert_eq!(output.images, [Image { mime_type: "image/png".to_owned(), data }]);
    let alone = json!({"image": {"mimeType": "image/jpeg", "data": "QUJD"}});
    assert_eq!(content("screenshot", alone).await.text, "screenshot, image/jpeg, 3 bytes");
}

#[tokio::test]
async fn what_only_claims_to_be_a_picture_is_text() {
    for image in [
        json!({"mimeType": "text/html", "data": "QUJD"}),
        json!({"mimeType": "image/png", "data": "<script>"}),
        json!({"mimeType": "image/png", "data": ""}),
        json!({"mimeType": "image/png\nx", "data": "QUJD"}),
        json!({"mimeType": "image/png"}),
        json!("QUJD"),
    ] {
        let output = content("screenshot", json!({ "image": image })).await;
        assert!(output.images.is_empty(), "{image}");
        assert_eq!(output.structured, json!({ "image": image }));
    }
}

/// What a link leads to, as the one who asked reads it.
fn read(stage: &Stage, link: &Link) -> Vec<u8> {
    let id = link.uri.strip_prefix(shelf::PREFIX).unwrap();
    assert!(stage.toolbox.shelf.read("somebody-else", id).is_err(), "it is not for others");
    let kept = stage.toolbox.shelf.read("local", id).unwrap();
    assert_eq!((kept.name, kept.mime_type), (link.name.clone(), link.mime_type.clone()));
    assert_eq!(link.bytes, kept.content.len());
    kept.content.to_vec()
}

#[tokio::test]
async fn a_file_stands_in_the_answer_unless_it_is_large() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let ask = async |length: usize, name: Option<&str>| {
        let file = json!({"mimeType": "application/pdf", "data": "A".repeat(length), "name": name});
        chrome.answers("browser_pdf", Ok(json!({"file": file, "pages": 3})));
        stage.call("browser_content", json!({"action": "pdf"})).await.unwrap()
    };
    let small = ask(8192, Some("../a b.pdf")).await;
    let words = "pdf, \"a b.pdf\", application/pdf, 6 KB: the bytes are in the structured result";
    assert_eq!(small.text, format!("{words}\n{{\"pages\":3}}"));
    assert_eq!(small.structured["file"]["data"].as_str().unwrap().len(), 8192);
    assert!(small.links.is_empty());
    let large = ask(4_000_000, None).await;
    let link = &large.links[0];
    assert_eq!((link.name.as_str(), link.mime_type.as_str()), ("pdf.pdf", "application/pdf"));
    let words = format!("2.9 MB: read it as the resource {}", link.uri);
    assert!(large.text.contains(&words), "{}", large.text);
    let about = json!({"mimeType": "application/pdf", "bytes": 3_000_000, "uri": link.uri});
    assert_eq!(large.structured, json!({"file": about, "pages": 3}));
    assert_eq!(read(&stage, link), vec![0; 3_000_000]);
    let huge = ask(24_000_000, None).await;
    assert!(huge.text.contains("left out") && huge.text.contains("16.0 MB"), "{}", huge.text);
    assert_eq!(huge.structured["file"]["truncated"], true);
    assert!(huge.links.is_empty());
}

#[tokio::test]
async fn a_large_picture_is_linked_and_not_shown() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let ask = async |length: usize| {
        let image = json!({"mimeType": "image/png", "data": "A".repeat(length)});
        chrome.answers("browser_screenshot", Ok(json!({ "image": image })));
        stage.call("browser_content", json!({"action": "screenshot"})).await.unwrap()
    };
    assert_eq!(ask(666_664).await.images.len(), 1, "just under the limit");
    let large = ask(800_000).await;
    assert!(large.images.is_empty());
    assert!(large.text.contains("more than the 489 KB that are shown"), "{}", large.text);
    assert_eq!(large.structured["image"]["uri"], large.links[0].uri);
    assert_eq!(read(&stage, &large.links[0]).len(), 600_000);
}

#[tokio::test]
async fn a_long_answer_is_cut_and_all_of_it_linked() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let ask = async |answer: Value| {
        chrome.answers("browser_get_content", Ok(answer));
        stage.call("browser_content", json!({"action": "get"})).await.unwrap()
    };
    let text = "ü".repeat(30_000);
    let output = ask(json!(text)).await;
    let link = &output.links[0];
    assert!(output.text.starts_with("üü") && output.text.chars().count() < 24_300);
    let remark = "… 6000 of 30000 characters are left out; ask for less with `selector` or";
    assert!(output.text.contains(remark), "{}", &output.text[47_900..]);
    assert!(output.text.ends_with(&format!("read it all as the resource {}", link.uri)));
    let structured = json!({"truncated": true, "leftOut": 6000, "uri": link.uri});
    assert_eq!(output.structured, structured);
    assert_eq!((link.name.as_str(), link.mime_type.as_str()), ("get.txt", "text/plain"));
    assert_eq!(read(&stage, link), text.as_bytes());
    let tree = json!({"nodes": [text]});
    let output = ask(tree.clone()).await;
    assert_eq!(output.links[0].mime_type, "application/json");
    assert_eq!(read(&stage, &output.links[0]), tree.to_string().as_bytes());
    let whole = "ü".repeat(24_000);
    let output = ask(json!(whole)).await;
    assert_eq!((output.text.as_str(), &output.structured), (whole.as_str(), &json!(whole)));
    assert!(output.links.is_empty());
}

#[tokio::test]
async fn other_answers_are_compact_json_or_plain_words() {
    let output = content("get", json!({"content": "a\nb", "url": "https://a.example/"})).await;
    assert_eq!(output.text, "{\"url\":\"https://a.example/\"}\n  a\n  b");
    assert_eq!(output.structured["content"], "a\nb");
    assert_eq!(content("get", json!("plain\nwords")).await.text, "  plain\n  words");
    assert_eq!(content("get", Value::Null).await.text, "get is done");
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    chrome.answers("browser_evaluate", Ok(Value::Null));
    let output = stage.call("browser_execute", json!({"expression": "null"})).await.unwrap();
    assert_eq!((output.text.as_str(), output.structured), ("null", Value::Null));
}

#[tokio::test]
async fn the_console_is_read_from_events_where_a_browser_tells_them() {
    let stage = Stage::start();
    let abilities = Abilities {
        commands: &["browser_navigate"],
        capabilities: &["console_events"],
        ..Abilities::default()
    };
    let chrome = stage.able("chrome", abilities).await;
    let console = json!({"action": "console"});
    let empty = stage.call("browser_debug", console.clone()).await.unwrap();
    assert_eq!(empty.structured["count"], 0);
    for number in 0..60 {
        chrome.event("console", json!({"level": "log", "message": format!("line {number}")}));
    }
    chrome.event("network", json!({"message": "no console"}));
    chrome.event("console", json!({"level": "warn", "message": "odd", "tabId": 7}));
    let output = stage.call("browser_debug", console).await.unwrap();
    assert!(output.text.starts_with("(11 older ones are not shown)\n[log] line 11\n"));
    assert!(output.text.ends_with("[log] line 59\n[warning] odd"), "{}", output.text);
    assert_eq!(output.structured["logs"].as_array().unwrap().len(), 50);
    let warnings = json!({"action": "console", "level": "warning", "clear": true});
    let output = stage.call("browser_debug", warnings).await.unwrap();
    assert_eq!(output.structured["logs"][0]["message"], "odd");
    assert!(output.text.contains("nothing is cleared"), "{}", output.text);
    let elsewhere = json!({"action": "console", "level": "warning", "tab": 8});
    assert_eq!(stage.call("browser_debug", elsewhere).await.unwrap().structured["count"], 0);
    assert_eq!(chrome.calls(), 0, "nobody was asked");
    let other = stage.browser("other").await;
    let args = json!({"action": "console", "level": "error", "session": "other"});
    stage.call("browser_debug", args).await.unwrap();
    let sent = json!({"level": "error"});
    assert_eq!(other.last(), ("browser_get_console_logs".to_owned(), sent, None));
}

#[tokio::test]
async fn what_an_app_answers_fits_too() {
    let stage = Stage::start();
    let app = stage.app("notes").await;
    app.offer(&[spec("read_notes", true)]);
    let call = async |answer: Value| {
        app.answers("read_notes", Ok(answer));
        stage.call("read_notes", json!({"color": "red"})).await.unwrap()
    };
    let short = call(json!({"notes": ["milk"]})).await;
    assert_eq!((short.text.as_str(), short.links.len()), (r#"{"notes":["milk"]}"#, 0));

    let long = call(json!("x".repeat(30_000))).await;
    assert!(long.text.len() < 24_200, "{} bytes", long.text.len());
    let [link] = &long.links[..] else { panic!("{:?}", long.links) };
    assert!(long.text.contains(&link.uri) && link.bytes == 30_000, "{link:?}");
    assert_eq!(long.structured, json!({"truncated": true, "leftOut": 6000, "uri": link.uri}));

    let data = "A".repeat(800_000);
    let large = call(json!({"image": {"mimeType": "image/png", "data": data}, "of": "all"})).await;
    let [link] = &large.links[..] else { panic!("{:?}", large.links) };
    assert!(large.images.is_empty() && large.text.contains(&link.uri), "{}", large.text);
    assert!(large.text.ends_with(r#"{"of":"all"}"#), "{}", large.text);
    assert_eq!(large.structured["image"]["uri"], link.uri);
}

#[tokio::test]
async fn a_large_state_is_shown_in_part_and_linked() {
    let stage = Stage::start();
    let app = stage.app("notes").await;
    app.push_state(json!({"title": "Notes", "all": "x".repeat(30_000)}));
    let all = stage.call("app_state", json!({})).await.unwrap();
    let [link] = &all.links[..] else { panic!("{:?}", all.links) };
    assert!(all.text.len() < 24_400 && all.text.contains("a part with `path`"), "{}", all.text);
    assert!(all.text.ends_with(" old, version 1)"), "{}", &all.text[24_000..]);
    assert_eq!(all.structured["value"]["uri"], link.uri);
    assert_eq!(
        (&all.structured["source"], &all.structured["version"]),
        (&json!("cache"), &json!(1))
    );
    let part = stage.call("app_state", json!({"path": "/title"})).await.unwrap();
    assert_eq!((&part.structured["value"], part.links.len()), (&json!("Notes"), 0));
}

#[tokio::test]
async fn what_is_written_around_content_counts_too() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    for text in ["x\n".repeat(12_000), "\u{202e}".repeat(20_000)] {
        chrome.answers("browser_evaluate", Ok(json!(text)));
        let run = json!({"expression": "1"});
        let output = stage.call("browser_execute", run).await.unwrap();
        assert!(output.text.chars().count() < 24_300, "{}", output.text.len());
        assert_eq!(read(&stage, &output.links[0]), text.as_bytes(), "the whole is as it was");
        let step = json!({"tool": "browser_execute", "expression": "1"});
        let batch = stage.call("batch", json!({"steps": [step, step]})).await.unwrap();
        assert!(batch.text.chars().count() < 24_600, "{}", batch.text.len());
    }
}
