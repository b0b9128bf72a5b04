//! Requests whose body ends in two ways: nobody gets a second request past us in one of them.

use serde_json::json;
use testkit::{Ask, Http, PATIENCE, within};

use crate::scene::Scene;

/// What is hidden behind the first request: it would be done if it were found.
fn hidden(port: u16) -> Vec<u8> {
    let body = json!({"session": "bystander", "tool": "greet"});
    Ask::own_post("/api/call", &body).bytes(port)
}

#[tokio::test]
async fn a_length_beside_chunks_is_refused_and_ends_the_connection() {
    let scene = Scene::new(&[]).await;
    for path in ["/health", "/api/call", "/mcp", "/", "/nowhere"] {
        for headers in [
            [("Content-Length", "5"), ("Transfer-Encoding", "chunked")],
            [("Transfer-Encoding", "chunked"), ("Content-Length", "5")],
            [("transfer-encoding", "CHUNKED"), ("content-length", "0")],
        ] {
            let ask = Ask::own("POST", path).header("Content-Type", "application/json");
            let ask = headers.iter().fold(ask, |ask, (name, value)| ask.header(name, value));
            let mut http = Http::connect(scene.port()).await;
            let bytes = [ask.bytes(scene.port()), b"0\r\n\r\n".to_vec(), hidden(scene.port())];
            http.send(&bytes.concat()).await.unwrap();
            let answer = within(PATIENCE, "an answer", http.read_response()).await;
            assert_eq!(answer.unwrap().unwrap().status, 400, "{path} {headers:?}");
            let more = within(PATIENCE, "the end", http.read_response()).await;
            assert!(!matches!(more, Ok(Some(_))), "{path} {headers:?}: {more:?}");
        }
    }
    let calls = async || scene.api().metrics().await.sum("tabwire_calls_total");
    assert_eq!(calls().await, 0.0, "nothing that was hidden was done");
    let mut http = Http::connect(scene.port()).await;
    http.send(&hidden(scene.port())).await.unwrap();
    assert!(http.read_response().await.unwrap().unwrap().status < 300, "it could have been");
    assert_eq!(calls().await, 1.0);
    scene.bystander_answers().await;
}

#[tokio::test]
async fn after_a_good_request_on_the_same_connection_too() {
    let scene = Scene::new(&[]).await;
    let mut http = Http::connect(scene.port()).await;
    let good = Ask::own_post("/api/call", &json!({"session": "bystander", "tool": "greet"}));
    for _ in 0..3 {
        http.ask(&good).await.must_be(200);
    }
    let both = good.header("Transfer-Encoding", "chunked");
    http.ask(&both).await.must_be(400);
    assert!(!matches!(http.read_response().await, Ok(Some(_))));
}

#[tokio::test]
async fn chunks_alone_are_taken_and_are_the_last_of_their_connection() {
    let scene = Scene::new(&[]).await;
    let body = json!({"session": "bystander", "tool": "greet", "args": {"to": "me"}}).to_string();
    let ask = Ask::own("POST", "/api/call")
        .header("Content-Type", "application/json")
        .header("Transfer-Encoding", "chunked");
    let mut http = Http::connect(scene.port()).await;
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    http.send(&[ask.bytes(scene.port()), chunks.into_bytes()].concat()).await.unwrap();
    let answer = http.read_response().await.unwrap().unwrap().must_be(200);
    assert_eq!(answer.json()["result"]["to"], "me");
    assert_eq!(answer.header("connection"), Some("close"));
    assert!(!matches!(http.read_response().await, Ok(Some(_))));
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_refused_upgrade_is_the_last_of_its_connection() {
    let scene = Scene::new(&[]).await;
    let mut http = Http::connect(scene.port()).await;
    let refused = Ask::upgrade("/session/x").header("Sec-WebSocket-Key", "twice");
    http.ask(&refused).await.must_be(400);
    assert!(!matches!(http.read_response().await, Ok(Some(_))));
}
