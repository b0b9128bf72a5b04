//! Pages that are no web pages: refused by name before anything is asked of them, and never a dead
//! end.

use serde_json::json;
use testkit::eventually;

use crate::stage::{Driver, Stage, code};

/// Codes of a page that cannot be driven.
const RESTRICTED: [&str; 2] = ["RESTRICTED_PAGE", "WRONG_ELEMENT"];

/// Reads a page that may or may not be readable: either way there is an answer that says so.
async fn check_answers(client: &Driver) {
    for (tool, args) in [
        ("browser_snapshot", json!({})),
        ("browser_content", json!({"action": "screenshot"})),
        ("browser_execute", json!({"expression": "1 + 1"})),
        ("browser_interact", json!({"action": "press", "key": "a"})),
    ] {
        let result = client.result(tool, args).await;
        let words = result["content"][0]["text"].as_str().unwrap();
        let told = result["isError"] != true || RESTRICTED.contains(&code(&result));
        assert!(told && !words.is_empty(), "{tool}: {result}");
    }
}

#[tokio::test]
async fn addresses_that_are_not_of_the_web_are_refused_and_the_page_stays() {
    let Stage { site, client, .. } = &Stage::at("/start.html").await;
    for url in [
        "chrome://version",
        "chrome-extension://flijodnkmdflbekoipgfjippcnecmdfi/popup.html",
        "about:settings",
        "view-source:http://127.0.0.1/",
        "devtools://devtools/bundled/inspector.html",
        "javascript:note('ran')",
        "data:text/html,<script>1</script>",
        "file:///etc/passwd",
    ] {
        for (tool, args) in [
            ("browser_navigate", json!({"url": url})),
            ("browser_tab", json!({"action": "new", "url": url})),
        ] {
            let words = client.fails(tool, args, "invalid_argument|RESTRICTED_PAGE").await;
            assert!(words.contains("http"), "what is allowed is said: {words}");
        }
    }
    assert_eq!(client.evaluate("location.pathname").await, "/start.html");
    assert!(client.seen(site, json!({})).await.is_empty());
}

#[tokio::test]
async fn the_hubs_own_pages_are_not_read_however_the_tab_came_there() {
    let stage = Stage::at("/start.html").await;
    let client = &stage.client;
    for host in ["127.0.0.1", "localhost"] {
        let own = format!("http://{host}:{}/health", stage.hub.port());
        let goes = format!("void setTimeout(() => location.assign('{own}'))");
        // The page leaves while it is asked, or after.
        client.result("browser_execute", json!({"expression": goes})).await;
        eventually("the page is closed to clients", async || {
            let shown = client.result("browser_snapshot", json!({})).await;
            (code(&shown) == "RESTRICTED_PAGE").then_some(())
        })
        .await;
        let asked = json!({"expression": "document.body.innerText"});
        client.fails("browser_execute", asked, "RESTRICTED_PAGE").await;
        let picture = json!({"action": "screenshot"});
        client.fails("browser_content", picture, "RESTRICTED_PAGE").await;
        stage.open("/start.html").await;
        assert_eq!(client.evaluate("document.title").await, "Start", "after {own}");
    }
}

#[tokio::test]
async fn a_blank_page_and_a_paper_answer_and_are_left_again() {
    let Stage { site, client, .. } = &Stage::at("/start.html").await;
    for url in ["about:blank".to_owned(), site.url("/paper.pdf")] {
        assert_eq!(client.go(&url).await["url"], url);
        check_answers(client).await;
        client.go(&site.url("/start.html")).await;
        assert_eq!(client.evaluate("document.title").await, "Start", "after {url}");
    }
}

#[tokio::test]
async fn a_page_that_could_not_be_loaded_is_told_and_left_again() {
    let Stage { site, client, .. } = &Stage::at("/start.html").await;
    let dead = "http://nowhere.invalid/";
    // Several times: the end of one load must not be taken for the end of the next.
    for round in 0..5 {
        client.fails("browser_navigate", json!({"url": dead}), "NAVIGATION_FAILED").await;
        for (tool, args) in [
            ("browser_snapshot", json!({})),
            ("browser_interact", json!({"action": "click", "selector": "button"})),
        ] {
            let result = client.result(tool, args).await;
            let known = ["RESTRICTED_PAGE", "NAVIGATION_FAILED", "ELEMENT_NOT_FOUND", ""];
            assert!(known.contains(&code(&result)), "{result}");
        }
        let there = site.url(&format!("/arrived.html?{round}"));
        assert_eq!(client.go(&there).await["url"], there);
        site.reported("arrived", json!(format!("/arrived.html?{round}"))).await;
    }
    assert_eq!(client.evaluate("document.title").await, "Arrived");
}
