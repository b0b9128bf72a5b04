//! Pictures with references on what can be acted on, and pictures that are sent only when changed.

use serde_json::{Value, json};

use crate::{
    pictures::take,
    stage::{Stage, reference_in},
};

#[tokio::test]
async fn labels_are_drawn_into_the_picture_and_not_into_the_page() {
    let stage = &Stage::at("/filling.html").await;
    let client = &stage.client;
    let shown = client.snapshot().await;
    let before = client.evaluate("document.documentElement.outerHTML.length").await;
    for format in ["png", "jpeg", "webp"] {
        let plain = take(client, json!({"format": format})).await;
        let labelled = take(client, json!({"format": format, "labels": true})).await;
        assert_eq!(plain.size, labelled.size);
        assert_ne!(plain.bytes, labelled.bytes, "{format}: something is drawn");
        assert_eq!(plain.told["version"], labelled.told["version"], "the sight is the same");
        assert!(plain.told.get("labels").is_none(), "{}", plain.told);
        let drawn = labelled.told["labels"].as_u64().unwrap();
        assert!((15..=200).contains(&drawn), "{}", labelled.told);
        assert!(labelled.told["labelsLeftOut"].is_u64(), "{}", labelled.told);
    }
    assert_eq!(client.evaluate("document.documentElement.outerHTML.length").await, before);
    let after = client.snapshot().await;
    for name in ["First name", "Send"] {
        assert_eq!(reference_in(&shown, name), reference_in(&after, name), "references stay");
    }
}

#[tokio::test]
async fn labelled_pictures_are_as_small_as_wanted_and_of_what_is_in_them() {
    let stage = &Stage::at("/filling.html").await;
    let client = &stage.client;
    let full = take(client, json!({"labels": true, "fullPage": true})).await;
    let view = take(client, json!({"labels": true})).await;
    assert!(full.told["labels"].as_u64() > view.told["labels"].as_u64(), "{}", full.told);
    let button = take(client, json!({"labels": true, "selector": "#send"})).await;
    assert_eq!(button.told["labels"], 1, "{}", button.told);
    let small = take(client, json!({"labels": true, "maxBytes": 12_000, "fullPage": true})).await;
    assert!(
        small.bytes.len() <= 12_000 && small.told["scale"].as_f64() < Some(1.0),
        "{}",
        small.told
    );
    client.evaluate("document.body.innerHTML = '<button>x</button>'.repeat(1000)").await;
    let crowded = take(client, json!({"labels": true, "fullPage": true})).await;
    let count = |name: &str| crowded.told[name].as_u64().unwrap();
    assert!(count("labels") <= 200 && count("labels") > 50, "{}", crowded.told);
    assert_eq!(count("labels") + count("labelsLeftOut"), 1000);
    client.evaluate("document.body.innerHTML = '<p>nothing to do here'").await;
    let bare = take(client, json!({"labels": true})).await;
    assert_eq!([&bare.told["labels"], &bare.told["labelsLeftOut"]], [0, 0]);
}

#[tokio::test]
async fn a_picture_is_sent_again_only_when_it_has_changed() {
    let stage = &Stage::at("/filling.html").await;
    let client = &stage.client;
    for (how, colour) in [
        (json!({}), "teal"),
        (json!({"labels": true}), "gold"),
        (json!({"fullPage": true, "format": "png"}), "navy"),
    ] {
        let first = take(client, how.clone()).await;
        let version = first.told["version"].as_str().unwrap().to_owned();
        let mut again = how.clone();
        again["action"] = json!("screenshot");
        again["onlyIfChanged"] = json!(version);
        let result = client.works("browser_content", again.clone()).await;
        assert_eq!(result["structuredContent"], json!({"unchanged": true, "version": version}));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&version), "{text}");
        assert!(!result["content"].as_array().unwrap().iter().any(|it| it["type"] == "image"));
        client.evaluate(&format!("document.body.style.background = '{colour}'")).await;
        let changed = client.works("browser_content", again).await;
        assert_ne!(changed["structuredContent"]["version"], json!(version));
        assert!(changed["content"].as_array().unwrap().iter().any(|it| it["type"] == "image"));
    }
    let text = client.text("browser_content", json!({"action": "screenshot"})).await;
    assert!(text.contains("version"), "{text}");
    let refused = |more: Value| {
        let args = crate::stage::with(json!({"action": "screenshot"}), more);
        client.fails("browser_content", args, "INVALID_ARGUMENT|invalid_argument")
    };
    let said = refused(json!({"onlyIfChanged": "yesterday"})).await;
    assert!(said.contains("onlyIfChanged") && said.contains("leave it out"), "{said}");
    for name in ["labels", "maxBytes", "onlyIfChanged"] {
        let said = refused(json!({ name: [] })).await;
        assert!(said.contains(name), "{said}");
    }
}
