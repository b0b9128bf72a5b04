//! What a page sees when its tab passes for another: screen, device, place, time, language, style,
//! network. All of it is what the page itself says.

use serde_json::{Value, json};
use testkit::eventually;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::{
    processes,
    stage::{Stage, until_it_works, with},
};

/// Sets something; returns all that is said to be in force.
async fn set(stage: &Stage, action: &str, more: Value) -> Value {
    let args = with(json!({"action": action}), more);
    let answer = stage.client.call("browser_emulate", args).await;
    answer["emulated"].clone()
}

/// What the page sees.
async fn sees(stage: &Stage) -> Value {
    stage.site.forget();
    stage.client.evaluate("report('sees', sees())").await;
    stage.site.report("sees").await
}

/// Waits until the page sees all of this, and returns what it sees: a document follows the settings
/// of its process a moment later.
async fn comes_to(stage: &Stage, wanted: &Value) -> Value {
    let fields = wanted.as_object().unwrap();
    eventually(&format!("the page sees {wanted}"), async || {
        let seen = sees(stage).await;
        fields.iter().all(|(name, value)| &seen[name] == value).then_some(seen)
    })
    .await
}

/// Where the page is told to be.
async fn place(stage: &Stage) -> Value {
    stage.site.forget();
    stage.client.evaluate("place().then((where) => report('place', where))").await;
    stage.site.report("place").await
}

async fn a_viewport_is_what_the_page_measures(stage: &Stage) {
    stage.open("/sees.html").await;
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

async fn a_device_is_a_screen_a_name_and_touch(stage: &Stage) {
    stage.open("/sees.html").await;
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

async fn a_user_agent_and_a_language_are_told_to_servers_too(stage: &Stage) {
    stage.open("/sees.html").await;
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

async fn a_time_zone_is_the_clock_of_the_page(stage: &Stage) {
    stage.open("/sees.html").await;
    let before = sees(stage).await;
    for (zone, hour) in [("Asia/Tokyo", 21), ("America/New_York", 7)] {
        let emulated = set(stage, "timezone", json!({ "value": zone })).await;
        assert_eq!(emulated, json!({ "timezoneId": zone }));
        comes_to(stage, &json!({"zone": zone, "hour": hour})).await;
    }
    set(stage, "reset", json!({})).await;
    comes_to(stage, &before).await;
}

async fn media_are_what_style_sheets_ask_for(stage: &Stage) {
    stage.open("/sees.html").await;
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

async fn a_place_is_told_without_asking_the_user(stage: &Stage) {
    stage.open("/sees.html").await;
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

async fn a_network_is_away_or_slow_and_comes_back(stage: &Stage) {
    stage.open("/sees.html").await;
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

/// Puts a bit of everything in force; returns what the page sees then.
async fn everything(stage: &Stage) -> Value {
    set(stage, "viewport", json!({"value": "500x400"})).await;
    set(stage, "user_agent", json!({"value": "Teapot/1.0"})).await;
    set(stage, "geolocation", json!({"value": "1,2"})).await;
    set(stage, "timezone", json!({"value": "Asia/Tokyo"})).await;
    set(stage, "locale", json!({"value": "fr-FR"})).await;
    set(stage, "media", json!({"value": "dark"})).await;
    let wanted = json!({
        "width": 500, "height": 400, "agent": "Teapot/1.0", "zone": "Asia/Tokyo",
        "language": "fr-FR", "dark": true, "light": false,
    });
    comes_to(stage, &wanted).await
}

async fn what_is_in_force_stays_over_navigations_and_processes(stage: &Stage) {
    stage.open("/sees.html").await;
    let before = sees(stage).await;
    let seen = everything(stage).await;
    for url in [
        stage.site.url("/sees.html?again"),
        stage.site.elsewhere("/sees.html"),
        stage.site.url("/sees.html?back"),
    ] {
        stage.client.go(&url).await;
        assert_eq!(sees(stage).await, seen, "{url}");
        assert_eq!(place(stage).await, "1,2,10", "{url}");
    }
    // Another tab of the client is not concerned.
    let other = stage.client.new_tab(&stage.site.elsewhere("/sees.html?other")).await;
    let ask = json!({"tab": other, "expression": "report('other', sees())"});
    stage.client.call("browser_execute", ask).await;
    let seen = stage.site.report("other").await;
    for name in ["width", "agent", "language", "zone", "dark"] {
        assert_eq!(seen[name], before[name], "{name}");
    }
    stage.client.tab("close", json!({"tab": other})).await;
    stage.open("/sees.html").await;
    set(stage, "reset", json!({})).await;
    comes_to(stage, &before).await;
}

async fn wrong_arguments_are_named_with_what_is_right(stage: &Stage) {
    stage.open("/sees.html").await;
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

/// What a frame of another origin sees: one that is there, or one that comes now. How large it is,
/// its page tells it later.
async fn frame_sees(stage: &Stage, ask: &str) -> Value {
    stage.site.forget();
    stage.client.evaluate(ask).await;
    let mut seen = stage.site.report("frame sees").await;
    let fields = seen.as_object_mut().unwrap();
    for size in ["width", "height"] {
        assert!(fields.remove(size).is_some());
    }
    seen
}

/// Asks until a frame that is there sees all of this: a document's style follows the settings of its
/// process a moment later. One that comes must see it from the beginning.
async fn comes_to_see(stage: &Stage, ask: &str, wanted: &Value) {
    let wanted = wanted.as_object().unwrap();
    if ask.starts_with("addFrame") {
        let seen = frame_sees(stage, ask).await;
        for (name, value) in wanted {
            assert_eq!(&seen[name], value, "{ask}: {name}");
        }
        return;
    }
    eventually(ask, async || {
        let seen = frame_sees(stage, ask).await;
        wanted.iter().all(|(name, value)| &seen[name] == value).then_some(())
    })
    .await;
}

async fn a_frame_of_another_process_sees_what_its_page_does(stage: &Stage) {
    stage.open("/sees.html").await;
    let before = frame_sees(stage, "addFrame('early')").await;
    set(stage, "user_agent", json!({"userAgent": "Teapot/1.0", "platform": "Kettle"})).await;
    set(stage, "locale", json!({"locale": "de-DE"})).await;
    set(stage, "timezone", json!({"value": "Asia/Tokyo"})).await;
    set(stage, "media", json!({"colorScheme": "dark", "reducedMotion": true})).await;
    let expected = json!({
        "agent": "Teapot/1.0", "platform": "Kettle", "language": "de-DE", "number": "1.234,5",
        "zone": "Asia/Tokyo", "hour": 21, "dark": true, "still": true,
    });
    // The one that is there, and one that asks while it loads for the first time.
    for ask in ["askFrame('early')", "addFrame('late')", "askFrame('late')"] {
        comes_to_see(stage, ask, &expected).await;
    }
    set(
        stage,
        "viewport",
        json!({"width": 400, "height": 800, "deviceScaleFactor": 2.5, "mobile": true}),
    )
    .await;
    for ask in ["askFrame('early')", "addFrame('last')"] {
        // Chrome gives the pixel ratio to the page's own process only: here it should be 2.5.
        let expected = json!({"touch": 5, "coarse": true, "dots": before["dots"]});
        comes_to_see(stage, ask, &expected).await;
    }
    set(stage, "reset", json!({})).await;
    for ask in ["askFrame('early')", "askFrame('late')", "addFrame('after')"] {
        comes_to_see(stage, ask, &before).await;
    }
}

async fn a_frame_of_another_process_is_offline_with_its_page(stage: &Stage) {
    stage.open("/sees.html").await;
    frame_sees(stage, "addFrame('early')").await;
    set(stage, "offline", json!({"offline": true})).await;
    let reaches = "frameReaches('early', '/start.html')";
    let comes_to_reach = async |wanted: bool| {
        eventually(&format!("that a frame reaches the site is {wanted}"), async || {
            (stage.client.evaluate(reaches).await == wanted).then_some(())
        })
        .await;
    };
    comes_to_reach(false).await;
    set(stage, "reset", json!({})).await;
    comes_to_reach(true).await;
}

#[tokio::test]
async fn frames_of_other_processes_see_what_their_page_does() {
    let stage = Stage::start().await;
    a_frame_of_another_process_sees_what_its_page_does(&stage).await;
    a_frame_of_another_process_is_offline_with_its_page(&stage).await;
}

#[tokio::test]
async fn a_page_sees_another_screen_device_and_browser() {
    let stage = Stage::start().await;
    a_viewport_is_what_the_page_measures(&stage).await;
    a_device_is_a_screen_a_name_and_touch(&stage).await;
    a_user_agent_and_a_language_are_told_to_servers_too(&stage).await;
    wrong_arguments_are_named_with_what_is_right(&stage).await;
}

#[tokio::test]
async fn a_page_sees_another_place_time_style_and_network() {
    let stage = Stage::start().await;
    a_time_zone_is_the_clock_of_the_page(&stage).await;
    media_are_what_style_sheets_ask_for(&stage).await;
    a_place_is_told_without_asking_the_user(&stage).await;
    a_network_is_away_or_slow_and_comes_back(&stage).await;
}

#[tokio::test]
async fn what_is_in_force_outlives_pages_and_the_worker_and_ends_with_the_hold_on_the_tab() {
    let stage = Stage::start().await;
    what_is_in_force_stays_over_navigations_and_processes(&stage).await;
    let before = sees(&stage).await;
    let seen = everything(&stage).await;
    processes::kill_worker(&stage.hub).await;
    let args = json!({"expression": "1"});
    until_it_works(async || stage.client.result("browser_execute", args.clone()).await).await;
    assert_eq!(sees(&stage).await, seen, "after the worker's death");
    stage.open("/sees.html?after").await;
    assert_eq!(sees(&stage).await, seen);
    assert_eq!(place(&stage).await, "1,2,10");
    // The next change knows what was in force.
    let emulated = set(&stage, "media", json!({"value": "reduced-motion"})).await;
    assert_eq!((&emulated["colorScheme"], &emulated["locale"]), (&json!("dark"), &json!("fr-FR")));

    // A client that lets go of its tab leaves nothing in force.
    stage.client.tab("release", json!({})).await;
    let codex = stage.another_client("codex");
    let is_it = |tab: &Value| tab["url"] == stage.site.url("/sees.html?after");
    let tab = codex.listed("the tab that is let go", is_it).await["tab"].clone();
    eventually("the page sees the browser's own again", async || {
        stage.site.forget();
        // Anew each time: a document that looks while a language ends keeps the old ones.
        codex.call("browser_navigate", json!({"tab": tab, "action": "reload"})).await;
        let ask = json!({"tab": tab, "expression": "report('sees', sees())"});
        codex.call("browser_execute", ask).await;
        let place = "place().then((where) => report('place', where))";
        codex.call("browser_execute", json!({"tab": tab, "expression": place})).await;
        let seen = (stage.site.report("sees").await, stage.site.report("place").await);
        (seen == (before.clone(), json!("denied"))).then_some(())
    })
    .await;
}
