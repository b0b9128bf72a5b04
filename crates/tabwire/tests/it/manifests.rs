//! Manifests in the user's folder: in force at once, again after a change, and never half.

use serde_json::json;
use testkit::{Era, HubOptions, HubProcess, eventually};

use crate::{mcp_scene::http, scene::PROGRAM};

const LAMP: &str = r#"
name = "lamp"
title = "Lamp"
dialect = "hello3d"

[[tool]]
name = "light_lamp"
description = "Lights the lamp"
command = "light"
reply = "The lamp is on"
"#;

fn write(hub: &HubProcess, file: &str, text: &str) {
    let folder = hub.place().folder("config").join("tabwire/apps");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(file), text).unwrap();
}

async fn has(hub: &HubProcess, tool: &str) -> bool {
    let list = http(hub, Era::Modern).await.request("tools/list", json!({})).await.result();
    list["tools"].as_array().unwrap().iter().any(|listed| listed["name"] == tool)
}

async fn until_listed(hub: &HubProcess, tool: &str, listed: bool) {
    let what = format!("{tool} is listed: {listed}");
    eventually(&what, async || (has(hub, tool).await == listed).then_some(())).await;
}

#[tokio::test]
async fn a_manifest_is_in_force_as_it_is_written() {
    let hub = HubOptions::new(PROGRAM).flags(&["--compat", "hello3d=0"]).start().await;
    assert!(has(&hub, "get_model_color").await, "the shipped one is there from the start");
    write(&hub, "lamp.toml", LAMP);
    until_listed(&hub, "light_lamp", true).await;
    write(&hub, "lamp.toml", &LAMP.replace("light_lamp", "switch_lamp_on"));
    until_listed(&hub, "switch_lamp_on", true).await;
    assert!(!has(&hub, "light_lamp").await);
    std::fs::remove_file(hub.place().folder("config").join("tabwire/apps/lamp.toml")).unwrap();
    until_listed(&hub, "switch_lamp_on", false).await;
    assert!(has(&hub, "get_model_color").await);
}

#[tokio::test]
async fn a_broken_change_is_reported_by_line_and_changes_nothing() {
    let hub = HubOptions::new(PROGRAM).flags(&["--compat", "hello3d=0"]).start().await;
    write(&hub, "lamp.toml", LAMP);
    until_listed(&hub, "light_lamp", true).await;
    write(&hub, "lamp.toml", &LAMP.replace("reply =", "replay ="));
    // Not only that there is one: a look may also meet the file while it is written.
    let said = eventually("the error is reported", async || {
        let said = hub.stderr();
        said.contains("lamp.toml:10").then_some(said)
    })
    .await;
    assert!(said.contains("manifest not used"), "{said}");
    assert!(said.contains("did you mean `reply`?"), "{said}");
    assert!(has(&hub, "light_lamp").await, "as it was");
    // The broken file does not stand in the way of another.
    write(&hub, "torch.toml", &LAMP.replace("lamp", "torch"));
    until_listed(&hub, "light_torch", true).await;
    assert!(has(&hub, "light_lamp").await, "still as it was");
}

#[tokio::test]
async fn a_manifest_with_the_name_of_a_shipped_one_takes_its_place() {
    let options = HubOptions::new(PROGRAM).flags(&["--compat", "hello3d=0"]);
    let folder = options.place().folder("config").join("tabwire/apps");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mine.toml"), LAMP.replace("\"lamp\"", "\"hello3d\"")).unwrap();
    std::fs::write(folder.join("broken.toml"), "name = 7").unwrap();
    let hub = options.start().await;
    assert!(has(&hub, "light_lamp").await);
    assert!(!has(&hub, "get_model_color").await);
    eventually("a bad file costs only itself and is reported", async || {
        hub.stderr().contains("broken.toml:1").then_some(())
    })
    .await;
}

#[tokio::test]
async fn without_its_dialect_a_manifest_has_only_its_link() {
    let hub = HubOptions::new(PROGRAM).start().await;
    assert!(!has(&hub, "get_model_color").await);
    let client = http(&hub, Era::Modern).await;
    let (failed, said) = client.call("get_browser_connection_url", json!({})).await.told();
    // The link leads to our own viewer, which needs no port of its own.
    let viewer = format!("http://127.0.0.1:{}/viewer/?sessionId=", hub.port());
    assert!(!failed && said.contains(&viewer) && !said.contains("--compat"), "{said}");
}
