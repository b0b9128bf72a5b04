//! Which session a call goes to: the named one, the bound one, the only one that can.

use serde_json::json;
use testkit::{Answer, Ask, Dial, FakeApp, FakeBrowser, Incoming, Response};

use crate::scene::hub;

/// Fails the test unless the answer is this fault, and its words name all of these.
#[track_caller]
fn check_fault(answer: &Response, status: u16, code: &str, named: &[&str]) {
    assert_eq!((answer.status, answer.fault().as_str()), (status, code), "{}", answer.text());
    for name in named {
        let quoted = format!("\"{name}\"");
        let hint = answer.json()["error"]["hint"].as_str().unwrap().to_owned();
        assert!(hint.contains(&quoted), "{name} can be pasted from {hint}");
    }
}

#[tokio::test]
async fn several_candidates_are_listed_and_nobody_is_asked() {
    let hub = hub(&[]).await;
    let mut apps = Vec::new();
    for instance in ["north", "south"] {
        apps.push(FakeBrowser::with_tools(hub.port(), instance, &["paint"]).await);
    }
    let answer = hub.api().call(json!({"tool": "paint"})).await;
    check_fault(&answer, 409, "ambiguous_session", &["north", "south"]);
    for app in &mut apps {
        let name = app.welcome["name"].as_str().unwrap().to_owned();
        hub.api().event(&name, "marker", json!(null)).await;
        // Messages keep their order, so a call would have come before the event.
        while app.seen.delivered.is_empty() {
            if let Incoming::Message(message) = app.socket().recv().await {
                assert_ne!(message["type"], "callTool", "never a broadcast");
                if message["type"] == "event" {
                    app.seen.offer(&message);
                }
            }
        }
    }
}

#[tokio::test]
async fn an_unknown_session_is_an_error_that_lists_the_choices() {
    let hub = hub(&[]).await;
    let _north = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    let _south = FakeApp::echo(hub.port(), "south", &["paint"]).await;
    let answer = hub.api().call_tool("east", "paint", json!({})).await;
    check_fault(&answer, 404, "unknown_session", &["north", "south"]);
    for path in ["", "/state", "/feed"] {
        let answer = hub.api().get(&format!("/api/sessions/east{path}")).await;
        check_fault(&answer, 404, "unknown_session", &["north", "south"]);
    }
    let answer = hub.api().post("/api/events", &json!({"session": "east", "name": "x"})).await;
    check_fault(&answer, 404, "unknown_session", &["north", "south"]);
}

#[tokio::test]
async fn a_page_named_like_the_id_of_another_does_not_get_its_calls() {
    let hub = hub(&[]).await;
    let honest = FakeBrowser::app(hub.port(), "app-7").named(Some("painter"));
    let honest = FakeApp::start(honest, &["paint"], |_| Answer::Result(json!("honest"))).await;
    let hostile = FakeBrowser::app(hub.port(), "x").named(Some("app-7"));
    let hostile = FakeApp::start(hostile, &["paint"], |_| Answer::Result(json!("hostile"))).await;
    assert_eq!((honest.name.as_str(), hostile.name.as_str()), ("painter", "app-7-2"));
    let answer = hub.api().call_tool("app-7", "paint", json!({})).await.must_be(200);
    assert_eq!(answer.json()["result"], "honest");
    // The other way round: an id that is another's name stands for neither of them.
    let late = FakeBrowser::app(hub.port(), "painter").named(Some("late"));
    let late = FakeApp::start(late, &["paint"], |_| Answer::Result(json!("late"))).await;
    let answer = hub.api().call_tool("painter", "paint", json!({})).await;
    assert_eq!((answer.status, answer.fault().as_str()), (409, "ambiguous_session"));
    let id = hub.api().session("app-7").await["id"].as_str().unwrap().to_owned();
    assert!(answer.text().contains(&id), "{}", answer.text());
    let answer = hub.api().call_tool(&id, "paint", json!({})).await.must_be(200);
    assert_eq!(answer.json()["result"], "honest");
    // Nor does a client that is bound to it get anybody else.
    let bound = json!({"tool": "paint"});
    let ask = Ask::own_post("/api/call", &bound).header("X-MCP-Instance", "painter");
    assert_eq!(ask.send(hub.port()).await.fault(), "ambiguous_session");
    assert!(late.received("callTool").is_empty() && hostile.received("callTool").is_empty());
}

#[tokio::test]
async fn a_browser_that_nobody_vouches_for_is_meant_only_when_it_is_alone() {
    const STRANGER: &str = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";
    let hub = hub(&["--allow-origin", "chrome-extension://*"]).await;
    let stranger = Dial::root(hub.port()).path("/?instanceId=stranger").offer_only(&[]);
    let _stranger = stranger.origin(STRANGER).connect().await;
    let known = async || {
        let session = hub.api().get("/api/sessions/stranger").await;
        (session.status == 200).then(|| session.json())
    };
    let session = testkit::eventually("the stranger is known", known).await;
    assert_eq!(session["unproven"], true, "{session}");
    let mut own = FakeBrowser::browser(hub.port(), "own");
    own.connect().await;
    own.vanish();
    hub.api().until_connected("own", false).await;
    let click = json!({"tool": "browser_interact", "args": {"action": "click", "selector": "a"}});
    let answer = hub.api().call(click).await;
    assert_eq!(answer.fault(), "not_connected", "{}", answer.text());
    assert!(answer.text().contains("own is away"), "{}", answer.text());
    let name = session["name"].as_str().unwrap();
    assert!(answer.text().contains(name), "the stranger can still be named: {}", answer.text());
}

#[tokio::test]
async fn a_session_is_named_by_id_unique_prefix_or_name() {
    let hub = hub(&[]).await;
    let north = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    let south = FakeApp::echo(hub.port(), "south", &["paint"]).await;
    let same = north.session.bytes().zip(south.session.bytes()).take_while(|(a, b)| a == b).count();
    let prefix = &north.session[..same + 1];
    for reference in [north.session.as_str(), prefix, "north"] {
        let answer = hub.api().call_tool(reference, "paint", json!({"by": reference})).await;
        assert_eq!(answer.must_be(200).json()["session"], "north", "{reference}");
    }
    assert_eq!((north.received("callTool").len(), south.received("callTool").len()), (3, 0));
}

#[tokio::test]
async fn a_prefix_that_fits_several_sessions_chooses_none() {
    let hub = hub(&[]).await;
    let mut apps = Vec::new();
    // With 40 sessions two ids begin alike: an id has 32 letters to choose from.
    for number in 0..40 {
        apps.push(FakeBrowser::connected(hub.port(), &format!("app-{number}")).await);
    }
    let mut beginnings: Vec<_> =
        apps.iter().map(|app| app.welcome["sessionId"].as_str().unwrap()[..3].to_owned()).collect();
    beginnings.sort_unstable();
    let shared = beginnings.windows(2).find(|pair| pair[0] == pair[1]).unwrap()[0].clone();
    let answer = hub.api().get(&format!("/api/sessions/{shared}")).await;
    check_fault(&answer, 409, "ambiguous_session", &[]);
}

#[tokio::test]
async fn the_instance_header_binds_and_a_named_session_goes_before_it() {
    let hub = hub(&[]).await;
    let _north = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    let _south = FakeApp::echo(hub.port(), "south", &["paint"]).await;
    let call = async |binding: &str, body: serde_json::Value| {
        Ask::own_post("/api/call", &body).header("X-MCP-Instance", binding).send(hub.port()).await
    };
    let bound = call("south", json!({"tool": "paint"})).await.must_be(200).json();
    assert_eq!(bound["session"], "south");
    let named = call("south", json!({"tool": "paint", "session": "north"})).await.must_be(200);
    assert_eq!(named.json()["session"], "north");
    let nowhere = call("east", json!({"tool": "paint"})).await;
    check_fault(&nowhere, 409, "ambiguous_session", &["north", "south"]);
}

#[tokio::test]
async fn the_only_connected_session_that_offers_the_tool_is_chosen() {
    let hub = hub(&[]).await;
    let _other = FakeApp::echo(hub.port(), "other", &["sing"]).await;
    let north = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    let chosen = hub.api().call(json!({"tool": "paint"})).await.must_be(200).json();
    assert_eq!(chosen["session"], "north");
    let _south = FakeApp::echo(hub.port(), "south", &["paint"]).await;
    check_fault(&hub.api().call(json!({"tool": "paint"})).await, 409, "ambiguous_session", &[]);
    drop(north);
    hub.api().until_connected("north", false).await;
    let chosen = hub.api().call(json!({"tool": "paint"})).await.must_be(200).json();
    assert_eq!(chosen["session"], "south", "the one that is away does not count");
}

#[tokio::test]
async fn a_session_that_is_away_is_told_at_once() {
    let hub = hub(&[]).await;
    drop(FakeApp::echo(hub.port(), "north", &["paint"]).await);
    hub.api().until_connected("north", false).await;
    for body in [json!({"tool": "paint"}), json!({"tool": "paint", "session": "north"})] {
        let answer = hub.api().call(body).await;
        check_fault(&answer, 503, "not_connected", &[]);
        assert_eq!(answer.json()["error"]["retry"], "later");
    }
}

#[tokio::test]
async fn a_tool_that_nobody_offers_is_an_error_with_what_there_is() {
    let hub = hub(&[]).await;
    let nobody = hub.api().call(json!({"tool": "fly"})).await;
    check_fault(&nobody, 404, "unknown_tool", &[]);
    let _north = FakeApp::echo(hub.port(), "north", &["paint", "erase"]).await;
    check_fault(&hub.api().call(json!({"tool": "fly"})).await, 404, "unknown_tool", &["north"]);
    let named = hub.api().call_tool("north", "fly", json!({})).await;
    check_fault(&named, 404, "unknown_tool", &[]);
    assert!(named.text().contains("paint") && named.text().contains("erase"), "{}", named.text());
}
