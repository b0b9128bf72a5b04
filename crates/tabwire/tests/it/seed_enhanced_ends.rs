//! browsermcp-enhanced: calls that are not answered, answers that nobody asked for, and whose
//! browser is driven.

use std::{fs, path::Path};

use serde_json::json;
use testkit::{
    Unanswered,
    seeds::{enhanced::Enhanced, wire::Order},
};

use crate::{
    scene::hub,
    seed_browsers::{client, done, failed, hub_for_extensions, session},
};

#[tokio::test]
async fn a_call_that_is_not_answered_is_sent_once_and_ends_in_time() {
    let hub = hub_for_extensions(&["--call-timeout", "1s"]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    extension.hold("stuck.example");
    let claude = client(&hub, "claude");
    let said = failed(&claude, "browser_navigate", json!({"url": "https://stuck.example/"})).await;
    assert!(said.contains("timed_out"), "{said}");
    // Messages keep their order: a second try would have come before this one.
    let other = client(&hub, "cursor");
    let patient = |url: &str| json!({"url": url, "timeoutMs": 20_000});
    done(&other, "browser_navigate", patient("https://other.example/")).await;
    let commands = extension.commands_of("browser_navigate");
    let stuck = commands.iter().filter(|one| one["payload"]["url"] == "https://stuck.example/");
    assert_eq!(stuck.count(), 1, "{commands:?}");
    // The answer that comes too late is nobody's.
    extension.release();
    let next = done(&other, "browser_navigate", patient("https://next.example/")).await;
    assert_eq!(next["url"], "https://next.example/");
    extension.line.must_be_open();
}

#[tokio::test]
async fn a_browser_that_goes_away_ends_its_calls_at_once() {
    let hub = hub_for_extensions(&["--call-timeout", "60s"]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let _other = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced-2").await;
    extension.hold("stuck.example");
    let claude = client(&hub, "claude");
    let unanswered = Unanswered::call(hub.port()).await;
    let args = json!({"session": "enhanced", "url": "https://stuck.example/"});
    let (said, ()) = tokio::join!(failed(&claude, "browser_navigate", args), async {
        extension.until_held(1).await;
        extension.line.order(Order::Leave);
    });
    assert!(said.contains("outcome_unknown"), "{said}");
    unanswered.must_be_under_way("at once, not after the timeout").await;
    let args = json!({"session": "enhanced-2", "url": "https://alive.example/"});
    done(&claude, "browser_navigate", args).await;
}

#[tokio::test]
async fn a_client_whose_browser_is_away_does_not_get_another_ones() {
    let hub = hub_for_extensions(&[]).await;
    let mine = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let instance = mine.instance.clone();
    mine.line.order(Order::Leave);
    hub.api().until_connected("enhanced", false).await;
    let others = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced-2").await;
    let args = json!({"url": "https://secret.example/"});
    let bound = client(&hub, "claude").header("X-MCP-Instance", &instance);
    let said = failed(&bound, "browser_navigate", args.clone()).await;
    assert!(said.contains("not_connected"), "{said}");
    for session in ["enhanced", "nobody"] {
        let mut args = args.clone();
        args["session"] = json!(session);
        failed(&client(&hub, "claude"), "browser_navigate", args).await;
    }
    assert!(others.commands().is_empty(), "{:?}", others.commands());
}

#[tokio::test]
async fn an_answer_counts_only_from_the_instance_that_was_asked() {
    let hub = hub_for_extensions(&[]).await;
    let asked = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let liar = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced-2").await;
    asked.hold("bank.example");
    let claude = client(&hub, "claude");
    let args = json!({"session": "enhanced", "url": "https://bank.example/"});
    let (result, ()) = tokio::join!(done(&claude, "browser_navigate", args), async {
        let command = asked.until_commands("browser_navigate", 1).await.remove(0);
        asked.until_held(1).await;
        let lie = json!({
            "wireId": command["wireId"], "sessionId": command["sessionId"], "type": "response",
            "data": {"url": "https://lie.example/", "tabId": 666}, "instanceId": asked.instance,
        });
        liar.line.say(lie);
        liar.line.say(json!({"type": "ping"}));
        liar.line.until_heard("pong").await;
        asked.release();
    });
    assert_eq!(result["url"], "https://bank.example/");
}

#[tokio::test]
async fn an_answer_that_comes_twice_or_to_nobody_changes_nothing() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    for round in 0..3 {
        let url = format!("https://{round}.example/");
        let result = done(&claude, "browser_navigate", json!({"url": url})).await;
        assert_eq!(result["url"], json!(url));
        for answer in extension.line.said_of("response") {
            extension.line.say(answer);
        }
        extension.line.say(json!({"wireId": "made-up", "type": "response", "data": {"tabId": 1}}));
    }
    extension.line.must_be_open();
}

#[tokio::test]
async fn a_tab_that_the_user_has_closed_is_not_driven_on() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    let first = done(&claude, "browser_navigate", json!({"url": "https://a.example/"})).await;
    extension.close_tab(first["tabId"].as_i64().unwrap());
    // Either it says that the tab is gone, or it opens another; it never takes the user's.
    let again =
        claude.call("browser_navigate", json!({"url": "https://b.example/"})).await.result();
    let mail = extension.tabs().into_iter().find(|tab| tab.id == 101).unwrap();
    assert_eq!(mail.url, "https://mail.example/", "{again}");
    if again["isError"] == true {
        done(&claude, "browser_navigate", json!({"url": "https://b.example/"})).await;
    }
    assert!(extension.tabs().iter().any(|tab| tab.url == "https://b.example/"));
}

#[tokio::test]
async fn what_is_done_is_not_left_in_a_file_for_all_to_read() {
    let hub = hub_for_extensions(&[]).await;
    let _extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let secret = "https://very-private-address.example/";
    done(&client(&hub, "claude"), "browser_navigate", json!({"url": secret})).await;
    let mut folders = vec![hub.place().path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_type().unwrap().is_file() {
                let text = fs::read(entry.path()).unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                assert!(!text.contains("very-private-address"), "{:?}", entry.path());
            }
        }
    }
    assert!(!hub.stderr().contains("very-private-address"), "{}", hub.stderr());
}

#[tokio::test]
async fn the_hub_listens_on_this_machine_only() {
    let hub = hub(&["--compat", "hello3d=0,moonsurf=0,mcp_browser=0"]).await;
    let ports: Vec<_> = ["hello3d", "moonsurf", "mcp_browser"].map(|name| hub.compat(name)).into();
    for port in [ports, vec![hub.port()]].concat() {
        let mut found = 0;
        for (table, own) in
            [("/proc/net/tcp", "0100007F"), ("/proc/net/tcp6", "00000000000000000000000001000000")]
        {
            for address in listeners(Path::new(table), port) {
                assert_eq!(address, own, "port {port} is open to others");
                found += 1;
            }
        }
        assert!(found > 0, "nobody listens on {port}");
    }
}

/// Returns the addresses on which somebody listens at a port, as the kernel writes them.
fn listeners(table: &Path, port: u16) -> Vec<String> {
    let text = fs::read_to_string(table).unwrap_or_default();
    let lines = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let listening = lines.filter(|fields| fields.get(3) == Some(&"0A"));
    let wanted = format!("{port:04X}");
    let found = listening.filter_map(|fields| {
        let (address, at) = fields[1].split_once(':')?;
        (at == wanted).then(|| address.to_owned())
    });
    found.collect()
}
