//! Which page a call goes to, and the link that makes a page a client's own.

use model::Code;
use serde_json::json;
use tools::{Client, ToolboxSettings, manifest};

use crate::page::{Manner, Page, Stage, client};

fn bound(binding: &str) -> Client {
    Client { binding: Some(binding.to_owned()), ..client("test") }
}

#[track_caller]
fn check_counts(pages: &[&Page], counts: &[usize]) {
    let found: Vec<_> = pages.iter().map(|page| page.commands().len()).collect();
    assert_eq!(found, counts);
}

#[tokio::test]
async fn without_a_page_the_link_tool_is_the_next_step() {
    let stage = Stage::start();
    // Somebody is there, but no page of this app.
    let _other = stage.peer("other", "native", Manner::Willing).await;
    for (tool, label) in [("get_model_color", "model color: "), ("walk_key_light_in", "")] {
        let fault = stage.call(tool, json!({})).await.unwrap_err();
        assert_eq!(fault.code, Code::NotConnected);
        assert_eq!(fault.message, format!("{label}no page of hello3d is connected"));
        let hint = fault.hint.unwrap();
        assert_eq!(hint, "get_browser_connection_url tells the address that connects a page");
    }
}

#[tokio::test]
async fn with_two_pages_one_must_be_named() {
    let stage = Stage::start();
    let (one, two) = (stage.page("one").await, stage.page("two").await);
    let fault = stage.call("walk_key_light_in", json!({})).await.unwrap_err();
    assert_eq!(fault.code, Code::AmbiguousSession);
    assert!(fault.hint.unwrap().contains("\"hello3d-2\""));
    stage.call("walk_key_light_in", json!({"session": "hello3d-2"})).await.unwrap();
    stage.call("walk_key_light_in", json!({"session": "one"})).await.unwrap();
    stage.call_as(&bound("two"), "walk_key_light_in", json!({})).await.unwrap();
    check_counts(&[&one, &two], &[1, 2]);
}

#[tokio::test]
async fn a_page_opened_through_a_clients_link_is_that_clients_own() {
    let stage = Stage::start();
    let link = |id: &str| stage.toolbox.link_id(&client(id)).to_string();
    let (mine, yours) = (stage.page(&link("test")).await, stage.page(&link("you")).await);
    stage.call("walk_key_light_in", json!({})).await.unwrap();
    stage.call_as(&client("you"), "walk_key_light_in", json!({})).await.unwrap();
    stage.call_as(&client("you"), "walk_key_light_in", json!({})).await.unwrap();
    // A binding to nobody is ignored; one to somebody is stronger than one's own page.
    stage.call_as(&bound("nobody"), "walk_key_light_in", json!({})).await.unwrap();
    stage.call_as(&bound(&link("you")), "walk_key_light_in", json!({})).await.unwrap();
    check_counts(&[&mine, &yours], &[2, 3]);
}

#[tokio::test]
async fn a_page_that_takes_a_clients_id_is_not_taken_for_that_clients_own() {
    let stage = Stage::start();
    let (theirs, other) = (stage.page("test").await, stage.page("other").await);
    let fault = stage.call("walk_key_light_in", json!({})).await.unwrap_err();
    assert_eq!(fault.code, Code::AmbiguousSession, "{fault}");
    check_counts(&[&theirs, &other], &[0, 0]);
    let link = |id: &str| stage.toolbox.link_id(&client(id));
    assert_ne!(link("test"), link("you"), "each client has a link of its own");
    assert!(!link("test").as_str().contains("test"));
}

#[tokio::test]
async fn what_is_no_page_of_the_app_is_refused_by_name() {
    let stage = Stage::start();
    let other = stage.peer("other", "native", Manner::Willing).await;
    let _page = stage.page("page").await;
    let named = stage.call("walk_key_light_in", json!({"session": "native"})).await;
    let tied = stage.call_as(&bound("native"), "walk_key_light_in", json!({})).await;
    for fault in [named.unwrap_err(), tied.unwrap_err()] {
        assert_eq!(fault.code, Code::Unsupported);
        assert_eq!(fault.message, "native is no page of hello3d");
    }
    let unknown = stage.call("walk_key_light_in", json!({"session": "nope"})).await.unwrap_err();
    assert_eq!(unknown.code, Code::UnknownSession);
    assert!(unknown.hint.unwrap().contains("get_browser_connection_url"));
    check_counts(&[&other], &[0]);
}

#[tokio::test]
async fn the_link_carries_an_id_of_the_clients_or_what_it_is_bound_to() {
    let stage = Stage::start();
    let own = stage.toolbox.link_id(&client("test")).to_string();
    let with_own = format!("with session {own:?}");
    let _other = stage.peer("other", "native", Manner::Willing).await;
    let _page = stage.page("page-7").await;
    let no_args = json!({});
    let (here, now) = ("Tools called from here then go", "A page is connected as this one now");
    for (client, args, id, next) in [
        (client("test"), no_args.clone(), own.as_str(), here),
        (bound("demo"), no_args.clone(), "demo", here),
        (bound("my:demo@pc"), no_args.clone(), "my%3Ademo%40pc", here),
        (bound("not an id"), no_args.clone(), own.as_str(), here),
        (bound("native"), no_args.clone(), own.as_str(), with_own.as_str()),
        (bound("hello3d"), no_args.clone(), "page-7", now),
        (client("test"), json!({"session": "hello3d"}), "page-7", now),
        (client("test"), json!({"session": "show"}), "show", "with session \"show\""),
    ] {
        let output = stage.call_as(&client, "get_browser_connection_url", args).await.unwrap();
        let url = format!("http://localhost:5173/?sessionId={id}");
        assert_eq!(output.structured["url"], url);
        assert_eq!(output.structured["connected"], next == now, "{url}");
        let paragraphs: Vec<_> = output.text.split("\n\n").collect();
        assert_eq!((paragraphs.len(), paragraphs[1]), (3, url.as_str()));
        assert!(paragraphs[2].contains(next), "{}", output.text);
    }
    for (session, code) in [("native", Code::Unsupported), ("a b", Code::InvalidArgument)] {
        let args = json!({ "session": session });
        let fault = stage.call("get_browser_connection_url", args).await.unwrap_err();
        assert_eq!(fault.code, code, "{fault}");
    }
}

#[tokio::test]
async fn without_its_dialect_a_manifest_is_its_link_until_a_page_of_ours_is_there() {
    let closed = manifest::shipped().into_iter().map(|all| all.close("it is off")).collect();
    let stage = Stage::with(closed);
    let own_hosts = vec!["127.0.0.1:8765".to_owned()];
    stage.toolbox.reconfigure(ToolboxSettings { own_hosts, ..ToolboxSettings::default() });
    let hub = &stage.toolbox.hub;
    let names: Vec<_> = stage.apps.list(hub).into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["get_browser_connection_url"]);
    let client = client("test");
    let call = manifest::call(&stage.apps, &stage.toolbox, &client, "get_model_color", json!({}));
    assert!(call.await.is_none(), "no manifest has it");
    let link = stage.call("get_browser_connection_url", json!({})).await.unwrap();
    let id = stage.toolbox.link_id(&client);
    let url = format!("http://127.0.0.1:8765/viewer/?sessionId={id}");
    assert_eq!(link.structured["url"], url);
    assert!(!link.text.contains("it is off"), "{}", link.text);

    let viewer = stage.own_page("viewer", "manifest:hello3d").await;
    assert_eq!(stage.apps.list(hub).len(), 61);
    let color = stage.call("get_model_color", json!({})).await.unwrap();
    assert!(color.text.starts_with("Model color: #"), "{}", color.text);
    stage.call("change_model_color", json!({"color": "maraschino"})).await.unwrap();
    assert_eq!(viewer.commands().last().unwrap().0, "changeColor");
}
