//! browsermcp-enhanced (seed 002): one port for any number of instances, and how they say hello.

use std::time::Duration;

use serde_json::json;
use testkit::{
    Ask, Dial, Http, Incoming, PATIENCE, eventually, frame,
    seeds::{
        enhanced::{Enhanced, EnhancedOptions, Naming, ORIGIN, uuid},
        webmcp::WebMcp,
        wire::{End, Order},
    },
    within,
};
use tokio::io::AsyncReadExt;

use crate::seed_browsers::{
    LIVELY, client, done, failed, hub_for_extensions, names, session, stays,
};

#[tokio::test]
async fn the_hub_speaks_first_acknowledges_hello_and_answers_pings() {
    let hub = hub_for_extensions(&[]).await;
    let options = EnhancedOptions::new(hub.port()).ping_every(Duration::from_millis(50));
    let extension = options.connect().await;
    let connected = extension.line.until_heard("connected").await;
    assert_eq!(connected["instanceId"], json!(extension.instance));
    let acknowledged = extension.line.until_heard("helloAck").await;
    assert_eq!(acknowledged["instanceId"], json!(extension.instance));
    extension.line.until_heard_times("pong", 3).await;
    let order: Vec<_> = extension.line.heard().iter().map(|one| one["type"].clone()).collect();
    assert_eq!(order[..2], ["connected", "helloAck"]);
    let session = session(&hub, "enhanced").await;
    assert_eq!(session["instanceId"], json!(extension.instance));
    assert_eq!((&session["kind"], &session["dialect"]), (&json!("browser"), &json!("enhanced")));
    assert_eq!(session["origin"], ORIGIN);
    assert_eq!(session["unproven"], true, "an origin is no proof");
    assert!(extension.commands().is_empty(), "nobody asked for a tab: {:?}", extension.tabs());
}

#[tokio::test]
async fn connected_comes_before_anything_is_said() {
    let hub = hub_for_extensions(&[]).await;
    let id = uuid();
    let mut socket = EnhancedOptions::new(hub.port()).instance(&id).dial().connect().await;
    match socket.recv().await {
        Incoming::Message(first) => {
            assert_eq!((&first["type"], &first["instanceId"]), (&json!("connected"), &json!(id)));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn connected_comes_first_however_early_hello_is() {
    let hub = hub_for_extensions(&[]).await;
    for _ in 0..20 {
        let path = format!("/session/{}", uuid());
        let ask = Ask::bare_upgrade(&path).header("Origin", ORIGIN).bytes(hub.port());
        let hello = frame::text(r#"{"type":"hello","wants":"instanceId"}"#);
        let mut http = Http::connect(hub.port()).await;
        http.send(&[ask, hello].concat()).await.unwrap();
        assert_eq!(http.read_head().await.unwrap().unwrap().status, 101);
        let (mut stream, mut heard) = http.into_parts();
        // What a server says is not masked, so it can be read as it is.
        let text = within(PATIENCE, "both greetings", async {
            loop {
                let text = String::from_utf8_lossy(&heard).into_owned();
                if text.contains("helloAck") && text.contains("\"connected\"") {
                    return text;
                }
                assert!(stream.read_buf(&mut heard).await.unwrap() > 0, "{text}");
            }
        })
        .await;
        assert!(text.find("\"connected\"") < text.find("helloAck"), "{text}");
    }
}

#[tokio::test]
async fn an_instance_names_itself_in_four_ways() {
    let hub = hub_for_extensions(&[]).await;
    for naming in [Naming::Path, Naming::Query, Naming::Protocol, Naming::Header] {
        let mut extension = EnhancedOptions::new(hub.port()).naming(naming).connect().await;
        let echoed =
            (naming == Naming::Protocol).then(|| format!("instance.{}", extension.instance));
        assert_eq!(extension.protocol, echoed, "{naming:?}");
        let acknowledged = extension.line.until_heard("helloAck").await;
        assert_eq!(acknowledged["instanceId"], json!(extension.instance), "{naming:?}");
        let sessions = hub.api().sessions().await;
        let own = sessions.iter().find(|one| one["instanceId"] == json!(extension.instance));
        let name = own.unwrap_or_else(|| panic!("{naming:?}: {sessions:?}"))["name"].clone();
        let url = format!("https://{naming:?}.example/").to_lowercase();
        let args = json!({"session": name, "url": url});
        done(&client(&hub, "claude"), "browser_navigate", args).await;
        assert_eq!(extension.commands_of("browser_navigate").len(), 1, "{naming:?}");
        extension.line.order(Order::Leave);
        assert_eq!(extension.line.ended().await, End::Left);
        hub.api().until_connected(name.as_str().unwrap(), false).await;
        extension.reconnect().await;
        let again = session(&hub, name.as_str().unwrap()).await;
        assert_eq!(again["connections"], 2, "{naming:?}: the same instance, the same session");
    }
    assert_eq!(names(&hub).await.len(), 4);
}

#[tokio::test]
async fn names_that_differ_are_refused_and_equal_ones_are_not() {
    let hub = hub_for_extensions(&[]).await;
    let (one, two) = (uuid(), uuid());
    let path = EnhancedOptions::new(hub.port()).instance(&one).dial();
    for dial in [
        path.clone().header("X-MCP-Instance", &two),
        path.clone().offer(&format!("instance.{two}")),
        path.clone().path(&format!("/session/{one}?instanceId={two}")),
    ] {
        let answer = dial.try_connect().await.err().flatten().expect("a refusal");
        assert_eq!(answer.status, 400, "{dial:?}: {}", answer.text());
    }
    assert!(names(&hub).await.is_empty());
    let mut agreed = path
        .header("X-MCP-Instance", &one)
        .offer(&format!("instance.{one}"))
        .path(&format!("/session/{one}?instanceId={one}"))
        .connect()
        .await;
    assert_eq!(agreed.until("connected").await["instanceId"], json!(one));
}

#[tokio::test]
async fn a_tool_runs_in_the_named_one_of_three_instances() {
    let hub = hub_for_extensions(&[]).await;
    let mut extensions = Vec::new();
    for name in ["enhanced", "enhanced-2", "enhanced-3"] {
        extensions.push(Enhanced::connect(hub.port()).await);
        let known = session(&hub, name).await;
        assert_eq!(known["instanceId"], json!(extensions.last().unwrap().instance));
    }
    let claude = client(&hub, "claude");
    for round in 0..3 {
        for (number, extension) in extensions.iter().enumerate() {
            let url = format!("https://{number}.example/{round}");
            // By name, by the hub's id, and by the instance's own id where that is taken.
            let known = &hub.api().sessions().await[number];
            let reference = [&known["name"], &known["id"]][round % 2];
            let args = json!({"session": reference, "action": "goto", "url": url});
            let result = done(&claude, "browser_navigate", args).await;
            assert_eq!(result["url"], json!(url));
            assert!(extension.tabs().iter().any(|tab| tab.url == url), "{:?}", extension.tabs());
            assert_eq!(extension.commands_of("browser_navigate").len(), round + 1);
        }
    }
    let said = failed(&claude, "browser_navigate", json!({"url": "https://x.example/"})).await;
    assert!(said.contains("ambiguous_session"), "{said}");
    for name in ["enhanced", "enhanced-2", "enhanced-3"] {
        assert!(said.contains(&format!("\"{name}\"")), "{said}");
    }
}

#[tokio::test]
async fn a_binding_to_an_instance_picks_its_session() {
    let hub = hub_for_extensions(&[]).await;
    let first = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let second = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced-2").await;
    for extension in [&second, &first] {
        let bound = client(&hub, "claude").header("X-MCP-Instance", &extension.instance);
        done(&bound, "browser_navigate", json!({"url": "https://bound.example/"})).await;
        assert_eq!(extension.commands_of("browser_navigate").len(), 1);
    }
}

/// Connects as an extension does that is refused: again, until it is let in. The last words of
/// the socket that stands still may be read only after the hub asked whether it lives.
async fn until_let_in(options: &EnhancedOptions) -> Enhanced {
    eventually("the instance is let in", async || {
        let again = options.clone().connect().await;
        let greeted = async || {
            let heard = !again.line.heard_of("helloAck").is_empty();
            (heard || again.line.ending().is_some()).then_some(heard)
        };
        eventually("an answer", greeted).await.then_some(again)
    })
    .await
}

#[tokio::test]
async fn a_second_socket_of_an_instance_waits_until_the_first_is_dead() {
    let hub = hub_for_extensions(&["--takeover-probe", "5s"]).await;
    let options = EnhancedOptions::new(hub.port());
    let first = options.clone().connect().await;
    first.line.until_heard("helloAck").await;
    let second = options.clone().connect().await;
    match second.line.ended().await {
        End::Closed(code, _) => assert_eq!(code, 4409),
        other => panic!("{other:?}"),
    }
    first.line.must_be_open();
    let url = json!({"url": "https://first.example/"});
    done(&client(&hub, "claude"), "browser_navigate", url).await;
    assert_eq!(first.commands_of("browser_navigate").len(), 1);
    first.line.order(Order::Freeze);
    let third = until_let_in(&options).await;
    assert_eq!(names(&hub).await, ["enhanced"]);
    let url = json!({"url": "https://third.example/"});
    done(&client(&hub, "other"), "browser_navigate", url).await;
    assert_eq!(third.commands_of("browser_navigate").len(), 1);
}

#[tokio::test]
async fn an_instance_that_is_there_stays_and_one_that_stands_still_is_given_up() {
    let hub = hub_for_extensions(LIVELY).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    // It says nothing for 30 s, and answers what the socket itself asks.
    stays(&hub, "enhanced").await;
    extension.line.order(Order::Freeze);
    hub.api().until_connected("enhanced", false).await;
    let dialects = hub.api().get("/api/dialects").await.must_be(200).json();
    let dialects = dialects["dialects"].as_array().unwrap().clone();
    let own = dialects.iter().find(|one| one["name"] == "enhanced").unwrap();
    assert_eq!(own["sessions"], json!([{"name": "enhanced", "connected": false}]));
}

#[tokio::test]
async fn one_port_serves_these_and_the_others_of_its_family() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    let other = WebMcp::connect(hub.port()).await;
    let native = Dial::session(hub.port(), "viewer").connect().await;
    assert_eq!(native.response.header("sec-websocket-protocol"), Some("tabwire.v1"));
    session(&hub, "enhanced").await;
    session(&hub, "chrome").await;
    extension.line.until_heard("helloAck").await;
    assert!(extension.line.heard_of("connect").is_empty(), "the other's greeting");
    assert!(other.line().heard_of("helloAck").is_empty(), "the other's greeting");
    for (name, dialect) in [("enhanced", "enhanced"), ("chrome", "webmcp")] {
        assert_eq!(hub.api().session(name).await["dialect"], dialect);
    }
}
