//! The admin API is what its description says.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::{Ask, FakeBrowser, Http};

use crate::scene::{Scene, hub};

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
        let mut http = Http::connect(hub.port()).await;
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

/// Makes the description strict: an answer may hold nothing that is not described.
fn close_objects(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut() {
        if object.contains_key("properties") {
            object.entry("additionalProperties").or_insert(json!(false));
        }
        object.values_mut().for_each(close_objects);
    }
    schema.as_array_mut().into_iter().flatten().for_each(close_objects);
}

/// Fails the test unless an answer is what the place `path` of the description says.
#[track_caller]
fn check(described: &Value, path: &[&str], answer: &Value) {
    let schema = path.iter().fold(described, |value, key| &value[*key]);
    assert!(!schema.is_null(), "there is nothing at {path:?}");
    let mut whole = json!({"components": described["components"], "allOf": [schema]});
    close_objects(&mut whole);
    let validator = jsonschema::validator_for(&whole).unwrap();
    let errors: Vec<_> = validator.iter_errors(answer).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{path:?}: {errors:?} in {answer}");
}

#[tokio::test]
async fn answers_are_what_the_description_says() {
    let scene = Scene::new(&[]).await;
    let described = description(scene.port()).await;
    let mut app = FakeBrowser::connected(scene.port(), "painter").await;
    app.publish_state("p1", 1, json!({"color": "red"})).await;
    let call = json!({"session": "bystander", "tool": "greet", "args": {"to": "you"}});
    let mut keyed = call.clone();
    keyed["target"] = json!("app");
    keyed["idempotencyKey"] = json!("k");
    let event = json!({"session": "bystander", "name": "ping", "level": "warning", "data": [1]});
    let asks = [
        ("post", "/api/call", Some(call)),
        ("post", "/api/call", Some(keyed)),
        ("post", "/api/events", Some(event)),
        ("get", "/api/dialects", None),
        ("get", "/api/sessions", None),
        ("get", "/api/sessions/{session}", None),
        ("get", "/api/sessions/{session}/state", None),
        ("get", "/api/sessions/{session}/feed", None),
        ("get", "/api/audit", None),
        ("get", "/api/apps", None),
        ("get", "/api/openapi.json", None),
        ("post", "/api/apps", Some(json!({"origin": "http://localhost:1", "allowed": true}))),
        ("post", "/api/links", None),
        ("post", "/api/forget", Some(json!({"away": true}))),
        ("post", "/api/unpair", Some(json!({"all": true}))),
    ];
    // What is no JSON, and what has no end.
    let others = [("get", "/api/results/{id}"), ("get", "/api/tail")];
    let mut known: BTreeSet<_> = others.into_iter().collect();
    for (method, route, body) in &asks {
        let path = route.replace("{session}", "painter");
        let ask = match body {
            Some(body) => Ask::own_post(&path, body),
            None => Ask::own(&method.to_uppercase(), &path),
        };
        let answer = ask.send(scene.port()).await.must_be(200).json();
        let place = ["responses", "200", "content", "application/json", "schema"];
        check(&described, &[&["paths", route, method], &place[..]].concat(), &answer);
        known.insert((method, route));
    }
    let routes = routes(&described);
    let routes = routes.iter().map(|(method, path)| (method.as_str(), path.as_str())).collect();
    assert_eq!(known, routes, "what this test asks on the left, what is described on the right");
    let fault = Ask::own_get("/api/sessions/nobody").send(scene.port()).await.must_be(404).json();
    let place = ["components", "responses", "Fault", "content", "application/json", "schema"];
    check(&described, &place, &fault);
}

#[tokio::test]
async fn lines_of_the_tail_are_what_the_description_says() {
    let scene = Scene::new(&[]).await;
    let described = description(scene.port()).await;
    let mut http = Http::connect(scene.port()).await;
    http.send(&Ask::own_get("/api/tail").bytes(scene.port())).await.unwrap();
    assert_eq!(http.read_head().await.unwrap().unwrap().status, 200);
    scene.bystander_answers().await;
    let line = http.read_chunk().await.unwrap().unwrap();
    let place = ["responses", "200", "content", "application/x-ndjson", "schema"];
    let path = [&["paths", "/api/tail", "get"], &place[..]].concat();
    check(&described, &path, &serde_json::from_slice(&line).unwrap());
}

#[tokio::test]
async fn every_operation_says_what_it_takes_and_gives() {
    let hub = hub(&[]).await;
    let described = description(hub.port()).await;
    let mut ids = BTreeSet::new();
    for (method, path) in routes(&described) {
        let operation = &described["paths"][&path][&method];
        let text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        assert!(text(&operation["summary"]), "{method} {path}");
        assert!(text(&operation["responses"]["200"]["description"]), "{method} {path}");
        assert!(ids.insert(operation["operationId"].to_string()), "{method} {path}");
        let parameters = operation["parameters"].as_array().expect("parameters");
        for parameter in parameters {
            assert!(text(&parameter["description"]), "{method} {path}: {parameter}");
        }
        let in_path = parameters.iter().filter(|parameter| parameter["in"] == "path");
        let in_path: Vec<_> = in_path
            .map(|parameter| format!("{{{}}}", parameter["name"].as_str().unwrap()))
            .collect();
        let braces: Vec<_> = path.split('/').filter(|part| part.starts_with('{')).collect();
        assert_eq!(in_path, braces, "{method} {path}");
    }
}
