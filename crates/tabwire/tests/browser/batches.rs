//! Several steps in one call, recording and replaying, long answers, and events as a pull.

use serde_json::json;

use crate::stage::{Stage, reference_in};

#[tokio::test]
async fn a_batch_does_its_steps_and_stops_at_the_first_that_fails() {
    let stage = Stage::at("/mouse.html").await;
    let click = |id: &str| json!({"tool": "browser_interact", "action": "click", "selector": id});
    let done =
        stage.client.call("batch", json!({"steps": [click("#alpha"), click("#beta")]})).await;
    assert_eq!(done["done"], 2, "{done}");
    assert_eq!(stage.seen().await, ["click alpha", "click beta"]);
    let steps = json!({"steps": [click("#gamma"), click("#nothing"), click("#delta")]});
    let stopped = stage.client.result("batch", steps).await;
    assert_eq!(stopped["isError"], true, "{stopped}");
    assert_eq!(stopped["structuredContent"]["failed"]["step"], 2, "{stopped}");
    assert_eq!(stage.seen().await, ["click gamma"], "what is after the failure is not done");
}

#[tokio::test]
async fn a_recording_is_run_again_and_has_no_password() {
    let stage = Stage::start().await;
    let (site, client) = (&stage.site, &stage.client);
    client.call("batch", json!({"action": "record"})).await;
    stage.open("/login.html").await;
    client.interact("type", json!({"selector": "#user", "text": "ann"})).await;
    client.interact("type", json!({"selector": "#password", "text": "hunter2"})).await;
    let button = client.reference("Log in").await;
    client.interact("click", json!({"ref": button})).await;
    site.reported("login", json!(["ann", "hunter2"])).await;
    let stopped = client.works("batch", json!({"action": "stop"})).await;
    assert!(!stopped.to_string().contains("hunter2"), "{stopped}");
    let mut steps = stopped["structuredContent"]["steps"].clone();
    let actions: Vec<_> =
        steps.as_array().unwrap().iter().map(|step| step["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["goto", "type", "type", "click"], "the snapshot is not noted");
    assert_eq!(stopped["structuredContent"]["masked"], json!([3]), "{stopped}");
    assert_eq!(stopped["structuredContent"]["stuck"], json!([]), "{stopped}");
    steps[1]["text"] = json!("bob");
    steps[2]["text"] = json!("swordfish");
    // In another tab: the references of the recording mean nothing there.
    client.new_tab(&site.url("/start.html")).await;
    client.call("batch", json!({ "steps": steps })).await;
    site.reported("login", json!(["bob", "swordfish"])).await;
}

#[tokio::test]
async fn a_drag_to_an_element_is_run_again_in_another_tab() {
    let stage = Stage::at("/drag.html").await;
    let client = &stage.client;
    let shown = client.snapshot().await;
    let knob = reference_in(&shown, "Volume");
    let shelf = client.interact("hover", json!({"selector": "#shelf"})).await;
    let shelf = shelf["element"]["ref"].clone();
    client.call("batch", json!({"action": "record"})).await;
    let dragged = client.interact("drag", json!({"selector": "#card", "to": shelf})).await;
    assert_eq!(dragged["target"]["selector"], "#shelf", "{dragged}");
    client.interact("drag", json!({"ref": knob, "to": "300,300"})).await;
    let stopped = client.call("batch", json!({"action": "stop"})).await;
    assert_eq!(stopped["stuck"], json!([]), "{stopped}");
    assert_eq!(stopped["steps"][0]["to"], "#shelf", "{stopped}");
    client.new_tab(&stage.site.url("/drag.html")).await;
    client.call("batch", json!({"steps": [stopped["steps"][0]]})).await;
    assert_eq!(client.evaluate("at('card').parentElement.id").await, "shelf");
}

#[tokio::test]
async fn a_long_answer_is_read_as_a_resource() {
    let stage = Stage::at("/start.html").await;
    let script = json!({"expression": "'x'.repeat(40_000) + 'end'"});
    let result = stage.client.works("browser_execute", script).await;
    assert!(result.to_string().len() < 26_000, "{}", result.to_string().len());
    let link = result["content"].as_array().unwrap().iter().find(|it| it["uri"].is_string());
    let read = stage.client.read(link.unwrap()["uri"].as_str().unwrap()).await;
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.len() > 40_000 && text.contains("xend"), "{}", text.len());
}

#[tokio::test]
async fn what_happened_is_looked_up_afterwards() {
    let stage = Stage::at("/start.html").await;
    let url = stage.site.url("/tab.html?looked-up");
    stage.client.go(&url).await;
    let wait = json!({"until": "event", "event": "navigation", "contains": url,
        "since": 0, "timeoutMs": 30_000});
    let came = stage.client.call("wait_for", wait.clone()).await;
    assert_eq!(came["events"][0]["data"]["url"], url, "{came}");
    let look = json!({"until": "event", "event": "navigation", "timeoutMs": 0,
        "since": came["next"]});
    let nothing = stage.client.call("wait_for", look).await;
    assert_eq!(nothing["happened"], false, "{nothing}");
}
