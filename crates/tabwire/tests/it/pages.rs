//! The pages that come with the program: served behind the same gates, and opened by a command.

use serde_json::json;
use testkit::{Ask, Commands, HubOptions, Place};

use crate::scene::PROGRAM;

#[tokio::test]
async fn pages_are_served_with_a_policy_and_asked_for_by_tag() {
    let hub = HubOptions::new(PROGRAM).start().await;
    let port = hub.port();
    let moved = Ask::get("/viewer").send(port).await.must_be(308);
    assert_eq!(moved.header("location"), Some("/viewer/"));
    let page = Ask::get("/viewer/").send(port).await.must_be(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"));
    let tag = page.header("etag").unwrap().to_owned();
    let again = Ask::get("/viewer/").header("if-none-match", &tag).send(port).await.must_be(304);
    assert!(again.text().is_empty());
    let script = Ask::get("/viewer/main.js").send(port).await.must_be(200);
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    for path in ["/viewer/nothing.js", "/viewer/../Cargo.toml", "/viewer/%2e%2e/%2e%2e/x"] {
        Ask::get(path).send(port).await.must_be(404);
    }
    // The gates are before the pages too.
    Ask::get("/viewer/").host("evil.example").send(port).await.must_be(403);
    Ask::get("/viewer/").header("origin", "https://evil.example").send(port).await.must_be(403);
    Ask::post("/viewer/", &json!({})).send(port).await.must_be(405);
}

#[tokio::test]
async fn open_tells_the_address_and_starts_a_hub_where_none_runs() {
    let place = Place::create();
    let data = place.folder("data");
    let data = data.to_str().unwrap();
    let commands = Commands::new(PROGRAM, &place);
    commands.run(&["open", "viewer", "--print", "--no-start", "--data", data]).await.must_exit(3);
    commands.run(&["open", "viewer", "--name", "A B", "--data", data]).await.must_exit(2);
    commands.run(&["open", "attic", "--data", data]).await.must_exit(2);
    let flags = ["open", "viewer", "--print", "--json", "--data", data, "--port", "0"];
    let opened = commands.run(&[&flags[..], &["--name", "left"]].concat()).await.must_exit(0);
    let url = opened.json()["url"].as_str().unwrap().to_owned();
    let port: u16 = url.split(&[':', '/'][..]).nth(4).unwrap().parse().unwrap();
    assert!(url.ends_with("/viewer/?name=left"), "{url}");
    Ask::get("/viewer/").send(port).await.must_be(200);
    commands.run(&["stop", "--data", data]).await.must_exit(0);
}
