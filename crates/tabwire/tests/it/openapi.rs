//! The admin API is what its description says.

use std::collections::BTreeSet;

use serde_json::Value;
use testkit::Ask;

use crate::scene::hub;

const METHODS: &[&str] = &["get", "put", "post", "delete", "options", "head", "patch"];

async fn description(port: u16) -> Value {
    let answer = Ask::own_get("/api/openapi.json").send(port).await.must_be(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let described = answer.json();
    assert!(described["openapi"].as_str().is_some_and(|version| version.starts_with("3.")));
    described
}

/// Every described route: where the server's address has a path, it goes before.
fn routes(described: &Value) -> Vec<(String, String)> {
    let server = described["servers"][0]["url"].as_str().unwrap_or_default();
    let after_host = server
        .split_once("://")
        .map_or(server, |(_, rest)| rest.find('/').map_or("", |start| &rest[start..]));
    let base = after_host.trim_end_matches('/');
    let paths = described["paths"].as_object().expect("paths");
    let methods = |path: &Value| -> Vec<String> {
        let keys = path.as_object().expect("a path").keys();
        keys.filter(|key| METHODS.contains(&key.as_str())).cloned().collect()
    };
    paths
        .iter()
        .flat_map(|(path, item)| {
            methods(item).into_iter().map(move |method| (method, format!("{base}{path}")))
        })
        .collect()
}

#[tokio::test]
async fn every_described_route_exists() {
    let hub = hub(&[]).await;
    let described = description(hub.port()).await;
    let routes = routes(&described);
    assert!(!routes.is_empty());
    for (method, path) in routes {
        let path = path.replace("{session}", "nobody").replace("{id}", "nothing");
        assert!(!path.contains('{'), "a parameter that this test does not know: {path}");
        let ask = Ask::own(&method.to_uppercase(), &path)
            .header("Content-Type", "application/json")
            .body(b"{}".to_vec());
        let mut http = testkit::Http::connect(hub.port()).await;
        http.send(&ask.bytes(hub.port())).await.unwrap();
        // The head is enough: some answers never end.
        let head = http.read_head().await.unwrap().unwrap();
        assert_ne!(head.status, 405, "{method} {path}");
        if head.status == 404 {
            let answer = ask.send(hub.port()).await;
            let expected = if path.contains("/results/") { "not_found" } else { "unknown_session" };
            assert_eq!(answer.fault(), expected, "{method} {path}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn the_routes_are_those_of_the_description() {
    let hub = hub(&[]).await;
    let described: BTreeSet<_> = routes(&description(hub.port()).await).into_iter().collect();
    let served: BTreeSet<_> = edge::admin::routes()
        .iter()
        .map(|route| (route.method.to_owned(), route.path.to_owned()))
        .collect();
    assert_eq!(served, described, "what is served on the left, what is described on the right");
}
