//! Dragging: what a page does with the mouse by itself, and what the browser does for it.

use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn dragging_moves_what_follows_the_mouse() {
    let stage = &Stage::at("/drag.html").await;
    let client = &stage.client;
    let from = client.evaluate("middle('knob')").await;
    let (x, y) = (from["x"].as_f64().unwrap(), from["y"].as_f64().unwrap());
    let knob = client.reference("Volume").await;
    client.interact("drag", json!({"ref": knob, "toX": x + 120.0, "toY": y})).await;
    assert_eq!(stage.seen().await, ["knob at 120"]);
    client.interact("drag", json!({"x": x + 120.0, "y": y, "toX": x + 40.0, "toY": y})).await;
    assert_eq!(stage.seen().await, ["knob at 40"]);
}

#[tokio::test]
async fn dragging_drops_what_is_draggable_with_its_data() {
    let stage = &Stage::at("/drag.html").await;
    let drag = json!({"selector": "#card", "toSelector": "#shelf"});
    let dragged = stage.client.interact("drag", drag).await;
    let seen = stage.seen().await;
    assert_eq!(seen, ["dragstart card", "drop shelf", "got the card", "dragend card"]);
    assert_eq!(stage.client.evaluate("at('card').parentElement.id").await, "shelf");
    assert!(dragged["changes"]["added"].as_u64().unwrap() >= 1, "{dragged}");
}
