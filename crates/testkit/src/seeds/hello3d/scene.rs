//! What the page shows, and what its commands do to it: a model, a background, two lights and a
//! camera that looks from the south.
//!
//! Numbers are treated as JavaScript treats them, since that is what a hub has to live with: a
//! missing one is not a number, `null` is nothing, and what is read back carries the noise of the
//! trigonometry.

use serde_json::{Value, json};

/// The page's commands that change nothing and are answered by nothing.
pub const GETTERS: [&str; 14] = [
    "getBackgroundColor",
    "getKeyLightPositionSpherical",
    "getKeyLightIntensity",
    "getKeyLightColor",
    "getKeyLightSize",
    "getFillLightPositionSpherical",
    "getFillLightIntensity",
    "getFillLightColor",
    "getFillLightSize",
    "getCameraDistance",
    "getCameraFOV",
    "getModelRotation",
    "getModelColor",
    "getModelScale",
];

/// The words for directions, by sixteenths of a turn; a full name where there is one.
const DIRECTIONS: [(&str, &str); 16] = [
    ("n", "north"),
    ("nne", ""),
    ("ne", "northeast"),
    ("ene", ""),
    ("e", "east"),
    ("ese", ""),
    ("se", "southeast"),
    ("sse", ""),
    ("s", "south"),
    ("ssw", ""),
    ("sw", "southwest"),
    ("wsw", ""),
    ("w", "west"),
    ("wnw", ""),
    ("nw", "northwest"),
    ("nnw", ""),
];

/// Degrees that one swing turns a light's stand.
const SWING: f64 = 10.0;
/// Units that one step takes.
const STEP: f64 = 1.0;

/// Everything that can be seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The model's colour.
    pub color: String,
    /// The model's scale on its axes.
    pub scale: [f64; 3],
    /// The model's rotation about its axes in degrees, as it was set.
    pub rotation: [f64; 3],
    background: String,
    key: Light,
    fill: Light,
    distance: f64,
    fov: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct Light {
    intensity: f64,
    color: String,
    size: [f64; 2],
    /// Right, up and towards the camera, from the model.
    place: [f64; 3],
    /// How far its stand was turned: this does not show in the state.
    swung: [f64; 2],
}

/// A command that threw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thrown(pub &'static str);

impl Default for Scene {
    fn default() -> Self {
        let light = |intensity, size: f64, place| Light {
            intensity,
            color: "#ffffff".to_owned(),
            size: [size, size],
            place,
            swung: [0.0; 2],
        };
        Self {
            color: "#ffffff".to_owned(),
            scale: [1.0; 3],
            rotation: [0.0; 3],
            background: "#000000".to_owned(),
            key: light(2.5, 6.0, [5.0, 3.5, 5.0]),
            fill: light(0.2, 8.0, [-5.0, 2.5, 5.0]),
            distance: 32.0,
            fov: 1.0,
        }
    }
}

impl Scene {
    /// Writes the state as the page does.
    pub fn state(&self) -> Value {
        json!({
            "model": {
                "color": self.color,
                "scale": axes(self.scale),
                "rotation": axes(read_back(self.rotation)),
            },
            "background": self.background,
            "keyLight": self.key.state(),
            "fillLight": self.fill.state(),
            "camera": {"distance": number(self.distance), "fov": number(self.fov)},
        })
    }

    /// Does a command; `None` means that the page does not know it.
    pub fn apply(&mut self, command: &Value) -> Option<Result<(), Thrown>> {
        let name = command["type"].as_str()?;
        for (which, light) in [("Key", &mut self.key), ("Fill", &mut self.fill)] {
            if let Some((before, after)) = name.split_once(&format!("{which}Light")) {
                return light.apply(before, after, command);
            }
        }
        let field = |name| argument(command, name);
        let degrees = |usual| command.get("degrees").map_or(usual, |_| field("degrees"));
        let amount = |usual| command["amount"].as_f64().unwrap_or(usual);
        match name {
            "toolCall" => {}
            "changeColor" => return Some(paint(&mut self.color, command)),
            "changeBackgroundColor" => return Some(paint(&mut self.background, command)),
            "changeSize" => self.scale = [field("size"); 3],
            "scaleModel" => self.scale = ["x", "y", "z"].map(field),
            "setModelRotation" => self.rotation = ["x", "y", "z"].map(field),
            "rotateModelClockwise" => self.turn(1, -degrees(10.0)),
            "rotateModelCounterclockwise" => self.turn(1, degrees(10.0)),
            "nudgeModelPitchUp" => self.turn(0, degrees(5.0)),
            "nudgeModelPitchDown" => self.turn(0, -degrees(5.0)),
            "nudgeModelRoll" => self.turn(2, degrees(5.0)),
            "dollyCamera" => self.distance = field("distance").clamp(8.0, 64.0),
            "dollyCameraIn" => self.distance = (self.distance - amount(0.1)).clamp(8.0, 64.0),
            "dollyCameraOut" => self.distance = (self.distance + amount(0.1)).clamp(8.0, 64.0),
            "setCameraFOV" => self.fov = field("fov").clamp(0.5, 5.0),
            "increaseCameraFOV" => self.fov = (self.fov + amount(0.02)).clamp(0.5, 5.0),
            "decreaseCameraFOV" => self.fov = (self.fov - amount(0.02)).clamp(0.5, 5.0),
            known if GETTERS.contains(&known) => {}
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Turns the model with the mouse, about the vertical axis.
    pub fn drag(&mut self, degrees: f64) {
        self.turn(1, degrees);
    }

    fn turn(&mut self, axis: usize, degrees: f64) {
        self.rotation = read_back(self.rotation);
        self.rotation[axis] += degrees;
    }
}

impl Light {
    fn state(&self) -> Value {
        let [azimuth, elevation, distance] = self.spherical().map(number);
        let [width, height] = self.size.map(number);
        json!({
            "intensity": number(self.intensity),
            "color": self.color,
            "position": {"azimuth": azimuth, "elevation": elevation, "distance": distance},
            "size": {"width": width, "height": height},
        })
    }

    /// Does a command whose name has these parts before and behind the light's.
    fn apply(&mut self, verb: &str, what: &str, command: &Value) -> Option<Result<(), Thrown>> {
        let field = |name| argument(command, name);
        let degrees = |usual| command.get("degrees").map_or(usual, |_| field("degrees"));
        let [azimuth, elevation, distance] = self.spherical();
        match (verb, what) {
            ("set", "Intensity") => self.intensity = field("intensity"),
            ("set", "Color") => return Some(paint(&mut self.color, command)),
            ("set", "PositionSpherical") => match direction(&command["azimuth"]) {
                Some(azimuth) => self.put(azimuth, field("elevation"), distance),
                None => return Some(Err(Thrown("no such azimuth"))),
            },
            ("set", "Distance") => self.put(azimuth, elevation, field("distance")),
            ("swing", "Up") => self.swung[0] -= SWING,
            ("swing", "Down") => self.swung[0] += SWING,
            ("swing", "Left") => self.swung[1] -= SWING,
            ("swing", "Right") => self.swung[1] += SWING,
            ("walk", "In") => self.put(azimuth, elevation, distance - STEP),
            ("walk", "Out") => self.put(azimuth, elevation, distance + STEP),
            ("rotate", "Clockwise") => self.put(azimuth - degrees(10.0), elevation, distance),
            ("rotate", "Counterclockwise") => {
                self.put(azimuth + degrees(10.0), elevation, distance);
            }
            ("nudge", "ElevationUp") => {
                self.put(azimuth, (elevation + degrees(5.0)).clamp(0.0, 90.0), distance);
            }
            ("nudge", "ElevationDown") => {
                self.put(azimuth, (elevation - degrees(5.0)).clamp(0.0, 90.0), distance);
            }
            ("move", "TowardDirection") => {
                if let Some(target) = direction(&command["direction"]) {
                    let way = (target - azimuth + 540.0).rem_euclid(360.0) - 180.0;
                    let most = degrees(10.0).abs();
                    self.put(azimuth + way.clamp(-most, most), elevation, distance);
                }
            }
            ("get", "PositionSpherical" | "Intensity" | "Color" | "Size") => {}
            _ => return None,
        }
        Some(Ok(()))
    }

    fn spherical(&self) -> [f64; 3] {
        let [right, up, near] = self.place;
        let distance = (right * right + up * up + near * near).sqrt();
        let azimuth = right.atan2(-near).to_degrees().rem_euclid(360.0);
        let elevation = if distance > 0.0 { (up / distance).asin().to_degrees() } else { 0.0 };
        [azimuth, elevation, distance]
    }

    fn put(&mut self, azimuth: f64, elevation: f64, distance: f64) {
        let (azimuth, elevation) = (azimuth.to_radians(), elevation.to_radians());
        let across = distance * elevation.cos();
        self.place = [across * azimuth.sin(), distance * elevation.sin(), -across * azimuth.cos()];
    }
}

fn paint(color: &mut String, command: &Value) -> Result<(), Thrown> {
    let wanted = command["color"].as_str().ok_or(Thrown("no colour to replace in"))?;
    let digits = wanted.trim_start_matches('#');
    *color = format!("#{:06x}", u32::from_str_radix(digits, 16).unwrap_or(0) & 0xff_ffff);
    Ok(())
}

/// Reads an azimuth in degrees or in a word.
fn direction(value: &Value) -> Option<f64> {
    if let Some(degrees) = value.as_f64() {
        return Some(degrees.rem_euclid(360.0));
    }
    let mut word = value.as_str()?.to_lowercase();
    word.retain(|letter| !letter.is_whitespace() && letter != '-' && letter != '.');
    let known =
        |(short, long): &(&str, &str)| word == *short || (!long.is_empty() && word == *long);
    DIRECTIONS.iter().position(known).map(|place| place as f64 * 22.5)
}

/// Returns angles as they are read back from a rotation: the second one is at most a quarter turn.
fn read_back(angles: [f64; 3]) -> [f64; 3] {
    let [(sx, cx), (sy, cy), (sz, cz)] = angles.map(|angle| angle.to_radians().sin_cos());
    let second = sy.clamp(-1.0, 1.0).asin();
    let (first, third) = if sy.abs() < 0.999_999_9 {
        ((sx * cy).atan2(cx * cy), (cy * sz).atan2(cy * cz))
    } else {
        ((sx * cz + cx * sy * sz).atan2(cx * cz - sx * sy * sz), 0.0)
    };
    [first, second, third].map(f64::to_degrees)
}

fn axes([x, y, z]: [f64; 3]) -> Value {
    json!({"x": number(x), "y": number(y), "z": number(z)})
}

/// Reads a number as JavaScript would: what is missing is none, `null` counts as nothing.
fn argument(command: &Value, name: &str) -> f64 {
    match command.get(name) {
        Some(Value::Null) => 0.0,
        Some(value) => value.as_f64().unwrap_or(f64::NAN),
        None => f64::NAN,
    }
}

/// Writes a number as JavaScript does: without `.0`, and `null` for what is none.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(scene: &mut Scene, command: Value, path: &str, expected: f64) {
        scene.apply(&command).unwrap().unwrap();
        let found = scene.state().pointer(path).and_then(Value::as_f64).unwrap();
        assert!((found - expected).abs() < 1e-9, "{command}: {path} is {found}");
    }

    #[test]
    fn the_first_state_is_the_real_pages() {
        let state = Scene::default().state();
        assert_eq!(state["model"]["scale"].to_string(), r#"{"x":1,"y":1,"z":1}"#);
        assert_eq!(state["fillLight"]["position"]["distance"], 7.5);
        assert_eq!(state["camera"], json!({"distance": 32, "fov": 1}));
        assert_eq!(state["keyLight"]["size"], json!({"width": 6, "height": 6}));
    }

    #[test]
    fn commands_change_what_they_name_within_their_limits() {
        let mut scene = Scene::default();
        let key = "/keyLight/position/azimuth";
        check(&mut scene, json!({"type": "dollyCamera", "distance": 5}), "/camera/distance", 8.0);
        check(&mut scene, json!({"type": "increaseCameraFOV", "amount": 9}), "/camera/fov", 5.0);
        let place =
            json!({"type": "setKeyLightPositionSpherical", "azimuth": "N.W.", "elevation": 30});
        check(&mut scene, place, key, 315.0);
        check(&mut scene, json!({"type": "rotateKeyLightClockwise"}), key, 305.0);
        check(&mut scene, json!({"type": "rotateKeyLightClockwise", "degrees": null}), key, 305.0);
        let north = json!({"type": "moveKeyLightTowardDirection", "direction": 0, "degrees": 45});
        check(&mut scene, north, key, 350.0);
        check(&mut scene, json!({"type": "swingKeyLightUp"}), key, 350.0);
        check(
            &mut scene,
            json!({"type": "setModelRotation", "x": 0, "y": 120, "z": 0}),
            "/model/rotation/y",
            60.0,
        );
    }

    #[test]
    fn what_is_unknown_is_not_done_and_what_throws_says_so() {
        let mut scene = Scene::default();
        assert_eq!(scene.apply(&json!({"type": "makeCoffee"})), None);
        assert_eq!(scene.apply(&json!({"type": "swingKeyLightSideways"})), None);
        assert!(matches!(scene.apply(&json!({"type": "changeColor"})), Some(Err(_))));
        let place =
            json!({"type": "setFillLightPositionSpherical", "azimuth": "up", "elevation": 1});
        assert!(matches!(scene.apply(&place), Some(Err(_))));
        assert_eq!(scene, Scene::default());
    }
}
