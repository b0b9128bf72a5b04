//! Several AI clients in one browser and in another, all at once: each page hears its own client
//! and nobody else.

use serde_json::json;
use testkit::Site;

use crate::stage::{Driver, Stage};

const STEPS: usize = 20;

/// Types a mark and clicks, again and again; returns what the page has seen.
async fn work(client: &Driver, site: &Site, name: &str) -> Vec<String> {
    client.go(&site.url(&format!("/crowd.html?{name}"))).await;
    let shown = client.snapshot().await;
    let done = crate::stage::reference_in(&shown, "button \"Done\"");
    for step in 0..STEPS {
        let mark = format!("{name} {step}");
        let typed = client.interact("type", json!({"selector": "#mark", "text": mark})).await;
        assert_eq!(typed["value"], mark);
        let clicked = client.interact("click", json!({"ref": done})).await;
        assert_eq!(clicked["url"], site.url(&format!("/crowd.html?{name}")));
    }
    client.seen(site, json!({})).await
}

#[track_caller]
fn check(seen: &[String], name: &str) {
    let expected: Vec<_> = (0..STEPS).map(|step| format!("{name} {step}")).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn clients_in_one_browser_and_in_another_do_not_hear_each_other() {
    let stage = Stage::alone().await;
    let (hub, site) = (&stage.hub, &stage.site);
    let second = stage.client.start_browser(json!({"profile": "second"})).await;
    assert_ne!(second, stage.session);
    let claude = Driver::bound(hub, "claude", &stage.session);
    let codex = Driver::bound(hub, "codex", &stage.session);
    let gemini = Driver::bound(hub, "gemini", &second);
    // Without a name it is not clear which browser is meant.
    let words = stage.client.fails("browser_snapshot", json!({}), "ambiguous_session").await;
    assert!(words.contains(&second) && words.contains(&stage.session), "{words}");
    let (one, two, three) = tokio::join!(
        work(&claude, site, "claude"),
        work(&codex, site, "codex"),
        work(&gemini, site, "gemini"),
    );
    check(&one, "claude");
    check(&two, "codex");
    check(&three, "gemini");
    let list = stage.client.tab("list", json!({})).await;
    let mut found = Vec::new();
    for tab in list["tabs"].as_array().unwrap() {
        if let Some((_, name)) = tab["url"].as_str().unwrap().split_once("/crowd.html?") {
            found.push((name, tab["owner"].as_str().unwrap(), tab["session"].as_str().unwrap()));
        }
    }
    found.sort_unstable();
    let first = stage.session.as_str();
    let expected = [
        ("claude", "yours", first),
        ("codex", "of codex", first),
        ("gemini", "of gemini", &second),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn many_clients_work_in_the_same_browser_at_the_same_time() {
    let stage = Stage::start().await;
    let names = ["a", "b", "c", "d", "e", "f"];
    let clients = names.map(|name| stage.another_client(name));
    let [a, b, c, d, e, f] = &clients;
    let site = &stage.site;
    let (a, b, c, d, e, f) = tokio::join!(
        work(a, site, "a"),
        work(b, site, "b"),
        work(c, site, "c"),
        work(d, site, "d"),
        work(e, site, "e"),
        work(f, site, "f"),
    );
    for (seen, name) in [a, b, c, d, e, f].iter().zip(names) {
        check(seen, name);
    }
}
