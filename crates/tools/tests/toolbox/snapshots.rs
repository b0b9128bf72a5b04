//! Snapshots through the toolbox: what reaches the browser, what is kept between calls, and what
//! is for whom.

use model::Code;
use serde_json::{Value, json};

use crate::fake::{Abilities, Peer, Stage};

const COMMANDS: &[&str] = &["browser_snapshot"];

fn page(nodes: Value) -> Value {
    json!({"format": "snapshot.v1", "url": "http://a.example/", "title": "A", "nodes": nodes})
}

async fn browser(stage: &Stage) -> Peer {
    let abilities = Abilities { commands: COMMANDS, tabs: &[7, 8], ..Abilities::default() };
    let browser = stage.able("chrome", abilities).await;
    browser.answers("browser_snapshot", Ok(page(json!([[1, 1, 0, "button", "One"]]))));
    browser
}

async fn text(stage: &Stage, tool: &str, args: Value) -> String {
    let shown = args.to_string();
    stage.call(tool, args).await.unwrap_or_else(|fault| panic!("{shown}: {fault}")).text
}

fn version(text: &str) -> String {
    text.split("[version=").nth(1).unwrap().split(']').next().unwrap().to_owned()
}

#[tokio::test]
async fn only_what_the_browser_knows_reaches_it() {
    let stage = Stage::start();
    let browser = browser(&stage).await;
    for (args, sent) in [
        (json!({"find": "one", "role": "button", "maxTokens": 500}), json!({})),
        (json!({"depth": 3, "onlyIfChanged": "v1"}), json!({})),
        (json!({"ref": "e1", "since": "v1"}), json!({"ref": "e1"})),
        (
            json!({"selector": "#a", "viewportOnly": true, "links": true, "format": "markdown"}),
            json!({"selector": "#a", "viewportOnly": true, "links": true}),
        ),
        // A cursor brings the part of the page that it is of.
        (json!({"cursor": "1.1.0~ref=%22e1%22~depth=2"}), json!({"ref": "e1"})),
    ] {
        text(&stage, "browser_snapshot", in_tab(&args, 7)).await;
        assert_eq!(browser.last().1, sent, "{args}");
    }
}

fn in_tab(args: &Value, tab: u64) -> Value {
    let mut args = args.clone();
    args["tab"] = json!(tab);
    args
}

#[tokio::test]
async fn a_difference_is_to_the_same_part_of_the_same_tab() {
    let stage = Stage::start();
    let browser = browser(&stage).await;
    let first = text(&stage, "browser_snapshot", json!({"tab": 7})).await;
    let since = version(&first);
    let now = json!([[1, 1, 0, "button", "One", null, ["disabled"]], [1, 2, 0, "link", "Two"]]);
    browser.answers("browser_snapshot", Ok(page(now)));
    let difference = text(&stage, "browser_snapshot", json!({"tab": 7, "since": since})).await;
    for part in ["1 changed, 1 added", "(was not disabled)", "- link \"Two\" [ref=e2]"] {
        assert!(difference.contains(part), "{part:?} not in {difference}");
    }
    let newest = version(&difference);
    let same = text(&stage, "browser_snapshot", json!({"tab": 7, "since": newest})).await;
    assert!(same.ends_with(&format!("nothing changed since {newest}")), "{same}");
    for args in [json!({"tab": 8, "since": since}), json!({"tab": 7, "since": since, "ref": "e1"})]
    {
        let whole = text(&stage, "browser_snapshot", args.clone()).await;
        assert!(whole.contains("not kept any more"), "{args}: {whole}");
        assert!(whole.contains("- link \"Two\" [ref=e2]"), "{args}: {whole}");
    }
}

#[tokio::test]
async fn a_browser_that_writes_its_own_snapshots_is_not_shaped() {
    let stage = Stage::start();
    let browser = browser(&stage).await;
    browser.answers("browser_snapshot", Ok(json!({"tree": "its own"})));
    assert!(text(&stage, "browser_snapshot", json!({"tab": 7})).await.contains("its own"));
    let fault = stage.call("browser_snapshot", json!({"tab": 7, "find": "x"})).await.unwrap_err();
    assert_eq!(fault.code, Code::Unsupported);
    assert!(fault.to_string().contains("`find`"), "{fault}");
}

#[tokio::test]
async fn content_is_read_from_a_snapshot_where_that_is_data() {
    let stage = Stage::start();
    let browser = browser(&stage).await;
    let nodes = json!([
        [1, 1, 0, "main", ""],
        [1, 2, 1, "heading", "Prices", null, ["level=2"]],
        [1, 0, 1, "text", "All in euros"],
        [1, 3, 1, "link", "More", null, ["url=/more"]],
    ]);
    browser.answers("browser_snapshot", Ok(page(nodes)));
    let get =
        |format: &str| json!({"action": "get", "format": format, "tab": 7, "selector": "main"});
    let markdown = text(&stage, "browser_content", get("markdown")).await;
    assert!(markdown.ends_with("## Prices\nAll in euros [More](/more)"), "{markdown}");
    assert_eq!(browser.last().1, json!({"selector": "main", "links": true}));
    let outline = text(&stage, "browser_content", get("semantic")).await;
    assert!(outline.contains("  - text: All in euros"), "{outline}");
    let skeleton = text(&stage, "browser_content", get("skeleton")).await;
    assert!(skeleton.contains("\"More\"") && !skeleton.contains("euros"), "{skeleton}");
    let fault = stage.call("browser_content", get("ascii")).await.unwrap_err();
    assert!(fault.message.contains("text, html, markdown, semantic, skeleton"), "{fault}");
    let short = json!({"action": "get", "format": "markdown", "tab": 7, "maxLength": 5});
    let fault = stage.call("browser_content", short).await.unwrap_err();
    assert!(fault.message.contains("`maxLength`") && fault.message.contains("400"), "{fault}");
    let fault = stage.call("browser_content", get("text")).await.unwrap_err();
    assert_eq!(fault.code, Code::Unsupported, "{fault}");
}
