//! What the AI client asks and changes, and what must come of it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{client::Client, say};
use crate::failure::Failure;

/// How long people may look at each step.
const LOOK: Duration = Duration::from_millis(700);
/// The steps in which the key light goes once around the model.
const ORBIT: (u32, u32) = (8, 45);
/// What is left of a colour that is darkened.
const DARKER: f64 = 0.6;
/// A colour by its name, and what it stands for.
const BACKGROUND: (&str, &str) = ("ocean", "#005493");

/// What came of it.
pub struct Played {
    /// The address of the viewer, with its session's name.
    pub viewer: String,
    /// The bytes of a PNG.
    pub picture: Vec<u8>,
}

/// Plays the client's side from the first word to the picture.
pub async fn play(client: &mut Client, is_headless: bool) -> Result<Played, Failure> {
    let look = async || match is_headless {
        true => {}
        false => tokio::time::sleep(LOOK).await,
    };
    client.open().await?;
    say("\nA browser with the viewer, by the address that makes the page this client's own:");
    let link = client.call("get_browser_connection_url", json!({})).await?;
    let viewer = text(&link.structured["url"])?;
    client.call("browser_instance", json!({"action": "new", "headless": is_headless})).await?;
    client.call("browser_tab", json!({"action": "new", "url": viewer, "active": true})).await?;
    let until = json!({"until": "connected", "session": "viewer", "timeoutMs": 30_000});
    let connected = client.call("wait_for", until).await?;
    expect("the viewer", &connected.structured["happened"], &json!(true))?;

    say("\nWhat colour is it?");
    let color = text(&client.call("get_model_color", json!({})).await?.structured["value"])?;
    look().await;
    say("\nDarken it.");
    let darker = darken(&color)?;
    client.call("change_model_color", json!({"color": darker})).await?;
    look().await;
    say("\nLet the key light go around it.");
    for _ in 0..ORBIT.0 {
        client.call("rotate_key_light_clockwise", json!({"degrees": ORBIT.1})).await?;
        look().await;
    }
    say("\nChange the background.");
    client.call("change_background_color", json!({"color": BACKGROUND.0})).await?;
    look().await;

    say("\nHow is it now?");
    for (tool, path, value) in [
        ("get_model_color", "", json!(darker)),
        ("get_background_color", "", json!(BACKGROUND.1)),
        ("get_key_light_position_spherical", "/azimuth", json!(135)),
    ] {
        let found = client.call(tool, json!({})).await?.structured["value"].take();
        expect(tool, found.pointer(path).unwrap_or(&Value::Null), &value)?;
    }
    let size = json!({"width": 1280, "height": 800});
    let picture = client.call("viewer_screenshot", size).await?.picture;
    let picture = picture.ok_or_else(|| Failure::failed("the viewer gave no picture"))?;
    Ok(Played { viewer, picture })
}

fn text(value: &Value) -> Result<String, Failure> {
    let missing = || Failure::failed(format!("a text was expected, not {value}"));
    value.as_str().map(str::to_owned).ok_or_else(missing)
}

fn expect(what: &str, found: &Value, expected: &Value) -> Result<(), Failure> {
    let is_same = match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-6,
        _ => found == expected,
    };
    match is_same {
        true => Ok(()),
        false => Err(Failure::failed(format!("{what} should be {expected}, but is {found}"))),
    }
}

/// Makes a colour darker, as an AI client would work it out.
fn darken(color: &str) -> Result<String, Failure> {
    let wrong = || Failure::failed(format!("{color:?} is no colour"));
    let digits = color.strip_prefix('#').filter(|it| it.len() == 6).ok_or_else(wrong)?;
    let number = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
    let part = |shift: u32| (f64::from(number >> shift & 0xff) * DARKER).round() as u8;
    Ok(format!("#{:02x}{:02x}{:02x}", part(16), part(8), part(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_darker_colour_keeps_its_hue() {
        for (color, darker) in
            [("#ff0000", "#990000"), ("#e4572e", "#89341c"), ("#000000", "#000000")]
        {
            assert_eq!(darken(color).ok().as_deref(), Some(darker));
        }
        assert!(["red", "#12", "#gggggg", ""].iter().all(|color| darken(color).is_err()));
    }
}
