//! How Moonsurf's extension gets in: registration, its port, its hello; and who does not.

use std::{io::ErrorKind, net::TcpListener, ops::RangeInclusive};

use serde_json::{Value, json};
use testkit::{
    Ask, Dial, HubProcess, Incoming, McpHttp, Rng, eventually,
    seeds::moonsurf::{Moonsurf, ORIGIN, Registration, USER_AGENT, ask},
};

use crate::{
    scene::hub,
    seed_moonsurf::{hub_and_extension, hub_for_moonsurf},
};

const OTHER: &str = "chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba";

/// Finds ports in a row that nobody has, apart from those that hubs in the background are given.
fn free_ports(count: u16) -> RangeInclusive<u16> {
    let mut chance = Rng::seeded(u64::from(std::process::id()));
    loop {
        let first = 10_000 + chance.between(0, 900) as u16 * 10;
        let ports = first..=first + count - 1;
        if ports.clone().all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return ports;
        }
    }
}

async fn instances(hub: &HubProcess) -> Vec<Value> {
    let body = Ask::own_get("/instances").send(hub.compat("moonsurf")).await.must_be(200).json();
    body["instances"].as_array().unwrap().clone()
}

/// Says hello as an instance and returns what comes.
async fn hello(dial: &Dial, instance: &str) -> testkit::Ending {
    let mut socket = dial.connect().await;
    socket.send(&json!({"type": "hello", "instanceId": instance})).await;
    socket.ended().await
}

#[tokio::test]
async fn a_browser_registers_is_welcomed_and_is_gone_when_it_is_gone() {
    let hub = hub_for_moonsurf(&[]).await;
    let door = hub.compat("moonsurf");
    assert_eq!(Ask::get("/health").send(door).await.must_be(200).json()["status"], "ok");
    assert!(Ask::own_get("/info").send(door).await.must_be(200).json().is_object());
    assert_eq!(instances(&hub).await, [] as [Value; 0]);
    let extension = Moonsurf::start(door).await;
    let registration = extension.registration();
    assert!(registration.instance.starts_with("inst_"), "{registration:?}");
    assert_eq!(registration.url, format!("ws://localhost:{}", registration.port));
    let welcome = extension.heard("welcome")[0].clone();
    assert_eq!(welcome["instanceId"], registration.instance);
    assert!(welcome["serverVersion"].is_string());
    let listed = instances(&hub).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    for (field, expected) in [
        ("id", json!(registration.instance)),
        ("port", json!(registration.port)),
        ("userAgent", json!(USER_AGENT)),
        ("windowId", json!(123)),
    ] {
        assert_eq!(listed[0][field], expected, "{field}: {listed:?}");
    }
    assert!(listed[0]["connectedAt"].is_u64() && listed[0]["lastActivity"].is_u64(), "{listed:?}");
    extension.quit().await;
    eventually("no instance is left", async || instances(&hub).await.is_empty().then_some(()))
        .await;
}

#[tokio::test]
async fn a_browser_that_has_only_registered_is_not_listed() {
    let hub = hub_for_moonsurf(&[]).await;
    Registration::at(hub.compat("moonsurf"), ORIGIN).await;
    assert_eq!(instances(&hub).await, [] as [Value; 0]);
    let client = McpHttp::modern(hub.port());
    let args = json!({"action": "click", "selector": "#button"});
    let (failed, said) = client.call("browser_interact", args).await.told();
    assert!(failed, "{said}");
}

#[tokio::test]
async fn the_main_port_is_a_door_too() {
    let hub = hub(&["--allow-origin", ORIGIN, "--takeover-probe", "20s"]).await;
    let extension = Moonsurf::start(hub.port()).await;
    assert_eq!(extension.registration().port, hub.port(), "all share it");
    let other = Moonsurf::start(hub.port()).await;
    assert_ne!(extension.registration().instance, other.registration().instance);
    let client = McpHttp::modern(hub.port());
    for (session, browser) in [("moonsurf", &extension), ("moonsurf-2", &other)] {
        let args = json!({"session": session, "url": "https://example.com/"});
        let (failed, said) = client.call("browser_navigate", args).await.told();
        assert!(!failed, "{said}");
        assert_eq!(browser.calls().len(), 1);
    }
}

#[tokio::test]
async fn a_port_is_its_browsers_own_and_is_given_back() {
    let ports = free_ports(2);
    let range = format!("{}-{}", ports.start(), ports.end());
    let hub = hub_for_moonsurf(&["--compat-sockets", &range]).await;
    let door = hub.compat("moonsurf");
    let (first, second) = (Moonsurf::start(door).await, Moonsurf::start(door).await);
    let (mine, other) = (first.registration().port, second.registration().port);
    assert_ne!(mine, other);
    for port in [mine, other] {
        assert!(ports.contains(&port), "{port} of {range}");
        assert!(TcpListener::bind(("127.0.0.1", port)).is_err(), "it is in use");
    }
    let third = Moonsurf::start(door).await;
    assert_eq!(third.registration().port, door, "the range is used up");
    first.quit().await;
    // On both addresses, or the next could not have it.
    let in_use = |address: &str| {
        let bound = TcpListener::bind((address, mine));
        bound.is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
    };
    eventually("the port is free", async || (!in_use("127.0.0.1") && !in_use("::1")).then_some(()))
        .await;
    let fourth = Moonsurf::start(door).await;
    assert_eq!(fourth.registration().port, mine, "and given to the next");
    let client = McpHttp::modern(hub.port());
    let args = json!({
        "instanceId": second.registration().instance, "url": "https://example.com/",
    });
    let (failed, said) = client.call("browser_navigate", args).await.told();
    assert!(!failed, "{said}");
}

#[tokio::test]
async fn without_a_range_all_share_the_door() {
    let hub = hub_for_moonsurf(&["--compat-sockets", ""]).await;
    let door = hub.compat("moonsurf");
    let (first, second) = (Moonsurf::start(door).await, Moonsurf::start(door).await);
    assert_eq!((first.registration().port, second.registration().port), (door, door));
    assert_eq!(instances(&hub).await.len(), 2);
}

#[tokio::test]
async fn an_instance_that_is_not_known_here_is_closed_with_4001() {
    let (hub, extension) = hub_and_extension(&[]).await;
    let door = hub.compat("moonsurf");
    let own = extension.registration();
    let fresh = Registration::at(door, ORIGIN).await;
    for (what, dial, instance) in [
        ("unknown", fresh.dial(ORIGIN), "inst_1_nobody"),
        ("used", own.dial(ORIGIN), own.instance.as_str()),
        ("of another port", fresh.dial(ORIGIN), own.instance.as_str()),
    ] {
        let ending = hello(&dial, instance).await;
        assert_eq!(ending.code, 4001, "{what}: {ending:?}");
        assert!(ending.clean, "{what}: {ending:?}");
        assert_eq!(ending.said, [] as [Value; 0], "{what}");
    }
    assert_eq!(extension.registrations(), 1, "the one that lives is not disturbed");
    let mut socket = fresh.dial(ORIGIN).connect().await;
    socket.send(&fresh.hello()).await;
    assert_eq!(socket.until("welcome").await["instanceId"], fresh.instance);
}

#[tokio::test]
async fn a_hello_without_an_instance_is_unknown_too() {
    let hub = hub_for_moonsurf(&["--hello-timeout", "60s"]).await;
    let registration = Registration::at(hub.compat("moonsurf"), ORIGIN).await;
    for hello in [
        json!({"type": "hello", "instanceId": ""}),
        json!({"type": "hello"}),
        json!({"type": "hello", "instanceId": null}),
        json!({"type": "hello", "instanceId": 7}),
    ] {
        let mut socket = registration.dial(ORIGIN).connect().await;
        socket.send(&hello).await;
        // The extension registers anew only when it is told so.
        assert_eq!(socket.ended().await.code, 4001, "{hello}");
    }
}

#[tokio::test]
async fn an_instance_belongs_to_the_extension_that_registered_it() {
    let hub = hub(&["--compat", "moonsurf=0", "--allow-origin", "chrome-extension://*"]).await;
    let registration = Registration::at(hub.compat("moonsurf"), ORIGIN).await;
    let ending = hello(&registration.dial(OTHER), &registration.instance).await;
    assert_eq!(ending.code, 4001, "{ending:?}");
    let extension = Moonsurf::start(hub.compat("moonsurf")).await;
    let sessions = hub.api().sessions().await;
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert_eq!(sessions[0]["unproven"], true, "{sessions:?}");
    drop(extension);
}

#[tokio::test]
async fn what_comes_before_the_hello_is_dropped() {
    let hub = hub_for_moonsurf(&[]).await;
    let registration = Registration::at(hub.compat("moonsurf"), ORIGIN).await;
    let mut socket = registration.dial(ORIGIN).connect().await;
    for early in [
        json!({"type": "ping"}),
        json!({"type": "tool_result", "id": "call_1", "result": {}}),
        json!({"type": "tool_error", "id": "call_1", "error": {"code": "X", "message": "y"}}),
        json!({"type": "unheard of"}),
    ] {
        socket.send(&early).await;
    }
    socket.send(&registration.hello()).await;
    let Incoming::Message(first) = socket.recv().await else { panic!("no answer") };
    assert_eq!(first["type"], "welcome");
}

#[tokio::test]
async fn the_port_listens_before_it_is_named() {
    let hub = hub_for_moonsurf(&[]).await;
    let mut rounds = tokio::task::JoinSet::new();
    for round in 0..50 {
        let door = hub.compat("moonsurf");
        rounds.spawn(async move {
            let registration = Registration::at(door, ORIGIN).await;
            let mut socket = registration.dial(ORIGIN).connect().await;
            socket.send(&registration.hello()).await;
            let welcome = socket.until("welcome").await;
            assert_eq!(welcome["instanceId"], registration.instance, "{round}");
            socket.close().await;
        });
    }
    while let Some(done) = rounds.join_next().await {
        done.unwrap();
    }
}

#[tokio::test]
async fn there_is_room_for_more_than_a_hundred_browsers() {
    let hub = hub_for_moonsurf(&[]).await;
    let mut registrations = Vec::new();
    for _ in 0..120 {
        registrations.push(Registration::at(hub.compat("moonsurf"), ORIGIN).await);
    }
    let mut names: Vec<_> = registrations.iter().map(|one| one.instance.clone()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 120);
    let mut sockets = tokio::task::JoinSet::new();
    for number in [0, 50, 98, 99, 100, 119] {
        let registration = &registrations[number];
        let mut socket = registration.dial(ORIGIN).connect().await;
        socket.send(&registration.hello()).await;
        assert_eq!(socket.until("welcome").await["instanceId"], registration.instance, "{number}");
        // One that is not read answers no pings, and then its browser counts as gone.
        sockets.spawn(async move { while let Incoming::Message(_) = socket.recv().await {} });
    }
    assert_eq!(instances(&hub).await.len(), 6);
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_said_in_the_servers_own_way() {
    let hub = hub_for_moonsurf(&[]).await;
    for door in [hub.compat("moonsurf"), hub.port()] {
        for body in ["not JSON", "{", "[1", ""] {
            let ask = Ask::new("POST", "/register")
                .header("Content-Type", "application/json")
                .header("Origin", ORIGIN)
                .body(body.as_bytes().to_vec());
            let answer = ask.send(door).await.must_be(400);
            assert!(!answer.json()["error"].is_null(), "{body:?}: {}", answer.text());
        }
        let empty = Ask::post("/register", &json!({})).header("Origin", ORIGIN);
        Registration::read(&empty.send(door).await.must_be(200));
    }
}

#[tokio::test]
async fn what_a_registration_says_of_its_browser_may_be_anything() {
    let hub = hub_for_moonsurf(&[]).await;
    // Its own server reads none of it, so nobody knows what every version of the extension sends.
    for body in [
        json!({"userAgent": USER_AGENT, "windowId": 1, "extensionId": "abc"}),
        json!({"userAgent": null, "windowId": null}),
        json!({"userAgent": "x", "windowId": "7"}),
        json!({"windowId": 1.5}),
    ] {
        let ask = Ask::post("/register", &body).header("Origin", ORIGIN);
        let answer = ask.send(hub.compat("moonsurf")).await;
        assert_eq!(answer.status, 200, "{body}: {}", answer.text());
    }
}

#[tokio::test]
async fn an_allowed_extension_may_read_the_answer_and_no_other() {
    let hub = hub_for_moonsurf(&[]).await;
    for door in [hub.compat("moonsurf"), hub.port()] {
        let preflight = |origin: &str| {
            Ask::new("OPTIONS", "/register")
                .header("Origin", origin)
                .header("Access-Control-Request-Method", "POST")
                .header("Access-Control-Request-Headers", "content-type")
        };
        let answer = preflight(ORIGIN).send(door).await.must_be(204);
        assert_eq!(answer.header("access-control-allow-origin"), Some(ORIGIN));
        let methods = answer.header("access-control-allow-methods").unwrap_or_default();
        assert!(methods.contains("POST"), "{methods}");
        let headers = answer.header("access-control-allow-headers").unwrap_or_default();
        assert!(headers.to_lowercase().contains("content-type"), "{headers}");
        let answer = ask(ORIGIN).send(door).await.must_be(200);
        assert_eq!(answer.header("access-control-allow-origin"), Some(ORIGIN));
        for origin in [OTHER, "https://evil.example", "http://localhost:5173", "null"] {
            for ask in [preflight(origin), ask(origin)] {
                let answer = ask.send(door).await.must_be(403);
                assert_eq!(answer.header("access-control-allow-origin"), None, "{origin}");
            }
        }
    }
    assert_eq!(hub.api().sessions().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_foreign_origin_reaches_no_socket() {
    let hub = hub_for_moonsurf(&[]).await;
    let door = hub.compat("moonsurf");
    let registration = Registration::at(door, ORIGIN).await;
    for port in [registration.port, door] {
        for origin in [OTHER, "https://evil.example", "http://localhost:5173", "null"] {
            let dial = Dial::root(port).offer_only(&[]).origin(origin);
            let status = match dial.try_connect().await {
                Ok(_) => 101,
                Err(answer) => answer.map_or(0, |answer| answer.status),
            };
            assert_eq!(status, 403, "{origin}");
        }
        let elsewhere = tokio::net::TcpStream::connect(("127.0.0.2", port)).await;
        assert!(elsewhere.is_err(), "loopback only, and not all of it");
    }
    for path in ["/api/sessions", "/mcp", "/metrics", "/message", "/api/tools"] {
        for port in [registration.port, door] {
            let ask = Ask::get(path).bearer(&hub.token());
            assert_eq!(ask.send(port).await.status, 404, "{path}");
        }
    }
    let ask = Ask::bare_upgrade("/").header("Origin", ORIGIN);
    let host = format!("localhost:{}", registration.port);
    assert_eq!(ask.host(&host).send(registration.port).await.status, 101, "as a browser says it");
}
