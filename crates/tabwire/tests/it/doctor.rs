//! `tabwire doctor`: each thing that can be out of place, what is said, and how it ends.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt};

use serde_json::Value;
use testkit::{
    Commands, FakeBrowser, HubProcess, Machine, Place, command::Finished, machine::free_port,
};

use crate::{
    mcp_scene::LEGACY,
    scene::{PROGRAM, hub},
};

/// Runs it with no browsers and clients but those in the user's folders.
async fn doctor(place: &Place, flags: &[&str]) -> Finished {
    let data = place.path().join("d");
    let commands = Commands::new(PROGRAM, place)
        .variable("PATH", place.path().join("bin").to_str().unwrap())
        .variable("TABWIRE_DATA", data.to_str().unwrap());
    let port = free_port().to_string();
    commands.run(&[&["doctor", "--json", "--port", &port], flags].concat()).await
}

#[track_caller]
fn finding(finished: &Finished, check: &str) -> Value {
    let all = finished.json();
    let found = all.as_array().unwrap().iter().find(|finding| finding["check"] == check);
    found.unwrap_or_else(|| panic!("{check} is not in {all}")).clone()
}

#[track_caller]
fn check(finished: &Finished, check: &str, state: &str, part: &str) {
    let finding = finding(finished, check);
    assert_eq!(finding["state"], state, "{finding}");
    assert!(finding["message"].as_str().unwrap().contains(part), "{finding}");
    assert_eq!(finding["fix"].is_null(), state == "ok", "{finding}");
}

#[tokio::test]
async fn an_empty_home_has_no_problem_and_nothing_is_made() {
    let place = Place::create();
    let told = doctor(&place, &[]).await.must_exit(0);
    let all = told.json();
    let checks: Vec<_> =
        all.as_array().unwrap().iter().map(|finding| finding["check"].as_str().unwrap()).collect();
    let wanted = [
        "data",
        "settings",
        "hub",
        "port",
        "store",
        "browsers",
        "extension",
        "connected",
        "paired",
        "clients",
    ];
    assert_eq!(checks, wanted);
    assert!(!place.path().join("d").exists());
    let words = Commands::new(PROGRAM, &place)
        .variable("PATH", "/nowhere")
        .run(&["doctor", "--port", &free_port().to_string()])
        .await
        .must_exit(0);
    assert!(
        words.stdout.contains("warning  browsers") && words.stdout.contains("-> "),
        "{words:?}"
    );
}

#[tokio::test]
async fn a_data_folder_open_to_others_is_a_problem() {
    let place = Place::create();
    fs::set_permissions(place.folder("d"), fs::Permissions::from_mode(0o755)).unwrap();
    check(&doctor(&place, &[]).await.must_exit(1), "data", "problem", "open to others");
}

#[tokio::test]
async fn a_foreign_program_on_the_port_is_a_problem() {
    let place = Place::create();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let commands = Commands::new(PROGRAM, &place).variable("TABWIRE_PORT", &port);
    let told = commands.run(&["doctor", "--json"]).await.must_exit(1);
    check(&told, "port", "problem", &format!("(process {})", std::process::id()));
}

#[tokio::test]
async fn settings_and_a_store_that_cannot_be_read_are_problems() {
    let place = Place::create();
    place.folder("d");
    place.write("d/hub.sqlite", &"no database ".repeat(100));
    fs::create_dir_all(place.path().join("config/tabwire")).unwrap();
    place.write("config/tabwire/config.toml", "prot = 1\n");
    let told = doctor(&place, &[]).await.must_exit(1);
    check(&told, "store", "problem", "hub.sqlite");
    check(&told, "settings", "problem", "did you mean port");
}

#[tokio::test]
async fn what_install_does_is_found_in_its_place() {
    let place = Place::create();
    fs::create_dir_all(place.path().join("config/chromium")).unwrap();
    fs::create_dir_all(place.path().join("home/.cursor")).unwrap();
    let told = doctor(&place, &[]).await.must_exit(1);
    check(&told, "native-host:chromium", "problem", "missing");
    check(&told, "native-host", "problem", "missing");
    check(&told, "client:cursor", "warning", "does not know");
    let data = place.path().join("d");
    let commands = Commands::new(PROGRAM, &place).variable("TABWIRE_DATA", data.to_str().unwrap());
    commands.run(&["install", "--yes"]).await.must_exit(0);
    let told = doctor(&place, &[]).await;
    check(&told, "native-host:chromium", "ok", "in place");
    check(&told, "client:cursor", "ok", "starts this program");
    // What the script starts may not be in this program yet.
    let known = commands.run(&["native-host", "--help"]).await.code == 0;
    let state = if known { "ok" } else { "problem" };
    check(&told, "native-host", state, "native-host");
    place.write("home/.cursor/mcp.json", "{");
    place.write("config/chromium/NativeMessagingHosts/dev.tabwire.host.json", "{}");
    fs::remove_file(data.join("native-host")).unwrap();
    let told = doctor(&place, &[]).await.must_exit(1);
    check(&told, "native-host:chromium", "problem", "name");
    check(&told, "native-host", "problem", "missing");
    check(&told, "client:cursor", "problem", "cannot be read");
}

#[tokio::test]
async fn a_client_that_starts_nothing_is_a_problem() {
    let place = Place::create();
    fs::create_dir_all(place.path().join("home/.codex")).unwrap();
    let entry = "[mcp_servers.tabwire]\ncommand = \"/gone/tabwire\"\nargs = [\"stdio\"]\n";
    place.write("home/.codex/config.toml", entry);
    check(&doctor(&place, &[]).await.must_exit(1), "client:codex", "problem", "/gone/tabwire");
}

#[tokio::test]
async fn an_old_extension_and_damaged_keys_are_problems() {
    let place = Place::create();
    place.folder("d");
    fs::create_dir(place.path().join("d/extension")).unwrap();
    place.write("d/extension/manifest.json", r#"{"version": "0.0.1"}"#);
    place.write("d/pairing.json", "[");
    let told = doctor(&place, &[]).await.must_exit(1);
    check(&told, "extension", "problem", "0.0.1");
    check(&told, "paired", "problem", "damaged");
    let version = env!("CARGO_PKG_VERSION");
    place.write("d/extension/manifest.json", &format!(r#"{{"version": "{version}"}}"#));
    place.write("d/pairing.json", r#"{"instances": {"a": {}}}"#);
    let told = doctor(&place, &[]).await.must_exit(0);
    check(&told, "extension", "ok", version);
    check(&told, "paired", "ok", "one browser");
}

#[tokio::test]
async fn a_running_hub_tells_which_browsers_are_there() {
    let hub: HubProcess = hub(&[]).await;
    let commands = hub.commands(PROGRAM).variable("PATH", "/nowhere");
    let told = commands.run(&["doctor", "--json"]).await.must_exit(0);
    check(&told, "hub", "ok", &hub.port().to_string());
    check(&told, "port", "ok", "is the hub's");
    check(&told, "version", "ok", env!("CARGO_PKG_VERSION"));
    check(&told, "store", "ok", "hub.sqlite");
    check(&told, "connected", "warning", "no browser");
    let mut browser = FakeBrowser::browser(hub.port(), "reader");
    browser.connect().await;
    hub.api().until_connected("reader", true).await;
    let told = commands.run(&["doctor", "--json"]).await.must_exit(0);
    check(&told, "connected", "ok", "reader");
}

#[tokio::test]
async fn a_frozen_hub_is_a_problem_and_a_killed_one_is_not() {
    let machine = Machine::new(PROGRAM);
    // It is killed, and must not end by itself before.
    let client = machine.relay_with(&["--idle-exit", "10m"]).connect(LEGACY).await;
    machine.freeze_hub().await;
    let told = machine.run(&["doctor", "--json"]).await.must_exit(1);
    check(&told, "hub", "problem", "does not answer");
    machine.thaw_hub();
    client.finish().await;
    machine.kill_hub().await;
    let told = machine.run(&["doctor", "--json", "--port", &free_port().to_string()]).await;
    check(&told, "hub", "warning", "did not end by itself");
}
