//! Browsers that the hub starts, crossed with other faults: hubs that freeze in the middle of a
//! launch, and two hubs with one browser.

use std::{fs, path::Path};

use serde_json::{Value, json};
use testkit::{
    Era, FakeBrowser, FakeClock, FakeExtension, HubOptions, McpStdio, PATIENCE, StdioOptions,
    eventually,
    machine::{freeze, gone, is_alive, thaw},
};

use crate::{
    browsers::{Scene, WAITS, pid},
    pairing_commands::{ask_host, enroll},
    scene::{PROGRAM, hub},
};

/// A call that starts a browser.
fn new_browser() -> Value {
    json!({"name": "browser_instance", "arguments": {"action": "new"}})
}

/// Returns the processes of browsers that were started for a data folder.
fn browsers_of(data: &Path) -> Vec<u32> {
    let folder = data.as_os_str().as_encoded_bytes();
    let is_browser = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let has = |part: &[u8]| line.windows(part.len()).any(|window| window == part);
        has(b"--tabwire-launch=") && has(folder)
    };
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(is_browser).collect()
}

/// Waits until no process, record or throw-away profile is left.
async fn until_nothing_is_left(scene: &Scene) {
    eventually("nothing is left of the launch", async || {
        let folder = scene.data().join("browsers");
        let left = fs::read_dir(folder).map_or(0, Iterator::count);
        (left == 0 && browsers_of(&scene.data()).is_empty()).then_some(())
    })
    .await;
}

/// Freezes the hub once the browser of a launch runs; returns the browser.
async fn freeze_in_launch(scene: &Scene) -> u32 {
    let record = eventually("a browser is started", async || {
        scene.records().into_iter().find(|record| record["pid"] != 0)
    })
    .await;
    freeze(scene.hub.pid()).await;
    record["pid"].as_u64().unwrap().try_into().unwrap()
}

/// Fails the test unless a browser can be started and closed as ever.
async fn check_next_launch(scene: &Scene, instance: &str) {
    let (started, extension) = scene.start(json!({}), instance).await;
    close(scene, pid(&started), extension).await;
}

/// Closes a browser, whose extension goes with it, and waits until nothing is left.
async fn close(scene: &Scene, browser: u32, mut extension: FakeBrowser) {
    let close = json!({"action": "close", "session": extension.welcome["name"]});
    let (closed, ()) = tokio::join!(scene.call(close), async {
        gone(browser).await;
        extension.vanish();
    });
    closed.must_be(200);
    until_nothing_is_left(scene).await;
}

async fn client(scene: &Scene, flags: &[&str]) -> McpStdio {
    StdioOptions::of(PROGRAM, &scene.hub).flags(flags).connect(Era::Modern).await
}

#[tokio::test]
async fn a_launch_goes_on_after_a_hub_that_was_frozen_for_a_moment() {
    let scene = Scene::new(WAITS, &[]).await;
    let mut client = client(&scene, &[]).await;
    let id = client.ask("tools/call", new_browser()).await;
    let browser = freeze_in_launch(&scene).await;
    let list = client.ask("tools/list", json!({})).await;
    thaw(scene.hub.pid());
    let extension = scene.come_up("one").await;
    let started = client.answer(id).await.result();
    assert_eq!(pid(&started["structuredContent"]), browser, "{started}");
    client.answer(list).await.result();
    close(&scene, browser, extension).await;
}

#[tokio::test]
async fn a_launch_whose_client_was_told_that_the_hub_is_frozen_is_ended() {
    let scene = Scene::new(WAITS, &[]).await;
    let mut client = client(&scene, &["--request-timeout", "1s"]).await;
    // Without an explicit time, as clients ask; it is the relay's own that counts.
    let id = client.ask("tools/call", new_browser()).await;
    let browser = freeze_in_launch(&scene).await;
    let list = client.request("tools/list", json!({})).await;
    assert_eq!(list.0["error"]["data"]["code"], "hub_unresponsive", "{}", list.0);
    let (failed, said) = client.answer(id).await.told();
    assert!(failed && said.contains("hub_unresponsive"), "{said}");
    assert!(is_alive(browser), "nobody else ends it");
    thaw(scene.hub.pid());
    gone(browser).await;
    until_nothing_is_left(&scene).await;
    check_next_launch(&scene, "two").await;
    client.request("tools/list", json!({})).await.result();
}

#[tokio::test]
async fn a_launch_that_slept_through_its_time_is_over_and_leaves_nothing() {
    let options = HubOptions::new(PROGRAM);
    let clock = FakeClock::of_all(options.place());
    let scene = Scene::with(options.variables(&clock.variables()), WAITS, &[]).await;
    // In case that the hub is frozen before it has looked at the clock: then the minute of a launch
    // begins after the night.
    let mut client = client(&scene, &[]).await.patient(3 * PATIENCE);
    let mut params = new_browser();
    params["_meta"] = json!({"progressToken": 7});
    let id = client.ask("tools/call", params).await;
    let waits = "waiting for its extension";
    client.until(waits, |message| message["params"]["message"] == waits).await;
    let browser = freeze_in_launch(&scene).await;
    clock.set("+10m");
    thaw(scene.hub.pid());
    let (failed, said) = client.answer(id).await.told();
    assert!(failed && said.contains("it was ended"), "{said}");
    gone(browser).await;
    until_nothing_is_left(&scene).await;
    check_next_launch(&scene, "two").await;
}

#[tokio::test]
async fn a_hub_that_is_ended_by_force_in_a_launch_leaves_no_browser() {
    let mut scene = Scene::new(WAITS, &[]).await;
    // As soon as there is a record, whether the process is written down in it or not; and later.
    for is_early in [true, false] {
        let mut client = client(&scene, &[]).await;
        let id = client.ask("tools/call", new_browser()).await;
        match is_early {
            true => {
                eventually("a record is written", async || scene.records().pop()).await;
                freeze(scene.hub.pid()).await;
            }
            false => drop(freeze_in_launch(&scene).await),
        }
        let data = scene.data();
        let data = data.to_str().unwrap();
        let commands = scene.hub.commands(PROGRAM);
        let done = commands.run(&["stop", "--force", "--data", data]).await.must_exit(0);
        assert!(done.stdout.contains("by force"), "{}", done.stdout);
        scene.hub.exited().await;
        assert_eq!(
            (scene.records(), browsers_of(&scene.data())),
            (vec![], vec![]),
            "early: {is_early}"
        );
        scene.hub.restart().await;
        let (failed, said) = client.answer(id).await.told();
        assert!(failed && said.contains("outcome_unknown"), "{said}");
        check_next_launch(&scene, &format!("next-{is_early}")).await;
    }
}

#[tokio::test]
async fn a_browser_whose_hub_died_in_its_launch_is_adopted_and_can_be_closed() {
    let mut scene = Scene::new(WAITS, &[]).await;
    let mut client = client(&scene, &[]).await;
    client.ask("tools/call", new_browser()).await;
    let browser = freeze_in_launch(&scene).await;
    scene.hub.kill();
    scene.hub.restart().await;
    assert!(is_alive(browser));
    let list = scene.call(json!({})).await.must_be(200).json()["result"].clone();
    assert_eq!(list["browsers"][0]["adopted"], true, "{list}");
    let extension = scene.come_up("one").await;
    close(&scene, browser, extension).await;
    check_next_launch(&scene, "two").await;
}

#[tokio::test]
async fn a_browser_that_is_paired_with_one_hub_is_nobody_to_another() {
    let (ours, theirs) = (hub(&[]).await, hub(&[]).await);
    let key = enroll(&ours, "chrome").await;
    let mut extension = FakeExtension::new(ours.port(), "chrome", &key);
    let (mut socket, _) = extension.connect().await;
    // The same extension, told the other's port: neither can prove anything to the other.
    let mut strayed = FakeExtension::new(theirs.port(), "chrome", &key);
    let refused = strayed.try_connect().await.err().expect("it is not let in");
    assert!(refused.code >= 4000, "{refused:?}");
    assert!(theirs.api().sessions().await.is_empty(), "it has no session there");
    // Also an extension of the other's own, with the same name, is somebody else here.
    let other_key = enroll(&theirs, "chrome").await;
    assert_ne!(key, other_key);
    FakeExtension::new(theirs.port(), "chrome", &other_key).connect().await;
    let crossed = FakeExtension::new(ours.port(), "chrome", &other_key).try_connect().await;
    assert!(crossed.is_err());
    let session = ours.api().session("chrome").await;
    assert_eq!((&session["connected"], &session["connections"]), (&json!(true), &json!(1)));
    socket.send(&json!({"type": "ping"})).await;
    socket.until("pong").await;
}

#[tokio::test]
async fn no_hub_ends_a_browser_that_another_has_started() {
    let ours = Scene::new(WAITS, &[]).await;
    let mut theirs = Scene::new(WAITS, &[]).await;
    let (started, _extension) = ours.start(json!({"profile": "work"}), "one").await;
    let (other, _other_extension) = theirs.start(json!({}), "two").await;
    let refused = theirs.call(json!({"action": "close", "session": started["session"]})).await;
    assert_eq!(refused.fault(), "unknown_session");
    // A record that was copied proves nothing, even where it names a folder of the other hub.
    let record = ours.records().remove(0);
    let profile = record["userDataDir"].as_str().unwrap();
    let (from, to) = (ours.data(), theirs.data());
    let mut forged = record.clone();
    forged["userDataDir"] = json!(profile.replace(from.to_str().unwrap(), to.to_str().unwrap()));
    let file = fs::read_dir(from.join("browsers")).unwrap().next().unwrap().unwrap().file_name();
    for copy in [&record, &forged] {
        theirs.hub.kill();
        fs::write(to.join("browsers").join(&file), copy.to_string()).unwrap();
        theirs.hub.restart().await;
        let closed = theirs.call(json!({"action": "close", "name": record["name"]})).await;
        assert_ne!(closed.status, 200, "{}", closed.text());
        assert!(is_alive(pid(&started)));
    }
    theirs.hub.terminate().await;
    assert!(!is_alive(pid(&other)), "its own is ended");
    let commands = theirs.hub.commands(PROGRAM);
    commands.run(&["stop", "--force"]).await.must_exit(3);
    assert!(is_alive(pid(&started)) && Path::new(profile).exists(), "the other's is not");
    let session = ours.hub.api().session(started["session"].as_str().unwrap()).await;
    assert_eq!(session["connected"], true);
    ours.call(json!({"action": "close", "session": started["session"]})).await.must_be(200);
}

#[tokio::test]
async fn a_browser_that_finds_another_hub_on_its_hubs_port_is_refused_and_comes_back() {
    let mut ours = Scene::new(WAITS, &[]).await;
    let port = ours.hub.port();
    let api = ours.hub.api();
    let start = api.call(json!({"tool": "browser_instance", "args": {"action": "new"}}));
    let (started, key) = tokio::join!(start, async {
        let record = eventually("a browser is started", async || {
            ours.records().into_iter().find(|record| record["pid"] != 0)
        });
        let launch = record.await["launch"].as_str().unwrap().to_owned();
        let hello = json!({"type": "hello", "instanceId": "one"}).to_string();
        let told = ask_host(&ours.hub, &["--launch", &launch], &[&hello]).await.remove(0);
        let key = told["key"].as_str().unwrap().to_owned();
        // Held until the launch is over.
        let held = FakeExtension::new(port, "one", &key).connect().await;
        (key, held)
    });
    let (key, held) = key;
    let started = started.must_be(200).json()["result"].clone();
    drop(held);
    ours.hub.kill();
    let port = port.to_string();
    let theirs = HubOptions::new(PROGRAM).flags(&["--port", &port]).start().await;
    let refused = FakeExtension::new(theirs.port(), "one", &key).try_connect().await;
    assert!(refused.is_err(), "it is not let in");
    assert!(theirs.api().sessions().await.is_empty());
    let list = theirs.api().call(json!({"tool": "browser_instance", "args": {}})).await;
    let list = list.must_be(200).json()["result"]["browsers"].clone();
    assert!(list.as_array().is_none_or(Vec::is_empty), "{list}");
    assert!(is_alive(pid(&started)));
    ours.hub.restart().await;
    let hello = json!({"type": "hello", "instanceId": "one"}).to_string();
    let told = ask_host(&ours.hub, &[], &[&hello]).await.remove(0);
    assert_eq!(told["port"], ours.hub.port(), "the host tells where its own hub is now");
    FakeExtension::new(ours.hub.port(), "one", &key).connect().await;
    ours.call(json!({"action": "close", "session": started["session"]})).await.must_be(200);
    gone(pid(&started)).await;
}
