//! The tools of the viewer as tables: a good call, what comes of it, and a bad one.

use serde_json::{Value, json};

/// A call, what it changes, and a call of the same tool that is refused with these words.
pub struct Case {
    pub tool: String,
    pub good: Value,
    pub changes: Vec<(String, Value)>,
    pub bad: Value,
    pub words: &'static str,
}

fn case<const COUNT: usize>(
    tool: &str,
    good: Value,
    changes: [(&str, Value); COUNT],
    bad: Value,
    words: &'static str,
) -> Case {
    let changes = changes.into_iter().map(|(path, value)| (path.to_owned(), value)).collect();
    Case { tool: tool.to_owned(), good, changes, bad, words }
}

const ABOVE: &str = "must be a number above 0";
const COLOURS: &str = "must be #rrggbb or one of licorice, lead";
pub const NOTHING: &str = "it takes `session`";

/// The tools of model, background and camera.
pub fn model_and_camera() -> Vec<Case> {
    let turned = |x: i32, y: i32, z: i32| [("/model/rotation", json!({"x": x, "y": y, "z": z}))];
    let scaled = |x: i32, y: i32, z: i32| [("/model/scale", json!({"x": x, "y": y, "z": z}))];
    let by = |degrees: i32| json!({"degrees": degrees});
    let set = |path, value| [(path, json!(value))];
    vec![
        case(
            "change_model_color",
            json!({"color": "Sea-Foam"}),
            set("/model/color", "#00fa92"),
            json!({"color": "blurple"}),
            COLOURS,
        ),
        case(
            "change_background_color",
            json!({"color": "#AABBCC"}),
            set("/background", "#aabbcc"),
            json!({"color": "#abc"}),
            COLOURS,
        ),
        case("change_model_size", json!({"size": 2}), scaled(2, 2, 2), json!({"size": 0}), ABOVE),
        case(
            "scale_model",
            json!({"x": 1, "y": 2, "z": 3}),
            scaled(1, 2, 3),
            json!({"x": 1, "y": -1}),
            "`z` is missing",
        ),
        case(
            "set_model_rotation",
            json!({"x": 10, "y": 20, "z": 30}),
            turned(10, 20, 30),
            json!({"x": 0, "y": 0, "z": "up"}),
            "`z` must be a number",
        ),
        case("rotate_model_clockwise", by(30), turned(0, -30, 0), by(-1), ABOVE),
        case("rotate_model_counterclockwise", json!({}), turned(0, 10, 0), by(0), ABOVE),
        case("nudge_model_pitch_up", by(15), turned(15, 0, 0), by(0), ABOVE),
        case("nudge_model_pitch_down", json!({}), turned(-5, 0, 0), by(0), ABOVE),
        case(
            "nudge_model_roll",
            by(-25),
            turned(0, 0, -25),
            json!({"degrees": "much"}),
            "must be a number",
        ),
        case(
            "dolly_camera",
            json!({"distance": 30}),
            [("/camera/distance", json!(30))],
            json!({"distance": true}),
            ABOVE,
        ),
        case(
            "dolly_camera_in",
            json!({"amount": 4}),
            [("/camera/distance", json!(20))],
            json!({"amount": 0}),
            ABOVE,
        ),
        case(
            "dolly_camera_out",
            json!({}),
            [("/camera/distance", json!(24.1))],
            json!({"by": 1}),
            "it takes `amount`, `session`",
        ),
        case(
            "set_camera_fov",
            json!({"fov": 2}),
            [("/camera/fov", json!(2))],
            json!({"fov": 0}),
            ABOVE,
        ),
        case(
            "increase_camera_fov",
            json!({"amount": 0.5}),
            [("/camera/fov", json!(1.5))],
            json!({"amount": -1}),
            ABOVE,
        ),
        case(
            "decrease_camera_fov",
            json!({}),
            [("/camera/fov", json!(0.98))],
            json!({"amount": "a bit"}),
            ABOVE,
        ),
    ]
}

/// The tools of one light, which begins there.
pub fn light(light: &str, azimuth: i32, elevation: i32) -> Vec<Case> {
    let place = |part: &str| format!("/{light}Light/{part}");
    let tool = |pattern: &str| pattern.replace("{light}", light);
    let one = |pattern: &str, good: Value, part: &str, value: Value, bad: Value, words| Case {
        tool: tool(pattern),
        good,
        changes: vec![(place(part), value)],
        bad,
        words,
    };
    let turned = |by: i32| json!((azimuth + by).rem_euclid(360));
    let raised = |by: i32| json!(elevation + by);
    let (azimuths, elevations, distances) =
        ("position/azimuth", "position/elevation", "position/distance");
    let unknown = json!({"degrees": 5});
    let towards_north = if azimuth < 180 { -10 } else { 10 };
    vec![
        one(
            "set_{light}_light_intensity",
            json!({"intensity": 3}),
            "intensity",
            json!(3),
            json!({"intensity": -0.1}),
            "must be a number from 0",
        ),
        one(
            "set_{light}_light_color",
            json!({"color": "teal"}),
            "color",
            json!("#009193"),
            json!({"color": 7}),
            COLOURS,
        ),
        one(
            "set_{light}_light_position_spherical",
            json!({"azimuth": "E", "elevation": 30}),
            "position",
            json!({"azimuth": 90, "elevation": 30, "distance": 9}),
            json!({"azimuth": 361, "elevation": 10}),
            "from 0 to 360 or one of north",
        ),
        one(
            "set_{light}_light_distance",
            json!({"distance": 12}),
            distances,
            json!(12),
            json!({"distance": 0}),
            ABOVE,
        ),
        one("swing_{light}_light_up", json!({}), elevations, raised(10), unknown.clone(), NOTHING),
        one(
            "swing_{light}_light_down",
            json!({}),
            elevations,
            raised(-10),
            unknown.clone(),
            NOTHING,
        ),
        one("swing_{light}_light_left", json!({}), azimuths, turned(10), unknown.clone(), NOTHING),
        one(
            "swing_{light}_light_right",
            json!({}),
            azimuths,
            turned(-10),
            unknown.clone(),
            NOTHING,
        ),
        one("walk_{light}_light_in", json!({}), distances, json!(8), unknown.clone(), NOTHING),
        one("walk_{light}_light_out", json!({}), distances, json!(10), unknown, NOTHING),
        one(
            "rotate_{light}_light_clockwise",
            json!({"degrees": 20}),
            azimuths,
            turned(-20),
            json!({"degrees": -1}),
            ABOVE,
        ),
        one(
            "rotate_{light}_light_counterclockwise",
            json!({}),
            azimuths,
            turned(10),
            json!({"degrees": 0}),
            ABOVE,
        ),
        one(
            "nudge_{light}_light_elevation_up",
            json!({}),
            elevations,
            raised(5),
            json!({"degrees": "much"}),
            ABOVE,
        ),
        one(
            "nudge_{light}_light_elevation_down",
            json!({"degrees": 7}),
            elevations,
            raised(-7),
            json!({"degrees": 0}),
            ABOVE,
        ),
        one(
            "move_{light}_light_toward_direction",
            json!({"direction": "north"}),
            azimuths,
            turned(towards_north),
            json!({"direction": "behind"}),
            "one of north",
        ),
    ]
}

pub const GETTERS: [(&str, &str); 14] = [
    ("get_model_color", "/model/color"),
    ("get_model_scale", "/model/scale"),
    ("get_model_rotation", "/model/rotation"),
    ("get_background_color", "/background"),
    ("get_camera_distance", "/camera/distance"),
    ("get_camera_fov", "/camera/fov"),
    ("get_key_light_intensity", "/keyLight/intensity"),
    ("get_key_light_color", "/keyLight/color"),
    ("get_key_light_size", "/keyLight/size"),
    ("get_key_light_position_spherical", "/keyLight/position"),
    ("get_fill_light_intensity", "/fillLight/intensity"),
    ("get_fill_light_color", "/fillLight/color"),
    ("get_fill_light_size", "/fillLight/size"),
    ("get_fill_light_position_spherical", "/fillLight/position"),
];
/// What the page itself refuses, because its limits are narrower than the manifest's.
pub const LIMITS: [(&str, &str, f64, &str); 6] = [
    ("dolly_camera", "distance", 100.0, "`distance` must be a number from 8 to 64, not 100"),
    ("set_camera_fov", "fov", 9.0, "from 0.5 to 5"),
    ("change_model_size", "size", 1000.0, "from 0.01 to 100"),
    ("set_key_light_intensity", "intensity", 2000.0, "from 0 to 1000"),
    ("set_fill_light_intensity", "intensity", 2000.0, "from 0 to 1000"),
    ("set_key_light_distance", "distance", 0.1, "from 0.5 to 100"),
];
pub const OWN: [&str; 7] = [
    "load_model",
    "list_models",
    "reset_view",
    "set_light_size",
    "undo",
    "redo",
    "viewer_screenshot",
];
