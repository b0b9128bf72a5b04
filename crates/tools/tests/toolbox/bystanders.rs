//! What a call of an app's tool does not do: look at sessions that have nothing to do with it.

use serde_json::json;

use crate::fake::{Stage, spec};

#[tokio::test]
async fn a_call_looks_at_nobody_but_who_declares_the_tool() {
    let stage = Stage::start();
    let painter = stage.app("painter").await;
    painter.offer(&[spec("paint", false)]);
    painter.push_state(json!({"color": "red"}));
    let mut bystanders = Vec::new();
    for number in 0..20 {
        bystanders.push(stage.app(&format!("bystander-{number}")).await);
    }
    let hub = &stage.toolbox.hub;
    // Browsers hear once of a client that is new.
    stage.call("app_state", json!({"session": "painter"})).await.unwrap();
    let before = hub.scans();
    // What MCP asks before it lets a call through.
    assert_eq!(stage.toolbox.definition("paint").unwrap().name, "paint");
    stage.call("paint", json!({"color": "red", "session": "painter"})).await.unwrap();
    stage.call("paint", json!({"color": "red"})).await.unwrap();
    stage.call("app_state", json!({"session": "painter"})).await.unwrap();
    assert_eq!(hub.scans(), before, "all sessions were looked through");
    stage.toolbox.list();
    assert!(hub.scans() > before, "the list is of everybody");
}

#[tokio::test]
async fn a_tool_is_found_as_long_as_its_app_declares_it() {
    let stage = Stage::start();
    let (first, second) = (stage.app("first").await, stage.app("second").await);
    first.offer(&[spec("paint", false), spec("erase", false)]);
    second.offer(&[spec("paint", false)]);
    let ambiguous = stage.call("paint", json!({})).await.unwrap_err();
    assert!(ambiguous.to_string().contains("first"), "{ambiguous}");
    first.offer(&[spec("erase", false)]);
    stage.call("paint", json!({"color": "red"})).await.unwrap();
    assert_eq!(second.calls(), 1);
    second.offer(&[]);
    assert!(stage.toolbox.definition("paint").is_none());
    let hub = &stage.toolbox.hub;
    let session = hub.find("first").unwrap();
    drop(first);
    assert!(stage.toolbox.definition("erase").is_some(), "away, and still kept");
    assert!(hub.forget(&session));
    assert!(stage.toolbox.definition("erase").is_none());
}
