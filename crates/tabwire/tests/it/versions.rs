//! Versions of a state: what is newer, what is older, and what does not fit.

use serde_json::{Value, json};
use testkit::{Api, FakeBrowser};

use crate::scene::{Scene, hub};

/// Longer than any page of these tests takes to answer.
const PATIENT: &[&str] = &["--state-timeout", "60s"];

async fn check_cached(api: &Api, epoch: &str, version: u64, value: Value) {
    let body = api.state("viewer", "").await.must_be(200).json();
    let found = (&body["stateEpoch"], &body["version"], &body["value"]);
    assert_eq!(found, (&json!(epoch), &json!(version), &value));
}

fn patch(epoch: &str, version: u64, color: &str) -> Value {
    json!({
        "type": "stateUpdate", "stateEpoch": epoch, "version": version,
        "patch": [{"op": "replace", "path": "/color", "value": color}],
    })
}

#[tokio::test]
async fn a_reloaded_page_counts_anew() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    app.publish_state("p1", 50, json!("old life")).await;
    app.publish_state("p2", 1, json!("new life")).await;
    app.settle().await;
    check_cached(&hub.api(), "p2", 1, json!("new life")).await;
    app.publish_state("p1", 51, json!("a ghost")).await;
    app.settle().await;
    check_cached(&hub.api(), "p2", 1, json!("new life")).await;
}

#[tokio::test]
async fn an_older_version_never_replaces_a_newer_one() {
    let hub = hub(PATIENT).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    app.publish_state("p1", 5, json!("newer")).await;
    app.publish_state("p1", 4, json!("older")).await;
    app.settle().await;
    check_cached(&hub.api(), "p1", 5, json!("newer")).await;
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.state("viewer", "forceRefresh=true"), async {
        let request = app.until("requestState").await;
        app.say(json!({"type": "stateResponse", "requestId": request["requestId"],
                       "state": "older", "stateEpoch": "p1", "version": 3}))
            .await;
    });
    assert_eq!(answer.must_be(200).json()["value"], "newer");
    check_cached(&hub.api(), "p1", 5, json!("newer")).await;
}

#[tokio::test]
async fn a_patch_applies_to_the_version_before_it() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    app.publish_state("p1", 1, json!({"color": "red", "size": 1})).await;
    app.publish(patch("p1", 2, "green")).await;
    app.publish(patch("p1", 3, "blue")).await;
    app.settle().await;
    check_cached(&hub.api(), "p1", 3, json!({"color": "blue", "size": 1})).await;
}

#[tokio::test]
async fn a_patch_that_does_not_fit_makes_the_hub_ask_for_all_of_it() {
    let hub = hub(PATIENT).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    let whole = |id: &Value, version: u64| {
        json!({"type": "stateResponse", "requestId": id, "state": {"color": "whole"},
               "stateEpoch": "p1", "version": version})
    };
    for (message, version) in [
        (patch("p1", 7, "on nothing"), 7),
        (patch("p1", 9, "one is missing"), 9),
        (
            json!({"type": "stateUpdate", "stateEpoch": "p1", "version": 10,
                   "patch": [{"op": "remove", "path": "/missing"}]}),
            10,
        ),
    ] {
        app.publish(message).await;
        let request = app.until("requestState").await;
        app.say(whole(&request["requestId"], version)).await;
        app.settle().await;
        check_cached(&hub.api(), "p1", version, json!({"color": "whole"})).await;
    }
}

#[tokio::test]
async fn a_patch_with_version_zero_is_no_more_than_a_patch_that_does_not_fit() {
    let scene = Scene::new(&[]).await;
    let mut app = FakeBrowser::connected(scene.port(), "viewer").await;
    app.publish(patch("p1", 0, "before the first")).await;
    let request = app.until("requestState").await;
    app.say(json!({"type": "stateError", "requestId": request["requestId"], "error": "none"}))
        .await;
    app.settle().await;
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_response_without_an_epoch_does_not_end_the_life_of_the_page() {
    let hub = hub(PATIENT).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    app.publish_state("p1", 1, json!("first")).await;
    app.settle().await;
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.state("viewer", "forceRefresh=true"), async {
        let request = app.until("requestState").await;
        let id = &request["requestId"];
        app.say(json!({"type": "stateResponse", "requestId": id, "state": "second"})).await;
    });
    assert_eq!(answer.must_be(200).json()["value"], "second");
    app.publish_state("p1", 3, json!("third")).await;
    app.settle().await;
    check_cached(&hub.api(), "p1", 3, json!("third")).await;
}

#[tokio::test]
async fn the_state_outlives_the_connection() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    app.publish_state("p1", 1, json!("kept")).await;
    app.settle().await;
    app.vanish();
    hub.api().until_connected("viewer", false).await;
    let body = hub.api().state("viewer", "").await.must_be(200).json();
    let found = (&body["source"], &body["value"], &body["connected"]);
    assert_eq!(found, (&json!("cache"), &json!("kept"), &json!(false)));
    app.connect().await;
    app.publish_state("p1", 2, json!("continued")).await;
    app.settle().await;
    check_cached(&hub.api(), "p1", 2, json!("continued")).await;
}
