//! Starting the hub and changing its settings: flags, files, signals, and clear errors.

use serde_json::json;
use testkit::{Ask, Commands, FakeApp, HubOptions, HubProcess, Place, Signal, eventually};

use crate::scene::{PROGRAM, hub};

/// Starts a hub that must not start; returns its exit code and what it said.
async fn refused(options: HubOptions) -> (Option<i32>, String) {
    let (status, said) = options.try_start().await.err().expect("a refusal");
    (status.code(), said)
}

#[tokio::test]
async fn the_first_line_says_where_it_listens() {
    let mut hub = hub(&[]).await;
    let line: serde_json::Value = serde_json::from_str(hub.stdout().trim()).unwrap();
    assert_eq!((&line["event"], &line["port"]), (&json!("listening"), &json!(hub.port())));
    let info = hub.api().get("/info").await.must_be(200).json();
    assert_eq!((&info["name"], &info["port"]), (&json!("tabwire"), &json!(hub.port())));
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(hub.api().get("/health").await.must_be(200).json()["status"], "ok");
    assert_eq!(hub.terminate().await.code(), Some(0));
    assert_eq!(hub.stdout().lines().count(), 1, "the log goes to standard error");
}

#[tokio::test]
async fn a_port_in_use_is_a_clear_error() {
    let first = hub(&[]).await;
    let port = first.port().to_string();
    let (code, said) = refused(HubOptions::new(PROGRAM).flags(&["--port", &port])).await;
    assert_eq!(code, Some(1), "{said}");
    for part in [port.as_str(), "in use", "--port"] {
        assert!(said.contains(part), "{said}");
    }
    first.api().get("/health").await.must_be(200);
}

#[tokio::test]
async fn an_unknown_setting_is_refused_with_the_nearest_one() {
    let options = HubOptions::new(PROGRAM);
    let file = options.place().write("config.toml", "call_timout = \"5s\"\n");
    let (code, said) = refused(options.flags(&["--config", file.to_str().unwrap()])).await;
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("call_timout") && said.contains("call_timeout?"), "{said}");
    let (code, said) =
        refused(HubOptions::new(PROGRAM).variable("TABWIRE_CALL_TIMOUT", "5s")).await;
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("call_timeout?"), "{said}");
    let (code, said) = refused(HubOptions::new(PROGRAM).flags(&["--call-timout", "5s"])).await;
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--call-timeout"), "{said}");
}

#[tokio::test]
async fn a_wrong_setting_is_refused_by_name() {
    for (flags, part) in [
        (&["--call-timeout", "soon"][..], "call_timeout"),
        (&["--calls-total", "many"], "calls-total"),
        (&["--bind", "somewhere"], "bind"),
        (&["--allow-origin", "*"], "allow_origin"),
        (&["--log-level", "loud"], "log_level"),
        (&["--port", "70000"], "port"),
        (&["--config", "missing.toml"], "missing.toml"),
        (&["--token-file", "missing"], "missing"),
    ] {
        let (code, said) = refused(HubOptions::new(PROGRAM).flags(flags)).await;
        assert_eq!(code, Some(2), "{flags:?}: {said}");
        assert!(said.contains(part), "{flags:?}: {said}");
    }
}

#[tokio::test]
async fn flags_go_over_variables_over_the_file() {
    let place = Place::create();
    place.folder("config/tabwire");
    let file = "calls_total = 1\ncalls_per_session = 2\ncall_timeout = \"3s\"\n";
    place.write("config/tabwire/config.toml", file);
    let commands = Commands::new(PROGRAM, &place)
        .variable("TABWIRE_CALLS_PER_SESSION", "20")
        .variable("TABWIRE_CALL_TIMEOUT", "30s");
    let flags = ["serve", "--print-config", "--call-timeout", "5m"];
    let printed = commands.run(&flags).await.must_exit(0).stdout;
    let settings: toml::Table = toml::from_str(&printed).unwrap();
    assert_eq!(settings["calls_total"].as_integer(), Some(1), "from the file");
    assert_eq!(settings["calls_per_session"].as_integer(), Some(20), "from the variable");
    assert_eq!(settings["call_timeout"].as_str(), Some("5m"), "from the flag");
    assert_eq!(settings["port"].as_integer(), Some(8765), "nobody said anything");
}

#[tokio::test]
async fn what_is_printed_as_settings_can_be_read_as_settings() {
    let place = Place::create();
    let commands = Commands::new(PROGRAM, &place);
    let flags = ["--allow-origin", "https://a.example,https://b.example", "--require-token"];
    let printed = commands.run(&[&["serve", "--print-config"], &flags[..]].concat()).await;
    let printed = printed.must_exit(0).stdout;
    let file = place.write("again.toml", &printed);
    let again =
        commands.run(&["serve", "--print-config", "--config", file.to_str().unwrap()]).await;
    assert_eq!(again.must_exit(0).stdout, printed);
    let settings: toml::Table = toml::from_str(&printed).unwrap();
    assert_eq!(settings["allow_origin"].as_array().unwrap().len(), 2);
}

/// A hub that reads its settings from a file.
async fn configured(text: &str) -> HubProcess {
    let options = HubOptions::new(PROGRAM);
    let file = options.place().write("config.toml", text);
    options.flags(&["--config", file.to_str().unwrap()]).start().await
}

/// Calls something that is never answered; returns what the caller is told.
async fn time_out(hub: &HubProcess) -> String {
    let answer = hub.api().call_tool("north", "paint", json!({})).await.must_be(504);
    answer.json()["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn settings_are_read_again_on_a_signal() {
    let hub = configured("call_timeout = \"100ms\"\n").await;
    let peer = testkit::FakeBrowser::app(hub.port(), "north");
    let app = FakeApp::start(peer, &["paint?"], |_| testkit::Answer::Never).await;
    assert!(time_out(&hub).await.contains("0.1s"));
    hub.place().write("config.toml", "call_timeout = \"200ms\"\nlog_level = \"debug\"\n");
    hub.signal(Signal::Hangup);
    eventually("the new time counts", async || time_out(&hub).await.contains("0.2s").then_some(()))
        .await;
    eventually("the log is louder too", async || hub.stderr().contains("call begun").then_some(()))
        .await;
    assert_eq!(hub.api().session(&app.name).await["connections"], 1, "nobody was disturbed");
}

#[tokio::test]
async fn a_broken_file_keeps_the_old_settings() {
    let hub = configured("call_timeout = \"100ms\"\n").await;
    let peer = testkit::FakeBrowser::app(hub.port(), "north");
    let _app = FakeApp::start(peer, &["paint?"], |_| testkit::Answer::Never).await;
    for (number, broken) in
        ["call_timeout = ", "call_timout = \"1s\"\n", "call_timeout = \"soon\"\n"]
            .iter()
            .enumerate()
    {
        hub.place().write("config.toml", broken);
        hub.signal(Signal::Hangup);
        eventually("the hub says so", async || {
            let said = hub.stderr().matches("the old ones stay").count();
            (said > number).then_some(())
        })
        .await;
        assert!(time_out(&hub).await.contains("0.1s"), "{broken}");
    }
    hub.place().write("config.toml", "call_timeout = \"300ms\"\n");
    hub.signal(Signal::Hangup);
    eventually("a good file counts again", async || {
        time_out(&hub).await.contains("0.3s").then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_port_changes_with_a_restart_only() {
    let hub = configured("allow_host = []\n").await;
    hub.place().write("config.toml", "allow_host = [\"hub.example\"]\nbind = [\"127.0.0.3\"]\n");
    hub.signal(Signal::Hangup);
    eventually("the new name counts", async || {
        let answer = Ask::get("/health").host("hub.example").send(hub.port()).await;
        (answer.status == 200).then_some(())
    })
    .await;
    eventually("the log says what did not change", async || {
        hub.stderr().contains("with a restart only").then_some(())
    })
    .await;
    hub.api().get("/health").await.must_be(200);
}
