//! browsermcp-enhanced: what a call becomes in the extension, and how it ends.

use serde_json::{Value, json};
use testkit::{
    PATIENCE,
    seeds::enhanced::{Enhanced, EnhancedOptions, tabs::PIXEL},
    within,
};

use crate::seed_browsers::{client, done, failed, hub_for_extensions, session};

#[tokio::test]
async fn a_command_travels_in_an_envelope_with_an_id_and_a_session_of_its_client() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    let args = json!({"action": "goto", "url": "https://shop.example/"});
    let result = done(&claude, "browser_navigate", args).await;
    assert_eq!(result["url"], "https://shop.example/");
    let command = &extension.commands()[0];
    assert_eq!(
        (&command["type"], &command["name"]),
        (&json!("command"), &json!("browser_navigate"))
    );
    assert!(command["wireId"].as_str().is_some_and(|id| !id.is_empty()), "{command}");
    assert!(command["sessionId"].as_str().is_some_and(|id| !id.is_empty()), "{command}");
    assert_eq!(command["payload"]["url"], "https://shop.example/");
    assert!(command.get("tabId").is_none_or(Value::is_number), "only a number counts: {command}");
    let seen = extension.tabs();
    assert_eq!(seen.len(), 2, "the user's and the client's: {seen:?}");
    assert_eq!(result["tabId"], json!(seen[1].id));
}

#[tokio::test]
async fn each_ai_client_has_its_own_session_and_tab_and_none_waits_for_another() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let (claude, cursor) = (client(&hub, "claude"), client(&hub, "cursor"));
    extension.hold("slow.example");
    let slow =
        async { done(&claude, "browser_navigate", json!({"url": "https://slow.example/"})).await };
    let quick = async {
        extension.until_held(1).await;
        let mut results = Vec::new();
        for round in 0..3 {
            let url = format!("https://quick.example/{round}");
            results.push(done(&cursor, "browser_navigate", json!({"url": url})).await);
        }
        extension.release();
        results
    };
    let (slow, quick) = within(PATIENCE, "both clients", async { tokio::join!(slow, quick) }).await;
    assert_eq!(slow["url"], "https://slow.example/");
    let commands = extension.commands_of("browser_navigate");
    let of = |url: &str| {
        let command = commands.iter().find(|one| one["payload"]["url"] == url).unwrap();
        command["sessionId"].as_str().unwrap().to_owned()
    };
    assert_ne!(of("https://slow.example/"), of("https://quick.example/0"));
    assert_eq!(of("https://quick.example/0"), of("https://quick.example/2"), "it stays the same");
    assert_ne!(slow["tabId"], quick[0]["tabId"], "each in its own tab");
    assert_eq!(quick[0]["tabId"], quick[2]["tabId"]);
    assert_eq!(extension.tabs().len(), 3, "{:?}", extension.tabs());
}

#[tokio::test]
async fn three_calls_at_once_in_one_session_all_get_their_own_results() {
    let hub = hub_for_extensions(&[]).await;
    let extension = EnhancedOptions::new(hub.port()).able().connect().await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    done(&claude, "browser_navigate", json!({"url": "https://shop.example/"})).await;
    let mut tabs = Vec::new();
    for number in 0..3 {
        let url = format!("https://{number}.example/");
        let opened = done(&claude, "browser_tab", json!({"action": "new", "url": url})).await;
        tabs.push((url, number, opened));
    }
    // Held until all are there, and then answered in the other order.
    extension.hold("\"js.execute\"");
    let ids: Vec<_> = extension.tabs().iter().skip(2).map(|tab| tab.id).collect();
    let run = |number: usize| {
        let args = json!({"tab": ids[number], "expression": format!("number-{number}")});
        done(&claude, "browser_execute", args)
    };
    let all = async { tokio::join!(run(0), run(1), run(2)) };
    let release = async {
        extension.until_held(3).await;
        extension.release();
    };
    let ((one, two, three), ()) =
        within(PATIENCE, "three calls", async { tokio::join!(all, release) }).await;
    for (number, result) in [one, two, three].iter().enumerate() {
        assert!(result.to_string().contains(&format!("number-{number}")), "{number}: {result}");
    }
    let sessions: Vec<_> =
        extension.commands().iter().map(|command| command["sessionId"].clone()).collect();
    assert!(
        sessions.iter().all(|one| *one == sessions[0]),
        "one client, one session: {sessions:?}"
    );
}

#[tokio::test]
async fn a_slow_tab_does_not_hold_up_another_of_the_same_client() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    done(&claude, "browser_navigate", json!({"url": "https://one.example/"})).await;
    done(&claude, "browser_tab", json!({"action": "new", "url": "https://two.example/"})).await;
    let ids: Vec<_> = extension.tabs().iter().map(|tab| tab.id).collect();
    extension.hold("slow.example");
    let slow = json!({"tab": ids[1], "url": "https://slow.example/"});
    let (slow, ()) = tokio::join!(done(&claude, "browser_navigate", slow), async {
        extension.until_held(1).await;
        let quick = json!({"tab": ids[2], "url": "https://quick.example/"});
        let quick = done(&claude, "browser_navigate", quick).await;
        assert_eq!(quick["tabId"], json!(ids[2]));
        extension.release();
    });
    assert_eq!(slow["tabId"], json!(ids[1]));
    let commands = extension.commands_of("browser_navigate");
    for command in commands.iter().skip(1) {
        assert!(command["tabId"].is_number(), "a tab counts only as a number: {command}");
    }
}

#[tokio::test]
async fn what_the_extension_cannot_do_is_an_error() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    done(&claude, "browser_navigate", json!({"url": "https://shop.example/"})).await;
    for (tool, args, part) in [
        ("browser_execute", json!({"expression": "1 + 1"}), "Content Security Policy"),
        ("browser_interact", json!({"action": "click", "ref": "ref2"}), ""),
        ("browser_interact", json!({"action": "hover", "ref": "ref2"}), ""),
        ("browser_interact", json!({"action": "type", "ref": "ref2", "text": "tea"}), ""),
        ("browser_interact", json!({"action": "select", "ref": "ref2", "values": ["a"]}), ""),
        ("browser_navigate", json!({"url": "https://x.example/", "tab": 4242}), "4242"),
    ] {
        let said = failed(&claude, tool, args.clone()).await;
        assert!(said.contains(part), "{tool} {args}: {said}");
    }
    assert_eq!(extension.commands_of("dom.click").len(), 1, "once, not three times");
    // The same in a version that can.
    let able = EnhancedOptions::new(hub.port()).able().connect().await;
    session(&hub, "enhanced-2").await;
    let url = json!({"session": "enhanced-2", "url": "https://shop.example/"});
    done(&claude, "browser_navigate", url).await;
    for (args, name) in [
        (json!({"action": "click", "ref": "ref2"}), "dom.click"),
        (json!({"action": "type", "ref": "ref2", "text": "tea", "submit": true}), "dom.type"),
        (json!({"action": "select", "ref": "ref2", "values": ["a"]}), "dom.select"),
    ] {
        let mut args = args;
        args["session"] = json!("enhanced-2");
        done(&claude, "browser_interact", args.clone()).await;
        let payload = &able.commands_of(name)[0]["payload"];
        assert_eq!(payload["ref"], "ref2", "{args}");
        for key in ["text", "submit", "values"] {
            assert_eq!(payload.get(key), args.get(key), "{args}: {payload}");
        }
    }
}

#[tokio::test]
async fn a_tool_that_it_has_no_command_for_is_refused_before_anything_is_sent() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    for (tool, args) in [
        ("browser_content", json!({"action": "pdf"})),
        ("browser_network", json!({"action": "get_cookies"})),
        ("browser_emulate", json!({"action": "offline", "offline": true})),
        ("browser_debug", json!({"action": "performance"})),
        (
            "browser_interact",
            json!({"action": "upload", "selector": "#f", "files": ["/etc/hosts"]}),
        ),
    ] {
        let said = failed(&claude, tool, args.clone()).await;
        assert!(said.contains("unsupported"), "{tool} {args}: {said}");
    }
    assert!(extension.commands().is_empty(), "{:?}", extension.commands());
    assert_eq!(extension.tabs().len(), 1, "no tab was opened for nothing");
}

#[tokio::test]
async fn pages_are_read_as_text_and_as_a_picture() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    done(&claude, "browser_navigate", json!({"url": "https://shop.example/"})).await;
    let snapshot = claude.call("browser_snapshot", json!({})).await.result();
    assert_ne!(snapshot["isError"], true, "{snapshot}");
    assert!(snapshot.to_string().contains("[ref=ref2]"), "{snapshot}");
    let picture = claude.call("browser_content", json!({"action": "screenshot"})).await.result();
    let image = picture["content"].as_array().unwrap().iter().find(|one| one["type"] == "image");
    let image = image.unwrap_or_else(|| panic!("no picture: {picture}"));
    assert_eq!((&image["mimeType"], &image["data"]), (&json!("image/png"), &json!(PIXEL)));
    assert_eq!(extension.commands_of("screenshot.capture").len(), 1);
}

#[tokio::test]
async fn tabs_are_listed_opened_activated_and_closed() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    let listed = done(&claude, "browser_tab", json!({"action": "list"})).await;
    let mail = listed["tabs"].as_array().unwrap().iter().find(|tab| tab["tab"] == 101);
    let mail = mail.unwrap_or_else(|| panic!("{listed}"));
    let seen = (&mail["session"], &mail["url"], &mail["active"]);
    assert_eq!(seen, (&json!("enhanced"), &json!("https://mail.example/"), &json!(false)));
    let opened =
        done(&claude, "browser_tab", json!({"action": "new", "url": "https://a.example/"})).await;
    let tab = extension.tabs().into_iter().find(|tab| tab.url == "https://a.example/").unwrap();
    assert_eq!(opened["tab"], json!(tab.id), "{opened}");
    let mail = extension.tabs()[0].id;
    done(&claude, "browser_tab", json!({"action": "activate", "tab": mail})).await;
    assert!(extension.tabs()[0].active);
    assert!(extension.commands_of("browser_activate_tab")[0]["payload"]["tabId"].is_number());
    done(&claude, "browser_tab", json!({"action": "close", "tab": tab.id})).await;
    let left = extension.tabs();
    assert!(left.iter().all(|one| one.id != tab.id), "the named one: {left:?}");
    assert!(left.iter().any(|one| one.id == mail), "and not the one in front: {left:?}");
    let said = failed(&claude, "browser_tab", json!({"action": "close", "tab": tab.id})).await;
    assert!(said.contains(&tab.id.to_string()), "{said}");
    assert_eq!(extension.tabs(), left);
}

#[tokio::test]
async fn a_tab_of_another_window_is_closed_or_nothing_is() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    // Both windows have a first tab, and the extension closes by number.
    let second = extension.open_window("https://second.example/");
    let claude = client(&hub, "claude");
    let before = done(&claude, "browser_tab", json!({"action": "list"})).await;
    assert!(before["tabs"].as_array().unwrap().iter().any(|tab| tab["tab"] == second), "{before}");
    let tabs = extension.tabs();
    let args = json!({"action": "close", "tab": second});
    let (failed, said) = claude.call("browser_tab", args).await.told();
    let gone: Vec<_> = tabs.iter().filter(|tab| !extension.tabs().contains(tab)).collect();
    match failed {
        true => assert!(gone.is_empty(), "{said}: {gone:?}"),
        false => assert!(gone.iter().all(|tab| tab.id == second), "{said}: {gone:?}"),
    }
}

#[tokio::test]
async fn waiting_counts_in_milliseconds() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    done(&claude, "browser_navigate", json!({"action": "wait", "timeMs": 250})).await;
    assert_eq!(extension.commands_of("browser_wait")[0]["payload"]["time"], 250);
    for (action, name) in [("back", "browser_go_back"), ("forward", "browser_go_forward")] {
        done(&claude, "browser_navigate", json!({"action": action})).await;
        let sent = extension.commands();
        let last = sent.last().unwrap();
        let plain = last["name"] == name;
        assert!(plain || last["payload"]["action"] == action, "{action}: {last}");
    }
}
