//! What a browser answered, as a model and a program get it.

use serde_json::{Value, json};
use tools::{Image, Output};

use crate::fake::{Abilities, Stage};

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

#[tokio::test]
async fn a_file_is_passed_on_unless_it_is_large() {
    let file = |length: usize| {
        let data = "A".repeat(length);
        json!({"file": {"mimeType": "application/pdf", "data": data}})
    };
    let small = content("pdf", file(100_000)).await;
    assert!(small.text.starts_with("pdf, application/pdf, 74 KB"), "{}", small.text);
    assert_eq!(small.structured["file"]["data"].as_str().unwrap().len(), 100_000);
    let large = content("pdf", file(4_000_000)).await;
    assert!(large.text.contains("2.9 MB: left out"), "{}", large.text);
    assert_eq!(large.structured["file"]["data"], Value::Null);
    assert_eq!(large.structured["file"]["truncated"], true);
}

#[tokio::test]
async fn a_long_answer_is_cut_and_says_so() {
    let text = "ü".repeat(30_000);
    let output = content("get", json!(text)).await;
    assert!(output.text.starts_with("üü") && output.text.chars().count() < 24_200);
    let remark = "… 6000 of 30000 characters are left out; ask for less with `selector` or";
    assert!(output.text.contains(remark), "{}", &output.text[47_900..]);
    assert_eq!(output.structured, json!({"truncated": true, "leftOut": 6000}));
    let whole = "ü".repeat(24_000);
    let output = content("get", json!(whole)).await;
    assert_eq!((output.text.as_str(), &output.structured), (whole.as_str(), &json!(whole)));
}

#[tokio::test]
async fn other_answers_are_compact_json_or_plain_words() {
    let output = content("get", json!({"content": "a\nb", "url": "https://a.example/"})).await;
    assert_eq!(output.text, "{\"url\":\"https://a.example/\"}\na\nb");
    assert_eq!(output.structured["content"], "a\nb");
    assert_eq!(content("get", json!("plain\nwords")).await.text, "plain\nwords");
    assert_eq!(content("get", Value::Null).await.text, "get is done");
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
