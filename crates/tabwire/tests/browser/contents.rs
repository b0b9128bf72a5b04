//! Reading a page: its text and HTML in parts, what matches, attributes, what is in view, and where
//! links lead.

use serde_json::{Value, json};

use crate::stage::{Driver, Stage, line_in, with};

async fn read(client: &Driver, action: &str, more: Value) -> Value {
    client.call("browser_content", with(json!({"action": action}), more)).await
}

async fn refused(client: &Driver, action: &str, more: Value, codes: &str) -> String {
    client.fails("browser_content", with(json!({"action": action}), more), codes).await
}

#[tokio::test]
async fn text_is_what_can_be_seen_frames_and_shadow_trees_included() {
    let stage = &Stage::at("/contents.html").await;
    let Stage { site, client, .. } = stage;
    let got = read(client, "get", json!({"format": "text"})).await;
    let expected = "Contents\n\nOne line with bold and LOUD words.\n\nSecond\nline\n\n\
        Apples\nPears\na\tb\nc\td\nif (x) {\n  y();\n}\n\nShadow words\n\nShadow button\n\
        Secret Plain Chosen Leave Stay Go on\n\
        Frame words\n\nFramed button\nAfter the frame\n\nFar below";
    assert_eq!(got["content"], expected);
    assert_eq!([&got["format"], &got["url"]], ["text", site.url("/contents.html").as_str()]);
    assert_eq!(got["length"], expected.len());
    assert!(got.get("next").is_none(), "{got}");
    let part = read(client, "get", json!({"selector": "#first"})).await;
    assert_eq!(part["content"], "One line with bold and LOUD words.");
    let words = client.text("browser_content", json!({"action": "get", "selector": "#code"})).await;
    assert!(words.contains("  if (x) {\n    y();\n  }"), "not quoted: {words}");
    stage.open("/frame-outer.html").await;
    site.report("inner loaded").await;
    let got = read(client, "get", json!({})).await["content"].as_str().unwrap().to_owned();
    let at = |words: &str| got.find(words).unwrap_or_else(|| panic!("{words} is not in {got:?}"));
    assert!(at("Outer") < at("Middle") && at("Middle") < at("Inner"), "{got}");
    let inner = read(client, "query", json!({"selector": "#inner"})).await;
    assert!(inner["elements"][0]["box"]["y"].as_i64() > Some(900), "below the fold: {inner}");
}

#[tokio::test]
async fn html_is_exact_but_for_passwords() {
    let stage = &Stage::at("/contents.html").await;
    let client = &stage.client;
    let head = read(client, "get", json!({"selector": "#first", "format": "html"})).await;
    assert_eq!(head["content"], client.evaluate("at('first').outerHTML").await);
    let whole = read(client, "get", json!({"format": "html"})).await;
    let exact = client.evaluate("document.documentElement.outerHTML").await;
    let exact = exact.as_str().unwrap().replace("hunter2", "•••");
    assert_eq!(whole["content"], exact);
    assert_eq!(client.evaluate("at('secret').getAttribute('value')").await, "hunter2");
    let secret = read(client, "get", json!({"selector": "#secret", "format": "html"})).await;
    assert!(!secret.to_string().contains("hunter2"), "{secret}");
}

#[tokio::test]
async fn long_content_comes_in_parts_and_a_changed_page_is_noticed() {
    let stage = &Stage::at("/contents.html").await;
    let client = &stage.client;
    client.evaluate("fill(3000)").await;
    let mut whole = String::new();
    let mut part = read(client, "get", json!({})).await;
    let length = part["length"].as_u64().unwrap() as usize;
    for _ in 0..10 {
        let content = part["content"].as_str().unwrap();
        assert!(content.encode_utf16().count() <= 20_001, "{}", content.len());
        whole.push_str(content);
        assert!(part.get("changed").is_none());
        let Some(next) = part["next"].as_str() else { break };
        part = read(client, "get", json!({"cursor": next})).await;
    }
    assert_eq!(whole.encode_utf16().count(), length);
    assert!(length > 30_000 && whole.ends_with("Item 3000 😀"), "{length}");
    assert!(!whole.contains('\u{fffd}'), "no character is cut through");
    let first = read(client, "get", json!({"maxLength": 100})).await;
    client.evaluate("at('head').textContent = 'Changed'").await;
    let cursor = json!({"cursor": first["next"], "maxLength": 100});
    assert_eq!(read(client, "get", cursor).await["changed"], true);
    for (args, words) in [
        (json!({"cursor": "later"}), "cursor"),
        (json!({"format": "pdf"}), "format"),
        (json!({"maxLength": 0}), "maxLength"),
        (json!({"selector": "p", "ref": "e1"}), "only one"),
        (json!({"ref": "12"}), "e12"),
    ] {
        let said = refused(client, "get", args.clone(), "INVALID_ARGUMENT|invalid_argument").await;
        assert!(said.contains(words), "{args}: {said}");
    }
    refused(client, "get", json!({"selector": "p["}), "INVALID_SELECTOR").await;
    refused(client, "get", json!({"selector": "#nothing"}), "ELEMENT_NOT_FOUND").await;
}

#[tokio::test]
async fn all_that_matches_is_found_in_frames_and_shadow_trees() {
    let stage = &Stage::at("/contents.html").await;
    let client = &stage.client;
    let found = read(client, "query", json!({"selector": ".item"})).await;
    assert_eq!(found["count"], 2, "{found}");
    let names: Vec<_> = found["elements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Shadow button", "Framed button"]);
    let framed = &found["elements"][1];
    let place = "((frame, inner) => [frame.x + inner.x, frame.y + inner.y])\
        (at('frame').getBoundingClientRect(), at('frame').contentDocument\
        .querySelector('.item').getBoundingClientRect())";
    let place = client.evaluate(place).await;
    for (side, at) in [("x", 0), ("y", 1)] {
        let off = framed["box"][side].as_f64().unwrap() - place[at].as_f64().unwrap();
        // The frame's border lies between.
        assert!((0.0..4.0).contains(&off), "{side}: {framed} at {place}");
    }
    let clicked = client.interact("click", json!({"ref": framed["ref"]})).await;
    assert_eq!(clicked["element"]["name"], "Framed button");
    let one = read(client, "query", json!({"selector": "#plain"})).await;
    let one = &one["elements"][0];
    assert_eq!([&one["tag"], &one["role"], &one["name"]], ["input", "textbox", "Plain"]);
    assert_eq!(one["attributes"], json!({"id": "plain", "class": "wide", "value": "known"}));
    assert_eq!(one["visible"], true);
    let secret = read(client, "query", json!({"selector": "#secret"})).await;
    assert_eq!(secret["elements"][0]["attributes"]["value"], "•••");
    let gone = read(client, "query", json!({"selector": ".gone"})).await;
    assert_eq!(gone["elements"][0]["visible"], false);
    let text = read(client, "query", json!({"text": "frame"})).await;
    let texts: Vec<_> = text["elements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["text"].as_str().unwrap())
        .collect();
    assert!(texts.contains(&"After the frame") && texts.contains(&"Frame words"), "{text}");
    let first = read(client, "query", json!({"selector": "p", "all": false})).await;
    assert_eq!(first["elements"].as_array().unwrap().len(), 1, "{first}");
    assert!(first["count"].as_u64().unwrap() > 3);
    client.evaluate("fill(200)").await;
    let many = read(client, "query", json!({"selector": ".many"})).await;
    assert_eq!((many["elements"].as_array().unwrap().len(), &many["count"]), (50, &json!(200)));
    let none = read(client, "query", json!({"selector": ".none"})).await;
    assert_eq!(none, json!({"elements": [], "count": 0}));
    for (args, words) in [
        (json!({}), "selector"),
        (json!({"selector": "p", "text": "x"}), "only one"),
        (json!({"selector": "p", "all": "no"}), "all"),
    ] {
        let said =
            refused(client, "query", args.clone(), "INVALID_ARGUMENT|invalid_argument").await;
        assert!(said.contains(words), "{args}: {said}");
    }
    refused(client, "query", json!({"selector": "p["}), "INVALID_SELECTOR").await;
}

#[tokio::test]
async fn an_attribute_is_read_as_written_and_passwords_are_masked() {
    let stage = &Stage::at("/contents.html").await;
    let client = &stage.client;
    for (selector, attribute, value) in [
        ("#link", "title", json!("Away")),
        ("#go", "data-testid", json!("go")),
        ("#plain", "value", json!("known")),
        ("#plain", "title", Value::Null),
        ("#secret", "value", json!("•••")),
        ("#secret", "VALUE", json!("•••")),
        ("#secret", "data-kind", json!("own")),
    ] {
        let got =
            read(client, "attribute", json!({"selector": selector, "attribute": attribute})).await;
        assert_eq!([&got["attribute"], &got["value"]], [&json!(attribute), &value], "{selector}");
        let again = json!({"ref": got["ref"], "attribute": attribute});
        assert_eq!(read(client, "attribute", again).await["value"], value);
    }
    for (args, codes, words) in [
        (json!({"selector": "#go"}), "INVALID_ARGUMENT|invalid_argument", "attribute"),
        (json!({"attribute": "id"}), "INVALID_ARGUMENT|invalid_argument", "selector"),
        (json!({"selector": "#go", "attribute": " "}), "INVALID_ARGUMENT", "href"),
        (json!({"ref": "e99999", "attribute": "id"}), "DEAD_REFERENCE", "e99999"),
        (json!({"selector": "#none", "attribute": "id"}), "ELEMENT_NOT_FOUND", "#none"),
    ] {
        let said = refused(client, "attribute", args.clone(), codes).await;
        assert!(said.contains(words), "{args}: {said}");
    }
}

#[tokio::test]
async fn what_is_in_view_is_told_with_its_place() {
    let stage = &Stage::at("/contents.html").await;
    let client = &stage.client;
    let view = read(client, "viewport_dom", json!({})).await;
    let size = client.evaluate("[innerWidth, innerHeight]").await;
    assert_eq!(
        view["viewport"],
        json!({"width": size[0], "height": size[1], "scrollX": 0, "scrollY": 0})
    );
    let elements = view["elements"].as_array().unwrap();
    assert_eq!((&view["elementCount"], &view["left"]), (&json!(elements.len()), &json!(0)));
    let named = |name: &str| elements.iter().find(|it| it["name"] == name);
    let go = named("Go on").unwrap_or_else(|| panic!("{view}"));
    assert_eq!((&go["tag"], &go["interactive"]), (&json!("button"), &json!(true)));
    assert!(named("Shadow button").is_some() && named("Framed button").is_some(), "{view}");
    let says = |words: &str| elements.iter().any(|it| it["text"] == words);
    assert!(says("Apples") && !says("Far below") && !says("never shown"), "{view}");
    let with_hidden = read(client, "viewport_dom", json!({"includeHidden": true})).await;
    assert!(with_hidden.to_string().contains("never shown"));
    let few = read(client, "viewport_dom", json!({"maxElements": 5})).await;
    assert_eq!((&few["elementCount"], few["elements"].as_array().unwrap().len()), (&json!(5), 5));
    assert_eq!(few["left"], elements.len() - 5);
    client.evaluate("scrollTo(0, 3900)").await;
    let below = read(client, "viewport_dom", json!({})).await;
    assert!(below.to_string().contains("Far below") && !below.to_string().contains("Apples"));
    for args in
        [json!({"maxElements": 0}), json!({"maxElements": 2001}), json!({"includeHidden": 1})]
    {
        let name = args.as_object().unwrap().keys().next().unwrap().clone();
        let said = refused(client, "viewport_dom", args, "INVALID_ARGUMENT|invalid_argument").await;
        assert!(said.contains(&name), "{said}");
    }
}

#[tokio::test]
async fn links_tell_where_they_lead_when_asked() {
    let stage = &Stage::at("/contents.html").await;
    let client = &stage.client;
    assert!(!client.snapshot().await.contains("url="), "only when asked");
    let shown = client.text("browser_snapshot", json!({"links": true})).await;
    assert!(line_in(&shown, "Leave").contains("[url=http://localhost/away?x=1#y]"), "{shown}");
    assert!(line_in(&shown, "Stay").contains("[url=/tab.html]"), "{shown}");
    client
        .fails("browser_snapshot", json!({"links": "yes"}), "INVALID_ARGUMENT|invalid_argument")
        .await;
}
