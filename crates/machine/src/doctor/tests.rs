//! Things that are out of place, and what is said about them.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use super::*;
use crate::{
    install::{Entry, Surroundings, System, Wanted, plan},
    test_place::Place,
};

fn setup(place: &Place) -> InspectedSetup {
    let at = |name: &str| place.path().join(name);
    let here = Surroundings {
        system: System::Linux,
        home: at("home"),
        config: at("config"),
        chrome: None,
        claude: None,
        codex: None,
        gemini: None,
        programs: vec![at("bin")],
    };
    let program = at("bin/tabwire");
    let command = program.to_str().unwrap().to_owned();
    let entry = Entry { command, args: vec!["stdio".to_owned()] };
    let what = Installation { here, data: at("data"), program, entry };
    InspectedSetup { what, version: "1.2.3".to_owned(), port: 0, has_extension: true }
}

fn write(path: &Path, text: &str, mode: u32) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    path.to_owned()
}

/// Waits until a program that was written just now can be run. What is open for writing cannot, and
/// while another test starts a program, its process has the file open too for a moment.
fn settle(program: &Path) {
    let busy = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ExecutableFileBusy;
    while Command::new(program).output().as_ref().err().is_some_and(busy) {}
}

#[track_caller]
fn check(finding: &Finding, state: Health, part: &str) {
    assert_eq!(finding.state, state, "{finding:?}");
    assert!(finding.message.contains(part), "{finding:?}");
    assert_eq!(finding.fix.is_none(), state == Health::Ok, "{finding:?}");
}

#[test]
fn the_data_folder_must_be_private() {
    let place = Place::absent();
    check(&hub::data(place.path()), Health::Ok, "not there yet");
    fs::DirBuilder::new().mode(0o700).create(place.path()).unwrap();
    check(&hub::data(place.path()), Health::Ok, "private");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "looking leaves nothing");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    check(&hub::data(place.path()), Health::Problem, "open to others");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn a_foreign_program_on_the_port_is_named() {
    let place = Place::private();
    let mut setup = setup(&place);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    setup.port = listener.local_addr().unwrap().port();
    let (findings, hub) = hub::hub(&setup).await;
    assert!(hub.is_none());
    check(&findings[0], Health::Ok, "none runs");
    let own = format!("(process {})", std::process::id());
    check(&findings[1], Health::Problem, if cfg!(target_os = "linux") { &own } else { "taken" });
    drop(listener);
    // While another test starts a program, its process has the listener too for a moment.
    let begun = Instant::now();
    let mut findings = hub::hub(&setup).await.0;
    while findings[1].state != Health::Ok && begun.elapsed() < Duration::from_secs(30) {
        findings = hub::hub(&setup).await.0;
    }
    check(&findings[1], Health::Ok, "free");
}

#[test]
fn a_hub_of_another_version_is_told() {
    let setup = setup(&Place::absent());
    check(&hub::version(&setup, "1.2.3"), Health::Ok, "1.2.3");
    check(&hub::version(&setup, "1.2.2"), Health::Warning, "1.2.2");
}

#[tokio::test]
async fn the_native_host_is_followed_to_what_it_starts() {
    let place = Place::private();
    let setup = setup(&place);
    check(&browser::browsers(&setup), Health::Warning, "no browser");
    assert!(browser::native_host(&setup).await.is_empty());
    fs::create_dir_all(setup.what.here.config.join("chromium")).unwrap();
    check(&browser::browsers(&setup), Health::Ok, "Chromium");
    let found = browser::native_host(&setup).await;
    check(&found[0], Health::Problem, "missing");
    check(&found[1], Health::Problem, "missing");
    for step in plan(&setup.what, &Wanted::default())[0].changes() {
        step.apply(None).unwrap();
    }
    let script = setup.what.data.join("native-host");
    settle(&script);
    let found = browser::native_host(&setup).await;
    check(&found[0], Health::Ok, "in place");
    check(&found[1], Health::Problem, "does not work");
    for (said, state) in [("tabwire-native-host 1.2.3", Health::Ok), ("x 1.2.2", Health::Problem)] {
        write(&setup.what.program, &format!("#!/bin/sh\necho {said}\n"), 0o755);
        settle(&setup.what.program);
        check(&browser::native_host(&setup).await[1], state, "starts");
    }
    fs::set_permissions(&script, fs::Permissions::from_mode(0o600)).unwrap();
    check(&browser::native_host(&setup).await[1], Health::Problem, "cannot be run");
    let manifest =
        setup.what.here.config.join("chromium/NativeMessagingHosts/dev.tabwire.host.json");
    write(&manifest, "{", 0o644);
    check(&browser::native_host(&setup).await[0], Health::Problem, "not valid JSON");
}

#[test]
fn the_extension_must_be_of_this_version() {
    let place = Place::private();
    let mut setup = setup(&place);
    check(&browser::extension(&setup), Health::Warning, "not in");
    setup.has_extension = false;
    check(&browser::extension(&setup), Health::Warning, "not in");
    let manifest = setup.what.data.join("extension/manifest.json");
    for (text, state, part) in [
        (r#"{"version": "1.2.3"}"#, Health::Ok, "1.2.3"),
        (r#"{"version": "1.2.0"}"#, Health::Problem, "1.2.0"),
        ("{", Health::Problem, "damaged"),
    ] {
        write(&manifest, text, 0o644);
        check(&browser::extension(&setup), state, part);
    }
}

#[test]
fn paired_browsers_are_counted() {
    let place = Place::private();
    check(&browser::paired(place.path()), Health::Warning, "no browser");
    let path = place.path().join("pairing.json");
    for (text, state, part) in [
        (r#"{"instances": {}}"#, Health::Warning, "no browser"),
        (r#"{"instances": {"a": {}}}"#, Health::Ok, "one browser"),
        (r#"{"instances": {"a": {}, "b": {}}}"#, Health::Ok, "2 browsers"),
        ("{", Health::Problem, "damaged"),
        ("[]", Health::Problem, "damaged"),
    ] {
        write(&path, text, 0o600);
        check(&browser::paired(place.path()), state, part);
    }
    write(&path, "{}", 0o644);
    check(&browser::paired(place.path()), Health::Problem, "not a private file");
}

#[test]
fn clients_are_asked_what_they_start() {
    let place = Place::private();
    let setup = setup(&place);
    check(&client::clients(&setup)[0], Health::Warning, "no AI client");
    let config = setup.what.here.home.join(".cursor/mcp.json");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    check(&client::clients(&setup)[0], Health::Warning, "does not know");
    let other = write(&place.path().join("bin/other"), "", 0o755);
    let entry = |command: &str, args: &str| {
        format!(r#"{{"mcpServers": {{"tabwire": {{"command": "{command}", "args": [{args}]}}}}}}"#)
    };
    let own = &setup.what.entry.command;
    for (text, state, part) in [
        ("{".to_owned(), Health::Problem, "cannot be read"),
        ("{}".to_owned(), Health::Warning, "does not know"),
        (
            r#"{"mcpServers": {"tabwire": {"url": "http://x"}}}"#.to_owned(),
            Health::Warning,
            "no program",
        ),
        (entry(own, "\"stdio\""), Health::Problem, "not there"),
        (entry("tabwire", "\"stdio\""), Health::Problem, "not there"),
        (entry(other.to_str().unwrap(), "\"stdio\""), Health::Warning, "another program"),
    ] {
        write(&config, &text, 0o600);
        check(&client::clients(&setup)[0], state, part);
    }
    write(&setup.what.program, "", 0o755);
    for (command, args, state) in [
        (own.as_str(), "\"stdio\"", Health::Ok),
        ("tabwire", "\"stdio\"", Health::Ok),
        (own.as_str(), "", Health::Warning),
    ] {
        write(&config, &entry(command, args), 0o600);
        check(&client::clients(&setup)[0], state, "starts");
    }
}

#[test]
fn findings_are_written_with_their_names() {
    let finding = Finding::problem("port", "8765 is taken", "end it");
    let text = serde_json::to_value(finding).unwrap();
    let wanted = serde_json::json!({
        "check": "port", "state": "problem", "message": "8765 is taken", "fix": "end it",
    });
    assert_eq!(text, wanted);
}
