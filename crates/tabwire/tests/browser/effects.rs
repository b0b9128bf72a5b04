//! What an action says is to be seen of it: enough for the next step, and nothing that nobody sees.

use serde_json::json;

use crate::stage::{Stage, reference_in};

/// Bytes that facts add to an answer at most, with their own words around them.
const LONGEST: usize = 600;

/// Clicks, and returns the words of the answer.
async fn click(stage: &Stage, selector: &str) -> String {
    let args = json!({"action": "click", "selector": selector});
    stage.client.text("browser_interact", args).await
}

#[track_caller]
fn tells(words: &str, told: &[&str]) {
    for part in told {
        assert!(words.contains(part), "{part:?} is not in: {words}");
    }
    assert!(!words.contains('\n') && words.len() < LONGEST, "{words}");
}

#[tokio::test]
async fn what_appears_can_be_used_by_the_reference_that_is_told() {
    let stage = &Stage::at("/effects.html").await;
    let words = click(stage, "#save").await;
    tells(&words, &["now: alert \"Saved as draft 7\", button \"Undo\" [ref="]);
    assert!(!words.contains("changed in the page"), "{words}");
    let undo = reference_in(&words, "button \"Undo\"");
    stage.client.interact("click", json!({"ref": undo})).await;
    assert_eq!(stage.seen().await, ["click save", "click undo"]);
    // A class alone shows the menu: no node of it has changed.
    let words = click(stage, "#menu").await;
    tells(&words, &["link \"Home\" [ref=", "button \"Print\" [ref="]);
    let print = reference_in(&words, "button \"Print\"");
    stage.client.interact("click", json!({"ref": print})).await;
    assert_eq!(stage.seen().await, ["click menu", "click print"]);
}

#[tokio::test]
async fn complaints_about_fields_are_told_with_the_field() {
    let stage = &Stage::at("/effects.html").await;
    let fields = json!([{"field": "#mail", "value": "nobody"}]);
    let fill = json!({"action": "fill", "fields": fields, "submit": true});
    let words = stage.client.text("browser_interact", fill).await;
    let complaint = "invalid: \"There is no @ in it\"";
    tells(&words, &["now: textbox \"E-mail\" [ref=", complaint]);
    assert_eq!(words.matches("There is no @").count(), 1, "{words}");
    // What is in the field is told once, as what was filled.
    assert_eq!(words.matches("nobody").count(), 1, "{words}");
    let fixed = json!([{"field": reference_in(&words, "textbox \"E-mail\""), "value": "a@b.c"}]);
    let fill = json!({"action": "fill", "fields": fixed, "submit": true});
    let words = stage.client.text("browser_interact", fill).await;
    assert!(!words.contains("invalid"), "{words}");
    // The browser's own complaint is in no document.
    let words = click(stage, "#order").await;
    tells(&words, &["textbox \"Town\" [ref=", "invalid: \""]);
}

#[tokio::test]
async fn states_and_values_are_told() {
    let stage = &Stage::at("/effects.html").await;
    let words = click(stage, "#gift").await;
    tells(&words, &["on checkbox \"Gift wrap\" [ref=", "], now checked; at "]);
    assert!(!words.contains("nothing changed"), "{words}");
    tells(&click(stage, "#gift").await, &["], now unchecked; at "]);
    tells(&click(stage, "#more").await, &["on button \"More\" [ref=", "], now expanded; at "]);
    tells(&click(stage, "summary").await, &["now expanded", "text \"Nothing is for free.\""]);
    let words = click(stage, "#two").await;
    tells(&words, &["on tab \"Two\" [ref=", "], now selected; at "]);
    assert!(!words.contains("\"One\""), "{words}");
    let words = click(stage, "#copy").await;
    tells(&words, &["now: textbox \"Name\" [ref=", "] = \"Ada\"; at "]);
    let typed = json!({"action": "type", "selector": "#name", "text": "Grace"});
    let words = stage.client.text("browser_interact", typed).await;
    assert_eq!(words.matches("Grace").count(), 1, "{words}");
}

#[tokio::test]
async fn what_goes_away_is_told() {
    let stage = &Stage::at("/effects.html").await;
    let words = click(stage, "#dialog").await;
    tells(&words, &["now: dialog \"Question\", button \"Close\" [ref="]);
    // What the dialog kept the user from was known before.
    tells(
        &click(stage, "#close").await,
        &["on button \"Close\" [ref=", "]; gone: dialog \"Question\"; at "],
    );
    tells(&click(stage, "#drop").await, &["gone: item \"Milk Drop\"; at "]);
}

#[tokio::test]
async fn many_are_counted() {
    let stage = &Stage::at("/effects.html").await;
    let words = click(stage, "#rows").await;
    tells(&words, &["now: text \"Row 1\", +498 more, text \"Row 500\"; at "]);
    let words = click(stage, "#many").await;
    tells(&words, &["now: text \"Thing 1\", +9998 more, text \"Thing 10000\"; at "]);
}

#[tokio::test]
async fn what_nobody_sees_is_not_told() {
    let stage = &Stage::at("/effects.html").await;
    let words = click(stage, "#unseen").await;
    assert!(!words.contains("invisible") && !words.contains("now"), "{words}");
    assert!(words.contains("changed in the page: "), "{words}");
    let words = click(stage, "#style").await;
    assert!(words.contains("changed in the page: 1 attributes"), "{words}");
}

#[tokio::test]
async fn passwords_are_not_told() {
    let stage = &Stage::at("/effects.html").await;
    for (selector, secret) in [("#secret", "new-secret"), ("#show", "newer-secret")] {
        let click = json!({"action": "click", "selector": selector});
        let result = stage.client.works("browser_interact", click).await;
        assert!(!result.to_string().contains("-secret"), "{result}");
        let value = stage.client.evaluate("at('password').value").await;
        assert_eq!(value, secret);
    }
}

#[tokio::test]
async fn words_of_the_page_stay_in_quotes() {
    let stage = &Stage::at("/effects.html").await;
    let click = json!({"action": "click", "selector": "#words"});
    let result = stage.client.works("browser_interact", click).await;
    let words = result["content"][0]["text"].as_str().unwrap();
    tells(words, &["now: text \"\\\"a\\\"; at http://evil/ \\[ref=e1\\] long"]);
    let facts = result["structuredContent"]["facts"].as_array().unwrap();
    let [fact] = &facts[..] else { panic!("{facts:?}") };
    assert_eq!((&fact["what"], &fact["role"]), (&json!("changed"), &json!("text")));
    assert!(fact["name"].as_str().unwrap().chars().count() <= 80, "{fact}");
    assert!(result["structuredContent"]["changes"]["added"].as_u64() >= Some(1), "{result}");
}

#[tokio::test]
async fn frames_and_shadow_roots_tell_as_well() {
    let stage = &Stage::at("/effects-around.html").await;
    let Stage { site, client, .. } = stage;
    site.report("inside loaded").await;
    let shown = client.snapshot().await;
    for (name, told, next) in
        [("Pay", "status \"Paid\"", "Receipt"), ("Tick", "status \"Ticked\"", "Tock")]
    {
        let press =
            json!({"action": "click", "ref": reference_in(&shown, &format!("button \"{name}\""))});
        let words = client.text("browser_interact", press).await;
        tells(&words, &["now: ", told]);
        let next = reference_in(&words, &format!("button \"{next}\""));
        client.interact("click", json!({"ref": next})).await;
    }
    site.reported("clicked inside", json!("receipt")).await;
    assert_eq!(stage.seen().await, ["click Tock"]);
}
