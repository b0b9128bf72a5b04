//! Browsers that the hub starts, played by scripts: the extension's part is done by the test.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use testkit::{
    Commands, Era, FakeBrowser, HubOptions, HubProcess, Response, eventually,
    machine::{gone, is_alive},
};

use crate::{
    mcp_scene::stdio,
    scene::{PROGRAM, hub},
};

/// Waits, as a browser does, and says something.
pub const WAITS: &str = "echo 'the browser says hello'; sleep 600 & wait";

/// A hub whose browsers are a script.
pub struct Scene {
    pub hub: HubProcess,
}

impl Scene {
    pub async fn new(script: &str, flags: &[&str]) -> Self {
        Self::with(HubOptions::new(PROGRAM), script, flags).await
    }

    pub async fn with(options: HubOptions, script: &str, flags: &[&str]) -> Self {
        let browser = options.place().path().join("browser");
        fs::write(&browser, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
        let extension = options.place().folder("extension");
        fs::write(extension.join("manifest.json"), "{}").unwrap();
        let (browser, extension) = (browser.to_str().unwrap(), extension.to_str().unwrap());
        let options =
            options.flags(&["--browser", browser, "--browser-extension", extension]).flags(flags);
        Self { hub: options.start().await }
    }

    pub fn data(&self) -> PathBuf {
        self.hub.place().folder("data").join("tabwire")
    }

    pub fn records(&self) -> Vec<Value> {
        records(&self.data())
    }

    pub async fn call(&self, args: Value) -> Response {
        self.hub.api().call(json!({"tool": "browser_instance", "args": args})).await
    }

    /// Does the extension's part for the browser that comes up next.
    pub async fn come_up(&self, instance: &str) -> FakeBrowser {
        let record = eventually("a browser is started", async || {
            let mut records = self.records().into_iter();
            records.find(|record| record["session"].is_null() && record["pid"] != 0)
        })
        .await;
        self.pair(instance, record["launch"].as_str().unwrap());
        let mut browser = FakeBrowser::browser(self.hub.port(), instance);
        browser = browser.named(record["name"].as_str());
        browser.connect().await;
        browser
    }

    /// Asks the native messaging host for a key, as the extension does: that enrolls it.
    fn pair(&self, instance: &str, launch: &str) {
        let data = self.data();
        let mut host = Command::new(PROGRAM)
            .args(["native-host", "--data", data.to_str().unwrap(), "--launch", launch])
            .arg(format!("chrome-extension://{}/", guard::EXTENSION_ID))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let asked = json!({"type": "hello", "instanceId": instance, "browser": "test"}).to_string();
        let mut input = host.stdin.take().unwrap();
        input.write_all(&(asked.len() as u32).to_ne_bytes()).unwrap();
        input.write_all(asked.as_bytes()).unwrap();
        drop(input);
        assert!(host.wait().unwrap().success());
    }

    /// Starts a browser that comes up; returns the answer and the extension.
    pub async fn start(&self, mut args: Value, instance: &str) -> (Value, FakeBrowser) {
        args["action"] = json!("new");
        let (answer, browser) = tokio::join!(self.call(args), self.come_up(instance));
        (answer.must_be(200).json()["result"].clone(), browser)
    }
}

/// Nothing stays behind, whatever became of the hub.
impl Drop for Scene {
    fn drop(&mut self) {
        for record in self.records() {
            let script = format!("kill -KILL -{}", record["pid"]);
            let _ = Command::new("sh").args(["-c", &script]).output();
        }
    }
}

fn records(data: &Path) -> Vec<Value> {
    let entries = fs::read_dir(data.join("browsers")).into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| fs::read(entry.path()).ok());
    texts.filter_map(|text| serde_json::from_slice(&text).ok()).collect()
}

pub fn pid(result: &Value) -> u32 {
    result["browser"]["pid"].as_u64().unwrap().try_into().unwrap()
}

#[track_caller]
fn check_fault(answer: Response, code: &str, parts: &[&str]) {
    let error = answer.json()["error"].clone();
    assert_eq!(error["code"], code, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "{part} in {error}");
    }
}

#[tokio::test]
async fn a_browser_is_started_recorded_listed_and_closed_without_a_trace() {
    let scene = Scene::new(WAITS, &[]).await;
    let (started, mut extension) = scene.start(json!({"name": "shop"}), "one").await;
    assert_eq!(started["session"], "shop");
    assert_eq!(started["browser"]["headless"], true, "there is no display");
    let record = scene.records().remove(0);
    assert_eq!((&record["session"], &record["throwAway"]), (&json!("shop"), &json!(true)));
    let profile = PathBuf::from(record["userDataDir"].as_str().unwrap());
    let script = fs::read_to_string(profile.join("tabwire-native-host.sh")).unwrap();
    let launch = record["launch"].as_str().unwrap();
    assert!(script.contains("native-host --data") && script.contains(launch), "{script}");
    let list = scene.call(json!({})).await.must_be(200).json();
    assert_eq!(list["result"]["browsers"][0]["session"], "shop");
    let text = list["text"].as_str().unwrap();
    assert!(text.contains("started by us, throw-away profile, headless"), "{text}");
    let close = scene.call(json!({"action": "close", "session": "shop"}));
    let (closed, ()) = tokio::join!(close, async {
        gone(pid(&started)).await;
        extension.vanish();
    });
    assert_eq!(closed.must_be(200).json()["result"]["closed"], "shop");
    assert!(!is_alive(pid(&started)) && !profile.exists() && scene.records().is_empty());
}

#[tokio::test]
async fn the_session_of_a_throw_away_browser_is_forgotten_with_it() {
    let scene = Scene::new(WAITS, &[]).await;
    for instance in ["one", "two"] {
        let (started, mut extension) = scene.start(json!({}), instance).await;
        assert_eq!(started["session"], "chromium", "the name is free again");
        let close = scene.call(json!({"action": "close", "name": "chromium"}));
        let (closed, ()) = tokio::join!(close, async {
            gone(pid(&started)).await;
            extension.vanish();
        });
        closed.must_be(200);
        assert!(scene.hub.api().sessions().await.is_empty());
    }
    // One that ends by itself, as when its window is closed.
    let (started, mut extension) = scene.start(json!({}), "three").await;
    let script = format!("kill -KILL -{}", pid(&started));
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    extension.vanish();
    eventually("it is cleaned up", async || {
        (scene.records().is_empty() && scene.hub.api().sessions().await.is_empty()).then_some(())
    })
    .await;
    assert_eq!(fs::read_dir(scene.data().join("browsers")).unwrap().count(), 0);
}

#[tokio::test]
async fn after_a_crash_of_the_hub_living_browsers_are_adopted_and_dead_ones_cleaned_up() {
    let mut scene = Scene::new(WAITS, &[]).await;
    let (alive, mut extension) = scene.start(json!({"profile": "work"}), "one").await;
    let (dead, _other) = scene.start(json!({}), "two").await;
    scene.hub.kill();
    let script = format!("kill -KILL -{}", pid(&dead));
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    assert!(is_alive(pid(&alive)), "browsers outlive a crash");
    scene.hub.restart().await;
    extension.follow(scene.hub.port());
    extension.connect().await;
    let list = scene.call(json!({})).await.must_be(200).json()["result"].clone();
    let browsers = list["browsers"].as_array().unwrap();
    assert_eq!(browsers.len(), 1, "{list}");
    assert_eq!((&browsers[0]["session"], &browsers[0]["adopted"]), (&json!("work"), &json!(true)));
    assert_eq!(fs::read_dir(scene.data().join("browsers")).unwrap().count(), 1);
    let again = scene.call(json!({"action": "new", "profile": "work"})).await;
    check_fault(again, "busy", &["profile work is in use by work"]);
    scene.call(json!({"action": "close", "session": "work"})).await.must_be(200);
    assert!(!is_alive(pid(&alive)) && scene.data().join("profiles/work").exists());
}

#[tokio::test]
async fn only_what_was_started_here_is_closed() {
    let scene = Scene::new(WAITS, &[]).await;
    let own = FakeBrowser::browser(scene.hub.port(), "users-own");
    let mut own = own.named(Some("users-own"));
    own.connect().await;
    let (_started, _extension) = scene.start(json!({"name": "ours"}), "one").await;
    let refused = scene.call(json!({"action": "close", "session": "users-own"})).await;
    check_fault(refused, "refused", &["was not started by this hub", "ours"]);
    let refused = scene.call(json!({"action": "close", "name": "users-own"})).await;
    check_fault(refused, "unknown_session", &["ours"]);
    check_fault(scene.call(json!({"action": "close"})).await, "invalid_argument", &["session"]);
    let refused = scene.call(json!({"action": "list", "profile": "x"})).await;
    check_fault(refused, "invalid_argument", &["`profile`"]);
    assert_eq!(scene.hub.api().session("users-own").await["connected"], true);
}

#[tokio::test]
async fn limits_and_profiles_are_kept() {
    let scene = Scene::new(WAITS, &["--browsers-max", "2"]).await;
    let (_first, _one) = scene.start(json!({"profile": "work", "name": "shop"}), "one").await;
    let refused = scene.call(json!({"action": "new", "profile": "work"})).await;
    check_fault(refused, "busy", &["profile work is in use by shop"]);
    let (_second, _two) = scene.start(json!({}), "two").await;
    let refused = scene.call(json!({"action": "new"})).await;
    check_fault(refused, "busy", &["2 browsers", "browsers_max"]);
    let profiles = scene.call(json!({"action": "profiles"})).await.must_be(200).json();
    assert_eq!(profiles["result"]["profiles"], json!([{"profile": "work", "usedBy": "shop"}]));
    for (args, part) in [
        (json!({"profile": "../../etc"}), "small letters"),
        (json!({"browser": "/bin/sh"}), "browser"),
        (json!({"url": "file:///etc/passwd"}), "http"),
    ] {
        let mut args = args;
        args["action"] = json!("new");
        check_fault(scene.call(args).await, "invalid_argument", &[part]);
    }
}

#[tokio::test]
async fn one_that_does_not_come_up_is_ended_and_its_last_words_are_told() {
    let script = "echo 'cannot open display' >&2; exit 1";
    let scene = Scene::new(script, &[]).await;
    let refused = scene.call(json!({"action": "new"})).await;
    check_fault(refused, "tool_failed", &["ended before", "cannot open display"]);
    assert_eq!(fs::read_dir(scene.data().join("browsers")).unwrap().count(), 0);
    let scene = Scene::new(WAITS, &[]).await;
    let body = json!({"tool": "browser_instance", "args": {"action": "new"}, "timeoutMs": 5_000});
    let api = scene.hub.api();
    let (refused, pid) = tokio::join!(api.call(body), async {
        let record = eventually("it starts", async || scene.records().pop()).await;
        u32::try_from(record["pid"].as_u64().unwrap()).unwrap()
    });
    check_fault(refused, "tool_failed", &["within 5 s", "the browser says hello"]);
    assert!(pid == 0 || !is_alive(pid));
    assert!(scene.records().is_empty());
}

#[tokio::test]
async fn a_client_that_gives_up_leaves_no_browser() {
    let scene = Scene::new(WAITS, &[]).await;
    let mut client = stdio(&scene.hub, Era::Modern).await;
    let mut params = json!({"name": "browser_instance", "arguments": {"action": "new"}});
    params["_meta"] = json!({"progressToken": 7});
    client.ask("tools/call", params).await;
    for words in ["starting the browser", "waiting for its extension"] {
        let heard = client.notification("notifications/progress").await;
        assert_eq!(heard["params"]["message"], words, "{heard}");
    }
    let record = eventually("a browser is started", async || {
        scene.records().into_iter().find(|record| record["pid"] != 0)
    })
    .await;
    drop(client);
    gone(record["pid"].as_u64().unwrap().try_into().unwrap()).await;
    eventually("nothing is left", async || scene.records().is_empty().then_some(())).await;
}

#[tokio::test]
async fn browsers_end_with_the_hub() {
    let mut scene = Scene::new(WAITS, &[]).await;
    let (started, _extension) = scene.start(json!({"profile": "work"}), "one").await;
    assert_eq!(scene.hub.terminate().await.code(), Some(0));
    assert!(!is_alive(pid(&started)) && scene.records().is_empty());
}

#[tokio::test]
async fn a_started_browser_does_not_keep_an_idle_hub_and_ends_with_it() {
    let mut scene = Scene::new(WAITS, &["--idle-exit", "5s"]).await;
    let (started, extension) = scene.start(json!({}), "one").await;
    let (status, ()) = tokio::join!(scene.hub.exited(), gone(pid(&started)));
    assert_eq!(status.code(), Some(0));
    assert!(scene.records().is_empty());
    drop(extension);
}

#[tokio::test]
async fn the_command_line_starts_lists_and_closes() {
    let mut scene = Scene::new(WAITS, &[]).await;
    let commands = scene.hub.commands(PROGRAM);
    let new = ["browser", "new", "--profile", "work", "--headless", "--json"];
    let (started, _extension) = tokio::join!(commands.run(&new), scene.come_up("one"));
    assert_eq!(started.must_exit(0).json()["session"], "work");
    let list = commands.run(&["browser", "list"]).await.must_exit(0).stdout;
    assert!(list.contains("work") && list.contains("profile work"), "{list}");
    let profiles = commands.run(&["browser", "profiles"]).await.must_exit(0).stdout;
    assert_eq!(profiles, "- work (in use by work)\n");
    let closed = commands.run(&["browser", "close", "work"]).await.must_exit(0).stdout;
    assert!(closed.contains("its profile work is kept"), "{closed}");
    commands.run(&["browser", "close", "work"]).await.must_exit(4);
    // One that a hub leaves behind is ended by `stop`, though there is no hub.
    let (left, _other) = tokio::join!(commands.run(&["browser", "new"]), scene.come_up("two"));
    left.must_exit(0);
    let pid = scene.records()[0]["pid"].as_u64().unwrap().try_into().unwrap();
    scene.hub.kill();
    let told = Commands::new(PROGRAM, scene.hub.place()).run(&["stop"]).await.must_exit(3);
    assert!(told.stderr.contains("1 browsers that it had started"), "{}", told.stderr);
    assert!(!is_alive(pid) && scene.records().is_empty());
}

#[tokio::test]
async fn without_a_browser_it_says_what_was_looked_for() {
    let hub = hub(&["--browser", "/nowhere/chromium", "--browser-extension", "/nowhere"]).await;
    let new = json!({"tool": "browser_instance", "args": {"action": "new"}});
    check_fault(hub.api().call(new).await, "unsupported", &["browser_extension"]);
}
