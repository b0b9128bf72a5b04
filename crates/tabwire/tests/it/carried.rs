//! Pages that a paired extension carries: apps of their own origin, and of nobody else's.

use serde_json::{Value, json};
use testkit::{Dial, EXTENSION, FakeApp, FakeExtension, HubProcess, Incoming, Socket};

use crate::{
    mcp_scene::{LEGACY, http, tool},
    pairing_commands::enroll,
    scene::{PROGRAM, hub},
};

const APP: &str = "https://app.example";
const OTHER: &str = "https://other.example";

async fn paired(hub: &HubProcess, instance: &str) -> FakeExtension {
    let key = enroll(hub, instance).await;
    FakeExtension::new(hub.port(), instance, &key)
}

/// What a socket that says this first is closed with.
async fn code_for(hub: &HubProcess, origin: Option<&str>, hello: &Value) -> u16 {
    let instance = hello["instanceId"].as_str().unwrap();
    let dial = Dial::session(hub.port(), instance);
    let dial = origin.map_or_else(|| dial.clone(), |origin| dial.clone().origin(origin));
    let mut socket = dial.connect().await;
    socket.send(hello).await;
    socket.ended().await.code
}

async fn answers(socket: &mut Socket) -> bool {
    socket.send(&json!({"type": "ping"})).await;
    loop {
        match socket.recv().await {
            Incoming::Message(message) if message["type"] == "pong" => return true,
            // The hub may ask the same of a peer that has said nothing for a while, and it tells a
            // browser which apps wait.
            Incoming::Message(message)
                if ["ping", "event"].iter().any(|it| message["type"] == *it) => {}
            _ => return false,
        }
    }
}

#[tokio::test]
async fn a_carried_page_is_an_app_of_its_own_origin() {
    let hub = hub(&[]).await;
    let mut extension = paired(&hub, "chrome-1").await;
    let (_browser, own) = extension.connect().await;
    let (mut page, welcome) = extension.carrying("page", APP).connect().await;
    assert_ne!(own["sessionId"], welcome["sessionId"]);
    let session = hub.api().session("page").await;
    assert_eq!((&session["kind"], &session["origin"]), (&json!("app"), &json!(APP)));
    assert_eq!((&session["carriedBy"], &session["unproven"]), (&json!("chrome-1"), &json!(false)));
    let browser = hub.api().session("chrome-1").await;
    assert_eq!((&browser["origin"], &browser["carriedBy"]), (&json!(EXTENSION), &Value::Null));
    let paint = tool("paint", &json!({"type": "object"}));
    page.send(&json!({"type": "toolsChanged", "sequence": 1, "tools": [paint]})).await;
    testkit::eventually("its tool is listed", async || {
        (hub.api().session("page").await["tools"][0]["name"] == "paint").then_some(())
    })
    .await;
    let client = http(&hub, LEGACY).await;
    let call = client.call("paint", json!({}));
    let answer = async {
        loop {
            let Incoming::Message(message) = page.recv().await else { panic!("it ended") };
            if message["type"] == "callTool" {
                let end = json!({"type": "toolResult", "callId": message["callId"], "result": 1});
                return page.send(&end).await;
            }
        }
    };
    let (reply, ()) = tokio::join!(call, answer);
    let result = reply.result();
    assert_eq!(result["_meta"]["tabwire"]["origin"], APP, "{result}");
}

#[tokio::test]
async fn a_carried_page_keeps_its_session_over_a_new_socket_and_a_restart_of_the_hub() {
    let mut hub = hub(&[]).await;
    let extension = paired(&hub, "chrome-1").await;
    let (socket, first) = extension.carrying("page", APP).connect().await;
    let (_next, second) = extension.carrying("page", APP).resuming(&first).connect().await;
    assert_eq!(first["sessionId"], second["sessionId"]);
    socket.must_close(4509).await;
    hub.terminate().await;
    hub.restart().await;
    let extension = FakeExtension::new(hub.port(), "chrome-1", &extension.key());
    let (_socket, third) = extension.carrying("page", APP).connect().await;
    assert_eq!(first["sessionId"], third["sessionId"]);
    assert_eq!(hub.api().session("page").await["carriedBy"], "chrome-1");
}

#[tokio::test]
async fn one_instance_id_from_two_origins_or_two_browsers_is_so_many_sessions() {
    let hub = hub(&[]).await;
    let (one, two) = (paired(&hub, "chrome-1").await, paired(&hub, "chrome-2").await);
    let direct = FakeApp::echo(hub.port(), "page", &[]).await;
    let mut sockets = Vec::new();
    for (extension, origin) in [(&one, APP), (&one, OTHER), (&two, APP)] {
        sockets.push(extension.carrying("page", origin).connect().await);
    }
    let mut ids: Vec<_> = sockets.iter().map(|(_, welcome)| welcome["sessionId"].clone()).collect();
    ids.push(json!(direct.session));
    let distinct: std::collections::HashSet<_> = ids.iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), 4, "{ids:?}");
    for (socket, _) in &mut sockets {
        assert!(answers(socket).await, "all of them live");
    }
}

#[tokio::test]
async fn a_page_gets_nobodys_session_by_a_name_or_a_token() {
    let hub = hub(&["--takeover-probe", "100ms"]).await;
    let mut extension = paired(&hub, "chrome-1").await;
    let (mut browser, own) = extension.connect().await;
    let (mut page, welcome) = extension.carrying("page", APP).connect().await;
    let instance = hub.api().session("page").await["instanceId"].as_str().unwrap().to_owned();
    let thief = extension.carrying("chrome-1", OTHER).resuming(&own);
    let (_socket, got) = thief.clone().connect().await;
    assert_ne!(got["sessionId"], own["sessionId"], "the browser's");
    let (_socket, got) = extension.carrying("page", OTHER).resuming(&welcome).connect().await;
    assert_ne!(got["sessionId"], welcome["sessionId"], "another origin's");
    // The id that the hub made of it is for nobody to say.
    let hello = json!({
        "type": "hello", "instanceId": instance, "kind": "app", "epoch": "e",
        "resumeToken": welcome["resumeToken"],
    });
    assert_eq!(code_for(&hub, Some("http://localhost:5173"), &hello).await, 4503);
    assert_eq!(code_for(&hub, None, &hello).await, 4503);
    let ending = extension.carrying(&instance, APP).try_connect().await.err().unwrap();
    assert_eq!(ending.code, 4503);
    assert!(answers(&mut browser).await && answers(&mut page).await, "both undisturbed");
}

#[tokio::test]
async fn who_carries_proves_itself_for_this_page_and_this_origin() {
    let hub = hub(&[]).await;
    let extension = paired(&hub, "chrome-1").await;
    let other = enroll(&hub, "chrome-2").await;
    let mut wrong = FakeExtension::new(hub.port(), "chrome-1", &other).carrying("page", APP);
    assert_eq!(wrong.try_connect().await.err().unwrap().code, 4403, "another key");
    let mut unpaired = FakeExtension::new(hub.port(), "nobody", &other).carrying("page", APP);
    assert_eq!(unpaired.try_connect().await.err().unwrap().code, 4401, "not paired");
    let mut liar = extension.carrying("page", APP).telling(OTHER);
    assert_eq!(liar.try_connect().await.err().unwrap().code, 4403, "another origin");
    let plain = extension.greet().await.unwrap();
    let carrying = extension.carrying("chrome-1", APP);
    let challenged = carrying.greet().await.unwrap();
    let ending = carrying.prove(challenged, &plain.proof).await.err().unwrap();
    assert_eq!(ending.code, 4403, "a proof that was made for the browser itself");
    assert_eq!(hub.api().sessions().await.len(), 0);
}

#[tokio::test]
async fn nobody_but_our_extension_carries() {
    let hub = hub(&["--allow-origin", OTHER]).await;
    let extension = paired(&hub, "chrome-1").await;
    let mut hello = json!({
        "type": "hello", "instanceId": "page", "kind": "app", "carrier": "chrome-1", "origin": APP,
    });
    hello["epoch"] = json!("e");
    for origin in [Some("http://localhost:5173"), Some(OTHER), Some(EXTENSION), None] {
        assert_eq!(code_for(&hub, origin, &hello).await, 4503, "without a proof: {origin:?}");
    }
    for origin in ["http://localhost:5173", OTHER] {
        let page = |_| Dial::session(hub.port(), "page").origin(origin);
        let mut page = extension.carrying("page", APP).dialled(page);
        assert_eq!(page.try_connect().await.err().unwrap().code, 4503, "{origin}");
    }
    let program = |_| Dial::session(hub.port(), "page");
    let mut program = extension.carrying("page", APP).dialled(program);
    assert_eq!(program.try_connect().await.err().unwrap().code, 4503, "with the right key");
    assert_eq!(hub.api().sessions().await.len(), 0);
}

#[tokio::test]
async fn what_is_carried_is_an_app_with_the_origin_of_a_page() {
    let hub = hub(&[]).await;
    let extension = paired(&hub, "chrome-1").await;
    for origin in ["", "null", "file://", "https://", "https://app.example/", "https://App.example"]
    {
        let ending = extension.carrying("page", origin).try_connect().await.err().unwrap();
        assert_eq!(ending.code, 4400, "{origin:?}");
    }
    let nonce = "A".repeat(43);
    let good = json!({
        "type": "hello", "instanceId": "page", "kind": "app", "nonce": nonce,
        "carrier": "chrome-1", "origin": APP,
    });
    for (field, value) in [
        ("kind", json!("browser")),
        ("pairing", json!(true)),
        ("origin", Value::Null),
        ("carrier", json!("no id")),
    ] {
        let mut hello = good.clone();
        hello[field] = value;
        assert_eq!(code_for(&hub, Some(EXTENSION), &hello).await, 4400, "{field}");
    }
}

#[tokio::test]
async fn who_is_carried_goes_when_its_carrier_is_unpaired() {
    let hub = hub(&[]).await;
    let (one, two) = (paired(&hub, "chrome-1").await, paired(&hub, "chrome-2").await);
    let (gone, _) = one.carrying("page", APP).connect().await;
    let (mut stays, _) = two.carrying("page", APP).connect().await;
    let commands = hub.commands(PROGRAM);
    commands.run(&["unpair", "chrome-1"]).await.must_exit(0);
    gone.must_close(4401).await;
    assert_eq!(one.carrying("page", APP).try_connect().await.err().unwrap().code, 4401);
    assert!(answers(&mut stays).await);
    commands.run(&["unpair", "--all"]).await.must_exit(0);
    stays.must_close(4401).await;
}
