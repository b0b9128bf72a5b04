//! One client on a byte stream: faults are answered, memory is bounded, the end is clean.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::{future::pending, time::Duration};

use conformance::Fixture;
use mcp::{
    Caller, Changes, Mcp,
    stream::{self, Limits},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    task::JoinHandle,
    time,
};
use tokio_util::sync::CancellationToken;

/// How long anything may take that should happen at once, on a machine that does much else too.
const PATIENCE: Duration = Duration::from_secs(30);

struct Client {
    input: Option<WriteHalf<DuplexStream>>,
    output: BufReader<ReadHalf<DuplexStream>>,
    serving: JoinHandle<()>,
}

fn connect(limits: Limits) -> Client {
    let (near, far) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(async move {
        let changes = Changes::default();
        let fixture = Fixture::new(changes.clone()).unwrap();
        let mcp = Mcp::new(fixture, changes, CancellationToken::new());
        let (input, output) = tokio::io::split(far);
        let serving = stream::serve(&mcp, Caller::default(), input, output, limits, pending());
        serving.await.unwrap();
        mcp.finished().await;
    });
    let (output, input) = tokio::io::split(near);
    Client { input: Some(input), output: BufReader::new(output), serving }
}

impl Client {
    async fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    async fn send(&mut self, message: Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let reading = self.output.read_line(&mut line);
        time::timeout(PATIENCE, reading).await.expect("no answer").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        self.receive().await
    }

    async fn initialize(&mut self) {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "old", "version": "1"},
        });
        self.ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
            .await;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }

    /// Ends the input and waits until the server is done with the stream.
    async fn end(mut self) {
        self.input.take().unwrap().shutdown().await.unwrap();
        time::timeout(PATIENCE, self.serving).await.unwrap().unwrap();
    }
}

fn ping(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "ping"})
}

fn call(id: impl Into<Value>, tool: &str) -> Value {
    let params = json!({"name": tool, "arguments": {}});
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params})
}

fn modern(mut message: Value) -> Value {
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    message
}

#[tokio::test]
async fn each_stream_has_the_era_of_its_first_request() {
    let mut client = connect(Limits::default());
    client.initialize().await;
    let answer = client.ask(call(1, "test_caller")).await;
    assert_eq!(answer["result"]["structuredContent"]["era"], "Legacy");
    assert_eq!(answer["result"].get("resultType"), None);
    client.end().await;

    let mut client = connect(Limits::default());
    let discovered = client
        .ask(modern(json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}})))
        .await;
    assert!(discovered["result"]["supportedVersions"].as_array().unwrap().len() > 1);
    let answer = client.ask(modern(call(2, "test_caller"))).await;
    assert_eq!(answer["result"]["structuredContent"]["era"], "Modern");
    assert_eq!(answer["result"]["resultType"], "complete");
    client.end().await;
}

#[tokio::test]
async fn faults_are_answered_and_the_stream_goes_on() {
    let too_long = format!("{{\"x\":\"{}\",\"id\":8}}\n", ".".repeat(300));
    let cases: [(&[u8], i32, Value); 5] = [
        (b"garbage\n", -32700, Value::Null),
        (b"\"\xff\"\n", -32700, Value::Null),
        (b"[1]\n", -32600, Value::Null),
        (b"{\"id\":7}\n", -32600, json!(7)),
        (too_long.as_bytes(), -32600, json!(8)),
    ];
    let mut client = connect(Limits { line: 200, ..Limits::default() });
    client.initialize().await;
    for (line, code, id) in cases {
        client.write(line).await;
        let answer = client.receive().await;
        assert_eq!(answer["error"]["code"], code, "{line:?}");
        assert_eq!(answer["id"], id, "{line:?}");
    }
    assert_eq!(client.ask(ping(9)).await["id"], 9);
    client.end().await;
}

#[tokio::test]
async fn a_peer_that_talks_only_nonsense_is_left() {
    let client = connect(Limits { faults: 3, ..Limits::default() });
    let Client { mut input, serving, .. } = client;
    input.as_mut().unwrap().write_all(&b"nonsense\n".repeat(4)).await.unwrap();
    time::timeout(PATIENCE, serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_id_in_use_is_refused_and_the_first_request_lives_on() {
    let mut client = connect(Limits::default());
    client.initialize().await;
    // At once, so that the first is still under way when the second is read.
    let call = call(1, "test_tool_with_progress");
    client.write(format!("{call}\n{}\n", ping(1)).as_bytes()).await;
    let refused = client.receive().await;
    assert_eq!(refused["error"]["code"], -32600);
    assert!(client.receive().await["result"]["content"].is_array());
    client.end().await;
}

#[tokio::test]
async fn too_many_open_requests_are_refused_until_one_ends() {
    let limits = Limits { open: 2, patience: Duration::from_millis(50), ..Limits::default() };
    let mut client = connect(limits);
    client.initialize().await;
    client.send(call("a", "test_wait_for_cancel")).await;
    client.send(call("b", "test_wait_for_cancel")).await;
    assert_eq!(client.ask(ping("c")).await["error"]["code"], -32000);
    let cancel = json!({"requestId": "a"});
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel}))
        .await;
    assert_eq!(client.ask(ping("d")).await["id"], "d");
}

#[tokio::test]
async fn reading_stops_while_answers_are_not_read() {
    let limits = Limits { unwritten: 4, ..Limits::default() };
    let mut client = connect(limits);
    client.initialize().await;
    let mut input = client.input.take().unwrap();
    let flood = tokio::spawn(async move {
        for id in 1..=5000 {
            input
                .write_all(format!("{}\n", call(id, "test_simple_text")).as_bytes())
                .await
                .unwrap();
        }
        input
    });
    time::sleep(Duration::from_millis(300)).await;
    assert!(!flood.is_finished(), "everything was taken in although nothing was read");
    let mut answered = std::collections::HashSet::new();
    while answered.len() < 5000 {
        answered.insert(client.receive().await["id"].as_i64().unwrap());
    }
    client.input = Some(flood.await.unwrap());
    client.end().await;
}

#[tokio::test]
async fn a_last_line_without_an_end_is_answered() {
    let mut client = connect(Limits::default());
    client.initialize().await;
    client.write(ping(3).to_string().as_bytes()).await;
    client.input.take().unwrap().shutdown().await.unwrap();
    assert_eq!(client.receive().await["id"], 3);
}

#[tokio::test]
async fn a_notification_before_the_first_request_does_no_harm() {
    let mut client = connect(Limits::default());
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}})).await;
    client.initialize().await;
    assert_eq!(client.ask(ping(1)).await["id"], 1);
    client.end().await;
}

// The clock stands still while there is something to do: how busy the machine is does not count.
#[tokio::test(start_paused = true)]
async fn a_listener_ends_with_the_input() {
    let mut client = connect(Limits::default());
    let params = json!({"notifications": {"toolsListChanged": true}});
    let listen =
        json!({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": params});
    let acknowledged = client.ask(modern(listen)).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    client.input.take().unwrap().shutdown().await.unwrap();
    assert_eq!(client.receive().await["id"], 5);
    // `rmcp` gives a handler that does not end 5 s.
    time::timeout(Duration::from_secs(4), client.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn older_clients_hear_of_changes_they_subscribed_to() {
    let mut client = connect(Limits::default());
    client.initialize().await;
    let uri = json!({"uri": "test://watched-resource"});
    client
        .ask(json!({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": uri}))
        .await;
    client.send(call(2, "test_trigger_resource_update")).await;
    client.send(call(3, "test_trigger_tool_change")).await;
    let mut heard = Vec::new();
    for _ in 0..4 {
        let message = client.receive().await;
        if let Some(method) = message["method"].as_str() {
            heard.push(method.to_owned());
        }
    }
    heard.sort();
    assert_eq!(heard, ["notifications/resources/updated", "notifications/tools/list_changed"]);
    client.end().await;
}
