//! Forms: choosing, ticking and sending.

use serde_json::{Value, json};

use crate::stage::Stage;

#[tokio::test]
async fn options_are_chosen_by_value_label_or_place_and_the_page_hears_of_it() {
    let stage = &Stage::at("/forms.html").await;
    let client = &stage.client;
    let reference = client.reference("combobox \"Colour\"").await;
    for (how, expected) in [
        (json!({"selector": "#colour", "value": "b"}), "b"),
        (json!({"selector": "#colour", "label": "Green"}), "g"),
        (json!({"selector": "#colour", "index": 0}), "r"),
        (json!({"ref": reference, "values": ["g"]}), "g"),
    ] {
        let chosen = client.interact("select", how.clone()).await;
        assert_eq!(client.evaluate("at('colour').value").await, expected, "{how}");
        let seen = stage.seen().await;
        assert!(seen.iter().any(|it| it.starts_with("change colour")), "{how}: {seen:?}");
        assert_eq!(chosen["selected"], json!([expected]), "{how}");
    }
    let sizes = "[...at('sizes').selectedOptions].map((option) => option.value)";
    client.interact("select", json!({"selector": "#sizes", "values": ["S", "L"]})).await;
    assert_eq!(client.evaluate(sizes).await, json!(["S", "L"]));
    client.interact("select", json!({"selector": "#sizes", "values": ["M"]})).await;
    assert_eq!(client.evaluate(sizes).await, json!(["M"]));
    stage.seen().await;

    for how in [json!({"value": "x"}), json!({"label": "Violet"}), json!({"index": 9})] {
        let args = crate::stage::with(json!({"selector": "#colour"}), how);
        let words = client.refused("select", args, "WRONG_ELEMENT|INVALID_ARGUMENT").await;
        assert!(words.contains("Green"), "what there is to choose is said: {words}");
    }
    let disabled = json!({"selector": "#colour", "value": "u"});
    client.refused("select", disabled, "ELEMENT_DISABLED|WRONG_ELEMENT").await;
    assert_eq!(client.evaluate("at('colour').value").await, "g");
    assert!(stage.seen().await.is_empty());
}

#[tokio::test]
async fn boxes_are_ticked_once_and_not_touched_when_they_are_already_so() {
    let stage = &Stage::at("/forms.html").await;
    let client = &stage.client;
    let check = async |how: Value| client.interact("check", how).await;
    let ticked = check(json!({"selector": "#news"})).await;
    assert_eq!(ticked["checked"], true);
    assert_eq!(stage.seen().await, ["click news", "change news"]);
    assert_eq!(check(json!({"selector": "#news", "checked": true})).await["checked"], true);
    assert!(stage.seen().await.is_empty());
    assert_eq!(client.evaluate("at('news').checked").await, true);
    let news = client.reference("checkbox \"News\"").await;
    assert_eq!(check(json!({"ref": news, "checked": false})).await["checked"], false);
    assert_eq!(client.evaluate("at('news').checked").await, false);
    check(json!({"selector": "#news", "checked": false})).await;
    assert_eq!(stage.seen().await, ["click news", "change news"]);

    check(json!({"selector": "#both"})).await;
    assert!(stage.seen().await.is_empty());
    check(json!({"selector": "#one"})).await;
    assert_eq!(
        client.evaluate("[at('one').checked, at('both').checked]").await,
        json!([true, false])
    );
    check(json!({"selector": "#styled"})).await;
    assert_eq!(client.evaluate("at('styled').checked").await, true);
    check(json!({"selector": "#switch"})).await;
    assert_eq!(client.evaluate("at('switch').getAttribute('aria-checked')").await, "true");
    client.refused("check", json!({"selector": "#colour"}), "WRONG_ELEMENT").await;
}

#[tokio::test]
async fn a_form_is_sent_with_what_is_in_it() {
    let Stage { site, client, .. } = &Stage::at("/forms.html").await;
    client.interact("submit", json!({"selector": "#form"})).await;
    let seen = client.seen(site, json!({})).await;
    assert_eq!(seen.last().unwrap(), "submit colour=r&way=both");
    client.evaluate("stays = false; at('colour').focus()").await;
    let sent = client.interact("submit", json!({})).await;
    site.reported("arrived", json!("/arrived.html?colour=r&way=both")).await;
    assert_eq!(sent["url"], site.url("/arrived.html?colour=r&way=both"));
    assert_eq!(sent["navigated"], true);
}
