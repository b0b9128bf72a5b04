//! Replay pages as binary frames: who gets them, who may send them, and what a bad one costs.

use dialect::native::compress::{LARGEST, SMALL, deflate, inflate};
use serde_json::{Value, json};
use testkit::{
    Api, Ask, FakeBrowser, Http, PATIENCE, frame, frame::opcode, keyring::token_of, within,
};
use tokio::{io::AsyncReadExt, io::AsyncWriteExt, net::TcpStream};

use crate::scene::Scene;

/// A peer that looks at frames below the messages: it sees which are binary.
struct Peer {
    stream: TcpStream,
    unread: Vec<u8>,
    welcome: Value,
}

impl Peer {
    /// Connects with a hello, which is told to offer `deflate`.
    async fn deflating(port: u16, mut hello: Value) -> Self {
        hello["capabilities"] = json!(["deflate"]);
        let path = format!("/session/{}", hello["instanceId"].as_str().unwrap());
        let mut http = Http::connect(port).await;
        http.send(&Ask::upgrade(&path).bearer(&token_of(port).unwrap()).bytes(port)).await.unwrap();
        assert_eq!(http.read_response().await.unwrap().unwrap().status, 101);
        let (stream, unread) = http.into_parts();
        let mut peer = Self { stream, unread, welcome: Value::Null };
        peer.say(&hello).await;
        peer.welcome = peer.until("welcome").await.0;
        peer
    }

    async fn say(&mut self, message: &Value) {
        self.stream.write_all(&frame::text(&message.to_string())).await.unwrap();
    }

    async fn say_bytes(&mut self, bytes: &[u8]) {
        let frame = frame::frame(opcode::BINARY, true, bytes);
        self.stream.write_all(&frame).await.unwrap();
    }

    /// Reads the next frame: its opcode and what is in it.
    async fn next(&mut self) -> (u8, Vec<u8>) {
        let reading = async {
            let head = self.take(2).await;
            let length = match head[1] {
                126 => self.take(2).await,
                127 => self.take(8).await,
                length => vec![length],
            };
            let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            (head[0] & 0x0f, self.take(length).await)
        };
        within(PATIENCE, "a frame from the hub", reading).await
    }

    async fn take(&mut self, count: usize) -> Vec<u8> {
        while self.unread.len() < count {
            let read = self.stream.read_buf(&mut self.unread).await.unwrap();
            assert!(read > 0, "the connection ended");
        }
        self.unread.drain(..count).collect()
    }

    /// Waits for a message of one type; returns how many bytes it was compressed to, or 0.
    async fn until(&mut self, kind: &str) -> (Value, usize) {
        loop {
            let (code, bytes) = self.next().await;
            let (text, size) = match code {
                opcode::TEXT => (bytes, 0),
                opcode::BINARY => (inflate(&bytes).unwrap(), bytes.len()),
                other => panic!("waiting for {kind}: opcode {other} {bytes:?}"),
            };
            let message: Value = serde_json::from_slice(&text).unwrap();
            if message["type"] == kind {
                return (message, size);
            }
        }
    }

    async fn ask(&mut self, from: u64) -> (Value, usize) {
        let from = json!({"epoch": self.welcome["epoch"], "sequence": from});
        self.say(&json!({"type": "replayRequest", "from": from})).await;
        self.until("replayPage").await
    }

    /// Fails the test unless the hub says bye and closes with this code.
    async fn must_close(mut self, code: u16) {
        let bye = self.until("bye").await.0;
        let (opcode, close) = self.next().await;
        assert_eq!(opcode, opcode::CLOSE);
        assert_eq!(u16::from_be_bytes([close[0], close[1]]), code, "{bye}");
    }
}

/// What a console line may be.
fn line(number: u64) -> Value {
    json!({
        "text": format!("request {number} took {} ms, retrying", number * 7919 % 1000),
        "url": format!("https://shop.example/static/js/chunk-{}.js", number % 13),
        "stack": "at load (chunk.js:12:34)\nat retry (chunk.js:56:78)\nat main (app.js:9:1)",
    })
}

/// An app that went away and missed so many events; returns how it would come back.
async fn who_missed(api: &Api, port: u16, count: u64) -> Value {
    let mut app = FakeBrowser::connected(port, "viewer").await;
    app.vanish();
    api.until_connected("viewer", false).await;
    for number in 1..=count {
        api.event("viewer", "console", line(number)).await;
    }
    app.hello()
}

#[track_caller]
fn check_page(page: &Value, from: u64, upto: u64, more: bool) {
    let found: Vec<_> = page["messages"].as_array().unwrap().iter().collect();
    assert_eq!((&page["upto"], &page["more"]), (&json!(upto), &json!(more)));
    assert_eq!(found.len() as u64, upto - from);
    for (number, message) in (from + 1..).zip(found) {
        assert_eq!((&message["sequence"], &message["data"]), (&json!(number), &line(number)));
    }
}

/// A page of the browser's own log.
fn page_of(epoch: &Value, messages: Vec<Value>) -> Value {
    json!({
        "type": "replayPage", "epoch": epoch, "upto": messages.len(), "recovered": true,
        "messages": messages, "more": false,
    })
}

#[tokio::test]
async fn a_large_replay_comes_in_compressed_pages_and_a_small_one_as_before() {
    let scene = Scene::new(&[]).await;
    let hello = who_missed(&scene.api(), scene.port(), 220).await;
    let mut peer = Peer::deflating(scene.port(), hello).await;
    let welcome = &peer.welcome;
    assert_eq!((&welcome["recovered"], &welcome["more"]), (&json!(true), &json!(true)));
    assert_eq!(
        (welcome["replay"].as_array().unwrap().len(), &welcome["currentSequence"]),
        (0, &json!(220))
    );
    for from in [0, 100] {
        let (page, size) = peer.ask(from).await;
        check_page(&page, from, from + 100, true);
        let plain = page.to_string().len();
        assert!(plain > SMALL && size > 0 && size < plain / 4, "{size} of {plain}");
    }
    let (page, size) = peer.ask(200).await;
    check_page(&page, 200, 220, false);
    assert_eq!(size, 0, "a small page is text");
}

#[tokio::test]
async fn events_that_happen_meanwhile_follow_without_a_seam() {
    let scene = Scene::new(&[]).await;
    let hello = who_missed(&scene.api(), scene.port(), 95).await;
    let mut peer = Peer::deflating(scene.port(), hello).await;
    for number in 96..=98 {
        scene.api().event("viewer", "console", line(number)).await;
    }
    let (page, size) = peer.ask(0).await;
    check_page(&page, 0, 98, false);
    assert!(size > 0);
    scene.api().event("viewer", "console", line(99)).await;
    // One that is in the page may have been on its way when the page was asked for.
    let next = loop {
        let number = peer.until("event").await.0["sequence"].as_u64().unwrap();
        if number > 98 {
            break number;
        }
    };
    assert_eq!(next, 99);
}

#[tokio::test]
async fn a_peer_that_cannot_inflate_gets_text() {
    let scene = Scene::new(&[]).await;
    let mut app = FakeBrowser::connected(scene.port(), "viewer").await;
    app.vanish();
    scene.api().until_connected("viewer", false).await;
    for number in 1..=150 {
        scene.api().event("viewer", "console", line(number)).await;
    }
    let welcome = app.connect().await;
    assert_eq!(welcome["replay"].as_array().unwrap().len(), 100);
    app.ask_for_more().await;
    assert!(app.until_delivered(150).await);
}

#[tokio::test]
async fn the_hub_takes_a_compressed_page_for_what_it_says() {
    let scene = Scene::new(&[]).await;
    let hello = FakeBrowser::app(scene.port(), "sender").hello();
    let mut peer = Peer::deflating(scene.port(), hello.clone()).await;
    let event = |number: u64| json!({"type": "event", "sequence": number, "name": "console", "data": line(number)});
    peer.say(&event(100)).await;
    let request = peer.until("replayRequest").await.0;
    assert_eq!(request["from"], json!({"epoch": hello["epoch"], "sequence": 0}));
    let page = page_of(&hello["epoch"], (1..=100).map(event).collect()).to_string();
    assert!(page.len() > SMALL);
    peer.say_bytes(&deflate(page.as_bytes())).await;
    peer.say(&event(101)).await;
    while peer.until("ack").await.0["position"]["sequence"] != 101 {}
}

#[tokio::test]
async fn a_bad_binary_frame_costs_its_sender_the_connection_and_nobody_else_anything() {
    let scene = Scene::new(&[]).await;
    let page = page_of(&json!("e"), Vec::new()).to_string();
    let too_large = page.clone() + &" ".repeat(LARGEST);
    let mut broken_off = deflate(page.as_bytes());
    broken_off.pop();
    let cases: [(Vec<u8>, u16); 7] = [
        (b"not deflate".to_vec(), 4400),
        (Vec::new(), 4400),
        (broken_off, 4400),
        (deflate(b"not json"), 4400),
        (deflate(too_large.as_bytes()), 1009),
        (deflate(br#"{"type":"ping"}"#), 4500),
        (deflate(br#"{"type":"telepathy"}"#), 4500),
    ];
    for (number, (bytes, code)) in cases.into_iter().enumerate() {
        let hello = FakeBrowser::app(scene.port(), &format!("bad-{number}")).hello();
        let mut peer = Peer::deflating(scene.port(), hello).await;
        peer.say_bytes(&bytes).await;
        peer.must_close(code).await;
    }
    let mut guest = scene.guest().await;
    let bytes = frame::frame(opcode::BINARY, true, &deflate(page.as_bytes()));
    guest.send_bytes(&bytes).await;
    guest.must_close(4400).await;
    scene.bystander_answers().await;
}
