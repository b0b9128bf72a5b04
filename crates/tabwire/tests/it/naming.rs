//! How a connecting peer says who it is and what it speaks.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Ask, Dial, FakeBrowser, Http, rounds, strict};

use crate::scene::hub;

#[tokio::test]
async fn an_instance_names_itself_in_four_ways() {
    let hub = hub(&[]).await;
    let root = |_: Dial| Dial::root(hub.port());
    type Way<'a> = Box<dyn Fn(Dial) -> Dial + 'a>;
    let ways: [(&str, Way<'_>); 6] = [
        ("path", Box::new(|dial| dial)),
        ("query", Box::new(|dial| root(dial).path("/?instanceId=query"))),
        ("protocol", Box::new(|dial| root(dial).offer("instance.protocol"))),
        ("header", Box::new(|dial| root(dial).header("X-MCP-Instance", "header"))),
        ("hello", Box::new(root)),
        (
            "all",
            Box::new(|dial| {
                dial.path("/session/all?a=b&instanceId=all")
                    .offer("instance.all")
                    .header("X-MCP-Instance", "all")
            }),
        ),
    ];
    for (instance, way) in ways {
        let mut app = FakeBrowser::app(hub.port(), instance).dialled(way);
        app.connect().await;
        assert_eq!(hub.api().session(instance).await["instanceId"], instance);
        let confirmed = app.socket().response.header("sec-websocket-protocol").unwrap().to_owned();
        assert_eq!(confirmed, "tabwire.v1", "{instance}");
    }
}

#[tokio::test]
async fn names_that_contradict_each_other_are_refused() {
    let hub = hub(&[]).await;
    let path = Dial::session(hub.port(), "one");
    let root = Dial::root(hub.port());
    for dial in [
        path.clone().path("/session/one?instanceId=two"),
        path.clone().offer("instance.two"),
        path.clone().header("X-MCP-Instance", "two"),
        root.clone().path("/?instanceId=one").offer("instance.two"),
        root.clone().path("/?instanceId=one").header("X-MCP-Instance", "two"),
        root.clone().offer("instance.one").header("X-MCP-Instance", "two"),
    ] {
        let answer = dial.try_connect().await.err().flatten().expect("a refusal");
        assert_eq!((answer.status, answer.fault().as_str()), (400, "invalid_argument"), "{dial:?}");
        assert!(answer.text().contains("differ"), "{}", answer.text());
    }
    assert_eq!(hub.api().sessions().await.len(), 0);
}

#[tokio::test]
async fn names_that_contradict_each_other_in_the_same_way_are_refused() {
    let hub = hub(&[]).await;
    let root = Dial::root(hub.port());
    for dial in [
        root.clone().path("/?instanceId=one&instanceId=two"),
        root.clone().offer("instance.one").offer("instance.two"),
        root.clone().header("X-MCP-Instance", "one").header("X-MCP-Instance", "two"),
    ] {
        match dial.try_connect().await {
            Err(answer) => assert_eq!(answer.unwrap().status, 400, "{dial:?}"),
            Ok(_) => panic!("let in with two names: {dial:?}"),
        }
    }
}

#[tokio::test]
async fn a_name_in_hello_that_contradicts_the_address_ends_the_connection() {
    let hub = hub(&[]).await;
    let dials = [
        Dial::session(hub.port(), "one"),
        Dial::root(hub.port()).path("/?instanceId=one"),
        Dial::root(hub.port()).offer("instance.one"),
        Dial::root(hub.port()).header("X-MCP-Instance", "one"),
    ];
    for dial in dials {
        let mut app = FakeBrowser::app(hub.port(), "two").dialled(|_| dial.clone());
        let ending = app.try_connect().await.unwrap_err();
        assert_eq!((ending.code, ending.clean), (4500, true), "{ending:?}");
        assert_eq!(ending.bye().unwrap()["code"], "protocol_error");
    }
    assert_eq!(hub.api().sessions().await.len(), 0);
}

#[tokio::test]
async fn an_id_that_is_none_is_refused() {
    let hub = hub(&[]).await;
    let long = "x".repeat(129);
    for path in ["/session/a%20b", "/session/a/b", &format!("/session/{long}"), "/?instanceId="] {
        let answer = Dial::root(hub.port()).path(path).try_connect().await.err().flatten();
        assert_eq!(answer.expect("a refusal").status, 400, "{path}");
    }
    for wrong in ["", "a b", "ü", &long] {
        let mut socket = Dial::root(hub.port()).connect().await;
        let mut hello = FakeBrowser::app(hub.port(), "x").hello();
        hello["instanceId"] = json!(wrong);
        socket.send(&hello).await;
        socket.must_close(4400).await;
    }
}

#[tokio::test]
async fn only_a_protocol_that_we_speak_is_let_in() {
    let hub = hub(&["--compat", "hello3d=0,moonsurf=0,mcp_browser=0"]).await;
    let root = Dial::root(hub.port());
    for offered in [&["tabwire.v2"][..], &["graphql-ws"], &["TABWIRE.V1"]] {
        let answer = root.clone().offer_only(offered).try_connect().await.err().flatten();
        let answer = answer.expect("a refusal");
        assert_eq!(answer.status, 400, "{offered:?}");
        assert!(answer.text().contains("tabwire.v1"), "it says which: {}", answer.text());
    }
    for path in ["/session/x", "/?instanceId=x"] {
        // It is not taken for another dialect, though it has a name.
        let ask = Ask::own_get(path).header("Sec-WebSocket-Protocol", "tabwire.v2");
        let answer = handshake(ask, &[KEY], &["13"]).send(hub.port()).await.must_be(400);
        assert!(answer.text().contains("tabwire.v1"), "it says which: {}", answer.text());
    }
    for dialect in ["hello3d", "moonsurf", "mcp_browser"] {
        for offered in ["tabwire.v2", "Tabwire.V1"] {
            let ask = Ask::own_get("/").header("Sec-WebSocket-Protocol", offered);
            let port = hub.compat(dialect);
            handshake(ask, &[KEY], &["13"]).send(port).await.must_be(400);
        }
    }
    let among = root.offer_only(&["graphql-ws", "tabwire.v1", "tabwire.v2"]).connect().await;
    assert_eq!(among.response.header("sec-websocket-protocol"), Some("tabwire.v1"));
}

/// A key as RFC 6455 has it in its example.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// Makes a request a handshake with these keys and versions.
fn handshake(ask: Ask, keys: &[&str], versions: &[&str]) -> Ask {
    let ask = ask.header("Connection", "keep-alive, Upgrade").header("Upgrade", "websocket");
    let ask = keys.iter().fold(ask, |ask, key| ask.header("Sec-WebSocket-Key", key));
    versions.iter().fold(ask, |ask, version| ask.header("Sec-WebSocket-Version", version))
}

#[tokio::test]
async fn a_handshake_that_is_none_is_refused() {
    let hub = hub(&[]).await;
    let native = || Ask::get("/session/x").header("Sec-WebSocket-Protocol", "tabwire.v1");
    let keep_alive = || native().header("Connection", "keep-alive, Upgrade");
    for wrong in [
        keep_alive(),
        keep_alive().header("Upgrade", "h2c").header("Sec-WebSocket-Key", KEY),
        handshake(native(), &[], &["13"]),
        handshake(native(), &[KEY, KEY], &["13"]),
        handshake(native(), &[""], &["13"]),
        handshake(native(), &["test"], &["13"]),
        handshake(native(), &["dGhlIHNhbXBsZSBub25jZQ"], &["13"]),
        handshake(native(), &["dGhlIHNhbXBsZSBub25jZSE="], &["13"]),
        handshake(native(), &["?GhlIHNhbXBsZSBub25jZQ=="], &["13"]),
        handshake(native(), &[KEY], &[]),
        handshake(native(), &[KEY], &["8"]),
        handshake(native(), &[KEY], &["13, 8"]),
        handshake(native(), &[KEY], &["8, 13"]),
        handshake(native(), &[KEY], &["13", "13"]),
    ] {
        let answer = wrong.send(hub.port()).await;
        assert_eq!(answer.status, 400, "{wrong:?}");
    }
    for offered in
        ["tabwire.v1,", ",tabwire.v1", "tabwire.v1,,x", "tabwire.v1, a b", "tabwire.v1, (x)", ""]
    {
        let ask = Ask::get("/session/x").header("Sec-WebSocket-Protocol", offered);
        let ask = match offered {
            "" => ask.header("Sec-WebSocket-Protocol", "tabwire.v1"),
            _ => ask,
        };
        handshake(ask, &[KEY], &["13"]).send(hub.port()).await.must_be(400);
    }
    let twice = native().header("Sec-WebSocket-Protocol", "tabwire.v1");
    handshake(twice, &[KEY], &["13"]).send(hub.port()).await.must_be(400);
    for length in ["5", "0, 0", "x"] {
        let ask = native().header("Content-Length", length);
        handshake(ask, &[KEY], &["13"]).send(hub.port()).await.must_be(400);
    }
    let chunked = native().header("Transfer-Encoding", "chunked");
    handshake(chunked, &[KEY], &["13"]).send(hub.port()).await.must_be(400);
    for method in ["POST", "PUT", "DELETE"] {
        let ask = Ask::new(method, "/session/x").header("Sec-WebSocket-Protocol", "tabwire.v1");
        handshake(ask, &[KEY], &["13"]).send(hub.port()).await.must_be(405);
    }
    let old = handshake(native(), &[KEY], &["13"]).bytes(hub.port());
    let old = String::from_utf8(old).unwrap().replacen("HTTP/1.1", "HTTP/1.0", 1);
    let mut http = Http::connect(hub.port()).await;
    http.send(old.as_bytes()).await.unwrap();
    assert_eq!(http.read_response().await.unwrap().unwrap().status, 400, "HTTP/1.0");
    let right = handshake(native(), &[KEY], &["13"]).send(hub.port()).await.must_be(101);
    // The example of RFC 6455.
    assert_eq!(right.header("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
}

/// Opens as many sockets as asked for, each with its name, and returns how long that took.
async fn crowd(count: u64, name: impl Fn(u64) -> String) -> Duration {
    let count_flag = (count + 10).to_string();
    let hub = hub(&["--origin-sessions", &count_flag, "--ping-after", "10m"]).await;
    let peers: Vec<_> = (0..count)
        .map(|number| {
            let peer = FakeBrowser::app(hub.port(), &format!("instance-{number}"));
            peer.named(Some(&name(number)))
        })
        .collect();
    let started = Instant::now();
    let mut connected = Vec::new();
    let mut left = peers.into_iter();
    while connected.len() < count as usize {
        let opening = left.by_ref().take(100).map(|mut peer| {
            tokio::spawn(async move {
                peer.connect().await;
                peer
            })
        });
        for opened in opening.collect::<Vec<_>>() {
            connected.push(opened.await.unwrap());
        }
    }
    started.elapsed()
}

#[tokio::test]
async fn many_of_one_name_connect_as_fast_as_many_of_their_own() {
    let count = rounds(300, 10_000);
    let distinct = || crowd(count, |number| format!("peer{number}x"));
    let long = "a-very-long-name-for-a-viewer-xy";
    let before = distinct().await;
    let equal = [
        ("one name", crowd(count, |_| "viewer".to_owned()).await),
        ("one long name", crowd(count, |_| long.to_owned()).await),
        ("names of others", crowd(count, |number| format!("instance-{}", number / 2)).await),
    ];
    // Before and after, because the first crowd pays for what the machine has to get ready.
    let limit = before.min(distinct().await) * 3 / 2;
    for (what, took) in equal {
        strict(limit, took, what);
    }
}
