//! Sites that the user keeps from clients, as frames of pages that are allowed: what is in them is
//! not read, and not in pictures, on paper or in traces either.

use std::{fs, io::Read, path::Path};

use flate2::read::ZlibDecoder;
use serde_json::{Value, json};
use testkit::{Place, eventually};

use crate::{
    painting::{Painting, colour, distance},
    pictures::decode,
    stage::{Stage, with},
};

/// The extension as it is built.
const EXTENSION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/extension/dist");
/// The frames of the page that say that they are there.
const FRAMES: usize = 9;

/// Makes a copy of the extension whose user has decided something before it first started.
fn extension_of(place: &Place, settings: &Value) -> String {
    let folder = place.folder("extension");
    copy(Path::new(EXTENSION), &folder);
    let script = folder.join("background.js");
    let code = fs::read_to_string(&script).unwrap();
    let decided = format!("chrome.storage.local.set({});\n", json!({ "settings": settings }));
    fs::write(&script, decided + &code).unwrap();
    folder.to_str().unwrap().to_owned()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let goal = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &goal),
            false => drop(fs::copy(entry.path(), goal).unwrap()),
        }
    }
}

/// Starts a browser whose user denies these sites, and opens the page of patches.
async fn start(place: &Place, denied: &[&str]) -> Stage {
    let settings =
        json!({"label": "", "allowedSites": [], "deniedSites": denied, "readOnly": false});
    let stage = Stage::with(&["--browser-extension", &extension_of(place, &settings)]).await;
    stage.open("/patches.html").await;
    let drawn = async || {
        let site = &stage.site;
        let count = site.reports("red drawn").len() + site.reports("lime drawn").len();
        (count == FRAMES).then_some(())
    };
    eventually("all patches are drawn", drawn).await;
    stage
}

async fn picture(stage: &Stage, how: Value) -> Painting {
    let args = json!({"action": "screenshot", "format": "png", "maxWidth": 4000,
        "maxBytes": 10_000_000});
    Painting::of(&stage.client.works("browser_content", with(args, how)).await)
}

/// How many pixels of a picture are about of a colour.
fn count(painting: &Painting, wanted: &str) -> usize {
    let all = (0..painting.height).flat_map(|y| (0..painting.width).map(move |x| (x, y)));
    all.filter(|(x, y)| distance(painting.at(*x, *y), colour(wanted)) < 120.0).count()
}

/// Waits for a picture with so many pixels of a colour: frames of other processes draw when they
/// come into view, and a picture may be taken before.
async fn shows(stage: &Stage, how: Value, wanted: &str, fits: impl Fn(usize) -> bool) -> Painting {
    let what = format!("a picture with enough of {wanted}: {how}");
    eventually(&what, async || {
        Some(picture(stage, how.clone()).await).filter(|taken| fits(count(taken, wanted)))
    })
    .await
}

/// Opens a page that is nothing but two frames.
async fn frame_set(stage: &Stage) {
    stage.site.forget();
    stage.open("/patches-set.html").await;
    stage.site.report("red drawn").await;
    stage.site.report("lime drawn").await;
}

/// What is painted on a paper, as it is written there.
async fn paper(stage: &Stage) -> String {
    let args = json!({"action": "pdf", "printBackground": true});
    let told = stage.client.call("browser_content", args).await;
    // A small one comes with the answer.
    let data = match told["file"]["uri"].as_str() {
        Some(uri) => stage.client.read(uri).await["contents"][0]["blob"].clone(),
        None => told["file"]["data"].clone(),
    };
    let bytes = decode(data.as_str().unwrap());
    let mut text = String::new();
    for at in 0..bytes.len() {
        if !bytes[at..].starts_with(b"stream\n") && !bytes[at..].starts_with(b"stream\r\n") {
            continue;
        }
        let begin = at + 6 + bytes[at + 6..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let mut stream = Vec::new();
        // Fonts and pictures are not text, and some streams are not packed.
        if ZlibDecoder::new(&bytes[begin..]).read_to_end(&mut stream).is_ok() {
            text.push_str(&String::from_utf8_lossy(&stream));
        }
    }
    text
}

const LIME: &str = "#00ff00";
const RED: &str = "#ff0000";
const BLUE: &str = "#0000ff";
/// A patch, in pixels.
const PATCH: usize = 200 * 200;

#[tokio::test]
async fn pictures_show_every_frame_where_nothing_is_denied() {
    let place = Place::create();
    let stage = start(&place, &[]).await;
    for (top, reds) in [(0, 3 * PATCH), (800, PATCH), (2400, PATCH)] {
        stage.client.evaluate(&format!("scrollTo(0, {top})")).await;
        shows(&stage, json!({}), RED, |pixels| pixels >= reds).await;
    }
    stage.client.evaluate("scrollTo(0, 0)").await;
    let whole = shows(&stage, json!({"fullPage": true}), RED, |pixels| pixels > 3 * PATCH).await;
    assert_eq!(count(&whole, LIME), 2 * PATCH);
}

#[tokio::test]
async fn paper_shows_every_frame_where_nothing_is_denied() {
    let place = Place::create();
    let stage = start(&place, &[]).await;
    assert!(paper(&stage).await.contains("1 0 0 rg"));
}

#[tokio::test]
async fn a_frame_set_is_shown_whole_where_nothing_is_denied() {
    let place = Place::create();
    let stage = start(&place, &[]).await;
    frame_set(&stage).await;
    let set = shows(&stage, json!({}), RED, |pixels| pixels == PATCH).await;
    assert_eq!(count(&set, LIME), PATCH);
}

/// Looks at every part of the page once, so that what the frames below have drawn is there to be
/// shown.
async fn look_through(stage: &Stage) {
    for top in [2400, 800, 0] {
        stage.client.evaluate(&format!("scrollTo(0, {top})")).await;
        assert_eq!(count(&picture(stage, json!({})).await, RED), 0, "at {top}");
    }
}

#[tokio::test]
async fn a_denied_site_is_not_gone_to() {
    let place = Place::create();
    let stage = start(&place, &["localhost"]).await;
    let go = json!({"url": stage.site.elsewhere("/start.html")});
    stage.client.fails("browser_navigate", go, "SITE_NOT_ALLOWED").await;
}

#[tokio::test]
async fn pictures_do_not_show_denied_frames() {
    let place = Place::create();
    let stage = &start(&place, &["localhost"]).await;
    let client = &stage.client;
    look_through(stage).await;
    for how in [
        json!({}),
        json!({"fullPage": true}),
        json!({"selector": "#red"}),
        json!({"selector": "#below"}),
        json!({"selector": "#turned", "labels": true}),
        json!({"maxWidth": 300, "fullPage": true}),
    ] {
        assert_eq!(count(&picture(stage, how.clone()).await, RED), 0, "{how}");
    }
    // Other frames are shown.
    let view = shows(stage, json!({}), LIME, |pixels| pixels == PATCH).await;
    assert_eq!(count(&view, RED), 0);
    assert_eq!(count(&view, BLUE), 0, "one that holds a denied one is not");
    shows(stage, json!({"fullPage": true}), LIME, |pixels| pixels == 2 * PATCH).await;
    let style = "[...document.querySelectorAll('iframe')].map((it) => \
        getComputedStyle(it).visibility + it.style.visibility).join()";
    assert_eq!(client.evaluate(style).await, ["visible"; 6].join(","), "all is as it was");
    assert_eq!(client.evaluate("at('red').style.transition").await, "visibility 60s");
}

#[tokio::test]
async fn paper_does_not_show_denied_frames() {
    let place = Place::create();
    let stage = &start(&place, &["localhost"]).await;
    look_through(stage).await;
    let painted = paper(stage).await;
    assert!(painted.contains("0 1 0 rg"), "the green ones are on it");
    assert!(!painted.contains("1 0 0 rg"), "the red ones are not");
}

#[tokio::test]
async fn a_page_that_uncovers_its_frames_gets_no_picture() {
    let place = Place::create();
    let stage = &start(&place, &["localhost"]).await;
    let client = &stage.client;
    let stubborn = "new MutationObserver(() => at('red').style.visibility = 'visible')\
        .observe(at('red'), { attributes: true })";
    client.evaluate(&format!("void {stubborn}")).await;
    let args = json!({"action": "screenshot"});
    let words = client.fails("browser_content", args, "SITE_NOT_ALLOWED").await;
    assert!(words.contains("does not allow localhost"), "{words}");
    client.evaluate("at('red').remove()").await;
    assert_eq!(count(&picture(stage, json!({})).await, RED), 0);
}

#[tokio::test]
async fn a_page_with_a_denied_frame_is_not_traced() {
    let place = Place::create();
    let stage = &start(&place, &["localhost"]).await;
    let client = &stage.client;
    let trace = json!({"action": "trace_start"});
    let words = client.fails("browser_debug", trace.clone(), "SITE_NOT_ALLOWED").await;
    assert!(words.contains("does not allow localhost"), "{words}");
    client.evaluate("document.body.replaceChildren()").await;
    client.call("browser_debug", trace.clone()).await;
    // One that comes and goes while it runs.
    stage.site.forget();
    let add = "document.body.append(Object.assign(document.createElement('iframe'), \
        { src: `${other}/patches.html#red` }))";
    client.evaluate(&format!("void {add}")).await;
    stage.site.report("red drawn").await;
    client.evaluate("document.querySelector('iframe').remove()").await;
    let stop = json!({"action": "trace_stop"});
    let words = client.fails("browser_debug", stop.clone(), "SITE_NOT_ALLOWED").await;
    assert!(words.contains("does not allow localhost"), "{words}");
    client.fails("browser_debug", stop.clone(), "NO_TRACE").await;
    client.call("browser_debug", trace).await;
    client.call("browser_debug", stop).await;
}

#[tokio::test]
async fn a_frame_set_does_not_show_its_denied_frame() {
    let place = Place::create();
    let stage = start(&place, &["localhost"]).await;
    frame_set(&stage).await;
    let set = shows(&stage, json!({}), LIME, |pixels| pixels == PATCH).await;
    assert_eq!(count(&set, RED), 0);
}
