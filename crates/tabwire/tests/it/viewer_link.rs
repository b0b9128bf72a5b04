//! A page of the hub on another machine: it is opened by a one-time link, and its key makes it an app
//! and nothing else.

use serde_json::json;
use testkit::{Ask, Dial, FakeBrowser, HubProcess};

use crate::scene::{PROGRAM, hub};

const HOST: &str = "hub.example:8765";
const ORIGIN: &str = "http://hub.example:8765";

/// A hub that is reached from elsewhere under a name.
async fn remote_hub() -> HubProcess {
    hub(&["--allow-host", HOST]).await
}

fn trade(code: &str) -> Ask {
    Ask::post("/pages/key", &json!({ "code": code })).host(HOST).header("Origin", ORIGIN)
}

async fn key(hub: &HubProcess) -> String {
    let link = hub.commands(PROGRAM).run(&["open", "viewer", "--link", "--no-start"]).await;
    let link = link.must_exit(0).stdout;
    let start = format!("{ORIGIN}/viewer/#code=");
    let code = link.trim().strip_prefix(&start).unwrap_or_else(|| panic!("{link}"));
    let answer = trade(code).send(hub.port()).await.must_be(200);
    trade(code).send(hub.port()).await.must_be(401);
    answer.json()["key"].as_str().unwrap().to_owned()
}

fn dial(hub: &HubProcess, key: Option<&str>) -> Dial {
    let dial = Dial::session(hub.port(), "viewer").addressed(HOST).origin(ORIGIN);
    match key {
        Some(key) => dial.offer(&format!("bearer.{key}")),
        None => dial,
    }
}

#[tokio::test]
async fn the_page_loads_everywhere_and_connects_with_the_key_of_its_link() {
    let hub = remote_hub().await;
    Ask::get("/viewer/").host(HOST).send(hub.port()).await.must_be(200);
    let refused = dial(&hub, None).try_connect().await.err().flatten().unwrap();
    assert_eq!(refused.status, 403, "{}", refused.text());
    let key = key(&hub).await;
    let mut page = FakeBrowser::app(hub.port(), "viewer").dialled(|_| dial(&hub, Some(&key)));
    page.connect().await;
    assert_eq!(hub.api().session("viewer").await["origin"], ORIGIN);
    let wrong = key.replace("page.", "page.x");
    for other in [wrong.as_str(), "page.a.b"] {
        let refused = dial(&hub, Some(other)).try_connect().await.err().flatten().unwrap();
        assert!([401, 403].contains(&refused.status), "{}", refused.text());
    }
}

#[tokio::test]
async fn the_key_makes_no_browser_and_opens_no_other_door() {
    let hub = remote_hub().await;
    let key = key(&hub).await;
    let mut browser =
        FakeBrowser::browser(hub.port(), "viewer").dialled(|_| dial(&hub, Some(&key)));
    assert!(browser.try_connect().await.is_err(), "a page is never a browser");
    for route in ["/api/sessions", "/mcp", "/metrics", "/info"] {
        for ask in [Ask::get(route).host(HOST), Ask::get(route)] {
            ask.bearer(&key).send(hub.port()).await.must_be(401);
        }
    }
    // Another site that got hold of it can do nothing with it.
    let elsewhere = Dial::session(hub.port(), "viewer").addressed(HOST);
    let elsewhere = elsewhere.origin("https://evil.example").offer(&format!("bearer.{key}"));
    assert_eq!(elsewhere.try_connect().await.err().flatten().unwrap().status, 403);
}

#[tokio::test]
async fn the_key_is_for_the_hubs_own_pages_also_where_others_are_allowed() {
    let app = "https://app.example";
    let hub = hub(&["--allow-host", HOST, "--allow-origin", app]).await;
    let key = key(&hub).await;
    let elsewhere = Dial::session(hub.port(), "viewer").addressed(HOST).origin(app);
    let shown = elsewhere.offer(&format!("bearer.{key}"));
    assert_eq!(shown.try_connect().await.err().flatten().unwrap().status, 403);
}

#[tokio::test]
async fn a_link_names_a_host_that_the_hub_has() {
    let hub = hub(&[]).await;
    let commands = hub.commands(PROGRAM);
    let line = ["open", "viewer", "--link", "--no-start", "--json"];
    let here = commands.run(&line).await.must_exit(0);
    assert!(here.stderr.contains("this machine only"), "{}", here.stderr);
    let named = [line.as_slice(), &["--host", "box:1"]].concat();
    let named = commands.run(&named).await.must_exit(0);
    assert!(named.json()["url"].as_str().unwrap().starts_with("http://box:1/viewer/#code="));
    assert!(named.stderr.contains("--allow-host box:1"), "{}", named.stderr);
    trade("nothing").send(hub.port()).await.must_be(403);
    let wrong = Ask::post("/pages/key", &json!({"code": "nothing"})).send(hub.port()).await;
    assert_eq!(wrong.must_be(401).fault(), "unauthorized");
}
