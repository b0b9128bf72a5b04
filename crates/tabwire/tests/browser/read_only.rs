//! A hub that only lets read: nothing that acts reaches a page, and what reads goes on.

use serde_json::json;
use testkit::{HubOptions, mcp::stdio::data_of};

use crate::stage::{Driver, PROGRAM, Stage, until_it_works};

#[tokio::test]
async fn a_hub_for_reading_refuses_what_acts_and_reads_what_is_open() {
    let mut stage = Stage::alone().await;
    stage.open("/roles.html").await;
    let url = stage.site.url("/roles.html");
    let tab = stage.client.listed("the page's tab", |tab| tab["url"] == url).await["tab"].clone();
    // The same browser with its page is taken over by a hub that only lets read.
    stage.hub.kill();
    let data = data_of(&stage.hub);
    let flags = ["--read-only", "--data", data.to_str().unwrap()];
    let hub = HubOptions::new(PROGRAM).flags(&flags).start().await;
    let (client, site) = (Driver::new(&hub, "claude"), &stage.site);
    // The browser comes over.
    let look = async || client.result("browser_snapshot", json!({"tab": tab})).await;
    let shown = until_it_works(look).await["content"][0]["text"].to_string();
    assert!(shown.contains("Shop"), "{shown}");
    for (tool, args) in [
        ("browser_interact", json!({"action": "click", "selector": "#menu", "tab": tab})),
        (
            "browser_interact",
            json!({"action": "type", "selector": "#email", "text": "x", "tab": tab}),
        ),
        ("browser_execute", json!({"expression": "report('acted')", "tab": tab})),
        ("browser_navigate", json!({"url": site.url("/arrived.html"), "tab": tab})),
        ("browser_navigate", json!({"action": "reload", "tab": tab})),
        ("browser_tab", json!({"action": "new", "url": site.url("/arrived.html")})),
        ("browser_tab", json!({"action": "close", "tab": tab})),
        ("browser_instance", json!({"action": "new", "headless": true})),
    ] {
        let words = client.fails(tool, args, "READ_ONLY|read_only|refused").await;
        assert!(words.contains("read-only") || words.contains("only"), "{words}");
    }
    let wait = json!({"action": "wait", "text": "Shop", "tab": tab});
    assert_eq!(client.call("browser_navigate", wait).await["found"], true);
    client.works("browser_content", json!({"action": "screenshot", "tab": tab})).await;
    let shown = client.text("browser_snapshot", json!({"tab": tab})).await;
    assert!(shown.contains("]: a@b.c"), "nothing was typed: {shown}");
    let asked = site.asked();
    assert!(!asked.iter().any(|path| path == "/arrived.html"), "{asked:?}");
    assert!(site.reports("acted").is_empty());
}
