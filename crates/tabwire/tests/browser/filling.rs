//! Filling a whole form in one call: every kind of field, all or nothing, and what is said of it.

use serde_json::{Value, json};

use crate::stage::{Driver, Stage, with};

fn field(name: &str, value: &str) -> Value {
    json!({"field": name, "value": value})
}

/// Every field of the page: how it is named, the value, and what the page must say then.
fn everything() -> Vec<(&'static str, &'static str, &'static str, Value)> {
    vec![
        ("First name", "Ada", "first", json!("Ada")),
        ("Last name", "Lovelace ", "last", json!("Lovelace ")),
        ("E-mail", "ada@example.org", "mail", json!("ada@example.org")),
        ("Telephone", "+49 30 12", "phone", json!("+49 30 12")),
        ("Web site", "https://a.example/", "site", json!("https://a.example/")),
        ("Search", "engines", "search", json!("engines")),
        ("Password", "s3cret-word", "secret", json!("s3cret-word")),
        ("Age", "36.5", "age", json!("36.5")),
        ("nickname", "Countess", "nick", json!("Countess")),
        ("About", "one\ntwo", "about", json!("one\ntwo")),
        ("Country", "France", "country", json!("fr")),
        ("[name=currency]", "USD", "currency", json!("USD")),
        ("Languages", "English\nfr", "languages", json!(["en", "fr"])),
        ("Newsletter", "true", "news", json!("yes")),
        ("Terms", "false", "terms", Value::Null),
        ("Styled", "true", "styled", json!("yes")),
        ("Dark mode", "true", "dark", json!("true")),
        ("Sound", "false", "sound", json!("false")),
        ("Size", "Large", "size", json!("l")),
        ("#post", "pick", "delivery", json!("pick")),
        ("Payment", "Cash", "payment", json!("cash")),
        ("Birthday", "1815-12-10", "birthday", json!("1815-12-10")),
        ("Time", "14:30", "time", json!("14:30")),
        ("Meeting", "2026-11-30T09:15", "meeting", json!("2026-11-30T09:15")),
        ("Month", "2026-11", "month", json!("2026-11")),
        ("Week", "2026-W48", "week", json!("2026-W48")),
        ("Colour", "#ff8800", "colour", json!("#ff8800")),
        ("Volume", "7", "volume", json!("7")),
        ("City", "Berlin", "city", json!("Berlin")),
        ("Notes", "new notes", "notes", json!("new notes")),
        ("Shadow text", "deep", "shadowed", json!("deep")),
        ("Frame text", "inside", "framed", json!("inside")),
    ]
}

async fn fill(client: &Driver, fields: &[Value]) -> Value {
    client.interact("fill", json!({"fields": fields})).await
}

async fn state(client: &Driver) -> Value {
    client.evaluate("state()").await
}

#[tokio::test]
async fn every_kind_of_field_is_filled_in_one_call() {
    let stage = &Stage::at("/filling.html").await;
    let client = &stage.client;
    let all = everything();
    let fields: Vec<_> = all.iter().map(|(name, value, ..)| field(name, value)).collect();
    let args = json!({"action": "fill", "fields": fields});
    let result = client.works("browser_interact", args).await;
    let seen = state(client).await;
    for (name, _, key, expected) in &all {
        assert_eq!(seen.get(key).unwrap_or(&Value::Null), expected, "{name}: {seen}");
    }
    let filled = &result["structuredContent"]["filled"];
    assert_eq!(filled.as_array().unwrap().len(), all.len(), "{filled}");
    assert_eq!(
        filled[0],
        json!({"field": "First name", "role": "textbox", "name": "First name", "value": "Ada"})
    );
    for (place, value) in
        [(6, "•••"), (10, "France"), (12, "English\nFrench"), (14, "false"), (18, "Large")]
    {
        assert_eq!(filled[place]["value"], value, "{}", filled[place]);
    }
    assert!(!result.to_string().contains("s3cret"), "a password is never told");
    let input = client
        .evaluate("[trusted > 15, changes.includes('first'), changes.includes('colour')]")
        .await;
    assert_eq!(
        input,
        json!([true, true, true]),
        "typing is trusted, and the page hears of changes"
    );
}

#[tokio::test]
async fn what_is_so_already_is_left_alone_and_emptied_where_wanted() {
    let stage = &Stage::at("/filling.html").await;
    let client = &stage.client;
    let fields = [
        field("Terms", "true"),
        field("Dark mode", "false"),
        field("Last name", ""),
        field("Notes", ""),
    ];
    fill(client, &fields).await;
    let seen = state(client).await;
    assert_eq!([&seen["terms"], &seen["dark"], &seen["last"]], ["yes", "false", ""], "{seen}");
    assert_eq!(seen["notes"].as_str().unwrap().trim(), "", "{seen}");
    let reference = client.reference("textbox \"First name\"").await;
    fill(client, &[field(&reference, "by reference"), field("input[name=last]", "by selector")])
        .await;
    let seen = state(client).await;
    assert_eq!([&seen["first"], &seen["last"]], ["by reference", "by selector"]);
    let told = fill(client, &[field("Last name", "last")]).await;
    assert_eq!(told["filled"][0]["value"], "last");
    assert_eq!(client.evaluate("changes.at(-1)").await, "last", "also the last field is left");
}

#[tokio::test]
async fn a_form_is_filled_and_sent_in_one_call() {
    let stage = &Stage::at("/filling.html").await;
    let Stage { site, client, .. } = stage;
    client.evaluate("stays = false").await;
    let fields = [field("First name", "Ada"), field("Newsletter", "true")];
    let sent = client.interact("fill", json!({"fields": fields, "submit": true})).await;
    let submitted = site.report("submitted").await;
    assert_eq!([&submitted["first"], &submitted["news"]], ["Ada", "yes"]);
    assert_eq!(sent["navigated"], true, "{sent}");
    assert!(sent["url"].as_str().unwrap().contains("/arrived.html?first=Ada"), "{sent}");
    assert_eq!(sent["filled"][1]["value"], "true", "read before the page was left: {sent}");

    stage.open("/filling.html").await;
    let wrong = json!({"fields": [field("E-mail", "no mail")], "submit": true});
    let words = client.refused("fill", wrong, "WRONG_ELEMENT").await;
    assert!(
        words.contains("not sent") && words.contains("already filled: fields.0 \"E-mail\""),
        "{words}"
    );
}

#[tokio::test]
async fn a_field_that_the_page_replaces_meanwhile_is_found_again() {
    let stage = &Stage::at("/filling.html").await;
    let client = &stage.client;
    client.evaluate("makeChanging()").await;
    fill(client, &[field("Kind", "Two"), field("Detail", "found again")]).await;
    assert_eq!(client.evaluate("at('detail-text').value").await, "found again");
    let detail = client.reference("textbox \"Detail\"").await;
    let fields = json!({"fields": [field("Kind", "One"), field(&detail, "lost")]});
    let words = client.refused("fill", fields, "DEAD_REFERENCE").await;
    assert!(
        words.contains("fields.1") && words.contains("already filled: fields.0 \"Kind\""),
        "{words}"
    );
    assert_eq!(client.evaluate("at('detail-text').value").await, "");
}

#[tokio::test]
async fn a_dialog_in_between_is_told_with_what_was_filled() {
    let stage = &Stage::at("/filling.html").await;
    let client = &stage.client;
    client
        .evaluate("void (document.querySelector('[name=country]').onchange = () => alert('Far?'))")
        .await;
    let fields = [field("First name", "Ada"), field("Country", "Japan"), field("Last name", "new")];
    let words = client.refused("fill", json!({"fields": fields}), "DIALOG_OPEN").await;
    assert!(words.contains("fields.1 \"Country\"") && words.contains("Far?"), "{words}");
    assert!(words.contains("already filled: fields.0 \"First name\""), "{words}");
    client.call("browser_debug", json!({"action": "dialog", "dialogAction": "accept"})).await;
    let seen = state(client).await;
    assert_eq!([&seen["first"], &seen["country"], &seen["last"]], ["Ada", "jp", "old"], "{seen}");
}

/// One wrong field keeps the right one before it from being filled.
#[tokio::test]
async fn nothing_is_filled_when_one_field_cannot_be() {
    let stage = &Stage::at("/filling.html").await;
    let client = &stage.client;
    for (name, value, codes, words) in [
        ("Nothing such", "x", "ELEMENT_NOT_FOUND", "no field is called \"Nothing such\""),
        ("#nothing", "x", "ELEMENT_NOT_FOUND", "#nothing"),
        ("d9e9", "x", "DEAD_REFERENCE", "d9e9"),
        ("Street", "x", "INVALID_ARGUMENT", "may mean textbox \"Street\" (e"),
        ("[name=]", "x", "INVALID_SELECTOR", "CSS selector"),
        ("Fixed", "x", "WRONG_ELEMENT", "read-only"),
        ("Locked", "x", "ELEMENT_DISABLED", "disabled"),
        ("File", "x", "WRONG_ELEMENT", "upload"),
        ("[name=hidden]", "x", "ELEMENT_HIDDEN", "cannot be seen"),
        ("Fader", "5", "WRONG_ELEMENT", "press"),
        ("#send", "x", "WRONG_ELEMENT", "no field"),
        ("Country", "Narnia", "WRONG_ELEMENT", "\"Germany\""),
        ("Country", "xx", "WRONG_ELEMENT", "disabled"),
        ("Languages", "English\nKlingon", "WRONG_ELEMENT", "Klingon"),
        ("Newsletter", "yes", "WRONG_ELEMENT", "\"true\" or \"false\""),
        ("Size", "Huge", "WRONG_ELEMENT", "\"Small\", \"Large\""),
        ("Age", "old", "WRONG_ELEMENT", "a number"),
        ("Birthday", "tomorrow", "WRONG_ELEMENT", "2026-11-30"),
        ("Time", "noon", "WRONG_ELEMENT", "14:30"),
        ("Colour", "red", "WRONG_ELEMENT", "#ff8800"),
        ("Volume", "11", "WRONG_ELEMENT", "0 to 10"),
        ("Telephone", "+49 30 1234567890", "WRONG_ELEMENT", "at most 12"),
        ("Search", "two\nlines", "WRONG_ELEMENT", "one line"),
        ("First name", "twice", "INVALID_ARGUMENT", "same field as fields.0"),
    ] {
        let fields = json!({"fields": [field("First name", "Ada"), field(name, value)]});
        let said = client.refused("fill", fields, codes).await;
        assert!(said.contains(words), "{name}: {said}");
        assert!(said.contains("fields.1") && said.contains("nothing was filled"), "{name}: {said}");
    }
    assert_eq!(state(client).await["first"], "");
    assert_eq!(client.evaluate("[trusted, untrusted]").await, json!([0, 0]));
}

#[tokio::test]
async fn bad_arguments_are_refused_with_what_is_right() {
    let stage = &Stage::at("/filling.html").await;
    for (args, words) in [
        (json!({}), "fields"),
        (json!({"fields": []}), "1 to 100"),
        (json!({"fields": vec![field("First name", "x"); 101]}), "1 to 100"),
        (json!({"fields": ["x"]}), "fields"),
        (json!({"fields": [{"value": "x"}]}), "fields.0 must name its field"),
        (json!({"fields": [{"field": "First name"}]}), "fields.0.value must be a string"),
        (json!({"fields": [{"field": " ", "value": "x"}]}), "fields.0.field"),
        (json!({"fields": [{"field": "First name", "value": 5}]}), "value"),
        (json!({"fields": [{"ref": "e1", "label": "x", "value": "x"}]}), "only one"),
        (json!({"fields": [{"label": "x", "value": "x", "text": "x"}]}), "no text"),
        (json!({"fields": [field("First name", "x")], "submit": "yes"}), "submit"),
    ] {
        let said =
            stage.client.refused("fill", args.clone(), "INVALID_ARGUMENT|invalid_argument").await;
        assert!(said.contains(words), "{args}: {said}");
    }
    let no_form =
        json!({"fields": [field("Frame text", "x"), field("Dark mode", "true")], "submit": true});
    stage.client.evaluate("document.body.append(at('dark'))").await;
    let said = stage.client.refused("fill", no_form, "INVALID_ARGUMENT").await;
    assert!(said.contains("in no form"), "{said}");
    assert_eq!(state(&stage.client).await["framed"], "");
}

#[tokio::test]
async fn what_is_acted_on_is_told_with_a_selector_that_finds_it_alone() {
    let stage = &Stage::at("/filling.html").await;
    let client = &stage.client;
    for selector in
        ["#send", "[name=first]", "[name=size][value=l]", "#dark", "#payment span:last-child"]
    {
        let action = if selector.contains("first") { "hover" } else { "click" };
        let done = client.interact(action, json!({"selector": selector})).await;
        let told = done["element"]["selector"].as_str().unwrap_or_else(|| panic!("{done}"));
        let same = format!(
            "((all) => all.length === 1 && all[0] === document.querySelector({selector:?}))\
             (document.querySelectorAll({told:?}))"
        );
        assert_eq!(client.evaluate(&same).await, true, "{selector}: {told}");
    }
    let chosen =
        client.interact("select", json!({"selector": "[name=country]", "values": ["Japan"]})).await;
    assert_eq!(chosen["element"]["selector"], "select[name=\"country\"]");
    assert_eq!(state(client).await["country"], "jp");
    for name in ["Shadow text", "Frame text"] {
        let reference = client.reference(name).await;
        let typed = client.interact("type", json!({"ref": reference, "text": "x"})).await;
        let element = with(typed["element"].clone(), json!({}));
        assert!(element.get("selector").is_none(), "plain CSS does not reach it: {element}");
    }
}
