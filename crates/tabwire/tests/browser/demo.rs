//! `tabwire demo`: plays to its end and saves a picture, and leaves nothing else behind, however
//! it ends.

use std::{fs, time::Duration};

use testkit::{Commands, Place, Signal, eventually};

use crate::{
    painting::{Painting, between, colour, distance, hue},
    processes,
    stage::PROGRAM,
};

/// How long it may take on a busy machine.
const PLAYING: Duration = Duration::from_secs(120);

fn commands(place: &Place) -> Commands<'_> {
    let temporary = place.folder("t");
    Commands::new(PROGRAM, place).variable("TMPDIR", temporary.to_str().unwrap())
}

/// Fails where a process or a folder is left. Chrome's crash handler ends by itself, a moment after
/// its browser.
async fn nothing_is_left(place: &Place) {
    let left = || processes::mentioning(&place.path().display().to_string());
    eventually("all processes have ended", async || left().is_empty().then_some(())).await;
    let found = std::process::Command::new("find").arg(place.folder("t")).output().unwrap();
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    let left: Vec<_> = found.lines().filter(|path| path.contains("/t/tabwire")).take(20).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn the_demo_plays_and_saves_a_picture_and_leaves_nothing_else() {
    let place = Place::create();
    let playing = commands(&place).spawn(&["demo", "--headless"]);
    let played = playing.finished_within(PLAYING).await.must_exit(0).stdout;
    for words in [
        "get_model_color {} -> Model color: #e4572e",
        "change_model_color {\"color\":\"#89341c\"} -> Model color changed to #89341c",
        "(now azimuth 135°)",
        "claude mcp add tabwire -- ",
        "{\"mcpServers\":{\"tabwire\":{",
        "/viewer/?sessionId=",
    ] {
        assert!(played.contains(words), "{words:?} is not in\n{played}");
    }
    assert!(played.lines().filter(|line| line.contains(" ms  ")).count() > 15, "{played}");
    let path = played.lines().find_map(|line| line.strip_prefix("picture")).unwrap().trim();
    assert!(path.starts_with(place.path().to_str().unwrap()), "in the user's folder: {path}");
    let picture = Painting::read(&fs::read(path).unwrap());
    let background = colour("#005493");
    assert!(distance(picture.at(2, 2), background) < 4.0, "{:?}", picture.at(2, 2));
    let all = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
    let warm = |(x, y)| picture.at(x, y)[0] > picture.at(x, y)[2] + 20.0;
    let mask: Vec<_> = all.map(warm).collect();
    let model = picture.average(&mask);
    assert!(between(hue(model), hue(colour("#89341c"))) < 20.0, "{model:?}");
    nothing_is_left(&place).await;
}

/// Interrupts the demo when it has said something.
async fn interrupted_at(moment: &str) {
    let place = Place::create();
    let mut playing = commands(&place).spawn(&["demo", "--headless"]);
    playing.until_said(moment, PLAYING).await;
    playing.signal(Signal::Interrupt);
    let ended = playing.finished_within(PLAYING).await.must_exit(130);
    assert!(!ended.stdout.contains("picture"), "{}", ended.stdout);
    nothing_is_left(&place).await;
}

#[tokio::test]
async fn the_demo_ends_cleanly_when_it_is_interrupted_while_the_hub_is_up() {
    interrupted_at("hub ").await;
}

#[tokio::test]
async fn the_demo_ends_cleanly_when_it_is_interrupted_while_the_browser_starts() {
    interrupted_at("get_browser_connection_url").await;
}

/// So early that the calls are not over before the signal comes.
#[tokio::test]
async fn the_demo_ends_cleanly_when_it_is_interrupted_in_the_middle_of_the_calls() {
    interrupted_at("browser_instance").await;
}

#[tokio::test]
async fn the_demo_stays_when_told_to_and_ends_by_a_signal() {
    let place = Place::create();
    let mut playing = commands(&place).spawn(&["demo", "--headless", "--stay"]);
    playing.until_said("until Ctrl-C", PLAYING).await;
    assert!(playing.stdout().contains("tabwire-demo -- "), "{}", playing.stdout());
    playing.signal(Signal::Interrupt);
    playing.finished_within(PLAYING).await.must_exit(0);
    nothing_is_left(&place).await;
}

#[tokio::test]
async fn the_demo_says_how_to_get_a_browser_where_there_is_none() {
    let place = Place::create();
    let commands = commands(&place).variable("TABWIRE_BROWSER", "/nowhere/chromium");
    let said = commands.run(&["demo", "--headless"]).await.must_exit(1).stderr;
    assert!(said.contains("/nowhere/chromium") && said.contains("apt install chromium"), "{said}");
    nothing_is_left(&place).await;
}
