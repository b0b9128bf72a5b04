//! The setting `app_origins`: all web apps of this machine, those that are named, or each after its
//! user has said yes.

use serde_json::{Value, json};
use testkit::{Dial, FakeBrowser, FakeExtension, HubProcess, eventually};

use crate::{
    pairing_commands::enroll,
    scene::{PROGRAM, hub},
};

const APP: &str = "http://localhost:5173";
const OTHER: &str = "http://localhost:6666";

fn page(hub: &HubProcess, instance: &str, origin: &str) -> FakeBrowser {
    FakeBrowser::app(hub.port(), instance).dialled(|dial| dial.origin(origin))
}

/// Fails the test unless the page is told to come again later.
async fn must_wait(hub: &HubProcess, origin: &str) {
    let ending = page(hub, "page", origin).try_connect().await.unwrap_err();
    let bye = ending.bye().unwrap();
    assert_eq!((&bye["code"], &bye["retry"]), (&json!("not_allowed_yet"), &json!(true)), "{bye}");
    let is_in = |session: &Value| session["origin"] == origin && session["connected"] == true;
    assert!(!hub.api().sessions().await.iter().any(is_in));
}

#[tokio::test]
async fn an_app_waits_until_it_is_allowed_and_stays_allowed() {
    let mut hub = hub(&["--app-origins", "ask"]).await;
    must_wait(&hub, APP).await;
    must_wait(&hub, OTHER).await;
    let commands = hub.commands(PROGRAM);
    let list = commands.run(&["sessions"]).await.must_exit(0).stdout;
    assert!(list.contains(&format!("tabwire sessions allow {APP}")), "{list}");
    commands.run(&["sessions", "allow", APP]).await.must_exit(0);
    let list = commands.run(&["sessions"]).await.must_exit(0).stdout;
    assert!(!list.contains(APP) && list.contains(OTHER), "{list}");
    page(&hub, "page", APP).connect().await;
    must_wait(&hub, OTHER).await;
    hub.terminate().await;
    hub.restart().await;
    page(&hub, "page", APP).connect().await;
    let waiting = hub.api().get("/api/apps").await.json();
    assert_eq!(waiting, json!({"asks": true, "waiting": [], "allowed": [APP]}));
}

#[tokio::test]
async fn who_is_denied_is_put_out_and_asked_about_no_more() {
    let hub = hub(&["--app-origins", "ask"]).await;
    let commands = hub.commands(PROGRAM);
    commands.run(&["sessions", "allow", APP]).await.must_exit(0);
    let mut app = page(&hub, "page", APP);
    app.connect().await;
    commands.run(&["sessions", "deny", APP]).await.must_exit(0);
    app.take_socket().must_close(4402).await;
    must_wait(&hub, APP).await;
    assert_eq!(hub.api().get("/api/apps").await.json()["waiting"], json!([]));
    commands.run(&["sessions", "allow", "https://evil.example"]).await.must_exit(2);
}

#[tokio::test]
async fn the_users_own_browser_asks_and_answers() {
    let hub = hub(&["--app-origins", "ask"]).await;
    let key = enroll(&hub, "chrome").await;
    let (mut socket, _) = FakeExtension::new(hub.port(), "chrome", &key).connect().await;
    // One that has shown a token and has not proven that it is paired hears nothing and answers
    // nothing: it may be anybody's.
    let mut stranger = FakeBrowser::browser(hub.port(), "stranger");
    stranger.connect().await;
    must_wait(&hub, APP).await;
    let told = loop {
        let event = socket.until("event").await;
        // Right after the welcome it is told that nobody waits.
        if event["name"] == "appsWaiting" && event["data"]["origins"] != json!([]) {
            break event;
        }
    };
    assert_eq!(told["data"]["origins"], json!([APP]));
    let yes = json!({"origin": APP, "allowed": true});
    stranger.publish_event("appAnswered", yes.clone()).await;
    stranger.settle().await;
    must_wait(&hub, APP).await;
    assert!(stranger.seen.delivered.iter().all(|event| event["name"] != "appsWaiting"));
    socket.send(&json!({"type": "event", "sequence": 1, "name": "appAnswered", "data": yes})).await;
    let allowed = async || {
        let apps = hub.api().get("/api/apps").await.json();
        (apps["allowed"] == json!([APP])).then_some(())
    };
    eventually("the answer has arrived", allowed).await;
    page(&hub, "page", APP).connect().await;
}

#[tokio::test]
async fn only_those_that_are_named_come_in() {
    let hub = hub(&["--app-origins", APP]).await;
    page(&hub, "page", APP).connect().await;
    let own = format!("http://127.0.0.1:{}", hub.port());
    page(&hub, "viewer", &own).connect().await;
    let refused = Dial::session(hub.port(), "other").origin(OTHER).try_connect().await;
    let refused = refused.err().flatten().unwrap();
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("--app-origins"), "{}", refused.text());
}
