//! Snapshots that fit: large pages in few tokens, nothing out of reach, and small differences.
//!
//! The pages in `pages/big/` say themselves what can be worked with (`things`) and what was
//! clicked; each changes a little when it is told to (`change()`).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::eventually;

use crate::stage::{Driver, Stage, cursor_in};

/// Bytes of an answer at most.
const CAP: usize = 6000 * 4;
/// Bytes of a difference after a small change.
const SMALL: usize = 300 * 4;

/// Takes a snapshot.
async fn look(client: &Driver, args: Value) -> String {
    let text = client.text("browser_snapshot", args.clone()).await;
    assert!(text.len() <= CAP, "{args}: {} bytes", text.len());
    text
}

/// All parts of an answer.
async fn parts(client: &Driver, args: Value) -> Vec<String> {
    let mut all = vec![look(client, args).await];
    while let Some(cursor) = cursor_in(all.last().unwrap()) {
        all.push(look(client, json!({"cursor": cursor})).await);
        assert!(all.len() < 100, "it never ends");
    }
    all
}

/// The references that a text says can be opened.
fn openings(text: &str) -> Vec<String> {
    let found = text.split("[open=").skip(1);
    found.map(|rest| rest.split(']').next().unwrap().to_owned()).collect()
}

/// The names before references.
fn names(text: &str) -> impl Iterator<Item = String> + '_ {
    let before = text.split("[ref=").filter_map(|part| {
        let (rest, _) = part.rsplit_once('"')?;
        Some(rest.rsplit_once('"')?.1.to_owned())
    });
    before.collect::<Vec<_>>().into_iter()
}

/// The reference right after a name.
#[track_caller]
fn reference(text: &str, name: &str) -> String {
    let place = text.split_once(&format!("{name:?}"));
    let (_, rest) = place.unwrap_or_else(|| panic!("{name:?} is not in\n{text}"));
    rest.split("[ref=").nth(1).unwrap().split(']').next().unwrap().to_owned()
}

/// Every name that can be reached by going on and by opening, and the bytes that it takes.
async fn reached(client: &Driver) -> (BTreeSet<String>, usize) {
    let (mut found, mut opened, mut bytes) = (BTreeSet::new(), BTreeSet::new(), 0);
    let mut waiting = vec![json!({})];
    while let Some(args) = waiting.pop() {
        for part in parts(client, args).await {
            bytes += part.len();
            found.extend(names(&part));
            for name in openings(&part) {
                if opened.insert(name.clone()) {
                    waiting.push(json!({"open": name}));
                }
            }
        }
    }
    (found, bytes)
}

/// What the page's documents say can be worked with.
async fn told(stage: &Stage, documents: usize) -> BTreeSet<String> {
    let look = async || {
        let all = stage.site.reports("things");
        (all.len() >= documents).then_some(all)
    };
    let all = eventually("every document tells its things", look).await;
    let names = all.iter().flat_map(|things| things.as_array().unwrap());
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn version(text: &str) -> String {
    let (_, rest) = text.split_once("[version=").unwrap_or_else(|| panic!("{text}"));
    rest.split(']').next().unwrap().to_owned()
}

/// Opens a page and looks at all that a client needs of it.
async fn check(stage: &Stage, path: &str, documents: usize) {
    let Stage { client, site, .. } = stage;
    site.forget();
    stage.open(path).await;
    let things = told(stage, documents).await;
    let first = look(client, json!({})).await;
    let (found, bytes) = reached(client).await;
    let missing: Vec<_> = things.difference(&found).collect();
    assert!(missing.is_empty(), "{path}: {} of {}: {missing:?}", missing.len(), things.len());
    difference(stage, path).await;
    eprintln!(
        "{path}: {} things, {} tokens at first, {} for all of it",
        things.len(),
        first.len() / 4,
        bytes / 4
    );
}

/// A small change is told in few words, which are enough to act.
async fn difference(stage: &Stage, path: &str) {
    let Stage { client, site, .. } = stage;
    let before = version(&look(client, json!({})).await);
    let same = look(client, json!({"onlyIfChanged": before})).await;
    assert!(same.contains("nothing changed") && same.lines().count() == 2, "{same}");
    client.evaluate("change()").await;
    let name = site.report("changed").await;
    let text = look(client, json!({"since": before})).await;
    assert!(text.contains(&format!("since {before}: ")), "{path}: {text}");
    assert!(text.len() <= SMALL, "{path}: {} bytes: {text}", text.len());
    eprintln!("{path}: difference of {} tokens", text.len() / 4);
    let thing = reference(&text, name.as_str().unwrap());
    client.interact("click", json!({"ref": thing})).await;
    site.reported("clicked", name).await;
}

#[tokio::test]
async fn a_form_is_shown_whole_and_its_long_list_of_choices_is_folded() {
    let stage = Stage::start().await;
    check(&stage, "/big/form.html", 1).await;
    let text = look(&stage.client, json!({})).await;
    for n in 1..=30 {
        assert!(text.contains(&format!("\"Field {n}\"")), "{n}: {text}");
    }
    assert!(text.contains("more option like these"), "{text}");
    assert!(text.len() / 4 < 2000, "{} tokens", text.len() / 4);
    let send = reference(&text, "Field 3");
    let typed = json!({"ref": send, "text": "exact "});
    stage.client.interact("type", typed).await;
    let text = look(&stage.client, json!({"find": "Field 3", "role": "textbox"})).await;
    assert!(text.contains("]: exact \n") || text.ends_with("]: exact "), "{text:?}");
}

#[tokio::test]
async fn a_thousand_rows_are_a_few_lines_and_each_is_found_and_used() {
    let stage = Stage::start().await;
    let client = &stage.client;
    check(&stage, "/big/table.html", 1).await;
    let text = look(client, json!({})).await;
    assert!(text.len() / 4 < 1000, "{} tokens: {text}", text.len() / 4);
    let whole = parts(client, json!({"open": openings(&text)[0]})).await;
    let tokens = whole.iter().map(String::len).sum::<usize>() / 4;
    eprintln!("the whole table: {tokens} tokens in {} parts", whole.len());
    assert!(tokens < 45_000, "{tokens}");
    for find in ["order 777", "/^Order 777$/"] {
        let found = look(client, json!({"find": find})).await;
        assert!(found.contains("Customer 777 of the list") && found.len() < 1000, "{found}");
        client.interact("click", json!({"ref": reference(&found, "Order 777")})).await;
        stage.site.reported("clicked", json!("Order 777")).await;
    }
    let text = look(client, json!({"role": "columnheader"})).await;
    assert!(text.contains("6 fit columnheader"), "{text}");
    let none = look(client, json!({"find": "Odrer 777"})).await;
    assert!(none.contains("nothing fits") && none.contains("nearest"), "{none}");
}

#[tokio::test]
async fn a_long_document_is_outlined_and_read() {
    let stage = Stage::start().await;
    let client = &stage.client;
    check(&stage, "/big/document.html", 1).await;
    let all = parts(client, json!({"format": "markdown"})).await.join("\n");
    for part in ["# The long document", "## Chapter 60", "- second of 60", "`call(60)`"] {
        assert!(all.contains(part), "{part:?}");
    }
    assert!(all.contains("See [source 7](") && all.contains(") for more."), "{all}");
    let only = look(client, json!({"region": "contents"})).await;
    assert!(only.contains("Go to chapter 1") && !only.contains("Much is said"), "{only}");
    let flat = look(client, json!({"region": "main", "depth": 1})).await;
    assert!(flat.contains("things inside") && flat.lines().count() == 2, "{flat}");
    let words = client.fails("browser_snapshot", json!({"region": "sidebar"}), "invalid_argument");
    let words = words.await;
    assert!(words.contains("navigation \"Contents\"") && words.contains("main"), "{words}");
}

#[tokio::test]
async fn a_long_document_is_got_in_other_forms() {
    let stage = Stage::at("/big/document.html").await;
    let client = &stage.client;
    let get = |format: &str| json!({"action": "get", "format": format});
    let markdown = client.text("browser_content", get("markdown")).await;
    assert!(markdown.contains("[Go to chapter 1](#Go%20to%20chapter%201)"), "{markdown}");
    let cursor = cursor_in(&markdown).unwrap();
    let next = json!({"action": "get", "format": "markdown", "cursor": cursor});
    let next = client.text("browser_content", next).await;
    assert!(next.contains("## Chapter ") && !next.contains("# The long document\n"), "{next}");
    let skeleton = client.text("browser_content", get("skeleton")).await;
    assert!(skeleton.contains("heading \"Chapter 2\"") && !skeleton.contains("Much is said"));
    let part = json!({"action": "get", "format": "semantic", "selector": "nav"});
    let outline = client.text("browser_content", part).await;
    assert!(outline.contains("- navigation \"Contents\""), "{outline}");
    let words = client.fails("browser_content", get("ascii"), "invalid_argument").await;
    assert!(words.contains("markdown") && words.contains("skeleton"), "{words}");
}

#[tokio::test]
async fn a_dashboard_fits() {
    let stage = Stage::start().await;
    check(&stage, "/big/dashboard.html", 1).await;
}

#[tokio::test]
async fn an_app_of_one_page_fits_and_tells_what_another_view_changed() {
    let stage = Stage::start().await;
    let client = &stage.client;
    check(&stage, "/big/app.html", 1).await;
    let before = look(client, json!({})).await;
    client.interact("click", json!({"ref": reference(&before, "Settings")})).await;
    stage.site.reported("shown", json!("Settings")).await;
    let text = look(client, json!({"since": version(&before)})).await;
    assert!(text.contains("Setting 12") && text.contains("address (was "), "{text}");
}

#[tokio::test]
async fn a_version_of_another_page_or_of_none_is_said_not_to_be_there() {
    let stage = Stage::at("/big/app.html").await;
    let client = &stage.client;
    let before = look(client, json!({})).await;
    stage.open("/big/form.html").await;
    let text = look(client, json!({"since": version(&before)})).await;
    assert!(text.contains("another document now") && text.contains("Field 1"), "{text}");
    let text = look(client, json!({"since": "v0000000"})).await;
    assert!(text.contains("not kept any more") && text.contains("Field 1"), "{text}");
}

#[tokio::test]
async fn frames_within_frames_fit() {
    let stage = Stage::start().await;
    check(&stage, "/big/frames.html", 4).await;
}

#[tokio::test]
async fn shadow_roots_fit() {
    let stage = Stage::start().await;
    check(&stage, "/big/shadow.html", 1).await;
}

#[tokio::test]
async fn thousands_of_buttons_fit_and_each_is_found() {
    let stage = Stage::start().await;
    let client = &stage.client;
    check(&stage, "/big/buttons.html", 1).await;
    let text = look(client, json!({})).await;
    assert!(text.len() / 4 < 400, "{text}");
    let found = look(client, json!({"find": "key 4321", "role": "button"})).await;
    client.interact("click", json!({"ref": reference(&found, "Key 4321")})).await;
    stage.site.reported("clicked", json!("Key 4321")).await;
}

#[tokio::test]
async fn a_list_without_end_fits() {
    let stage = Stage::start().await;
    check(&stage, "/big/virtual.html", 1).await;
}

#[tokio::test]
async fn wishes_that_make_no_sense_are_refused_with_what_would() {
    let stage = Stage::at("/big/form.html").await;
    for (args, parts) in [
        (json!({"open": "list"}), &["`open`", "[open=e45]"][..]),
        (json!({"open": "e99999"}), &["`open`", "new snapshot"]),
        (json!({"find": "/(/"}), &["`find`", "plain text"]),
        (json!({"find": "x", "since": "v1"}), &["`find` and `since`", "one of them"]),
        (json!({"depth": 0}), &["`depth`", "from 1"]),
        (json!({"maxTokens": 5}), &["`maxTokens`", "100"]),
        (json!({"cursor": "5"}), &["`cursor`", "without `cursor`"]),
        (json!({"format": "html"}), &["`format`", "markdown"]),
        (json!({"region": "sidebar"}), &["sidebar", "form"]),
    ] {
        let words = stage.client.fails("browser_snapshot", args.clone(), "invalid_argument").await;
        for part in parts {
            assert!(words.contains(part), "{args}: {part:?} is not in {words}");
        }
    }
}
