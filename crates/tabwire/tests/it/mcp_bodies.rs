//! What nobody should post: bodies, headers and methods that the endpoint refuses, and how.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{
    Ask, Era, FakeBrowser, McpHttp, PATIENCE, Response,
    mcp::{MODERN, VERSION_KEY, http::ACCEPT, read_message},
    within,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    mcp_scene::{LEGACY, http},
    scene::{Scene, hub},
};

fn post(body: &[u8]) -> Ask {
    Ask::own("POST", "/mcp")
        .header("Content-Type", "application/json")
        .header("Accept", ACCEPT)
        .body(body.to_vec())
}

/// A request of the newest revision, with these headers and metadata that are right.
fn modern(headers: &[(&str, &str)], message: &Value) -> Ask {
    let bytes = message.to_string().into_bytes();
    headers.iter().fold(post(&bytes), |ask, (name, value)| ask.header(name, value))
}

#[track_caller]
fn check(answer: &Response, status: u16, code: i64) {
    assert_eq!(answer.status, status, "{}", answer.text());
    let message = read_message(&answer.body);
    assert_eq!(message["error"]["code"], code, "{message}");
}

#[tokio::test]
async fn a_body_that_is_no_message_is_answered_as_one() {
    let scene = Scene::new(&[]).await;
    for (body, code) in [
        (&b"hello"[..], -32700),
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"{}", -32600),
        (b"12", -32600),
        (b"[]", -32600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1}", -32600),
    ] {
        for path in ["/mcp", "/mcp/bystander"] {
            let ask = Ask::own("POST", path)
                .header("Content-Type", "application/json")
                .header("Accept", ACCEPT);
            check(&ask.body(body.to_vec()).send(scene.port()).await, 400, code);
        }
    }
    let empty = post(b"").header("Content-Length", "0");
    check(&empty.send(scene.port()).await, 400, -32700);
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_body_that_a_page_could_send_unasked_is_refused() {
    let scene = Scene::new(&[]).await;
    let client = McpHttp::modern(scene.port());
    let arguments = json!({"name": "greet", "arguments": {}});
    let body = client.message("tools/call", arguments).to_string();
    for kind in [None, Some("text/plain"), Some("application/x-www-form-urlencoded")] {
        let mut ask = Ask::own("POST", "/mcp").header("Accept", ACCEPT);
        for (name, value) in
            [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "greet")]
        {
            ask = ask.header(name, value);
        }
        if let Some(kind) = kind {
            ask = ask.header("Content-Type", kind);
        }
        let answer = ask.body(body.clone().into_bytes()).send(scene.port()).await;
        assert_eq!(answer.status, 415, "{kind:?}: {}", answer.text());
    }
    let calls = scene.api().metrics().await.sum("tabwire_calls_total");
    assert_eq!(calls, 0.0, "nothing happened");
}

#[tokio::test]
async fn a_client_must_take_both_kinds_of_answers() {
    let hub = hub(&[]).await;
    for accept in [None, Some("text/html"), Some("application/json")] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        let mut ask = Ask::own_post("/mcp", &body);
        if let Some(accept) = accept {
            ask = ask.header("Accept", accept);
        }
        ask.send(hub.port()).await.must_be(406);
    }
}

#[tokio::test]
async fn headers_that_do_not_agree_with_the_body_are_refused() {
    let hub = hub(&[]).await;
    let client = McpHttp::modern(hub.port());
    let message = client.message("tools/call", json!({"name": "sleep", "arguments": {}}));
    let version = ("MCP-Protocol-Version", MODERN);
    let (method, name) = (("Mcp-Method", "tools/call"), ("Mcp-Name", "sleep"));
    for headers in [
        &[version, ("Mcp-Method", "tools/list"), name][..],
        &[version, method, ("Mcp-Name", "other")],
        &[version, name],
        &[version, method],
        &[("MCP-Protocol-Version", "2025-11-25"), method, name],
        &[method, name],
    ] {
        let answer = modern(headers, &message).send(hub.port()).await;
        check(&answer, 400, -32020);
        let answered = read_message(&answer.body);
        assert_eq!(answered["id"], message["id"], "{headers:?}: {answered}");
    }
    modern(&[version, method, name], &message).send(hub.port()).await.must_be(200);
}

#[tokio::test]
async fn a_name_that_is_not_plain_text_travels_encoded() {
    let hub = hub(&[]).await;
    let client = McpHttp::modern(hub.port());
    let uri = "tabwire://session/\u{e9}t\u{e9}/state";
    let message = client.message("resources/read", json!({"uri": uri}));
    let encoded = "=?base64?dGFid2lyZTovL3Nlc3Npb24vw6l0w6kvc3RhdGU=?=";
    let headers = |name: &'static str| {
        [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "resources/read"), ("Mcp-Name", name)]
    };
    let answer = modern(&headers(encoded), &message).send(hub.port()).await;
    assert_eq!(read_message(&answer.body)["error"]["code"], -32602, "{}", answer.text());
    let wrong = modern(&headers("=?base64?b3RoZXI=?="), &message).send(hub.port()).await;
    check(&wrong, 400, -32020);
}

#[tokio::test]
async fn an_unknown_revision_is_refused_with_those_that_are_known() {
    let hub = hub(&[]).await;
    let client = McpHttp::modern(hub.port());
    for method in ["tools/list", "server/discover"] {
        let mut message = client.message(method, json!({}));
        message["params"]["_meta"][VERSION_KEY] = json!("2099-01-01");
        let headers = [("MCP-Protocol-Version", "2099-01-01"), ("Mcp-Method", method)];
        let answer = modern(&headers, &message).send(hub.port()).await;
        check(&answer, 400, -32022);
        let supported = read_message(&answer.body)["error"]["data"]["supported"].clone();
        assert!(supported.as_array().unwrap().contains(&json!(MODERN)), "{supported}");
    }
}

#[tokio::test]
async fn missing_metadata_is_refused_by_name() {
    let hub = hub(&[]).await;
    let client = McpHttp::modern(hub.port());
    let headers = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/list")];
    let mut message = client.message("tools/list", json!({}));
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    message["params"]["_meta"].as_object_mut().unwrap().remove(capabilities);
    let answer = modern(&headers, &message).send(hub.port()).await;
    check(&answer, 400, -32602);
    assert!(answer.text().contains(capabilities), "{}", answer.text());
    message["params"] = json!({});
    check(&modern(&headers, &message).send(hub.port()).await, 400, -32602);
}

#[tokio::test]
async fn an_unknown_method_is_not_found() {
    let hub = hub(&[]).await;
    let client = McpHttp::modern(hub.port());
    for method in ["no/such/method", "ping", "logging/setLevel", "resources/subscribe"] {
        let params = json!({"uri": "tabwire://sessions", "level": "info"});
        let mut message = client.message(method, params);
        let mut ask = vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)];
        if method == "resources/subscribe" {
            ask.push(("Mcp-Name", "tabwire://sessions"));
        }
        let answer = modern(&ask, &message).send(hub.port()).await;
        check(&answer, 404, -32601);
        message["id"] = json!("text");
        let answer = modern(&ask, &message).send(hub.port()).await;
        assert_eq!(read_message(&answer.body)["id"], "text");
    }
    // Older clients read the error in a stream that is fine as such.
    let older = http(&hub, LEGACY).await;
    assert_eq!(older.request("no/such/method", json!({})).await.error().0, -32601);
}

#[tokio::test]
async fn other_methods_than_post_are_for_older_clients() {
    let hub = hub(&[]).await;
    for path in ["/mcp", "/mcp/north"] {
        for method in ["GET", "DELETE"] {
            let ask = || Ask::own(method, path).header("Accept", ACCEPT);
            let newer = ask().header("MCP-Protocol-Version", MODERN).send(hub.port()).await;
            assert_eq!(newer.status, 405, "{method} {path}: {}", newer.text());
            let nobody = ask().send(hub.port()).await;
            assert_eq!(nobody.status, 400, "{method} {path} without a session: {}", nobody.text());
        }
        for method in ["PUT", "PATCH", "OPTIONS"] {
            let answer = Ask::own(method, path).header("Accept", ACCEPT).send(hub.port()).await;
            assert!([403, 404, 405].contains(&answer.status), "{method}: {}", answer.status);
        }
    }
    let unknown =
        Ask::own_get("/mcp").header("Accept", ACCEPT).header("Mcp-Session-Id", "nonsense");
    unknown.send(hub.port()).await.must_be(404);
}

#[tokio::test]
async fn an_older_client_ends_its_session_and_must_begin_anew() {
    let hub = hub(&[]).await;
    let mut client = http(&hub, LEGACY).await;
    let other = http(&hub, LEGACY).await;
    assert_ne!(client.session, other.session);
    client.request("ping", json!({})).await.result();
    let ended = client.delete().await;
    assert!([200, 202, 204].contains(&ended.status), "{}", ended.status);
    let late = client.stream("ping", json!({})).await;
    assert_eq!(late.head.status, 404, "the session is gone");
    assert_eq!(client.listen().await.head.status, 404);
    other.request("ping", json!({})).await.result();
    client.session = None;
    client.open().await;
    client.request("ping", json!({})).await.result();
}

#[tokio::test]
async fn an_older_client_without_a_session_is_told_so() {
    let hub = hub(&[]).await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let ask = Ask::own_post("/mcp", &body).header("Accept", ACCEPT);
    let answer = ask.header("MCP-Protocol-Version", "2025-11-25").send(hub.port()).await;
    answer.must_be(400);
    let ask = Ask::own_post("/mcp", &body).header("Accept", ACCEPT);
    let answer = ask.header("Mcp-Session-Id", "nonsense").send(hub.port()).await;
    answer.must_be(404);
}

#[tokio::test]
async fn notifications_are_taken_and_not_answered() {
    let hub = hub(&[]).await;
    for era in [Era::Modern, LEGACY] {
        let client = http(&hub, era).await;
        for method in ["notifications/cancelled", "notifications/nonsense"] {
            let taken = client.notify(method, json!({"requestId": 1})).await;
            assert_eq!((taken.status, taken.body.len()), (202, 0), "{era:?} {method}");
        }
    }
}

#[tokio::test]
async fn one_connection_carries_many_requests() {
    let hub = hub(&[]).await;
    let client = McpHttp::modern(hub.port());
    let mut connection = testkit::Http::connect(hub.port()).await;
    for _ in 0..5 {
        let message = client.message("tools/list", json!({}));
        let answer = connection.ask(&client.ask(&message)).await.must_be(200);
        assert_eq!(read_message(&answer.body)["id"], message["id"]);
        let wrong = connection.ask(&post(b"nonsense")).await;
        check(&wrong, 400, -32700);
    }
}

#[tokio::test]
async fn a_second_request_with_the_id_of_one_under_way_is_refused() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let client = http(&hub, LEGACY).await;
    let message = client.message("tools/call", json!({"name": "paint", "arguments": {}}));
    let post = async || client.post(&message).await.next().await.expect("an answer");
    let (first, ()) = tokio::join!(post(), async {
        let call = app.call().await;
        let second = post().await;
        assert_eq!(second["error"]["code"], -32600, "{second}");
        assert!(second["error"]["message"].as_str().unwrap().contains("in use"), "{second}");
        app.answer(&call, json!("painted")).await;
    });
    assert_eq!(first["result"]["structuredContent"]["result"], "painted", "{first}");
    let (again, ()) = tokio::join!(post(), async {
        let call = app.call().await;
        app.answer(&call, json!("again")).await;
    });
    assert_eq!(again["result"]["structuredContent"]["result"], "again", "the id is free again");
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_given_up() {
    let hub = hub(&["--body-timeout", "300ms"]).await;
    for (path, status) in [("/mcp", 408), ("/mcp/north", 408), ("/api/call", 400)] {
        for dribbles in [false, true] {
            let ask = Ask::own("POST", path)
                .header("Content-Type", "application/json")
                .header("Accept", ACCEPT)
                .header("Content-Length", "100000");
            let mut stream = TcpStream::connect(("127.0.0.1", hub.port())).await.unwrap();
            stream.write_all(&ask.bytes(hub.port())).await.unwrap();
            let (mut reading, mut writing) = stream.into_split();
            let dribble = tokio::spawn(async move {
                while dribbles && writing.write_all(b" ").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                writing
            });
            let mut answer = Vec::new();
            // To the end: the hub closes the connection, whatever else would still come.
            let read = within(PATIENCE, "the end", reading.read_to_end(&mut answer)).await;
            let answer = String::from_utf8_lossy(&answer);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{path} {read:?}: {answer}"
            );
            assert!(answer.contains("took longer than"), "{path}: {answer}");
            dribble.abort();
        }
    }
}
