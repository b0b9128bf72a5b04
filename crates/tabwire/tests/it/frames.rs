//! Frames that break the WebSocket protocol, or its limits: each costs its sender the connection,
//! with a code that says why, and nobody else anything.

use std::time::Duration;

use serde_json::json;
use testkit::{
    FakeBrowser, Socket,
    frame::{self, frame, head, opcode},
};

use crate::scene::Scene;

const MIB: usize = 1 << 20;

/// Sends bytes before and after hello, and expects the same end each time.
async fn check(what: &str, bytes: &[u8], code: u16) {
    let scene = Scene::new(&[]).await;
    let sockets = [("a stranger", scene.stranger().await), ("a guest", scene.guest().await)];
    for (who, mut socket) in sockets {
        socket.send_bytes(bytes).await;
        let ending = socket.ended().await;
        assert_eq!((ending.code, ending.clean), (code, true), "{what} by {who}: {ending:?}");
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn broken_frames_are_a_bad_frame() {
    check("a reserved bit", &frame(opcode::TEXT | 0x40, true, b"{}"), 1002).await;
    check("no mask", &frame::unmasked("{}"), 1002).await;
    check("an opcode that does not exist", &frame(3, true, b"{}"), 1002).await;
    check("a control opcode that does not exist", &frame(11, true, b""), 1002).await;
}

#[tokio::test]
async fn broken_sequences_of_frames_are_a_bad_frame() {
    check("the next piece of nothing", &frame(opcode::CONTINUATION, true, b"{}"), 1002).await;
    let interrupted = [frame(opcode::TEXT, false, b"{"), frame::text("{}")].concat();
    check("a message within a message", &interrupted, 1002).await;
    check("a ping in pieces", &frame(opcode::PING, false, b""), 1002).await;
    check("a large ping", &frame(opcode::PING, true, &[b'x'; 126]), 1002).await;
}

#[tokio::test]
async fn text_that_is_not_utf_8_is_bad_text() {
    check("a broken letter", &frame(opcode::TEXT, true, b"\"\xff\xfe\""), 1007).await;
    let pieces = [frame(opcode::TEXT, false, b"\"\xc3"), frame(opcode::CONTINUATION, true, b"(\"")];
    check("a letter that breaks between pieces", &pieces.concat(), 1007).await;
}

#[tokio::test]
async fn an_announced_size_is_refused_before_its_bytes_come() {
    for size in [1 << 40, 1 << 60, (1 << 63) - 1] {
        check("a frame that nobody can send", &head(opcode::TEXT, true, size), 1009).await;
    }
    check("the same in binary", &head(opcode::BINARY, true, 1 << 60), 1009).await;
    let pieces = [frame(opcode::TEXT, false, b"{"), head(opcode::CONTINUATION, true, 1 << 60)];
    check("the same as a second piece", &pieces.concat(), 1009).await;
}

#[tokio::test]
async fn a_message_over_the_limit_is_too_large() {
    let scene = Scene::new(&[]).await;
    let mut stranger = scene.stranger().await;
    stranger.send_bytes(&frame(opcode::TEXT, true, &vec![b' '; MIB + 1])).await;
    stranger.must_close(1009).await;
    let mut guest = scene.guest().await;
    guest.send_bytes(&frame(opcode::TEXT, true, &vec![b' '; 16 * MIB + 1])).await;
    guest.must_close(1009).await;
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_message_over_the_limit_in_pieces_is_too_large() {
    let scene = Scene::new(&[]).await;
    let piece = vec![b' '; MIB / 4];
    let mut stranger = scene.stranger().await;
    stranger.send_bytes(&frame(opcode::TEXT, false, &piece)).await;
    for _ in 0..4 {
        stranger.send_bytes(&frame(opcode::CONTINUATION, false, &piece)).await;
    }
    stranger.must_close(1009).await;
    scene.bystander_answers().await;
}

#[tokio::test]
async fn messages_at_the_limit_are_taken() {
    let scene = Scene::new(&[]).await;
    let peer = FakeBrowser::app(scene.port(), "large");
    let mut socket = scene.stranger().await;
    let mut hello = peer.hello().to_string();
    hello.extend(std::iter::repeat_n(' ', MIB - hello.len()));
    socket.send_text(&hello).await;
    socket.until("welcome").await;
    let mut event = json!({"type": "event", "sequence": 1, "name": "large"}).to_string();
    event.extend(std::iter::repeat_n(' ', 16 * MIB - event.len()));
    socket.send_text(&event).await;
    let acked = socket.until("ack").await;
    assert_eq!(acked["position"], json!({"epoch": peer.log.epoch, "sequence": 1}));
    socket.close().await;
    scene.bystander_answers().await;
}

/// Sends a message in so many pieces, all but the first of them empty, with pings in between.
async fn send_in_pieces(socket: &mut Socket, text: &str, pieces: usize) {
    let mut bytes = frame(opcode::TEXT, false, text.as_bytes());
    for _ in 0..pieces - 2 {
        bytes.extend(frame(opcode::CONTINUATION, false, b""));
    }
    bytes.extend(frame(opcode::PING, true, b"still here"));
    bytes.extend(frame(opcode::CONTINUATION, true, b""));
    socket.send_bytes(&bytes).await;
}

#[tokio::test]
async fn pieces_are_taken_up_to_their_limit() {
    let scene = Scene::new(&[]).await;
    let mut socket = scene.stranger().await;
    let hello = FakeBrowser::app(scene.port(), "in-pieces").hello().to_string();
    send_in_pieces(&mut socket, &hello, 1024).await;
    socket.until("welcome").await;
    for _ in 0..3 {
        send_in_pieces(&mut socket, r#"{"type":"ping"}"#, 1024).await;
        socket.until("pong").await;
    }
    send_in_pieces(&mut socket, r#"{"type":"ping"}"#, 1025).await;
    socket.must_close(1008).await;
    scene.bystander_answers().await;
}

#[tokio::test]
async fn pieces_without_end_are_too_many() {
    let mut bytes = frame(opcode::TEXT, false, b"");
    for _ in 0..5000 {
        bytes.extend(frame(opcode::CONTINUATION, false, b""));
    }
    check("empty pieces", &bytes, 1008).await;
    let mut bytes = frame(opcode::TEXT, false, b"{");
    for _ in 0..5000 {
        bytes.extend(frame(opcode::CONTINUATION, false, b" "));
    }
    check("small pieces", &bytes, 1008).await;
}

#[tokio::test]
async fn the_limits_can_be_set() {
    let flags = ["--message-bytes-before-hello", "2000", "--message-bytes", "4000"];
    let scene = Scene::new(&[&flags[..], &["--fragments-max", "4"]].concat()).await;
    let mut stranger = scene.stranger().await;
    stranger.send_bytes(&frame(opcode::TEXT, true, &[b' '; 2001])).await;
    stranger.must_close(1009).await;
    let mut guest = scene.guest().await;
    guest.send_bytes(&frame(opcode::TEXT, true, &[b' '; 4001])).await;
    guest.must_close(1009).await;
    let mut guest = scene.guest().await;
    send_in_pieces(&mut guest, r#"{"type":"ping"}"#, 4).await;
    guest.until("pong").await;
    send_in_pieces(&mut guest, r#"{"type":"ping"}"#, 5).await;
    guest.must_close(1008).await;
}

#[tokio::test]
async fn a_flood_of_pings_is_answered_and_disturbs_nobody() {
    let scene = Scene::new(&[]).await;
    let mut guest = scene.guest().await;
    for _ in 0..20 {
        guest.send_bytes(&frame(opcode::PING, true, b"are you there").repeat(200)).await;
        guest.send_bytes(&frame::text(r#"{"type":"ping"}"#).repeat(200)).await;
        for _ in 0..200 {
            guest.until("pong").await;
        }
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_peer_that_closes_is_answered_in_kind() {
    let scene = Scene::new(&[]).await;
    let mut ended_by_hub = 0;
    for (payload, code) in
        [(&b""[..], 1005), (b"\x03\xe8done", 1000), (b"\x03\xe9", 1001), (b"\x0f\xa0our own", 4000)]
    {
        for mut socket in [scene.stranger().await, scene.guest().await] {
            socket.send_bytes(&frame(opcode::CLOSE, true, payload)).await;
            // Less than the time after which the hub gives up a peer that goes on.
            let ending = socket.ended_within(Duration::from_millis(1500)).await;
            assert_eq!((ending.code, ending.clean), (code, true), "{ending:?}");
            ended_by_hub += u32::from(ending.by_hub);
        }
        scene.api().until_connected("guest", false).await;
    }
    // A machine that does much else is late now and then, but not half of the time.
    assert!(ended_by_hub > 4, "the server ends the connection: {ended_by_hub} of 8");
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_close_that_is_none_is_a_bad_frame() {
    check("half a code", &frame(opcode::CLOSE, true, b"\x03"), 1002).await;
    check("a code that nobody sends", &frame(opcode::CLOSE, true, b"\x03\xed"), 1002).await;
    check("a code out of range", &frame(opcode::CLOSE, true, b"\x00\x01"), 1002).await;
}
