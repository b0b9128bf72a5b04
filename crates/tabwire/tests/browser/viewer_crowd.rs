//! Twenty viewers in one browser, each with its own session and its own client, all at once.

use serde_json::json;
use tokio::task::{JoinSet, LocalSet};

use crate::{
    painting::{Painting, between, colour, distance, hue},
    stage::Driver,
    viewer::{address, connected, start},
};

const VIEWERS: u32 = 20;
const ROUNDS: u32 = 5;

/// A colour that no other viewer has in this round.
fn paint(viewer: u32, round: u32) -> String {
    format!("#{:02x}{:02x}40", viewer * 12, 40 + round * 40)
}

/// Drives one viewer and sees only what it did itself.
async fn drive(client: Driver, viewer: u32) -> Driver {
    let session = format!("v-{viewer}");
    for round in 0..ROUNDS {
        let color = paint(viewer, round);
        client.works("change_model_color", json!({"session": session, "color": color})).await;
        let turn = json!({"session": session, "degrees": viewer + 1});
        client.works("rotate_model_counterclockwise", turn).await;
        let told = client.call("get_model_color", json!({"session": session})).await;
        assert_eq!((&told["value"], &told["session"]), (&json!(color), &json!(session)));
        // The page itself, asked over its own socket: a debugger would have it draw.
        let live = json!({"session": session, "forceRefresh": true});
        let live = client.call("get_model_color", live).await;
        assert_eq!((&live["value"], &live["source"]), (&json!(color), &json!("live")));
    }
    client
}

#[tokio::test]
async fn twenty_viewers_in_one_browser_are_driven_at_once_and_do_not_hear_each_other() {
    // All of them have the hub's own origin.
    let stage = start(&["--origin-sessions", "32"]).await;
    let (here, mut driving) = (LocalSet::new(), JoinSet::new());
    for viewer in 0..VIEWERS {
        let client = stage.another_client(&format!("client-{viewer}"));
        // One after the other: a machine without a GPU is busy with each first picture.
        client.new_tab(&address(&stage, &format!("?name=v-{viewer}"))).await;
        connected(&client, &format!("v-{viewer}")).await;
        driving.spawn_local_on(drive(client, viewer), &here);
    }
    // Clients that leave give their tabs back, so all of them stay to the end.
    let clients = here.run_until(driving.join_all()).await;
    assert_eq!(clients.len(), VIEWERS as usize);
    for viewer in 0..VIEWERS {
        let session = format!("v-{viewer}");
        let told = stage.client.call("app_state", json!({"session": session})).await;
        let model = &told["value"]["model"];
        assert_eq!(model["color"], paint(viewer, ROUNDS - 1), "{session}");
        let yaw = (viewer + 1) * ROUNDS;
        assert_eq!(model["rotation"]["y"], yaw, "{session}");
    }
    // Which one is meant must be said, and the choices are told.
    let words = stage.client.fails("get_model_color", json!({}), "ambiguous_session").await;
    assert!(words.contains("v-0") && words.contains("v-19"), "{words}");
    // A browser takes the canvases of the oldest pages away; they have their pictures all the same.
    for viewer in [0, VIEWERS - 1] {
        let size = json!({"session": format!("v-{viewer}"), "width": 96, "height": 64});
        let picture = Painting::of(&stage.client.works("viewer_screenshot", size).await);
        let background = picture.at(0, 0);
        let is_model = |at: usize| distance(picture.at(at % 96, at / 96), background) > 60.0;
        let model: Vec<_> = (0..96 * 64).map(is_model).collect();
        let found = picture.average(&model);
        let apart = between(hue(found), hue(colour(&paint(viewer, ROUNDS - 1))));
        assert!(apart < 30.0, "v-{viewer} looks like {found:?}");
    }
}
