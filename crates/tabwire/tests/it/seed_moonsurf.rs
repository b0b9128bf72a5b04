//! Moonsurf's extension as an AI client drives it: the flows of its own documents, every result in
//! both of the shapes that these describe.
//!
//! What the other tests of this extension begin with is here too.

use serde_json::{Value, json};
use testkit::{
    HubProcess, McpClient, McpHttp,
    mcp::client::WAYS,
    seeds::moonsurf::{
        Moonsurf, ORIGIN,
        browser::{PICTURE, Shapes},
    },
};

use crate::{
    scene::{PROGRAM, hub},
    seed_browsers::unhurried,
    seed_hello3d::{failed, told},
};

/// Starts a hub that has a port for this extension and lets it in.
pub async fn hub_for_moonsurf(flags: &[&str]) -> HubProcess {
    let usual = ["--compat", "moonsurf=0", "--allow-origin", ORIGIN];
    hub(&[&usual[..], unhurried(flags), flags].concat()).await
}

/// Starts a hub and an extension.
pub async fn hub_and_extension(flags: &[&str]) -> (HubProcess, Moonsurf) {
    let hub = hub_for_moonsurf(flags).await;
    let extension = Moonsurf::start(hub.compat("moonsurf")).await;
    (hub, extension)
}

/// Returns the code of the fault in a tool's result.
pub fn code(result: &Value) -> &str {
    result["_meta"]["tabwire"]["error"]["code"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_page_is_opened_and_a_button_clicked() {
    for way in WAYS {
        let (hub, extension) = hub_and_extension(&[]).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        let goto = json!({
            "action": "goto", "url": "https://example.com/", "waitUntil": "domcontentloaded",
        });
        let said = told(&mut client, "browser_navigate", goto).await;
        assert!(said.contains("https://example.com/"), "{way:?}: {said}");
        let click = json!({"action": "click", "selector": "#button"});
        told(&mut client, "browser_interact", click).await;
        assert_eq!(
            extension.calls(),
            [
                (
                    "browser_navigate".to_owned(),
                    json!({"url": "https://example.com/", "waitUntil": "domcontentloaded"}),
                ),
                ("browser_mouse_click".to_owned(), json!({"selector": "#button"})),
            ],
            "{way:?}"
        );
        assert_eq!(extension.with(|inside| inside.browser.deeds.clone()), ["click #button"]);
        let calls = extension.heard("tool_call");
        assert!(calls.iter().all(|call| call["id"].is_string()));
        assert_ne!(calls[0]["id"], calls[1]["id"]);
    }
}

#[tokio::test]
async fn an_element_that_is_missing_is_told_with_its_code() {
    for way in WAYS {
        let (hub, _extension) = hub_and_extension(&[]).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        let click = json!({"action": "click", "selector": "#nonexistent"});
        let result = client.call("browser_interact", click).await.result();
        assert_eq!(result["isError"], true, "{way:?}");
        let said = testkit::mcp::text(&result);
        assert!(said.contains("ELEMENT_NOT_FOUND"), "{way:?}: {said}");
        assert!(said.contains("No element matches selector: #nonexistent"), "{way:?}: {said}");
    }
}

#[tokio::test]
async fn a_tool_has_the_same_effect_under_its_original_name() {
    let (hub, extension) = hub_and_extension(&[]).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[1]).await;
    for (original, tool, action, args) in [
        ("browser_mouse_click", "browser_interact", "click", json!({"selector": "#button"})),
        ("browser_mouse_move", "browser_interact", "move", json!({"x": 5, "y": 6})),
        ("browser_keyboard_press", "browser_interact", "press", json!({"key": "a", "ctrl": true})),
        ("browser_mouse_scroll", "browser_interact", "scroll", json!({"deltaY": 100})),
        ("browser_hover", "browser_interact", "hover", json!({"selector": "#button"})),
        (
            "browser_select",
            "browser_interact",
            "select",
            json!({"selector": "#country", "value": "de"}),
        ),
        ("browser_reload", "browser_navigate", "reload", json!({"ignoreCache": true})),
        ("browser_go_back", "browser_navigate", "back", json!({})),
        ("browser_go_forward", "browser_navigate", "forward", json!({})),
        ("browser_get_content", "browser_content", "get", json!({"format": "text"})),
        ("browser_query_selector", "browser_content", "query", json!({"selector": "#button"})),
        ("browser_get_cookies", "browser_network", "get_cookies", json!({})),
        (
            "browser_set_viewport",
            "browser_emulate",
            "viewport",
            json!({"width": 800, "height": 600}),
        ),
        ("browser_get_console_logs", "browser_debug", "console", json!({"level": "error"})),
    ] {
        let before = extension.calls().len();
        let mut consolidated = args.clone();
        consolidated["action"] = json!(action);
        let first = told(&mut client, tool, consolidated).await;
        let second = told(&mut client, original, args.clone()).await;
        assert_eq!(first, second, "{original}");
        let frame = (original.to_owned(), args);
        assert_eq!(extension.calls()[before..], [frame.clone(), frame], "{original}");
    }
    told(&mut client, "browser_navigate", json!({"url": "https://example.com/"})).await;
    let last = extension.calls().pop().unwrap();
    let expected = json!({"url": "https://example.com/"});
    assert_eq!(last, ("browser_navigate".to_owned(), expected), "without an action it goes there");
}

#[tokio::test]
async fn arguments_travel_under_the_names_that_the_extension_knows() {
    let (hub, extension) = hub_and_extension(&[]).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[1]).await;
    for (tool, args, command, wire) in [
        (
            "browser_navigate",
            json!({"action": "wait", "selector": "#button", "timeoutMs": 20_000}),
            "browser_wait_for",
            json!({"selector": "#button", "timeout": 20_000}),
        ),
        (
            "browser_interact",
            json!({"action": "type", "selector": "#email", "text": "hi", "delayMs": 0}),
            "browser_type",
            json!({"selector": "#email", "text": "hi", "delay": 0}),
        ),
        (
            "browser_network",
            json!({"action": "get_storage", "storageType": "sessionStorage"}),
            "browser_get_local_storage",
            json!({"storageType": "sessionStorage"}),
        ),
        (
            "browser_network",
            json!({"action": "clear_storage", "storageType": "all"}),
            "browser_clear_storage",
            json!({"type": "all"}),
        ),
        (
            "browser_network",
            json!({"action": "set_cookie", "name": "a", "value": "b", "sameSite": "Lax"}),
            "browser_set_cookie",
            json!({"name": "a", "value": "b", "sameSite": "Lax"}),
        ),
        (
            "browser_network",
            json!({"action": "set_headers", "headers": {"X-One": "1"}}),
            "browser_set_headers",
            json!({"headers": {"X-One": "1"}}),
        ),
        (
            "browser_debug",
            json!({"action": "dialog", "dialogAction": "accept", "promptText": "yes"}),
            "browser_handle_dialog",
            json!({"action": "accept", "promptText": "yes"}),
        ),
        (
            "browser_emulate",
            json!({"action": "device", "device": "Pixel 7"}),
            "browser_emulate_device",
            json!({"device": "Pixel 7"}),
        ),
        (
            "browser_emulate",
            json!({"action": "offline", "offline": true}),
            "browser_set_offline",
            json!({"offline": true}),
        ),
        (
            "browser_execute",
            json!({"expression": "1 + 1"}),
            "browser_evaluate",
            json!({"expression": "1 + 1"}),
        ),
        (
            "browser_content",
            json!({"action": "attribute", "selector": "#email", "attribute": "value"}),
            "browser_get_attribute",
            json!({"selector": "#email", "attribute": "value"}),
        ),
        (
            "browser_content",
            json!({"action": "get_viewport_dom", "maxElements": 10}),
            "browser_get_viewport_dom",
            json!({"maxElements": 10}),
        ),
    ] {
        told(&mut client, tool, args.clone()).await;
        let last = extension.calls().pop().unwrap();
        assert_eq!(last, (command.to_owned(), wire), "{tool} {args}");
    }
}

#[tokio::test]
async fn tabs_are_listed_as_they_are_now_and_named_by_what_is_listed() {
    let (hub, extension) = hub_and_extension(&[]).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[1]).await;
    told(&mut client, "browser_tab", json!({"action": "list"})).await;
    extension.with(|inside| {
        let url = json!({"url": "https://by.hand/"});
        inside.browser.run("browser_tab_new", &url).unwrap();
    });
    for (tool, args) in [
        ("browser_tab", json!({"action": "list"})),
        ("browser_tab", json!({"action": "list", "session": "moonsurf"})),
        ("browser_tab_list", json!({})),
    ] {
        let said = told(&mut client, tool, args.clone()).await;
        assert!(said.contains("https://by.hand/") && said.contains("101"), "{tool} {args}: {said}");
    }
    for (tool, args) in [
        ("browser_navigate", json!({"url": "https://example.com/", "tab": 101})),
        ("browser_navigate", json!({"url": "https://example.com/", "tabId": 101})),
    ] {
        told(&mut client, tool, args.clone()).await;
        let (name, sent) = extension.calls().pop().unwrap();
        assert_eq!(name, "browser_navigate", "{args}");
        assert_eq!(sent, json!({"url": "https://example.com/", "tabId": 101}), "{args}");
    }
}

#[tokio::test]
async fn a_picture_is_a_picture_in_every_shape() {
    for shapes in [Shapes::Tools, Shapes::Rest, Shapes::Mcp] {
        let (hub, extension) = hub_and_extension(&[]).await;
        extension.with(|inside| inside.browser.shapes = shapes);
        for way in WAYS {
            let mut client = McpClient::connect(PROGRAM, &hub, way).await;
            let args = json!({"action": "screenshot", "format": "png"});
            let result = client.call("browser_content", args).await.result();
            let content = result["content"].as_array().unwrap();
            let image = content.iter().find(|item| item["type"] == "image");
            let image = image.unwrap_or_else(|| panic!("{shapes:?} {way:?}: {result}"));
            assert_eq!(
                (&image["data"], &image["mimeType"]),
                (&json!(PICTURE), &json!("image/png"))
            );
            let texts = content.iter().filter_map(|item| item["text"].as_str());
            assert!(texts.clone().all(|text| !text.contains(PICTURE)), "once is enough: {result}");
        }
    }
}

#[tokio::test]
async fn results_are_read_in_both_shapes() {
    let (hub, extension) = hub_and_extension(&[]).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[1]).await;
    for shapes in [Shapes::Tools, Shapes::Rest] {
        extension.with(|inside| inside.browser.shapes = shapes);
        for (tool, args, part) in [
            ("browser_content", json!({"action": "get", "format": "text"}), "Hello there"),
            ("browser_execute", json!({"expression": "document.title"}), "document.title"),
            ("browser_navigate", json!({"url": "https://example.com/a"}), "https://example.com/a"),
            ("browser_tab", json!({"action": "list"}), "101"),
        ] {
            let result = client.call(tool, args).await.result();
            assert_ne!(result["isError"], true, "{shapes:?} {tool}: {result}");
            assert!(result["content"].is_array(), "{shapes:?} {tool}: {result}");
            let said = testkit::mcp::text(&result);
            assert!(said.contains(part), "{shapes:?} {tool}: {said}");
        }
    }
}

#[tokio::test]
async fn what_the_extension_cannot_do_is_refused_with_what_it_can() {
    let (hub, extension) = hub_and_extension(&[]).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[1]).await;
    for (tool, args) in [
        ("browser_interact", json!({"action": "check", "selector": "#button"})),
        ("browser_interact", json!({"action": "submit", "selector": "#button"})),
    ] {
        let result = client.call(tool, args.clone()).await.result();
        assert_eq!((&result["isError"], code(&result)), (&json!(true), "unsupported"), "{result}");
        let said = testkit::mcp::text(&result);
        assert!(said.contains("click") && said.contains("navigate"), "{args}: {said}");
    }
    assert_eq!(extension.calls(), []);
}

#[tokio::test]
async fn the_instance_id_picks_the_browser_and_no_browser_is_the_default() {
    let (hub, first) = hub_and_extension(&[]).await;
    let second = Moonsurf::start(hub.compat("moonsurf")).await;
    for way in WAYS {
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        let click = |more: Value| {
            let mut args = json!({"action": "click", "selector": "#button"});
            args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            args
        };
        let said = failed(&mut client, "browser_interact", click(json!({}))).await;
        assert!(said.contains("ambiguous_session"), "{way:?}: {said}");
        assert!(said.contains("\"moonsurf\"") && said.contains("\"moonsurf-2\""), "{said}");
        let before = (first.calls().len(), second.calls().len());
        for more in [
            json!({"instanceId": second.registration().instance}),
            json!({"session": "moonsurf-2"}),
        ] {
            told(&mut client, "browser_interact", click(more)).await;
        }
        let args = json!({"selector": "#button", "instanceId": second.registration().instance});
        told(&mut client, "browser_mouse_click", args).await;
        assert_eq!((first.calls().len(), second.calls().len()), (before.0, before.1 + 3));
    }
    let sent = second.calls();
    assert!(sent.iter().all(|(_, args)| *args == json!({"selector": "#button"})), "{sent:?}");
}

#[tokio::test]
async fn calls_at_once_are_matched_by_their_ids() {
    let (hub, extension) = hub_and_extension(&[]).await;
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..20 {
        let client = McpHttp::modern(hub.port());
        calls.spawn(async move {
            let expression = format!("\"call {number}\"");
            let (failed, said) =
                client.call("browser_execute", json!({"expression": expression})).await.told();
            assert!(!failed && said.contains(&format!("call {number}")), "{number}: {said}");
        });
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    assert_eq!(extension.calls().len(), 20);
}
