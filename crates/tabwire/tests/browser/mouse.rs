//! The mouse: what is clicked, how, and with which keys held; hovering, moving and scrolling.

use serde_json::{Value, json};

use crate::stage::{Stage, with};

#[tokio::test]
async fn a_click_reaches_what_it_names_by_reference_selector_text_or_place() {
    let stage = &Stage::at("/mouse.html").await;
    let client = &stage.client;
    let alpha = client.reference("button \"Alpha\"").await;
    let clicked = client.interact("click", json!({"ref": alpha})).await;
    let element = json!({"ref": alpha, "role": "button", "name": "Alpha", "selector": "#alpha"});
    assert_eq!(clicked["element"], element);
    client.interact("click", json!({"selector": "#beta"})).await;
    client.interact("click", json!({"text": "Gamma ray"})).await;
    let delta = client.evaluate("middle('delta')").await;
    client.interact("click", delta).await;
    client.click("#below").await;
    let expected = ["click alpha", "click beta", "click gamma", "click delta", "click below"];
    assert_eq!(stage.seen().await, expected);
    let top = client.evaluate("scrollY").await;
    assert!(top.as_f64().unwrap() > 1000.0, "what is below was scrolled to: {top}");
}

#[tokio::test]
async fn buttons_counts_and_keys_reach_the_page_as_a_person_gives_them() {
    let stage = &Stage::at("/mouse.html").await;
    for (how, expected) in [
        (json!({"clickCount": 2}), vec!["click beta", "click beta x2", "dblclick beta"]),
        (
            json!({"clickCount": 3}),
            vec!["click beta", "click beta x2", "dblclick beta", "click beta x3"],
        ),
        (json!({"button": "right"}), vec!["contextmenu beta button2", "auxclick beta button2"]),
        (json!({"button": "middle"}), vec!["auxclick beta button1"]),
        (json!({"ctrl": true, "shift": true}), vec!["click beta ctrl shift"]),
        (json!({"alt": true, "meta": true}), vec!["click beta alt meta"]),
        (json!({"button": "left"}), vec!["click beta"]),
    ] {
        stage.client.interact("click", with(json!({"selector": "#beta"}), how.clone())).await;
        assert_eq!(stage.seen().await, expected, "{how}");
    }
}

#[tokio::test]
async fn hovering_opens_a_menu_and_moving_goes_to_the_point() {
    let stage = &Stage::at("/mouse.html").await;
    let client = &stage.client;
    client.interact("hover", json!({"selector": "#menu"})).await;
    assert_eq!(stage.seen().await, ["mouseenter menu"]);
    let shown = "getComputedStyle(at('item')).visibility === 'visible'";
    assert_eq!(client.evaluate(shown).await, true);
    client.click("#item").await;
    assert_eq!(stage.seen().await, ["click item"]);
    let middle = client.evaluate("middle('field')").await;
    client.interact("move", middle).await;
    assert_eq!(stage.seen().await.last().unwrap(), "move 100 30");
    assert_eq!(client.evaluate(shown).await, false);
    let menu = client.reference("group \"Menu\"").await;
    client.interact("hover", json!({"ref": menu})).await;
    assert_eq!(client.evaluate(shown).await, true);
}

#[tokio::test]
async fn scrolling_moves_the_page_or_the_element_and_says_how_far() {
    let stage = &Stage::at("/mouse.html").await;
    let client = &stage.client;
    let scroll = async |how: Value| client.interact("scroll", how).await;
    let told = scroll(json!({"deltaY": 300})).await;
    assert_eq!(client.evaluate("scrollY").await, 300);
    assert_eq!((&told["y"], &told["atEnd"]), (&json!(300), &json!(false)));
    scroll(json!({"direction": "down"})).await;
    let further = client.evaluate("scrollY").await;
    assert!(further.as_f64().unwrap() > 300.0, "{further}");
    scroll(json!({"direction": "up"})).await;
    assert_eq!(client.evaluate("scrollY").await, 300);
    let told = scroll(json!({"deltaY": 100_000})).await;
    assert_eq!(told["atEnd"], true);
    let left = "document.documentElement.scrollHeight - innerHeight - scrollY";
    assert!(client.evaluate(left).await.as_f64().unwrap().abs() < 1.0);

    let told = scroll(json!({"selector": "#pane", "deltaX": 40, "deltaY": 70})).await;
    assert_eq!(
        client.evaluate("[at('pane').scrollLeft, at('pane').scrollTop]").await,
        json!([40, 70])
    );
    assert_eq!((&told["x"], &told["y"]), (&json!(40), &json!(70)));
    let told = scroll(json!({"selector": "#pane", "direction": "right"})).await;
    assert!(told["x"].as_f64().unwrap() > 40.0, "{told}");
}
