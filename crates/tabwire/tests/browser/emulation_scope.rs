//! Where and for how long a tab passes for another: over navigations, processes and the worker's
//! death, in frames of other processes, and until the client lets go of the tab. What there is to
//! be seen of it is in [`emulation`](crate::emulation).

use serde_json::{Value, json};
use testkit::eventually;

use crate::{
    emulation::{comes_to, place, sees, set},
    processes,
    stage::{Stage, until_it_works},
};

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

#[tokio::test]
async fn what_is_in_force_stays_over_navigations_and_processes() {
    let stage = &Stage::at("/sees.html").await;
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

#[tokio::test]
async fn what_is_in_force_outlives_the_worker_and_ends_with_the_hold_on_the_tab() {
    let stage = Stage::alone().await;
    stage.open("/sees.html").await;
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

/// Asks until a frame that is there sees all of this: a document's style follows the settings of
/// its process a moment later. One that comes must see it from the beginning.
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

#[tokio::test]
async fn a_frame_of_another_process_sees_what_its_page_does() {
    let stage = &Stage::at("/sees.html").await;
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

#[tokio::test]
async fn a_frame_of_another_process_is_offline_with_its_page() {
    let stage = &Stage::at("/sees.html").await;
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
