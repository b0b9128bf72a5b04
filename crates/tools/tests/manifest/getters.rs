//! Getters: from the cache, from the page, from what is left of it.

use std::time::Duration;

use model::Code;
use serde_json::json;

use crate::page::{Manner, Stage, state};

#[tokio::test]
async fn a_getter_answers_from_the_cache_with_what_must_be_known_to_trust_it() {
    let stage = Stage::start();
    let page = stage.page("page").await;
    let mut output = stage.call("get_model_color", json!({})).await.unwrap();
    assert_eq!(output.text, "Model color: #ff0000");
    output.structured["ageMs"] = json!(0);
    assert_eq!(
        output.structured,
        json!({
            "session": "hello3d", "value": "#ff0000", "source": "cache", "ageMs": 0, "version": 1,
            "connected": true,
        })
    );
    assert_eq!(output.source.unwrap().session, "hello3d");
    assert_eq!(page.state_queries(), 0);
}

#[tokio::test]
async fn a_forced_getter_sees_what_the_mouse_has_done() {
    let stage = Stage::start();
    let page = stage.page("page").await;
    let mut dragged = state();
    dragged["model"]["rotation"]["y"] = json!(90);
    page.change_unseen(dragged);
    let cached = stage.call("get_model_rotation", json!({"forceRefresh": false})).await.unwrap();
    assert!(cached.text.contains("Y (yaw): 45°"), "{}", cached.text);
    let forced = stage.call("get_model_rotation", json!({"forceRefresh": true})).await.unwrap();
    assert!(forced.text.contains("Y (yaw): 90°"), "{}", forced.text);
    assert_eq!(forced.structured["source"], "live");
    assert_eq!(page.state_queries(), 1);
}

#[tokio::test]
async fn a_getter_asks_the_page_when_nothing_is_cached() {
    let stage = Stage::start();
    let page = stage.peer("page", "hello3d", Manner::Willing).await;
    let output = stage.call("get_camera_distance", json!({})).await.unwrap();
    assert_eq!(output.text, "Camera distance: 32");
    assert_eq!((&output.structured["source"], page.state_queries()), (&json!("live"), 1));
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_fails_gives_the_cached_value_with_the_reason_and_its_age() {
    let stage = Stage::start();
    let page = stage.peer("page", "hello3d", Manner::Silent).await;
    page.push_state(state());
    tokio::time::advance(Duration::from_secs(3)).await;
    let begun = tokio::time::Instant::now();
    let output = stage.call("get_model_color", json!({"forceRefresh": true})).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(2), "the manifest's time");
    let expected = "Model color: #ff0000 (stale: the page could not be asked (no reply within 2.0s";
    assert!(output.text.starts_with(expected), "{}", output.text);
    assert!(output.text.ends_with("this is what it told 3.0s ago)"), "{}", output.text);
    assert_eq!(output.structured["source"], "stale");
    assert!(output.structured["stale"].as_str().unwrap().contains("could not be asked"));
}

#[tokio::test]
async fn the_cache_of_a_page_that_is_away_says_so() {
    let stage = Stage::start();
    drop(stage.page("page").await);
    let output = stage.call("get_model_color", json!({})).await.unwrap();
    assert!(output.text.starts_with("Model color: #ff0000 (the page is away; "), "{}", output.text);
    assert_eq!(output.structured["connected"], false);
    let forced = stage.call("get_model_color", json!({"forceRefresh": true})).await.unwrap();
    assert!(forced.text.contains("(stale: "), "{}", forced.text);
}

#[tokio::test]
async fn what_the_state_does_not_have_is_an_error_with_the_label() {
    let stage = Stage::start();
    let page = stage.page("page").await;
    page.push_state(json!({"scene": {}}));
    let fault = stage.call("get_model_color", json!({})).await.unwrap_err();
    assert_eq!(fault.code, Code::StateUnavailable);
    let expected = "model color: the state has nothing at \"/model/color\"; it has /scene";
    assert_eq!(fault.to_string(), expected);
}

#[tokio::test]
async fn a_value_that_its_template_does_not_fit_is_shown_as_it_is() {
    let stage = Stage::start();
    let page = stage.page("page").await;
    page.push_state(json!({"model": {"scale": 2}}));
    let output = stage.call("get_model_scale", json!({})).await.unwrap();
    assert_eq!(output.text, "Model scale: 2");
}

#[tokio::test(start_paused = true)]
async fn nothing_cached_and_no_answer_is_an_error_with_the_label() {
    let stage = Stage::start();
    let page = stage.peer("page", "hello3d", Manner::Silent).await;
    let fault = stage.call("get_camera_fov", json!({})).await.unwrap_err();
    assert_eq!(fault.code, Code::StateUnavailable);
    assert!(fault.message.starts_with("camera FOV: nothing is known of the state"), "{fault}");
    drop(page);
    let fault = stage.call("get_camera_fov", json!({})).await.unwrap_err();
    assert!(fault.hint.unwrap().contains("get_browser_connection_url"));
}
