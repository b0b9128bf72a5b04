//! The command line: what it prints, for people and for programs, and how it ends.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Answer, Commands, FakeApp, FakeBrowser, HubProcess, Place, eventually};

use crate::scene::{PROGRAM, hub};

/// A hub with an app that repeats what it is told, or fails when asked to.
async fn with_viewer(flags: &[&str]) -> (HubProcess, FakeApp) {
    let hub = hub(flags).await;
    let mut peer = FakeBrowser::app(hub.port(), "viewer");
    peer.connect().await;
    peer.publish_state("p1", 1, json!({"color": "red"})).await;
    peer.settle().await;
    peer.vanish();
    let app = FakeApp::start(peer, &["paint", "say"], |call| {
        match (call["toolName"].as_str(), call["args"]["how"].as_str()) {
            (_, Some("badly")) => Answer::Error("OUT_OF_PAINT", "there is no red left"),
            (_, Some("never")) => Answer::Never,
            (Some("say"), _) => Answer::Result(call["args"]["text"].clone()),
            _ => Answer::Result(call["args"].clone()),
        }
    })
    .await;
    (hub, app)
}

#[tokio::test]
async fn sessions_are_listed_for_people_and_for_programs() {
    let (hub, app) = with_viewer(&[]).await;
    FakeBrowser::connected(hub.port(), "gone").await.vanish();
    hub.api().until_connected("gone", false).await;
    let commands = hub.commands(PROGRAM);
    let list = commands.run(&["sessions"]).await.must_exit(0).stdout;
    let line = |name: &str| {
        let found = list.lines().find(|line| line.starts_with(name));
        found.unwrap_or_else(|| panic!("{name} is not in {list}")).to_owned()
    };
    assert!(line("viewer").contains(&app.session) && line("viewer").contains("connected"));
    assert!(line("gone").contains("away"), "{list}");
    let json = commands.run(&["sessions", "--json"]).await.must_exit(0).json();
    let names: Vec<_> = json.as_array().unwrap().iter().map(|session| &session["name"]).collect();
    assert_eq!(names, ["gone", "viewer"]);
}

#[tokio::test]
async fn no_sessions_are_said_in_words() {
    let hub = hub(&[]).await;
    let commands = hub.commands(PROGRAM);
    let list = commands.run(&["sessions"]).await.must_exit(0).stdout;
    assert!(list.contains("no browser or app"), "{list}");
    assert_eq!(commands.run(&["sessions", "--json"]).await.must_exit(0).json(), json!([]));
}

#[tokio::test]
async fn one_session_is_shown_with_its_state() {
    let (hub, app) = with_viewer(&[]).await;
    let commands = hub.commands(PROGRAM);
    for reference in ["viewer", app.session.as_str(), &app.session[..6]] {
        let shown = commands.run(&["sessions", reference, "--json"]).await.must_exit(0).json();
        let found = (&shown["id"], &shown["state"]["value"], &shown["state"]["source"]);
        assert_eq!(found, (&json!(app.session), &json!({"color": "red"}), &json!("cache")));
    }
    let pretty = commands.run(&["sessions", "viewer"]).await.must_exit(0);
    assert!(pretty.json().is_object() && pretty.stdout.lines().count() > 10);
    let refreshed = commands.run(&["sessions", "viewer", "--refresh", "--json"]).await;
    assert_eq!(refreshed.must_exit(0).json()["state"]["source"], "stale", "the app has none now");
    let unknown = commands.run(&["sessions", "nobody"]).await.must_exit(1);
    assert!(unknown.stderr.contains("nobody") && unknown.stderr.contains("\"viewer\""));
}

#[tokio::test]
async fn a_call_prints_its_result() {
    let (hub, _app) = with_viewer(&[]).await;
    let commands = hub.commands(PROGRAM);
    let args = r#"{"color":"rød","n":[1,2]}"#;
    let result = commands.run(&["call", "paint", args]).await.must_exit(0).json();
    assert_eq!(result, json!({"color": "rød", "n": [1, 2]}));
    let whole = commands.run(&["call", "paint", args, "--json"]).await.must_exit(0);
    assert_eq!(whole.stdout.lines().count(), 1, "one line for programs");
    let (result, text) = (json!({"color": "rød", "n": [1, 2]}), r#"{"color":"rød","n":[1,2]}"#);
    assert_eq!(whole.json(), json!({"session": "viewer", "result": result, "text": text}));
    let own = commands.run(&["call", "browser_instance", "--json"]).await.must_exit(0).json();
    assert_eq!(own["result"]["sessions"][0]["session"], "viewer", "our own tools are there too");
    let said = commands.run(&["call", "say", r#"{"text":"hello there"}"#, "-s", "viewer"]).await;
    assert_eq!(said.must_exit(0).stdout, "hello there\n", "a text is printed as it is");
    let without = commands.run(&["call", "paint"]).await.must_exit(0);
    assert_eq!(without.json(), json!({}));
}

#[tokio::test]
async fn a_call_reads_its_arguments_from_standard_input() {
    let (hub, _app) = with_viewer(&[]).await;
    let commands = hub.commands(PROGRAM);
    let piped = commands.run_with(&["call", "paint", "-"], "{\"color\": \"blue\"}\n").await;
    assert_eq!(piped.must_exit(0).json(), json!({"color": "blue"}));
    for wrong in ["", "not json", "[1]"] {
        commands.run_with(&["call", "paint", "-"], wrong).await.must_exit(2);
    }
}

#[tokio::test]
async fn a_call_ends_with_a_code_that_says_how() {
    let (hub, _app) = with_viewer(&["--abandoned-grace", "50ms"]).await;
    let commands = hub.commands(PROGRAM);
    let check = async |args: &[&str], code: i32, parts: &[&str]| {
        let ended = commands.run(args).await.must_exit(code);
        assert_eq!(ended.stdout, "", "{args:?}");
        for part in parts {
            assert!(ended.stderr.contains(part), "{args:?}: {}", ended.stderr);
        }
    };
    let badly = r#"{"how":"badly"}"#;
    check(&["call", "paint", badly], 1, &["there is no red left", "OUT_OF_PAINT"]).await;
    let never = r#"{"how":"never"}"#;
    check(&["call", "paint", never, "--timeout", "200ms"], 1, &["timed_out", "0.2s"]).await;
    check(&["call", "fly"], 1, &["unknown_tool"]).await;
    check(&["call", "paint", "--session", "nobody"], 1, &["unknown_session", "viewer"]).await;
    check(&["call", "paint", "not json"], 2, &["not JSON"]).await;
    check(&["call", "paint", "[1]"], 2, &["JSON object"]).await;
    check(&["call", "paint", "--timeout", "soon"], 2, &["soon"]).await;
    check(&["call"], 2, &["Usage"]).await;
    check(&["fly"], 2, &["fly"]).await;
}

#[tokio::test]
async fn without_a_hub_commands_end_with_three() {
    let place = Place::create();
    let commands = Commands::new(PROGRAM, &place);
    for args in [&["sessions"][..], &["sessions", "x"], &["call", "paint"], &["tail"]] {
        let ended = commands.run(args).await.must_exit(3);
        assert!(ended.stderr.contains("tabwire serve"), "{ended:?}");
    }
}

/// Whoever took the port of a hub that has died hears nothing from the command line, a token least.
#[tokio::test]
async fn a_program_on_the_hubs_port_is_not_talked_to() {
    let mut hub = hub(&[]).await;
    let port = hub.port();
    hub.kill();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    for words in [&["sessions"][..], &["call", "app_state"], &["tail"], &["dialects"]] {
        let ended = hub.commands(PROGRAM).run(words).await.must_exit(3);
        assert!(ended.stderr.contains("no hub runs"), "{words:?}: {}", ended.stderr);
    }
    let heard = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
    assert!(heard.is_err(), "somebody connected");
}

#[tokio::test]
async fn another_port_than_the_hub_has_is_an_error() {
    let hub = hub(&[]).await;
    let ended = hub.commands(PROGRAM).run(&["sessions", "--port", "1"]).await.must_exit(3);
    let port = hub.port().to_string();
    assert!(ended.stderr.contains(&port) && ended.stderr.contains("--data"), "{}", ended.stderr);
    hub.commands(PROGRAM).run(&["sessions", "--port", &port]).await.must_exit(0);
}

#[tokio::test]
async fn tail_shows_a_call_as_it_happens() {
    let (hub, _app) = with_viewer(&[]).await;
    let other = FakeApp::echo(hub.port(), "other", &["sing"]).await;
    let commands = hub.commands(PROGRAM);
    let people = commands.spawn(&["tail"]);
    let programs = commands.spawn(&["tail", "--json", "--session", "viewer"]);
    let shown = eventually("both show the call", async || {
        // It shows what happens from its start on, which is not known here: call again.
        hub.api().call_tool("viewer", "paint", json!({})).await.must_be(200);
        hub.api().call_tool("other", "sing", json!({})).await.must_be(200);
        let shown = people.stdout();
        let find = |session: &str, tool: &str| {
            let fits = |line: &&str| line.contains(session) && line.contains(tool);
            shown.lines().find(fits).map(str::to_owned)
        };
        // All sessions unless one is named.
        find(&other.name, "sing")?;
        let line = find("viewer", "paint")?;
        Some((line, programs.stdout().lines().next()?.to_owned()))
    })
    .await;
    assert!(shown.0.contains("call paint") && shown.0.contains("done"), "{}", shown.0);
    let item: Value = serde_json::from_str(&shown.1).unwrap();
    let found = (&item["kind"], &item["name"], &item["session"], &item["body"]["outcome"]);
    assert_eq!(found, (&json!("call"), &json!("paint"), &json!("viewer"), &json!("done")));
    assert!(!programs.stdout().contains("sing"), "only the named one");
    drop(hub);
    people.finished().await;
    programs.finished().await;
}

#[tokio::test]
async fn version_and_completions_need_no_hub() {
    let place = Place::create();
    let commands = Commands::new(PROGRAM, &place);
    let version = commands.run(&["version"]).await.must_exit(0).stdout;
    assert_eq!(version, format!("tabwire {}\n", env!("CARGO_PKG_VERSION")));
    let json = commands.run(&["version", "--json"]).await.must_exit(0).json();
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["protocols"], json!(["tabwire.v1"]));
    for shell in ["bash", "zsh", "fish"] {
        let script = commands.run(&["completions", shell]).await.must_exit(0).stdout;
        assert!(script.contains("sessions") && script.contains("require-token"), "{shell}");
    }
    commands.run(&["completions", "abacus"]).await.must_exit(2);
}

#[tokio::test]
async fn every_command_has_help_with_an_example() {
    let place = Place::create();
    let commands = Commands::new(PROGRAM, &place);
    for command in [
        "serve",
        "sessions",
        "call",
        "tail",
        "install",
        "uninstall",
        "doctor",
        "version",
        "completions",
    ] {
        let help = commands.run(&[command, "--help"]).await.must_exit(0).stdout;
        assert!(help.contains("Example") && help.contains("tabwire "), "{command}: {help}");
    }
    commands.run(&[]).await.must_exit(2);
}
