//! What nobody should send to a relay: each fault costs an answer, and the conversation goes on.

use serde_json::{Value, json};
use testkit::{Era, FakeBrowser, McpStdio, rounds};

use crate::{
    mcp_scene::{LEGACY, stdio},
    scene::{Scene, hub},
};

const ERAS: [Era; 2] = [Era::Modern, LEGACY];

/// Returns whether a message is an answer; news about tools may come at any time.
fn is_answer(message: &Value) -> bool {
    message.get("method").is_none()
}

/// Sends bytes that are no message, and returns the code and the id of the answer.
async fn fault(client: &mut McpStdio, bytes: &[u8]) -> (i64, Value) {
    client.send_bytes(bytes).await;
    let answer = client.until("an answer", is_answer).await;
    let code = answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"));
    (code, answer["id"].clone())
}

#[tokio::test]
async fn garbage_is_answered_and_the_stream_goes_on() {
    let hub = hub(&[]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        client.request("tools/list", json!({})).await.result();
        for (bytes, code, id) in [
            (&b"hello\n"[..], -32700, json!(null)),
            (b"{\"jsonrpc\":\"2.0\",\"id\":77,\n", -32700, json!(null)),
            (b"{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\"}}\n", -32700, json!(null)),
            (b"\xff\xfe\xfd\n", -32700, json!(null)),
            (b"{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"\xff\"}\n", -32700, json!(null)),
            (b"\0\0\0\n", -32700, json!(null)),
            (b"12\n", -32600, json!(null)),
            (b"null\n", -32600, json!(null)),
            (b"{}\n", -32600, json!(null)),
            (b"{\"id\":77}\n", -32600, json!(77)),
            (b"{\"jsonrpc\":\"2.0\",\"id\":77}\n", -32600, json!(77)),
            (b"{\"jsonrpc\":\"2.0\",\"id\":77,\"params\":{}}\n", -32600, json!(77)),
            (b"{\"jsonrpc\":\"1.0\",\"id\":77,\"method\":\"ping\"}\n", -32600, json!(77)),
            (b"{\"id\":77,\"method\":\"ping\"}\n", -32600, json!(77)),
            (b"{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":5}\n", -32600, json!(77)),
            (b"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}\n", -32600, json!(null)),
        ] {
            let shown = String::from_utf8_lossy(bytes).into_owned();
            assert_eq!(fault(&mut client, bytes).await, (code, id), "{era:?} {shown}");
            client.request("tools/list", json!({})).await.result();
        }
    }
}

#[tokio::test]
async fn garbage_before_anything_else_is_answered_too() {
    let hub = hub(&[]).await;
    for era in ERAS {
        let mut client = testkit::StdioOptions::of(crate::scene::PROGRAM, &hub).start();
        assert_eq!(fault(&mut client, b"hello\n").await, (-32700, json!(null)));
        client.open(era).await;
        client.request("tools/list", json!({})).await.result();
    }
}

#[tokio::test]
async fn a_batch_is_refused_as_a_whole() {
    let hub = hub(&[]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        let batch =
            json!([client.message("tools/list", json!({})), client.message("x", json!({}))]);
        let line = format!("{batch}\n");
        assert_eq!(fault(&mut client, line.as_bytes()).await, (-32600, json!(null)));
        assert_eq!(fault(&mut client, b"[]\n").await, (-32600, json!(null)));
        client.request("tools/list", json!({})).await.result();
    }
}

#[tokio::test]
async fn empty_lines_and_unusual_line_ends_are_passed_over() {
    let hub = hub(&[]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        client.send_bytes(b"\n\r\n   \n\t\n").await;
        let message = client.message("tools/list", json!({}));
        client.send_bytes(format!("{message}\r\n").as_bytes()).await;
        client.answer(message["id"].as_u64().unwrap()).await.result();
        let message = client.message("tools/list", json!({}));
        client.send_bytes(format!("  {message}  \n").as_bytes()).await;
        client.answer(message["id"].as_u64().unwrap()).await.result();
        assert_eq!(client.kept().count(), 0);
    }
}

#[tokio::test]
async fn a_message_may_come_in_pieces_and_several_at_once() {
    let hub = hub(&[]).await;
    let mut client = stdio(&hub, LEGACY).await;
    let message = client.message("tools/list", json!({})).to_string();
    for piece in message.as_bytes().chunks(7) {
        client.send_bytes(piece).await;
        tokio::task::yield_now().await;
    }
    client.send_bytes(b"\n").await;
    client.answer(2).await.result();
    let many: String =
        (0..100).map(|_| format!("{}\n", client.message("ping", json!({})))).collect();
    client.send_bytes(many.as_bytes()).await;
    for id in 3..103 {
        client.answer(id).await.result();
    }
}

#[tokio::test]
async fn half_a_line_at_the_end_is_a_line() {
    let hub = hub(&[]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        let message = client.message("tools/list", json!({}));
        client.send_bytes(message.to_string().as_bytes()).await;
        let ended = client.finish().await;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        let answered = ended.messages.iter().any(|answer| answer["id"] == message["id"]);
        assert!(answered, "{era:?}: {:?}", ended.messages);
        let mut client = stdio(&hub, era).await;
        client.request("tools/list", json!({})).await.result();
        client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":7").await;
        let ended = client.finish().await;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        assert!(ended.messages.iter().all(|answer| answer["error"]["code"] == -32700));
    }
}

#[tokio::test]
async fn notifications_that_are_not_known_or_not_right_are_ignored() {
    let hub = hub(&[]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        client.request("tools/list", json!({})).await.result();
        for (method, params) in [
            ("notifications/nonsense", json!({})),
            ("nonsense", json!({"a": 1})),
            ("tools/list", json!({})),
            ("notifications/progress", json!({"progressToken": "x"})),
            ("notifications/cancelled", json!({"requestId": {}})),
            ("notifications/initialized", json!({})),
            ("notifications/roots/list_changed", json!({})),
        ] {
            client.notify(method, params).await;
        }
        client.send_line(r#"{"jsonrpc":"2.0","id":55,"result":{"never":"asked"}}"#).await;
        let error = r#"{"jsonrpc":"2.0","id":55,"error":{"code":1,"message":"never asked"}}"#;
        client.send_line(error).await;
        client.request("tools/list", json!({})).await.result();
        assert_eq!(client.kept().collect::<Vec<_>>(), Vec::<&Value>::new(), "{era:?}");
    }
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused_and_the_first_call_still_answered() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["look?"]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        let first = client.message("tools/call", json!({"name": "look", "arguments": {}}));
        client.send(&first).await;
        let call = app.call().await;
        client.send(&first).await;
        let refused = client.until("a refusal", is_answer).await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&first["id"], &json!(-32600)));
        app.answer(&call, json!("once")).await;
        let id = first["id"].as_u64().unwrap();
        assert_eq!(client.answer(id).await.result()["structuredContent"]["result"], "once");
    }
}

#[tokio::test]
async fn an_id_is_free_as_soon_as_its_answer_has_come() {
    let hub = hub(&[]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        let message = client.message("prompts/list", json!({}));
        for round in 0..rounds(300, 1500) {
            client.send(&message).await;
            let answer = client.recv().await.unwrap();
            assert!(answer.get("error").is_none(), "{era:?} round {round}: {answer}");
        }
    }
}

#[tokio::test]
async fn ids_come_back_as_they_were_given() {
    let hub = hub(&[]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        for id in [json!(0), json!(-1), json!("a"), json!("7"), json!(""), json!("\u{1F600}\n")] {
            let mut message = client.message("tools/list", json!({}));
            message["id"] = id.clone();
            client.send(&message).await;
            assert_eq!(client.recv().await.unwrap()["id"], id, "{era:?}");
        }
    }
}

#[tokio::test]
async fn an_id_that_is_another_when_it_comes_back_is_refused_and_takes_nobodys_answer() {
    let hub = hub(&[]).await;
    let mut north = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        let mut message = client.message("tools/call", json!({"name": "paint"}));
        message["id"] = json!(7);
        client.send(&message).await;
        let call = north.call().await;
        for id in ["7.0", "7e0", "70e-1", "-0", "1.5"] {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
            client.send_bytes(line.as_bytes()).await;
            let refused = client.recv().await.unwrap();
            assert_eq!(refused["error"]["code"], -32600, "{era:?} {id}: {refused}");
            assert_eq!(refused["id"], json!(null), "{era:?} {id}");
        }
        north.answer(&call, json!("done")).await;
        let answered = client.recv().await.unwrap();
        assert_eq!(answered["id"], 7, "{era:?}: {answered}");
        assert_eq!(answered["result"]["content"][0]["text"], "done", "{era:?}");
    }
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_an_error_and_nothing_more() {
    let hub = hub(&[]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        for (method, params) in [
            ("tools/call", json!({})),
            ("tools/call", json!({"name": 5})),
            ("tools/call", json!({"name": "sleep", "arguments": [1]})),
            ("tools/call", json!({"name": "sleep", "arguments": "x"})),
            ("resources/read", json!({})),
            ("completion/complete", json!({"ref": {}})),
            ("prompts/get", json!({"arguments": {}})),
        ] {
            let (code, said) = client.request(method, params.clone()).await.error();
            assert_eq!(code, -32602, "{era:?} {method} {params}: {said}");
        }
    }
}

#[tokio::test]
async fn nothing_but_nonsense_is_answered_up_to_a_limit_and_ends_the_stream() {
    let scene = Scene::new(&[]).await;
    for era in ERAS {
        let mut client = stdio(&scene.hub, era).await;
        client.request("tools/list", json!({})).await.result();
        client.send_bytes(&b"nonsense\n".repeat(101)).await;
        let mut ended = client.ended().await;
        ended.messages.retain(is_answer);
        assert_eq!(ended.messages.len(), 100, "{era:?}");
        assert!(ended.messages.iter().all(|answer| answer["error"]["code"] == -32700));
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains("hub"), "{}", ended.stderr);
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_flood_of_nonsense_ends_the_stream_and_nobody_else_is_disturbed() {
    let scene = Scene::new(&[]).await;
    let mut other = stdio(&scene.hub, LEGACY).await;
    let mut client = stdio(&scene.hub, LEGACY).await;
    // An error means that the relay has ended, which is the point.
    let _ = client.try_send_bytes(&b"nonsense\n".repeat(50_000)).await;
    let mut ended = client.ended().await;
    ended.messages.retain(is_answer);
    assert!(ended.messages.iter().all(|answer| answer["error"]["code"] == -32700));
    assert!(ended.messages.len() <= 100, "{}", ended.messages.len());
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("hub"), "it is the hub that had enough: {}", ended.stderr);
    other.request("ping", json!({})).await.result();
    scene.bystander_answers().await;
}
