//! The viewer at rest and at its start: nothing in the console, nothing drawn without a reason,
//! and a picture soon.

use serde_json::{Value, json};

use crate::{
    stage::Stage,
    viewer::{address, connected, open, start},
};

/// How long a first picture may take on a machine with nothing else to do.
const FIRST_PICTURE_MS: f64 = 2000.0;
/// How long a bare WebGL page takes there.
const BARE_MS: f64 = 250.0;
/// So often the page is loaded: one of them is not disturbed by what else the machine does.
const LOADS: usize = 8;

async fn ask(stage: &Stage, tab: u64, expression: &str) -> Value {
    // Frames come slowly where there is much else to do.
    let asked = json!({"tab": tab, "expression": expression, "timeoutMs": 80_000});
    let answer = stage.client.call("browser_execute", asked).await;
    answer.get("result").cloned().unwrap_or(answer)
}

#[tokio::test]
async fn the_first_picture_comes_soon() {
    let stage = start(&[]).await;
    let bare = json!({"url": stage.site.url("/webgl.html"), "active": true});
    let bare = stage.client.tab("new", bare).await["tab"].as_u64().unwrap();
    let bare_ms = ask(&stage, bare, "drawn").await.as_f64().unwrap();
    let tab = open(&stage, &address(&stage, ""), "viewer").await;
    // A machine that is slow is so for both.
    let limit = FIRST_PICTURE_MS * (bare_ms / BARE_MS).max(1.0);
    let first_picture = "tabwireViewer.ready.then(() => \
        performance.getEntriesByName('tabwire-first-picture')[0].startTime)";
    let mut took = vec![ask(&stage, tab, first_picture).await.as_f64().unwrap()];
    while took.iter().all(|ms| *ms >= limit) && took.len() < LOADS {
        stage.client.call("browser_navigate", json!({"tab": tab, "action": "reload"})).await;
        took.push(ask(&stage, tab, first_picture).await.as_f64().unwrap());
    }
    println!("first pictures: {took:.0?} ms; a bare page: {bare_ms:.0} ms; limit {limit:.0} ms");
    assert!(took.iter().any(|ms| *ms < limit), "{took:?} ms; a bare WebGL page: {bare_ms} ms");
    connected(&stage.client, "viewer").await;
}

#[tokio::test]
async fn the_console_stays_empty() {
    let stage = start(&[]).await;
    let tab = open(&stage, &address(&stage, ""), "viewer").await;
    ask(&stage, tab, "tabwireViewer.settled()").await;
    for (tool, args) in [
        ("change_model_color", json!({"color": "teal"})),
        ("load_model", json!({"builtin": "robot"})),
        ("rotate_key_light_clockwise", json!({"degrees": 90})),
        ("viewer_screenshot", json!({"width": 200, "height": 100})),
    ] {
        stage.client.works(tool, args).await;
    }
    ask(&stage, tab, "tabwireViewer.settled()").await;
    // Warnings are the browser's own, about its software rendering.
    let asked = json!({"action": "console", "level": "error", "tab": tab});
    let told = stage.client.call("browser_debug", asked).await;
    assert_eq!(told["logs"], json!([]));
}

#[tokio::test]
async fn nothing_is_drawn_while_nothing_moves() {
    let stage = start(&[]).await;
    let tab = open(&stage, &address(&stage, ""), "viewer").await;
    // Frames of the page's, over which the viewer's own are counted.
    let drawn_at_rest = "(async () => { \
        await tabwireViewer.settled(); \
        const before = tabwireViewer.frames(); \
        for (let frame = 0; frame < 120; frame += 1) await new Promise(requestAnimationFrame); \
        return tabwireViewer.frames() - before; })()";
    ask(&stage, tab, "tabwireViewer.ready").await;
    assert_eq!(ask(&stage, tab, drawn_at_rest).await, 0, "after the start");
    let before = ask(&stage, tab, "tabwireViewer.frames()").await.as_u64().unwrap();
    stage.client.works("rotate_key_light_clockwise", json!({"degrees": 90})).await;
    assert_eq!(ask(&stage, tab, drawn_at_rest).await, 0, "after a change");
    let after = ask(&stage, tab, "tabwireViewer.frames()").await.as_u64().unwrap();
    assert!(after > before, "the change was drawn");
    // What only reads draws nothing on the page.
    stage.client.works("get_model_color", json!({"forceRefresh": true})).await;
    assert_eq!(ask(&stage, tab, "tabwireViewer.frames()").await, after);
}
