//! What a page sees when its tab passes for another: screen, device, place, time, language, style,
//! network. All of it is what the page itself says. Where and for how long it is in force is in
//! [`emulation_scope`](crate::emulation_scope).

use serde_json::{Value, json};
use testkit::eventually;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::stage::{Stage, with};

/// Sets something; returns all that is said to be in force.
pub async fn set(stage: &Stage, action: &str, more: Value) -> Value {
    let args = with(json!({"action": action}), more);
    let answer = stage.client.call("browser_emulate", args).await;
    answer["emulated"].clone()
}

/// What the page sees.
pub async fn sees(stage: &Stage) -> Value {
    stage.site.forget();
    stage.client.evaluate("report('sees', sees())").await;
    stage.site.report("sees").await
}

/// Waits until the page sees all of this, and returns what it sees: a document follows the settings
/// of its process a moment later.
pub async fn comes_to(stage: &Stage, wanted: &Value) -> Value {
    let fields = wanted.as_object().unwrap();
    eventually(&format!("the page sees {wanted}"), async || {
        let seen = sees(stage).await;
        fields.iter().all(|(name, value)| &seen[name] == value).then_some(seen)
    })
    .await
}

/// Where the page is told to be.
pub async fn place(stage: &Stage) -> Value {
    stage.site.forget();
    stage.client.evaluate("place().then((where) => report('place', where))").await;
    stage.site.report("place").await
}

#[tokio::test]
async fn a_viewport_is_what_the_page_measures() {
    let stage = &Stage::at("/sees.html").await;
    let before = sees(stage).await;
    let emulated = set(stage, "viewport", json!({"value": "500x400"})).await;
    assert_eq!(emulated, json!({"viewport": {"width": 500, "height": 400, "mobile": false}}));
    let seen = comes_to(stage, &json!({"width": 500, "height": 400})).await;
    assert_eq!((&seen["dots"], &seen["touch"]), (&before["dots"], &before["touch"]));
    let more = json!({"width": 400, "height": 800, "deviceScaleFactor": 2.5, "mobile": true});
    set(stage, "viewport", more).await;
    comes_to(stage, &json!({"width": 400, "dots": 2.5, "touch": 5, "coarse": true})).await;
    // What is done in the page still works, and a picture is of the new size.
    let shot = json!({"action": "screenshot", "format": "png"});
    let shot = stage.client.call("browser_content", shot).await;
    assert!(shot["width"].as_u64() >= Some(400), "{shot}");
    assert_eq!(set(stage, "reset", json!({})).await, json!({}));
    comes_to(stage, &before).await;
}

#[tokio::test]
async fn a_device_is_a_screen_a_name_and_touch() {
    let stage = &Stage::at("/sees.html").await;
    let before = sees(stage).await;
    for (name, width, dots, agent, platform) in [
        ("iphone14", 390, 3.0, "iPhone", "iPhone"),
        ("iPhone 14 Pro Max", 430, 3.0, "iPhone", "iPhone"),
        ("IPHONE SE", 375, 2.0, "iPhone", "iPhone"),
        ("Pixel 7", 412, 2.625, "Pixel 7", "Linux armv81"),
        ("pixel 7 pro", 412, 3.5, "Pixel 7 Pro", "Linux armv81"),
        ("Samsung Galaxy S23", 360, 3.0, "Android", "Linux armv81"),
        ("iPad Pro", 1024, 2.0, "iPad", "iPad"),
        ("iPad  mini", 768, 2.0, "iPad", "iPad"),
    ] {
        let emulated = set(stage, "device", json!({ "device": name })).await;
        assert!(emulated["device"].is_string(), "{emulated}");
        let wanted = json!({"width": width, "platform": platform, "touch": 5});
        let seen = comes_to(stage, &wanted).await;
        assert_eq!(seen["dots"].as_f64(), Some(dots), "{name}");
        assert!(seen["agent"].as_str().unwrap().contains(agent), "{name}: {seen}");
    }
    set(stage, "device", json!({"value": "Pixel 7"})).await;
    // Client hints say so too.
    comes_to(stage, &json!({"mobile": true})).await;
    set(stage, "reset", json!({})).await;
    comes_to(stage, &before).await;
}

/// Opens a server that answers one request; returns its address and the head of what came.
async fn one_request(stage: &Stage) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    let answering = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 8192];
        let length = stream.read(&mut head).await.unwrap();
        let answer = "HTTP/1.1 200 -\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\
            Connection: close\r\n\r\nok";
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&head[..length]).to_lowercase()
    });
    stage.client.go(&url).await;
    answering.await.unwrap()
}

#[tokio::test]
async fn a_user_agent_and_a_language_are_told_to_servers_too() {
    let stage = &Stage::at("/sees.html").await;
    let before = sees(stage).await;
    let more = json!({"userAgent": "Teapot/1.0", "platform": "Kettle"});
    set(stage, "user_agent", more).await;
    let emulated = set(stage, "locale", json!({"locale": "de_de"})).await;
    let expected = json!({"userAgent": "Teapot/1.0", "platform": "Kettle", "locale": "de-DE"});
    assert_eq!(emulated, expected);
    let head = one_request(stage).await;
    assert!(head.contains("user-agent: teapot/1.0\r\n"), "{head}");
    assert!(head.contains("accept-language: de-de,de;q=0.9\r\n"), "{head}");
    stage.open("/sees.html").await;
    let seen = sees(stage).await;
    assert_eq!((&seen["agent"], &seen["platform"]), (&json!("Teapot/1.0"), &json!("Kettle")));
    assert_eq!((&seen["language"], &seen["languages"]), (&json!("de-DE"), &json!("de-DE,de")));
    assert_eq!(seen["number"], "1.234,5");
    set(stage, "reset", json!({})).await;
    comes_to(stage, &before).await;
    let head = one_request(stage).await;
    assert!(!head.contains("teapot") && !head.contains("de-de"), "{head}");
}

#[tokio::test]
async fn a_time_zone_is_the_clock_of_the_page() {
    let stage = &Stage::at("/sees.html").await;
    let before = sees(stage).await;
    for (zone, hour) in [("Asia/Tokyo", 21), ("America/New_York", 7)] {
        let emulated = set(stage, "timezone", json!({ "value": zone })).await;
        assert_eq!(emulated, json!({ "timezoneId": zone }));
        comes_to(stage, &json!({"zone": zone, "hour": hour})).await;
    }
    set(stage, "reset", json!({})).await;
    comes_to(stage, &before).await;
}

#[tokio::test]
async fn media_are_what_style_sheets_ask_for() {
    let stage = &Stage::at("/sees.html").await;
    let before = sees(stage).await;
    set(stage, "media", json!({"value": "dark"})).await;
    let emulated = set(stage, "media", json!({"reducedMotion": true, "media": "print"})).await;
    assert_eq!(emulated, json!({"colorScheme": "dark", "reducedMotion": true, "media": "print"}));
    comes_to(stage, &json!({"dark": true, "light": false, "still": true, "print": true})).await;
    let colour = stage.client.evaluate("getComputedStyle(at('paper')).color").await;
    assert_eq!(colour, "rgb(255, 0, 0)");
    set(stage, "media", json!({"colorScheme": "light", "media": "screen"})).await;
    comes_to(stage, &json!({"dark": false, "light": true, "still": true, "print": false})).await;
    set(stage, "reset", json!({})).await;
    comes_to(stage, &before).await;
}

#[tokio::test]
async fn a_place_is_told_without_asking_the_user() {
    let stage = &Stage::at("/sees.html").await;
    assert_eq!(place(stage).await, "denied", "nobody can answer the question here");
    let emulated = set(stage, "geolocation", json!({"value": "52.5,13.4"})).await;
    assert_eq!(emulated["geolocation"]["longitude"], 13.4);
    assert_eq!(place(stage).await, "52.5,13.4,10");
    let state = "navigator.permissions.query({name: 'geolocation'}).then((it) => it.state)";
    assert_eq!(stage.client.evaluate(state).await, "granted");
    // A page that asks while it loads has its answer too, and one that watches hears of a change.
    for url in [stage.site.url("/sees.html?again"), stage.site.elsewhere("/sees.html")] {
        stage.site.forget();
        stage.client.go(&url).await;
        stage.site.reported("asked", json!("52.5,13.4,10")).await;
    }
    let watch = "navigator.geolocation.watchPosition((it) => report('moved', it.coords.latitude))";
    stage.client.evaluate(watch).await;
    stage.site.reported("moved", json!(52.5)).await;
    set(stage, "geolocation", json!({"latitude": -33.9, "longitude": 151.2, "accuracy": 3})).await;
    stage.site.reported("moved", json!(-33.9)).await;
    assert_eq!(place(stage).await, "-33.9,151.2,3");
    set(stage, "reset", json!({})).await;
    assert_eq!(place(stage).await, "denied");
    stage.open("/sees.html").await;
    assert_eq!(place(stage).await, "denied");
}

#[tokio::test]
async fn a_network_is_away_and_comes_back() {
    let stage = &Stage::at("/sees.html").await;
    let emulated = set(stage, "offline", json!({"value": "true"})).await;
    assert_eq!(emulated, json!({"offline": true}));
    // What the page sees meanwhile it can only tell later.
    let trying = "note(`online ${navigator.onLine}`), \
        fetch('/data').then(() => note('came'), (error) => note(error.name))";
    stage.client.evaluate(trying).await;
    let asked = stage.site.asked().len();
    set(stage, "offline", json!({"offline": false})).await;
    stage.client.evaluate(trying).await;
    let seen = stage.client.seen(&stage.site, json!({})).await;
    assert_eq!(seen, ["online false", "TypeError", "online true", "came"]);
    assert!(stage.site.asked().len() > asked);
}

#[tokio::test]
async fn a_network_is_as_slow_as_it_is_throttled() {
    let stage = &Stage::at("/sees.html").await;
    let quickest =
        "Promise.all([1, 2, 3].map(() => takes('/data'))).then((all) => Math.min(...all))";
    let usual = stage.client.evaluate(quickest).await.as_f64().unwrap();
    let throttle = set(stage, "throttle", json!({"latency": 900})).await;
    assert_eq!(throttle, json!({"throttle": {"latency": 900}}));
    let slow = stage.client.evaluate(quickest).await.as_f64().unwrap();
    assert!(slow > 800.0, "{slow}, usually {usual}");
    // Fewer bytes per second: the same page, of more than 300 bytes, takes longer.
    let big = "takes('/huge.html')";
    set(stage, "throttle", json!({"preset": "none"})).await;
    let usual = stage.client.evaluate(big).await.as_f64().unwrap();
    set(stage, "throttle", json!({"downloadThroughput": 200})).await;
    let slow = stage.client.evaluate(big).await.as_f64().unwrap();
    assert!(slow > 1000.0, "{slow}, usually {usual}");
    let emulated = set(stage, "throttle", json!({"value": "fast-3g"})).await;
    assert_eq!(emulated["throttle"]["preset"], "fast-3g");
    assert_eq!(set(stage, "throttle", json!({"value": "offline"})).await["offline"], true);
    assert_eq!(set(stage, "throttle", json!({"value": "none"})).await, json!({}));
    comes_to(stage, &json!({"online": true})).await;
}

#[tokio::test]
async fn wrong_arguments_are_named_with_what_is_right() {
    let stage = &Stage::at("/sees.html").await;
    let before = sees(stage).await;
    for (action, more, parts) in [
        ("viewport", json!({"width": 0, "height": 5}), ["width", "from 1 to 10000"]),
        ("viewport", json!({"width": 5, "height": 10_001}), ["height", "from 1 to 10000"]),
        (
            "viewport",
            json!({"width": 5, "height": 5, "deviceScaleFactor": 0}),
            ["deviceScaleFactor", "0.1 to 10"],
        ),
        ("viewport", json!({"value": "big"}), ["value", "390x844"]),
        ("viewport", json!({}), ["`value`", "`width`"]),
        ("device", json!({"device": "Nokia 3310"}), ["iPhone 14 Pro Max", "iPad Mini"]),
        ("user_agent", json!({"userAgent": ""}), ["userAgent", "printable"]),
        ("user_agent", json!({"userAgent": "a\r\nX: b"}), ["userAgent", "one line"]),
        ("geolocation", json!({"latitude": 91, "longitude": 0}), ["latitude", "-90 to 90"]),
        ("geolocation", json!({"latitude": 0, "longitude": -181}), ["longitude", "-180 to 180"]),
        ("geolocation", json!({"value": "home"}), ["value", "52.5,13.4"]),
        ("timezone", json!({"timezoneId": "Mars/Base"}), ["timezoneId", "Europe/Berlin"]),
        ("timezone", json!({"timezoneId": ""}), ["timezoneId", "Europe/Berlin"]),
        ("locale", json!({"locale": "nonsense!"}), ["locale", "de-DE"]),
        ("locale", json!({"locale": "xx-XX"}), ["locale", "de-DE"]),
        ("media", json!({"colorScheme": "sepia"}), ["colorScheme", "dark"]),
        ("media", json!({}), ["`value`", "`colorScheme`"]),
        ("offline", json!({"value": "maybe"}), ["value", "true or false"]),
        ("throttle", json!({"preset": "2g"}), ["preset", "fast-3g"]),
        ("throttle", json!({"latency": -1}), ["latency", "0 to 60000"]),
        ("throttle", json!({"downloadThroughput": 0}), ["downloadThroughput", "at least 1"]),
        ("throttle", json!({"preset": "4g", "latency": 5}), ["preset", "not both"]),
        ("reset", json!({"device": "iPhone 14"}), ["`device`", "reset"]),
    ] {
        let args = with(json!({ "action": action }), more);
        let codes = "invalid_argument|INVALID_ARGUMENT";
        let words = stage.client.fails("browser_emulate", args.clone(), codes).await;
        for part in parts {
            assert!(words.contains(part), "{args}: {part:?} not in {words}");
        }
    }
    assert_eq!(sees(stage).await, before, "nothing of it is in force");
    assert_eq!(set(stage, "reset", json!({})).await, json!({}));
}
