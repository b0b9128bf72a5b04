//! The 61 tools of the 3D page: what each sends and says, what is refused, what the list weighs.

use serde_json::{Value, json};
use testkit::{HubProcess, McpClient, McpHttp, mcp::client::WAYS, seeds::hello3d::Hello3d};

use crate::{
    scene::{PROGRAM, hub},
    seed_hello3d::{failed, hub_and_page, hub_for_pages, told},
};

/// Bytes that the whole list of this page may take.
const LIST_BYTES: usize = 12 * 1024;

async fn scene() -> (HubProcess, Hello3d, McpClient) {
    let (hub, page) = hub_and_page(&[]).await;
    let client = McpClient::connect(PROGRAM, &hub, WAYS[1]).await;
    (hub, page, client)
}

/// Fails the test unless each tool sends this command and says this, at least.
async fn check_commands(rows: &[(&str, Value, Value, &str)]) {
    let (_hub, page, mut client) = scene().await;
    for (tool, args, command, said) in rows {
        let before = page.commands().len();
        let heard = told(&mut client, tool, args.clone()).await;
        assert!(heard.starts_with(said), "{tool} {args}: {said:?} in {heard:?}");
        assert_eq!(&page.commands()[before..], std::slice::from_ref(command), "{tool} {args}");
        assert!(!heard.contains("unconfirmed"), "{tool} {args}: {heard}");
    }
}

#[tokio::test]
async fn every_getter_tells_its_part_of_the_state() {
    let (_hub, page, mut client) = scene().await;
    page.with(|page| {
        for command in [
            json!({"type": "scaleModel", "x": 1.5, "y": 2, "z": 0.25}),
            json!({"type": "setModelRotation", "x": 10, "y": 20, "z": 30}),
            json!({"type": "setKeyLightPositionSpherical", "azimuth": 45, "elevation": 30}),
            json!({"type": "setKeyLightDistance", "distance": 4.5}),
            json!({"type": "setFillLightPositionSpherical", "azimuth": 225, "elevation": 20}),
            json!({"type": "setFillLightColor", "color": "#123456"}),
        ] {
            page.scene.apply(&command).unwrap().unwrap();
        }
    });
    let key = "Key light position: azimuth 45°, elevation 30°, distance 4.5";
    let fill = "Fill light position: azimuth 225°, elevation 20°, distance 7.5";
    let rotation = "Model rotation: X (pitch): 10°, Y (yaw): 20°, Z (roll): 30°";
    for (tool, text, path) in [
        ("get_background_color", "Background color: #000000", "/background"),
        ("get_model_color", "Model color: #ffffff", "/model/color"),
        ("get_model_scale", "Model scale: X: 1.5, Y: 2, Z: 0.25", "/model/scale"),
        ("get_model_rotation", rotation, "/model/rotation"),
        ("get_key_light_position_spherical", key, "/keyLight/position"),
        ("get_key_light_intensity", "Key light intensity: 2.5", "/keyLight/intensity"),
        ("get_key_light_color", "Key light color: #ffffff", "/keyLight/color"),
        ("get_key_light_size", "Key light size: width 6, height 6", "/keyLight/size"),
        ("get_fill_light_position_spherical", fill, "/fillLight/position"),
        ("get_fill_light_intensity", "Fill light intensity: 0.2", "/fillLight/intensity"),
        ("get_fill_light_color", "Fill light color: #123456", "/fillLight/color"),
        ("get_fill_light_size", "Fill light size: width 8, height 8", "/fillLight/size"),
        ("get_camera_distance", "Camera distance: 32", "/camera/distance"),
        ("get_camera_fov", "Camera FOV: 1", "/camera/fov"),
    ] {
        for args in [json!({}), json!({"forceRefresh": true})] {
            let result = client.call(tool, args.clone()).await.result();
            let said = testkit::mcp::text(&result);
            assert!(said.starts_with(text), "{tool} {args}: {text:?} in {said:?}");
            let exact = page.state().pointer(path).unwrap().clone();
            assert_eq!(result["structuredContent"]["value"], exact, "{tool}: programs get it all");
        }
    }
    assert_eq!(page.heard("requestState").len(), 15, "once for the cache, then only when forced");
}

#[tokio::test]
async fn the_model_and_the_background_are_changed() {
    check_commands(&[
        (
            "change_model_color",
            json!({"color": "#00FF00"}),
            json!({"type": "changeColor", "color": "#00ff00"}),
            "Model color changed to #00ff00",
        ),
        (
            "change_model_size",
            json!({"size": 2.5}),
            json!({"type": "changeSize", "size": 2.5}),
            "Model size changed to 2.5",
        ),
        (
            "scale_model",
            json!({"x": 1, "y": 2, "z": 0.5}),
            json!({"type": "scaleModel", "x": 1, "y": 2, "z": 0.5}),
            "Model scaled to (1, 2, 0.5)",
        ),
        (
            "change_background_color",
            json!({"color": "snow"}),
            json!({"type": "changeBackgroundColor", "color": "#ffffff"}),
            "Background color changed to snow (#ffffff)",
        ),
        (
            "set_model_rotation",
            json!({"x": -10, "y": 400, "z": 0}),
            json!({"type": "setModelRotation", "x": -10, "y": 400, "z": 0}),
            "Model rotation set to X: -10°, Y: 400°, Z: 0°",
        ),
        (
            "rotate_model_clockwise",
            json!({"degrees": 25}),
            json!({"type": "rotateModelClockwise", "degrees": 25}),
            "Model rotated 25° clockwise",
        ),
        (
            "rotate_model_counterclockwise",
            json!({}),
            json!({"type": "rotateModelCounterclockwise", "degrees": 10}),
            "Model rotated 10° counterclockwise",
        ),
        (
            "nudge_model_pitch_up",
            json!({"degrees": 3}),
            json!({"type": "nudgeModelPitchUp", "degrees": 3}),
            "Model pitch increased by 3°",
        ),
        (
            "nudge_model_pitch_down",
            json!({}),
            json!({"type": "nudgeModelPitchDown", "degrees": 5}),
            "Model pitch decreased by 5°",
        ),
        (
            "nudge_model_roll",
            json!({"degrees": -7}),
            json!({"type": "nudgeModelRoll", "degrees": -7}),
            "Model roll adjusted by -7°",
        ),
        (
            "nudge_model_roll",
            json!({}),
            json!({"type": "nudgeModelRoll", "degrees": 5}),
            "Model roll adjusted by 5°",
        ),
    ])
    .await;
}

#[tokio::test]
async fn both_lights_are_changed() {
    for (key, name) in [("key", "Key"), ("fill", "Fill")] {
        let tool = |pattern: &str| pattern.replace("$", key);
        let command = |kind: &str, mut args: Value| {
            args["type"] = json!(kind.replace("$", name));
            args
        };
        let rows = [
            (
                "set_$_light_intensity",
                json!({"intensity": 0}),
                "set$LightIntensity",
                "intensity set to 0",
            ),
            (
                "set_$_light_distance",
                json!({"distance": 4.5}),
                "set$LightDistance",
                "distance set to 4.5 units",
            ),
            ("swing_$_light_up", json!({}), "swing$LightUp", "swung up"),
            ("swing_$_light_down", json!({}), "swing$LightDown", "swung down"),
            ("swing_$_light_left", json!({}), "swing$LightLeft", "swung left"),
            ("swing_$_light_right", json!({}), "swing$LightRight", "swung right"),
            ("walk_$_light_in", json!({}), "walk$LightIn", "walked in"),
            ("walk_$_light_out", json!({}), "walk$LightOut", "walked out"),
            (
                "rotate_$_light_clockwise",
                json!({"degrees": 20}),
                "rotate$LightClockwise",
                "rotated 20° clockwise",
            ),
            (
                "rotate_$_light_counterclockwise",
                json!({"degrees": 10}),
                "rotate$LightCounterclockwise",
                "rotated 10° counterclockwise",
            ),
            (
                "nudge_$_light_elevation_up",
                json!({"degrees": 5}),
                "nudge$LightElevationUp",
                "elevation increased by 5°",
            ),
            (
                "nudge_$_light_elevation_down",
                json!({"degrees": 1}),
                "nudge$LightElevationDown",
                "elevation decreased by 1°",
            ),
        ];
        let texts = rows.each_ref().map(|row| format!("{name} light {}", row.3));
        let tools = rows.each_ref().map(|row| tool(row.0));
        let rows: Vec<_> = (rows.iter().zip(&tools).zip(&texts))
            .map(|((row, tool), text)| {
                (tool.as_str(), row.1.clone(), command(row.2, row.1.clone()), text.as_str())
            })
            .collect();
        check_commands(&rows).await;
    }
}

#[tokio::test]
async fn directions_are_degrees_or_words_and_the_page_gets_degrees() {
    check_commands(&[
        (
            "set_key_light_position_spherical",
            json!({"azimuth": "north-west", "elevation": 45}),
            json!({"type": "setKeyLightPositionSpherical", "azimuth": 315, "elevation": 45}),
            "Key light positioned at azimuth north-west (315°), elevation 45° (distance preserved)",
        ),
        (
            "set_fill_light_position_spherical",
            json!({"azimuth": 22.5, "elevation": 0}),
            json!({"type": "setFillLightPositionSpherical", "azimuth": 22.5, "elevation": 0}),
            "Fill light positioned at azimuth 22.5°, elevation 0° (distance preserved)",
        ),
        (
            "move_key_light_toward_direction",
            json!({"direction": "N.N.E.", "degrees": 15}),
            json!({"type": "moveKeyLightTowardDirection", "direction": 22.5, "degrees": 15}),
            "Key light moved 15° toward N.N.E.",
        ),
        (
            "move_fill_light_toward_direction",
            json!({"direction": 180}),
            json!({"type": "moveFillLightTowardDirection", "direction": 180, "degrees": 10}),
            "Fill light moved 10° toward 180°",
        ),
    ])
    .await;
}

#[tokio::test]
async fn the_camera_is_moved_and_an_absent_amount_stays_absent() {
    check_commands(&[
        (
            "dolly_camera",
            json!({"distance": 5}),
            json!({"type": "dollyCamera", "distance": 5}),
            "Camera distance set to 5",
        ),
        (
            "dolly_camera_in",
            json!({"amount": 2}),
            json!({"type": "dollyCameraIn", "amount": 2}),
            "Camera moved 2 units closer",
        ),
        ("dolly_camera_out", json!({}), json!({"type": "dollyCameraOut"}), "Camera moved farther"),
        (
            "set_camera_fov",
            json!({"fov": 1.5}),
            json!({"type": "setCameraFOV", "fov": 1.5}),
            "Camera field of view set to 1.5",
        ),
        (
            "increase_camera_fov",
            json!({"amount": 0.5}),
            json!({"type": "increaseCameraFOV", "amount": 0.5}),
            "Camera FOV increased by 0.5",
        ),
        (
            "decrease_camera_fov",
            json!({}),
            json!({"type": "decreaseCameraFOV"}),
            "Camera FOV decreased",
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_the_page_made_of_a_command_is_in_the_cache() {
    let (_hub, page, mut client) = scene().await;
    told(&mut client, "dolly_camera", json!({"distance": 5})).await;
    let said = told(&mut client, "get_camera_distance", json!({})).await;
    assert!(said.starts_with("Camera distance: 8"), "the page has limits: {said}");
    assert_eq!(page.heard("requestState").len(), 0, "the push was enough");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_with_what_would() {
    let (_hub, page, mut client) = scene().await;
    let place = "set_key_light_position_spherical";
    for (tool, args, parts) in [
        ("change_model_color", json!({"color": "redd"}), &["color", "redd", "maraschino"][..]),
        ("change_model_color", json!({"color": "#12345"}), &["color", "#"]),
        ("change_model_color", json!({"color": 5}), &["color"]),
        ("change_model_color", json!({}), &["color"]),
        ("change_model_color", json!({"colour": "ice"}), &["colour", "color"]),
        ("change_model_size", json!({"size": 0}), &["size", "0"]),
        ("change_model_size", json!({"size": "big"}), &["size"]),
        ("scale_model", json!({"x": 1, "y": 1}), &["z"]),
        ("scale_model", json!({"x": 1, "y": -1, "z": 1}), &["y"]),
        ("set_key_light_intensity", json!({"intensity": -0.1}), &["intensity", "0"]),
        (place, json!({"azimuth": "upwards", "elevation": 1}), &["azimuth", "north"]),
        (place, json!({"azimuth": 361, "elevation": 1}), &["azimuth", "360"]),
        (place, json!({"azimuth": "90", "elevation": 1}), &["azimuth"]),
        (place, json!({"azimuth": 1, "elevation": 91}), &["elevation", "90"]),
        (place, json!({"azimuth": 1}), &["elevation"]),
        ("move_fill_light_toward_direction", json!({"direction": "left"}), &["direction", "west"]),
        ("rotate_model_clockwise", json!({"degrees": 0}), &["degrees"]),
        ("rotate_model_clockwise", json!({"degrees": -5}), &["degrees"]),
        ("swing_key_light_up", json!({"amount": 1}), &["amount"]),
        ("get_model_color", json!({"forceRefresh": "yes"}), &["forceRefresh"]),
        ("get_model_color", json!({"refresh": true}), &["refresh", "forceRefresh"]),
        ("get_browser_connection_url", json!({"port": 1}), &["port"]),
    ] {
        let said = failed(&mut client, tool, args.clone()).await;
        for part in parts {
            assert!(said.contains(part), "{tool} {args}: {part} in {said}");
        }
    }
    assert_eq!(page.commands(), [] as [Value; 0]);
    let said = failed(&mut client, "change_model_color", json!({"color": "redd"})).await;
    let named =
        ["licorice", "snow", "sea foam", "carnation"].iter().all(|name| said.contains(name));
    assert!(named, "every crayon is named: {said}");
}

/// Returns the list of tools, each reduced to what a model reads.
async fn listed(hub: &HubProcess) -> Vec<Value> {
    let list = McpHttp::modern(hub.port()).request("tools/list", json!({})).await.result();
    assert!(list.get("nextCursor").is_none());
    let mut tools = list["tools"].as_array().unwrap().clone();
    for tool in &mut tools {
        let counts = ["name", "description", "inputSchema", "annotations"];
        tool.as_object_mut().unwrap().retain(|key, _| counts.contains(&key.as_str()));
    }
    tools
}

#[tokio::test]
async fn all_tools_are_listed_in_little_space_also_without_a_page() {
    let (without, with) = (listed(&hub(&[]).await).await, listed(&hub_for_pages(&[]).await).await);
    // The link is how a first page comes about, so it is always there.
    let own =
        |tool: &&Value| !without.contains(tool) || tool["name"] == "get_browser_connection_url";
    let own: Vec<_> = with.iter().filter(own).collect();
    assert_eq!(own.len(), 61);
    let bytes: usize = own.iter().map(|tool| tool.to_string().len() + 1).sum();
    assert!(bytes < LIST_BYTES, "{bytes} bytes");
    for tool in own {
        let name = tool["name"].as_str().unwrap();
        assert!(tool["description"].as_str().is_some_and(|text| !text.is_empty()), "{tool}");
        let reads = tool["annotations"]["readOnlyHint"] == true;
        assert_eq!(reads, name.starts_with("get_"), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
}
