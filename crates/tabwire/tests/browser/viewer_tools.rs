//! Every tool of the viewer, once with good values and once with bad ones.
//!
//! A good call changes exactly what it says, and `app_state` tells so at once. A bad one changes
//! nothing, and its error says what is valid. A tool that is not in the tables fails the test.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    painting::Painting,
    stage::{Driver, Stage},
    viewer::{self, address, connected},
    viewer_cases::{Case, GETTERS, LIMITS, NOTHING, OWN, light, model_and_camera},
};

/// The tool that is there without a page too.
const LINK: &str = "get_browser_connection_url";
const REFUSED: &str = "invalid_argument|TOOL_FAILED";

/// A viewer in the background, where it answers without drawing; and the tools without it.
async fn start() -> (Stage, Vec<String>) {
    let stage = viewer::start(&[]).await;
    let without = stage.client.tools().await;
    stage.client.new_tab(&address(&stage, "")).await;
    connected(&stage.client, "viewer").await;
    (stage, without)
}

async fn state(client: &Driver) -> Value {
    client.call("app_state", json!({"session": "viewer"})).await["value"].clone()
}

async fn refuses(client: &Driver, tool: &str, args: Value, words: &str) {
    let said = client.fails(tool, args.clone(), REFUSED).await;
    assert!(said.contains(words), "{tool} {args}: {words:?} is not in {said:?}");
}

fn cases() -> Vec<Case> {
    let cases = [model_and_camera(), light("key", 135, 40), light("fill", 240, 15)];
    cases.into_iter().flatten().collect()
}

#[tokio::test]
async fn every_tool_is_in_the_tables_and_no_other() {
    let (stage, without) = start().await;
    let client = &stage.client;
    let mut known: BTreeSet<String> = OWN.iter().map(|name| (*name).to_owned()).collect();
    known.insert(LINK.to_owned());
    known.extend(GETTERS.iter().map(|(name, _)| (*name).to_owned()));
    known.extend(cases().into_iter().map(|case| case.tool));
    let without: BTreeSet<_> = without.into_iter().filter(|name| name != LINK).collect();
    let all: BTreeSet<_> = client.tools().await.into_iter().collect();
    let listed: BTreeSet<_> = all.difference(&without).cloned().collect();
    assert_eq!(listed, known, "the tables have every tool, and no other");
    assert_eq!(known.len(), 61 + OWN.len());
}

#[tokio::test]
async fn every_tool_of_the_manifest_does_what_it_says_or_says_what_is_valid() {
    let (stage, _) = start().await;
    let client = &stage.client;
    let first = state(client).await;
    for Case { tool, good, changes, bad, words } in cases() {
        let mut expected = first.clone();
        for (path, value) in changes {
            *expected.pointer_mut(&path).unwrap_or_else(|| panic!("{path}")) = value;
        }
        let done = client.call(&tool, good.clone()).await;
        assert_eq!(done["confirmed"], true, "{tool} {good}: {done}");
        assert_eq!(state(client).await, expected, "{tool} {good}");
        refuses(client, &tool, bad.clone(), words).await;
        assert_eq!(state(client).await, expected, "{tool} {bad}");
        client.works("reset_view", json!({"what": "all"})).await;
        assert_eq!(state(client).await, first, "reset after {tool}");
    }
    refuses(client, LINK, json!({"port": 3}), NOTHING).await;
}

#[tokio::test]
async fn every_tool_that_reads_tells_what_is_so_from_the_cache_or_from_the_page() {
    let (stage, _) = start().await;
    let client = &stage.client;
    let first = state(client).await;
    for (tool, path) in GETTERS {
        let told = client.call(tool, json!({})).await;
        assert_eq!(Some(&told["value"]), first.pointer(path), "{tool}");
        assert_eq!(told["source"], "cache", "{tool}");
        let live = client.call(tool, json!({"forceRefresh": true})).await;
        assert_eq!((&live["value"], &live["source"]), (&told["value"], &json!("live")), "{tool}");
        refuses(client, tool, json!({"forceRefresh": "yes"}), "true or false").await;
        refuses(client, tool, json!({"force": true}), "did you mean `forceRefresh`?").await;
    }
    assert_eq!(state(client).await, first);
}

#[tokio::test]
async fn the_pages_own_limits_are_told_and_a_move_stops_there() {
    let (stage, _) = start().await;
    let client = &stage.client;
    let first = state(client).await;
    for (tool, name, value, words) in LIMITS {
        refuses(client, tool, json!({name: value}), words).await;
    }
    assert_eq!(state(client).await, first);
    // A move goes as far as it can, and says where it stopped.
    let said = client.text("dolly_camera_in", json!({"amount": 100})).await;
    assert!(said.contains("stopped at 8") && said.contains("8 to 64"), "{said}");
    assert_eq!(state(client).await["camera"]["distance"], 8);
}

#[tokio::test]
async fn models_are_listed_and_loaded_or_what_there_is_is_said() {
    let (stage, _) = start().await;
    let client = &stage.client;
    let listed = client.call("list_models", json!({})).await;
    assert_eq!(listed["shown"]["source"], "builtin:knot", "{listed}");
    assert_eq!(listed["builtin"].as_array().unwrap().len(), 3, "{listed}");
    refuses(client, "list_models", json!({"all": true}), "all").await;

    for name in ["teapot", "robot", "knot"] {
        client.works("load_model", json!({"builtin": name})).await;
        assert_eq!(state(client).await["model"]["source"], format!("builtin:{name}"));
    }
    refuses(client, "load_model", json!({"builtin": "cube"}), "teapot").await;
    refuses(client, "load_model", json!({}), "one of knot, teapot, robot").await;
    let nowhere = stage.site.url("/status/404");
    let said = client.fails("load_model", json!({"url": nowhere}), "TOOL_FAILED").await;
    assert!(!said.is_empty(), "{said}");
    assert_eq!(state(client).await["model"]["source"], "builtin:knot");
}

#[tokio::test]
async fn the_size_of_a_light_is_set_undone_and_done_again_and_no_part_of_the_view() {
    let (stage, _) = start().await;
    let client = &stage.client;
    let size = json!({"light": "fill", "width": 3, "height": 2});
    client.works("set_light_size", size).await;
    let set = json!({"width": 3, "height": 2});
    assert_eq!(state(client).await["fillLight"]["size"], set);
    refuses(client, "set_light_size", json!({"light": "sun", "width": 1, "height": 1}), "fill")
        .await;
    let flat = json!({"light": "key", "width": 0, "height": 1});
    refuses(client, "set_light_size", flat, "0.1").await;

    client.works("undo", json!({})).await;
    assert_ne!(state(client).await["fillLight"]["size"], set);
    client.works("redo", json!({})).await;
    assert_eq!(state(client).await["fillLight"]["size"], set);
    refuses(client, "undo", json!({"steps": 0}), "1").await;
    refuses(client, "redo", json!({"steps": 1}), "steps").await;
    refuses(client, "redo", json!({}), "there is nothing to redo").await;

    client.works("set_model_rotation", json!({"x": 1, "y": 2, "z": 3})).await;
    client.works("reset_view", json!({})).await;
    let now = state(client).await;
    assert_eq!(now["model"]["rotation"], json!({"x": 0, "y": 0, "z": 0}));
    assert_eq!(now["fillLight"]["size"], set, "only the view is reset");
    refuses(client, "reset_view", json!({"what": "some"}), "all").await;
}

#[tokio::test]
async fn a_picture_is_as_large_as_asked_and_comes_once() {
    let (stage, _) = start().await;
    let client = &stage.client;
    let taken = client.works("viewer_screenshot", json!({"width": 64, "height": 100})).await;
    let picture = Painting::of(&taken);
    assert_eq!((picture.width, picture.height), (64, 100));
    assert!(taken["content"].to_string().matches("iVBORw0KGgo").count() == 1, "one copy of it");
    refuses(client, "viewer_screenshot", json!({"width": 10}), "64").await;
}
