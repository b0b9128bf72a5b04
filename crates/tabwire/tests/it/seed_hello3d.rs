//! The story of the 3D page, as its own project tells it: ask, darken, ask again, drag the mouse.
//!
//! What the other tests of this page begin with is here too.

use std::fs;

use serde_json::{Value, json};
use testkit::{HubOptions, HubProcess, McpClient, mcp::client::WAYS, seeds::hello3d::Hello3d};

use crate::scene::PROGRAM;

/// The page's manifest as it is shipped.
const MANIFEST: &str = include_str!("../../../../apps/hello3d.toml");
/// How long the page may take by that.
const USUAL: &str = "timeoutMs = 2000";
/// Longer than any test waits.
const LONG_MS: u32 = 60_000;

/// A hub whose manifest is the shipped one but for how long the page may take.
pub fn hub_that_waits(limit_ms: u32) -> HubOptions {
    let options = HubOptions::new(PROGRAM);
    let folder = options.place().folder("config").join("tabwire/apps");
    fs::create_dir_all(&folder).unwrap();
    assert!(MANIFEST.contains(USUAL));
    let manifest = MANIFEST.replace(USUAL, &format!("timeoutMs = {limit_ms}"));
    fs::write(folder.join("hello3d.toml"), manifest).unwrap();
    options
}

/// A hub that gives the page all the time that it needs.
pub fn patient_hub() -> HubOptions {
    hub_that_waits(LONG_MS)
}

/// Starts a hub that has a port for this page.
pub async fn hub_for_pages(flags: &[&str]) -> HubProcess {
    patient_hub().flags(&["--compat", "hello3d=0"]).flags(flags).start().await
}

/// Starts a hub and opens a page.
pub async fn hub_and_page(flags: &[&str]) -> (HubProcess, Hello3d) {
    let hub = hub_for_pages(flags).await;
    let page = Hello3d::open(hub.compat("hello3d"), "first").await;
    (hub, page)
}

/// Calls a tool that must not fail; returns what it says.
pub async fn told(client: &mut McpClient, tool: &str, args: Value) -> String {
    let (failed, said) = client.call(tool, args.clone()).await.told();
    assert!(!failed, "{tool} {args}: {said}");
    said
}

/// Calls a tool that must fail; returns what it says.
pub async fn failed(client: &mut McpClient, tool: &str, args: Value) -> String {
    let (failed, said) = client.call(tool, args.clone()).await.told();
    assert!(failed, "{tool} {args}: {said}");
    said
}

/// Fails the test unless a text begins like this, and says nothing that reminds of a loss.
#[track_caller]
fn fresh(said: &str, expected: &str) {
    let rest = said.strip_prefix(expected).unwrap_or_else(|| panic!("{expected} in {said}"));
    assert!(!rest.starts_with(|next: char| next.is_alphanumeric()), "{said}");
    assert!(!said.to_lowercase().contains("stale"), "{said}");
}

#[tokio::test]
async fn the_color_is_asked_changed_and_asked_again() {
    for way in WAYS {
        let (hub, page) = hub_and_page(&[]).await;
        page.with(|page| page.scene.color = "#ff0000".to_owned());
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        let said = told(&mut client, "get_model_color", json!({})).await;
        fresh(&said, "Model color: #ff0000");
        assert_eq!(page.heard("requestState").len(), 1, "{way:?}: nothing was cached");
        assert!(page.heard("requestState")[0]["requestId"].is_string());

        let said = told(&mut client, "get_model_color", json!({})).await;
        fresh(&said, "Model color: #ff0000");
        assert_eq!(page.heard("requestState").len(), 1, "{way:?}: the answer was cached");

        let args = json!({"color": "#cc0000"});
        let said = told(&mut client, "change_model_color", args).await;
        assert_eq!(said, "Model color changed to #cc0000", "{way:?}");
        assert_eq!(page.commands(), [json!({"type": "changeColor", "color": "#cc0000"})]);
        assert_eq!(page.state()["model"]["color"], "#cc0000");

        let said = told(&mut client, "get_model_color", json!({})).await;
        fresh(&said, "Model color: #cc0000");
        assert_eq!(page.heard("requestState").len(), 1, "{way:?}: the push was cached");
    }
}

#[tokio::test]
async fn a_crayon_is_told_by_its_name_and_sent_as_its_color() {
    for way in WAYS {
        let (hub, page) = hub_and_page(&[]).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        let args = json!({"color": "maraschino"});
        let said = told(&mut client, "change_model_color", args).await;
        assert_eq!(said, "Model color changed to maraschino (#ff2600)", "{way:?}");
        assert_eq!(page.commands()[0]["color"], "#ff2600");
        let mut backgrounds = Vec::new();
        for name in ["Sea Foam", "seafoam", "sea-foam", "Snow", "licorice"] {
            let said = told(&mut client, "change_background_color", json!({"color": name})).await;
            let color = page.state()["background"].as_str().unwrap().to_owned();
            assert_eq!(said, format!("Background color changed to {name} ({color})"));
            backgrounds.push(color);
        }
        assert_eq!(backgrounds[..2], backgrounds[1..3], "one crayon, however it is spelled");
        assert_eq!(backgrounds[3..], ["#ffffff", "#000000"]);
        let args = json!({"color": "#ABCDEF"});
        let said = told(&mut client, "set_key_light_color", args).await;
        assert_eq!(said, "Key light color changed to #abcdef");
    }
}

#[tokio::test]
async fn a_drag_of_the_mouse_shows_only_when_the_page_is_asked() {
    for way in WAYS {
        let (hub, page) = hub_and_page(&[]).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        let zero = "Model rotation: X (pitch): 0°, Y (yaw): 0°, Z (roll): 0°";
        fresh(&told(&mut client, "get_model_rotation", json!({})).await, zero);
        page.drag(30.0);
        fresh(&told(&mut client, "get_model_rotation", json!({})).await, zero);
        assert_eq!(page.heard("requestState").len(), 1, "{way:?}");
        let turned = "Model rotation: X (pitch): 0°, Y (yaw): 30°, Z (roll): 0°";
        let args = json!({"forceRefresh": true});
        fresh(&told(&mut client, "get_model_rotation", args).await, turned);
        let asked = page.heard("requestState");
        assert_eq!((asked.len(), &asked[1]["forceRefresh"]), (2, &json!(true)), "{way:?}");
        assert_ne!(asked[0]["requestId"], asked[1]["requestId"]);
        fresh(&told(&mut client, "get_model_rotation", json!({})).await, turned);
        assert_eq!(page.heard("requestState").len(), 2, "{way:?}: the refresh was cached");
    }
}

#[tokio::test]
async fn many_questions_at_once_each_get_their_answer() {
    let (hub, page) = hub_and_page(&[]).await;
    let client = testkit::McpHttp::modern(hub.port());
    let ask = |tool: &'static str| client.call(tool, json!({"forceRefresh": true}));
    let (color, scale, distance, fov) = tokio::join!(
        ask("get_model_color"),
        ask("get_model_scale"),
        ask("get_camera_distance"),
        ask("get_camera_fov"),
    );
    fresh(&color.told().1, "Model color: #ffffff");
    fresh(&scale.told().1, "Model scale: X: 1, Y: 1, Z: 1");
    fresh(&distance.told().1, "Camera distance: 32");
    fresh(&fov.told().1, "Camera FOV: 1");
    let mut ids: Vec<_> =
        page.heard("requestState").iter().map(|asked| asked["requestId"].to_string()).collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "no two questions share an id");
}

#[tokio::test]
async fn the_running_tool_is_shown_on_the_page_before_it_acts() {
    for way in WAYS {
        let (hub, page) = hub_and_page(&[]).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        told(&mut client, "get_model_color", json!({})).await;
        told(&mut client, "change_model_size", json!({"size": 2})).await;
        told(&mut client, "get_model_scale", json!({})).await;
        page.until("toolCall", 3).await;
        let kinds: Vec<_> =
            page.everything().iter().map(|message| message["type"].clone()).collect();
        let expected =
            ["sessionRegistered", "toolCall", "requestState", "toolCall", "changeSize", "toolCall"];
        assert_eq!(kinds, expected, "{way:?}");
        let toasts = page.with(|page| page.toasts.clone());
        assert_eq!(toasts, ["get_model_color", "change_model_size", "get_model_scale"], "{way:?}");
        assert!(page.heard("toolCall").iter().all(|toast| toast["timestamp"].is_u64()), "{way:?}");
    }
}
