//! The viewer's pictures: what was changed is seen, not only told.
//!
//! Software rendering, lights and highlights shift colours, so hues and brightness are compared
//! with a tolerance; the background is exact. Where the model is, is found by painting it twice.

use serde_json::{Value, json};
use testkit::eventually;

use crate::{
    painting::{Colour, Painting, between, brightness, colour, distance, hue},
    stage::Stage,
    viewer::{address, connected, open, start},
};

/// How far a hue may be from the one that was asked for, in degrees.
const HUE: f64 = 20.0;

struct View {
    stage: Stage,
    tab: u64,
    /// Where the model is.
    model: Vec<bool>,
}

impl View {
    async fn open() -> Self {
        let stage = start(&[]).await;
        let tab = open(&stage, &address(&stage, ""), "viewer").await;
        let mut view = Self { stage, tab, model: Vec::new() };
        let red = view.painted("change_model_color", json!({"color": "#ff0000"})).await;
        let blue = view.painted("change_model_color", json!({"color": "#0000ff"})).await;
        view.model = red.difference(&blue);
        let share = view.model.iter().filter(|is_it| **is_it).count() * 100 / view.model.len();
        assert!((5..60).contains(&share), "the model is {share} % of the picture");
        view
    }

    /// Calls a tool and takes a picture by the viewer's own tool.
    async fn painted(&self, tool: &str, args: Value) -> Painting {
        self.stage.client.works(tool, args).await;
        self.picture().await
    }

    async fn picture(&self) -> Painting {
        let size = json!({"width": 320, "height": 200});
        Painting::of(&self.stage.client.works("viewer_screenshot", size).await)
    }

    /// Calls a tool; returns the average colour of the model after it.
    async fn model_after(&self, tool: &str, args: Value) -> Colour {
        self.painted(tool, args).await.average(&self.model)
    }

    /// Returns the colour of the page itself at a place, by a screenshot of the browser.
    async fn page_at(&self, x: usize, y: usize) -> Colour {
        let rest = json!({"tab": self.tab, "expression": "tabwireViewer.settled()"});
        self.stage.client.call("browser_execute", rest).await;
        let how = json!({
            "action": "screenshot", "tab": self.tab, "format": "png", "maxBytes": 10_000_000,
            "selector": "#scene canvas",
        });
        let page = Painting::of(&self.stage.client.works("browser_content", how).await);
        page.at(x * page.width / 320, y * page.height / 200)
    }

    /// A place in the middle of the model's longest run of pixels.
    fn place_in_model(&self) -> (usize, usize) {
        let (mut best, mut run) = ((0, 0), 0);
        for (index, is_it) in self.model.iter().enumerate() {
            run = if *is_it && index % 320 != 0 { run + 1 } else { 0 };
            if run > best.0 {
                best = (run, index - run / 2);
            }
        }
        (best.1 % 320, best.1 / 320)
    }
}

#[tokio::test]
async fn the_colour_of_the_model_is_in_the_picture() {
    let view = View::open().await;
    for asked in ["#cc0000", "#00aa22", "#2244dd", "#ccaa00", "#aa22aa"] {
        let found = view.model_after("change_model_color", json!({"color": asked})).await;
        let apart = between(hue(found), hue(colour(asked)));
        assert!(apart < HUE, "{asked} looks like {found:?}, {apart}° off");
    }
    let bright = view.model_after("change_model_color", json!({"color": "#cc0000"})).await;
    let dark = view.model_after("change_model_color", json!({"color": "#660000"})).await;
    assert!(dark[0] < bright[0] * 0.8, "darker: {bright:?}, then {dark:?}");
}

#[tokio::test]
async fn the_colour_of_the_background_is_in_the_picture() {
    let view = View::open().await;
    for asked in ["#ffffff", "#123456", "#00fa92"] {
        let picture = view.painted("change_background_color", json!({"color": asked})).await;
        for (x, y) in [(0, 0), (319, 0), (3, 100)] {
            let found = picture.at(x, y);
            assert!(distance(found, colour(asked)) < 4.0, "{asked} looks like {found:?}");
        }
    }
}

#[tokio::test]
async fn lights_brighten_and_darken_the_model() {
    let view = View::open().await;
    view.stage.client.works("change_model_color", json!({"color": "#cccccc"})).await;
    let usual = view.picture().await.average(&view.model);
    let args = |value: i32| json!({"intensity": value});
    let more = view.model_after("set_key_light_intensity", args(14)).await;
    assert!(brightness(more) > brightness(usual) * 1.1, "brighter: {usual:?}, then {more:?}");
    let less = view.model_after("set_key_light_intensity", args(1)).await;
    assert!(brightness(less) < brightness(usual) * 0.8, "darker: {usual:?}, then {less:?}");
    let none = view.model_after("set_fill_light_intensity", args(0)).await;
    assert!(brightness(none) < brightness(less), "darker still: {less:?}, then {none:?}");
}

/// A grey model that only the key light shines on.
async fn under_key_light() -> View {
    let view = View::open().await;
    let client = &view.stage.client;
    client.works("change_model_color", json!({"color": "#cccccc"})).await;
    client.works("set_fill_light_intensity", json!({"intensity": 0})).await;
    client.works("set_key_light_intensity", json!({"intensity": 7})).await;
    view
}

#[tokio::test]
async fn a_light_tints_the_model() {
    let view = under_key_light().await;
    for asked in ["#ff0000", "#00ff00", "#0000ff"] {
        let found = view.model_after("set_key_light_color", json!({"color": asked})).await;
        let apart = between(hue(found), hue(colour(asked)));
        assert!(apart < HUE, "under a light of {asked} it looks like {found:?}");
    }
}

#[tokio::test]
async fn a_light_from_the_side_makes_one_half_of_the_model_brighter() {
    let view = under_key_light().await;
    view.stage.client.works("set_key_light_color", json!({"color": "#ffffff"})).await;
    for (direction, is_right_brighter) in [("east", true), ("west", false)] {
        let place = json!({"azimuth": direction, "elevation": 10});
        let picture = view.painted("set_key_light_position_spherical", place).await;
        let half = |right: bool| {
            let on_side = |(index, is_it): (usize, &bool)| *is_it && (index % 320 >= 160) == right;
            let mask: Vec<_> = view.model.iter().enumerate().map(on_side).collect();
            brightness(picture.average(&mask))
        };
        assert_eq!(half(true) > half(false), is_right_brighter, "light from the {direction}");
    }
}

#[tokio::test]
async fn a_page_in_the_background_shows_what_has_changed_as_soon_as_it_is_seen() {
    let stage = start(&[]).await;
    let tab = stage.client.new_tab(&address(&stage, "")).await;
    connected(&stage.client, "viewer").await;
    stage.client.works("change_background_color", json!({"color": "#00aa22"})).await;
    stage.client.tab("activate", json!({"tab": tab})).await;
    let view = View { stage, tab, model: Vec::new() };
    eventually("the new background is seen", async || {
        let found = view.page_at(5, 100).await;
        (distance(found, colour("#00aa22")) < 6.0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_page_itself_shows_what_was_asked_for() {
    let view = View::open().await;
    let (x, y) = view.place_in_model();
    for asked in ["#cc0000", "#2244dd"] {
        view.stage.client.works("change_model_color", json!({"color": asked})).await;
        let found = view.page_at(x, y).await;
        let apart = between(hue(found), hue(colour(asked)));
        assert!(apart < HUE, "{asked} looks like {found:?} at {x}, {y}");
    }
    view.stage.client.works("change_background_color", json!({"color": "#00fa92"})).await;
    let found = view.page_at(5, 100).await;
    assert!(distance(found, colour("#00fa92")) < 6.0, "{found:?}");
}
