//! Every command is reached by its consolidated form and by its original name.

use std::collections::BTreeSet;

use model::Code;
use serde_json::{Map, Value, json};
use tools::{TOOLS, action::Action, command_arguments::Parameter};

use crate::fake::{Stage, spec};

/// What clients and browsers of others know by these words.
const COMMANDS: &str = "
    browser_tab_list browser_tab_new browser_tab_close browser_tab_close_others
    browser_tab_activate browser_navigate browser_reload browser_go_back browser_go_forward
    browser_wait_for browser_screenshot browser_pdf browser_get_content browser_query_selector
    browser_get_attribute browser_get_viewport_dom browser_snapshot browser_mouse_click
    browser_mouse_move browser_hover browser_type browser_keyboard_press browser_mouse_scroll
    browser_select browser_check browser_submit browser_upload_file browser_evaluate
    browser_get_cookies browser_set_cookie browser_clear_cookies browser_set_headers
    browser_intercept_requests browser_get_local_storage browser_set_local_storage
    browser_clear_storage browser_set_viewport browser_set_user_agent browser_set_geolocation
    browser_set_timezone browser_emulate_device browser_set_offline browser_throttle_network
    browser_drag browser_handle_dialog browser_get_console_logs browser_get_performance_metrics
    browser_start_tracing browser_stop_tracing browser_get_errors browser_fill_form
    browser_get_requests browser_get_request browser_wait_for_request browser_mock_request
    browser_unmock_requests browser_set_locale browser_emulate_media browser_reset_emulation
    browser_download_list browser_download_wait browser_download_read";

/// What the hub does by itself.
const HUB: [&str; 2] = ["browser_tab_release", "browser_tab_hand_over"];

/// A value that fits an argument's schema.
pub fn value(tool: &Value, name: &str) -> Value {
    let property = &tool["properties"][name];
    match property["type"].as_str() {
        _ if property["enum"].is_array() => property["enum"][0].clone(),
        Some("string") if name == "url" => json!("https://a.example/"),
        Some("string") => json!("x"),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        other => panic!("{name} has the type {other:?}"),
    }
}

/// What an action needs, by its first alternatives.
pub fn needed(tool: &Value, action: &Action) -> Map<String, Value> {
    // The short forms of our own are spelled out before they are sent.
    let is_short = |way: &Vec<Parameter>| ["value", "to"].contains(&way[0].name);
    let usual = |group: Vec<Vec<Parameter>>| {
        let long = group.iter().find(|way| !is_short(way)).cloned();
        long.unwrap_or_else(|| group[0].clone())
    };
    let argument = |parameter: Parameter| {
        let words = parameter.words();
        let value = words.first().map_or_else(|| value(tool, parameter.name), |word| json!(word));
        (parameter.name.to_owned(), value)
    };
    action.needed().into_iter().flat_map(usual).map(argument).collect()
}

#[tokio::test]
async fn every_command_has_both_forms() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let mut commands = Vec::new();
    for tool in TOOLS.iter().filter(|tool| !tool.actions().is_empty()) {
        let schema = tool.define().input_schema;
        for action in tool.actions().iter().filter(|action| !HUB.contains(&action.command)) {
            let args = needed(&schema, action);
            let mut consolidated = args.clone();
            if !action.name.is_empty() {
                consolidated.insert("action".to_owned(), json!(action.name));
            }
            let mut words = args.clone();
            if action.name.ends_with("_storage")
                && let Some(name) = words.remove("name")
            {
                words.insert("key".to_owned(), name);
            }
            let sent = (action.command.to_owned(), json!(words), None);
            stage.call(tool.name, Value::Object(consolidated)).await.unwrap();
            assert_eq!(chrome.last(), sent, "{} {}", tool.name, action.name);
            // A command's own name means the first action that uses it.
            if !commands.contains(&action.command) {
                stage.call(action.command, Value::Object(args)).await.unwrap();
                assert_eq!(chrome.last(), sent, "{}", action.command);
                commands.push(action.command);
            }
        }
    }
    let lost = COMMANDS.split_whitespace().filter(|name| !commands.contains(name));
    assert_eq!(lost.collect::<Vec<_>>(), [] as [&str; 0], "clients know them");
}

#[tokio::test]
async fn every_argument_of_an_action_is_in_its_tools_schema_and_the_other_way_round() {
    for tool in TOOLS.iter().filter(|tool| !tool.actions().is_empty()) {
        let schema = tool.define().input_schema;
        assert_eq!(schema["additionalProperties"], false);
        let properties = schema["properties"].as_object().unwrap();
        let mut listed: Vec<_> = properties.keys().map(String::as_str).collect();
        for action in tool.actions() {
            for Parameter { name: word, .. } in action.parameters() {
                assert!(properties.contains_key(word), "{}: {word}", tool.name);
                listed.retain(|listed| *listed != word);
            }
        }
        listed.retain(|name| !["action", "session", "tab", "timeoutMs"].contains(name));
        assert!(listed.is_empty(), "{}: nobody takes {listed:?}", tool.name);
    }
}

#[tokio::test]
async fn other_servers_names_and_words_lead_to_the_same_commands() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    for (name, args, command, sent, tab) in [
        (
            "browser_click",
            json!({"ref": "e1", "element": "the button"}),
            "browser_mouse_click",
            json!({"ref": "e1"}),
            None,
        ),
        ("browser_wait", json!({"time": 5}), "browser_wait_for", json!({"timeMs": 5}), None),
        (
            "browser_select_option",
            json!({"ref": "e1", "values": ["a"]}),
            "browser_select",
            json!({"ref": "e1", "values": ["a"]}),
            None,
        ),
        (
            "browser_press_key",
            json!({"key": "Enter"}),
            "browser_keyboard_press",
            json!({"key": "Enter"}),
            None,
        ),
        (
            "browser_execute_js",
            json!({"code": "1"}),
            "browser_evaluate",
            json!({"expression": "1"}),
            None,
        ),
        ("browser_scroll", json!({}), "browser_mouse_scroll", json!({}), None),
        ("browser_tabs_list", json!({}), "browser_tab_list", json!({}), None),
        ("browser_refresh", Value::Null, "browser_reload", json!({}), None),
        ("browser_activate_tab", json!({"tabId": 4}), "browser_tab_activate", json!({}), Some(4)),
        (
            "browser_handle_dialog",
            json!({"action": "dismiss"}),
            "browser_handle_dialog",
            json!({"dialogAction": "dismiss"}),
            Some(4),
        ),
        (
            "browser_clear_storage",
            json!({"type": "all"}),
            "browser_clear_storage",
            json!({"storageType": "all"}),
            Some(4),
        ),
        (
            "browser_tab_close_others",
            json!({"keepTabId": 4}),
            "browser_tab_close_others",
            json!({}),
            Some(4),
        ),
    ] {
        stage.call(name, args).await.unwrap();
        assert_eq!(chrome.last(), (command.to_owned(), sent, tab), "{name}");
    }
}

#[tokio::test]
async fn original_names_are_never_listed_and_their_errors_are_ours() {
    let stage = Stage::start();
    for name in ["browser_mouse_click", "browser_click", "browser_evaluate"] {
        assert!(stage.toolbox.definition(name).is_none(), "{name}");
        assert!(!stage.toolbox.list().iter().any(|tool| tool.name == name), "{name}");
    }
    for (args, code) in [
        (json!({}), Code::InvalidArgument),
        (json!({"selector": "a", "action": "click"}), Code::InvalidArgument),
        (json!({"selector": "a"}), Code::NotConnected),
    ] {
        let fault = stage.call("browser_mouse_click", args.clone()).await.unwrap_err();
        assert_eq!(fault.code, code, "{args}: {fault}");
    }
}

#[tokio::test]
async fn an_apps_tool_with_such_a_name_has_its_session_in_front() {
    let stage = Stage::start();
    let app = stage.app("viewer").await;
    app.offer(&[spec("browser_click", false)]);
    let names: Vec<_> = stage.toolbox.list().into_iter().map(|tool| tool.name).collect();
    assert!(names.contains(&"viewer.browser_click".to_owned()), "{names:?}");
    assert!(stage.toolbox.definition("browser_click").is_none());
    stage.call("viewer.browser_click", json!({"color": "x"})).await.unwrap();
    assert_eq!(app.calls(), 1);
}

#[test]
fn every_command_of_the_extension_has_a_row_and_a_file() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/extension/src/commands");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = files.filter_map(|name| Some(name.to_str()?.strip_suffix(".ts")?.to_owned()));
    let mut files: Vec<_> = names.filter(|name| name.starts_with("browser_")).collect();
    let rows = tools::commands().filter(|(_, action)| !action.is_of_hub());
    let commands: BTreeSet<_> = rows.map(|(_, action)| action.command).collect();
    files.sort_unstable();
    assert_eq!(files, commands.into_iter().collect::<Vec<_>>());
}
