//! Snapshots: what things are and are called, what is in them, and what stays secret.

use serde_json::json;

use crate::stage::{Stage, cursor_in, line_in, reference_in};

#[track_caller]
fn check(snapshot: &str, thing: &str, said: &[&str]) {
    let line = line_in(snapshot, thing);
    for part in said {
        assert!(line.contains(part), "{part:?} is not in {line:?}");
    }
}

#[tokio::test]
async fn a_snapshot_says_what_things_are_and_what_is_in_them() {
    let Stage { site, client, .. } = &Stage::at("/roles.html").await;
    let shown = client.snapshot().await;
    let head = format!("page \"Roles & \\\"names\\\"\" {} [version=", site.url("/roles.html"));
    assert!(shown.starts_with(&head), "{shown}");
    assert!(shown.contains("- heading \"Shop\" [level=1]"), "{shown}");
    assert!(shown.contains("- heading \"Order\" [level=2]"), "{shown}");
    for (thing, said) in [
        ("link \"Help\"", &[][..]),
        ("textbox \"Email\"", &["]: a@b.c"]),
        ("textbox \"Required\"", &["[required]"]),
        ("textbox \"Fixed\"", &["[readonly]", "]: as it is"]),
        ("checkbox \"News\"", &["[checked]"]),
        ("checkbox \"Ads\"", &["[unchecked]"]),
        ("radio \"Post\"", &["[checked]"]),
        ("combobox \"Colour\"", &["]: Green"]),
        ("button \"Buy\"", &["[disabled]"]),
        ("button \"Bold\"", &["[pressed]"]),
        ("button \"More\"", &["[collapsed]"]),
        ("\"Password\"", &["[password]", "]: •••"]),
        ("button \"Below\"", &[]),
    ] {
        check(&shown, thing, said);
    }
    assert!(shown.contains("navigation \"Main\"") && shown.contains("\"A cat\""), "{shown}");
    assert!(shown.contains(": Plain words"), "{shown}");
    for absent in ["Hidden words", "set-by-page-7"] {
        assert!(!shown.contains(absent), "{absent:?} in {shown}");
    }
    // The same thing has the same reference in the next one, and it works.
    let news = reference_in(&shown, "checkbox \"News\"");
    assert_eq!(client.reference("checkbox \"News\"").await, news);
    client.interact("click", json!({"ref": news})).await;
    assert_eq!(client.evaluate("document.querySelector('[type=checkbox]').checked").await, false);
    check(&client.snapshot().await, &format!("[ref={news}]"), &["[unchecked]"]);
}

#[tokio::test]
async fn a_snapshot_can_be_of_a_part_of_what_is_in_view_and_in_parts() {
    let Stage { client, .. } = &Stage::at("/roles.html").await;
    let shown = client.text("browser_snapshot", json!({"selector": "#part"})).await;
    assert!(shown.contains("In the part") && !shown.contains("Shop"), "{shown}");
    let menu = client.reference("navigation \"Main\"").await;
    let shown = client.text("browser_snapshot", json!({"ref": menu})).await;
    assert!(shown.contains("Help") && !shown.contains("Email"), "{shown}");
    let shown = client.text("browser_snapshot", json!({"viewportOnly": true})).await;
    assert!(shown.contains("Shop") && !shown.contains("Below"), "{shown}");

    let (mut all, mut cursor) = (String::new(), None);
    for _ in 0..50 {
        let args = match &cursor {
            None => json!({"maxTokens": 100}),
            Some(cursor) => json!({"maxTokens": 100, "cursor": cursor}),
        };
        let text = client.text("browser_snapshot", args).await;
        assert!(text.len() <= 600, "{text}");
        all.push_str(&text);
        cursor = cursor_in(&text);
        if cursor.is_none() {
            break;
        }
    }
    for part in ["Shop", "Email", "Colour", "Plain words", "Below"] {
        assert!(all.contains(part), "{part:?} is in none of the parts: {all}");
    }
}

#[tokio::test]
async fn a_password_is_typed_and_never_shown_again() {
    const SECRET: &str = "hunter2-correct-horse";
    // All that the hub has noted and said is looked through.
    let stage = Stage::alone().await;
    stage.open("/roles.html").await;
    let client = &stage.client;
    let password = client.reference("\"Password\"").await;
    let mut answers = Vec::new();
    for (tool, args) in [
        ("browser_interact", json!({"action": "type", "ref": password, "text": SECRET})),
        ("browser_interact", json!({"action": "click", "ref": password})),
        ("browser_interact", json!({"action": "press", "key": "Tab"})),
        ("browser_snapshot", json!({})),
        ("browser_snapshot", json!({"ref": password})),
        ("browser_tab", json!({"action": "list"})),
    ] {
        answers.push(client.works(tool, args).await.to_string());
    }
    assert_eq!(client.evaluate("at('password').value").await, SECRET);
    assert!(answers[3].contains("•••"), "{}", answers[3]);
    let feed = stage.hub.api().feed(&stage.session).await;
    answers.extend(feed.iter().map(ToString::to_string));
    answers.push(stage.hub.stderr());
    for answer in answers {
        assert!(!answer.contains(SECRET) && !answer.contains("set-by-page-7"), "{answer}");
    }
}
