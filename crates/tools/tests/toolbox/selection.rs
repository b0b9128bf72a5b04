//! Tools that a hub does not offer.

use model::Code;
use serde_json::json;
use tools::selection::Selection;

use crate::fake::{Stage, spec};

fn only(words: &str) -> Selection {
    let words: Vec<_> = words.split(',').map(str::to_owned).collect();
    Selection::parse(&words).unwrap()
}

#[tokio::test]
async fn what_is_not_selected_is_neither_listed_nor_callable() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let app = stage.app("viewer").await;
    app.offer(&[spec("paint", false)]);
    stage.toolbox.select(only("wait,browser_tab,batch"));
    let names: Vec<_> = stage.toolbox.list().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["batch", "browser_tab", "sleep", "wait_for"]);
    for (name, args) in [
        ("browser_interact", json!({"action": "click", "ref": "e1"})),
        ("browser_click", json!({"ref": "e1"})),
        ("app_state", json!({})),
        ("paint", json!({"color": "red"})),
        ("batch", json!({"steps": [{"tool": "browser_evaluate", "expression": "1"}]})),
    ] {
        let fault = stage.call(name, args).await.unwrap_err();
        assert_eq!(fault.code, Code::UnknownTool, "{name}");
        let words = fault.to_string();
        assert!(words.contains("setting `tools`") && words.contains("batch"), "{words}");
        assert!(stage.toolbox.definition(name).is_none() || name == "batch", "{name}");
    }
    assert_eq!((chrome.calls(), app.calls()), (0, 0));
    stage.call("browser_tab_new", json!({})).await.unwrap();
    stage.toolbox.select(only("apps"));
    stage.call("paint", json!({"color": "red"})).await.unwrap();
    let names: Vec<_> = stage.toolbox.list().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["app_state", "paint"]);
}

#[tokio::test]
async fn another_selection_is_announced() {
    let stage = Stage::start();
    let mut changes = stage.toolbox.changes();
    changes.mark_unchanged();
    stage.toolbox.select(only("wait"));
    changes.changed().await.unwrap();
}
