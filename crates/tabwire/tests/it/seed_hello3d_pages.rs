//! Several 3D pages and several clients at once, and who may be a page at all.

use serde_json::{Value, json};
use testkit::{
    Ask, Dial, Era, HubProcess, McpClient, McpHttp, Response, eventually,
    mcp::client::{Transport, WAYS},
    seeds::{
        hello3d::{Doing, Hello3d, ORIGIN, Queries},
        wire::{End, Order},
    },
};

use crate::{
    mcp_scene::LEGACY,
    scene::{PROGRAM, hub},
    seed_hello3d::{failed, hub_and_page, hub_for_pages, told},
};

const PATIENT: &[&str] = &["--state-timeout", "60s", "--call-timeout", "60s"];

/// Opens two pages, which are `hello3d` and `hello3d-2` to the hub.
async fn two_pages(flags: &[&str]) -> (HubProcess, Hello3d, Hello3d) {
    let (hub, first) = hub_and_page(flags).await;
    let second = Hello3d::open(hub.compat("hello3d"), "second").await;
    (hub, first, second)
}

/// Reads the id out of the link that a client was given, as the page does from its address.
fn session_in(said: &str) -> String {
    let (_, rest) = said.split_once("?sessionId=").unwrap_or_else(|| panic!("{said}"));
    let end = rest.find(|letter: char| !letter.is_ascii_graphic() || "\"<>)&#".contains(letter));
    let mut pieces = rest[..end.unwrap_or(rest.len())].split('%');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |id, piece| {
        let code = u8::from_str_radix(&piece[..2], 16).unwrap();
        id + &char::from(code).to_string() + &piece[2..]
    })
}

#[tokio::test]
async fn one_pages_end_does_not_touch_the_questions_to_another() {
    let (hub, first, mut second) = two_pages(PATIENT).await;
    first.with(|page| page.queries = Queries::Hold);
    let client = McpHttp::modern(hub.port());
    let asking = client.call("get_model_color", json!({"session": "hello3d"}));
    let rest = async {
        first.until("requestState", 1).await;
        second.vanish().await;
        hub.api().until_connected("hello3d-2", false).await;
        first.release();
    };
    let (answer, ()) = tokio::join!(asking, rest);
    let (failed, said) = answer.told();
    assert!(!failed && said.starts_with("Model color: #ffffff"), "{said}");
    assert!(!said.to_lowercase().contains("stale"), "{said}");
}

#[tokio::test]
async fn with_two_pages_one_must_be_named_and_nobody_is_driven_by_accident() {
    let (hub, first, second) = two_pages(&[]).await;
    for way in WAYS {
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        let said = failed(&mut client, "change_model_size", json!({"size": 2})).await;
        assert!(said.contains("ambiguous_session"), "{way:?}: {said}");
        assert!(said.contains("\"hello3d\"") && said.contains("\"hello3d-2\""), "{way:?}: {said}");
        failed(&mut client, "get_model_color", json!({})).await;
    }
    assert_eq!((first.commands().len(), second.commands().len()), (0, 0));
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    let args = json!({"size": 2, "session": "hello3d-2"});
    told(&mut client, "change_model_size", args).await;
    assert_eq!((first.commands().len(), second.commands().len()), (0, 1));
    assert_eq!(second.commands(), [json!({"type": "changeSize", "size": 2})]);
}

#[tokio::test]
async fn the_link_binds_a_client_to_the_page_that_opens_it() {
    for way in WAYS {
        let (hub, first, second) = two_pages(&[]).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        let said = told(&mut client, "get_browser_connection_url", json!({})).await;
        assert!(
            said.contains("http://localhost:5173/?sessionId=")
                || said.contains("http://localhost:5173?sessionId="),
            "{way:?}: {said}"
        );
        let again = told(&mut client, "get_browser_connection_url", json!({})).await;
        let id = session_in(&said);
        assert_eq!(session_in(&again), id, "{way:?}: a client has one link");
        let own = Hello3d::open(hub.compat("hello3d"), &id).await;
        told(&mut client, "change_model_color", json!({"color": "#00cc00"})).await;
        let said = told(&mut client, "get_model_color", json!({})).await;
        assert!(said.starts_with("Model color: #00cc00"), "{way:?}: {said}");
        assert_eq!(own.commands().len(), 1, "{way:?}");
        assert_eq!((first.commands().len(), second.commands().len()), (0, 0), "{way:?}");
        let args = json!({"session": "hello3d", "size": 2});
        told(&mut client, "change_model_size", args).await;
        assert_eq!(first.commands().len(), 1, "{way:?}: what is named goes before");
    }
}

#[tokio::test]
async fn two_clients_have_two_links_and_drive_two_pages() {
    for by in [Transport::Stdio, Transport::Http] {
        let hub = hub_for_pages(&[]).await;
        let mut clients = Vec::new();
        for (name, color) in [("one", "#111111"), ("other", "#222222")] {
            let mut client = match by {
                Transport::Stdio => McpClient::connect(PROGRAM, &hub, (by, LEGACY)).await,
                Transport::Http => {
                    let mut client = McpHttp::new(hub.port(), LEGACY).named(name);
                    client.open().await;
                    McpClient::Http(client)
                }
            };
            let said = told(&mut client, "get_browser_connection_url", json!({})).await;
            let page = Hello3d::open(hub.compat("hello3d"), &session_in(&said)).await;
            clients.push((client, page, color));
        }
        for (client, _, color) in &mut clients {
            told(client, "change_model_color", json!({"color": color})).await;
        }
        for (client, page, color) in &mut clients {
            assert_eq!(page.commands(), [json!({"type": "changeColor", "color": color})], "{by:?}");
            let said = told(client, "get_model_color", json!({})).await;
            assert!(said.starts_with(&format!("Model color: {color}")), "{by:?}: {said}");
        }
    }
}

#[tokio::test]
async fn many_clients_share_one_page_and_each_command_gets_its_own_confirmation() {
    let (hub, page) = hub_and_page(PATIENT).await;
    page.with(|page| page.doing = Doing::Hold);
    let mut clients = Vec::new();
    for (number, era) in [Era::Modern, LEGACY, LEGACY, Era::Modern].into_iter().enumerate() {
        let mut client = McpHttp::new(hub.port(), era).named(&format!("client-{number}"));
        client.open().await;
        clients.push(client);
    }
    let mut calls = tokio::task::JoinSet::new();
    for (number, client) in clients.into_iter().enumerate() {
        calls.spawn(async move {
            let args = json!({"size": number + 1});
            let (failed, said) = client.call("change_model_size", args).await.told();
            assert!(!failed, "{said}");
            assert_eq!(said, format!("Model size changed to {}", number + 1));
        });
    }
    page.until("changeSize", 1).await;
    page.release();
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    assert_eq!(page.commands().len(), 4);
}

#[tokio::test]
async fn an_id_that_is_taken_is_refused_while_its_page_lives() {
    let (hub, first) = hub_and_page(&["--takeover-probe", "20s"]).await;
    let mut second = Hello3d::dialled(Hello3d::dial(hub.compat("hello3d")), "first").await;
    let end = second.ended().await;
    assert!(matches!(end, End::Closed(..)), "{end:?}");
    assert_eq!(second.heard("sessionRegistered"), [] as [Value; 0]);
    assert!(second.heard("error")[0]["message"].is_string(), "it is told why");
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[1]).await;
    told(&mut client, "change_model_size", json!({"size": 2})).await;
    assert_eq!(first.commands().len(), 1);
    assert_eq!(hub.api().sessions().await.len(), 1);
}

#[tokio::test]
async fn a_dead_page_gives_its_id_away_and_its_late_end_takes_nothing_with_it() {
    let (hub, mut first) = hub_and_page(&["--takeover-probe", "200ms"]).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[1]).await;
    told(&mut client, "get_model_color", json!({})).await;
    first.order(Order::Freeze);
    let second = Hello3d::open(hub.compat("hello3d"), "first").await;
    second.with(|page| page.scene.color = "#00cc00".to_owned());
    first.vanish().await;
    let said = told(&mut client, "get_model_color", json!({"forceRefresh": true})).await;
    assert!(said.starts_with("Model color: #00cc00"), "{said}");
    told(&mut client, "change_model_size", json!({"size": 2})).await;
    assert_eq!((first.commands().len(), second.commands().len()), (0, 1));
    let sessions = hub.api().sessions().await;
    assert_eq!((sessions.len(), &sessions[0]["connected"]), (1, &json!(true)), "{sessions:?}");
}

#[tokio::test]
async fn a_dead_page_is_not_replaced_by_a_page_of_another_origin() {
    let (hub, first) = hub_and_page(&["--takeover-probe", "200ms"]).await;
    first.order(Order::Freeze);
    let dial = Dial::root(hub.compat("hello3d")).offer_only(&[]).origin("http://localhost:8080");
    let mut thief = Hello3d::dialled(dial, "first").await;
    let end = thief.ended().await;
    assert!(matches!(end, End::Closed(..)), "{end:?}");
    assert_eq!(thief.heard("sessionRegistered"), [] as [Value; 0]);
}

/// Asks for a socket; returns the answer where it is refused.
async fn refused(dial: Dial) -> Option<Response> {
    dial.try_connect().await.err().flatten()
}

#[tokio::test]
async fn only_pages_of_this_machine_are_let_in() {
    let (hub, page) = hub_and_page(&["--allow-origin", "chrome-extension://*"]).await;
    let port = hub.compat("hello3d");
    let dial = || Dial::root(port).offer_only(&[]);
    for origin in
        ["https://evil.example", "null", "http://localhost.evil.example", "https://hello3d.example"]
    {
        let answer = refused(dial().origin(origin)).await;
        assert_eq!(answer.map(|answer| answer.status), Some(403), "{origin}");
    }
    for origin in [ORIGIN, "http://127.0.0.1:8080", "http://localhost"] {
        assert!(dial().origin(origin).try_connect().await.is_ok(), "{origin}");
    }
    assert!(dial().try_connect().await.is_ok(), "a program shows a token");
    let refused = dial().without_token().try_connect().await.err().flatten();
    assert_eq!(refused.expect("a refusal").status, 401, "without an origin and a token");
    for (host, status) in [
        (format!("localhost:{port}"), 101),
        (format!("127.0.0.1:{port}"), 101),
        (format!("evil.example:{port}"), 403),
        ("localhost".to_owned(), 403),
    ] {
        let ask = Ask::bare_upgrade("/").header("Origin", ORIGIN).host(&host);
        assert_eq!(ask.send(port).await.status, status, "{host}");
    }
    for path in ["/api/sessions", "/mcp", "/metrics", "/viewer/"] {
        assert_eq!(Ask::own_get(path).send(port).await.status, 404, "{path}");
    }
    // A listener on every address would take this one too.
    let elsewhere = tokio::net::TcpStream::connect(("127.0.0.2", port)).await;
    assert!(elsewhere.is_err(), "loopback only, and not all of it");
    assert!(page.is_connected());
}

#[tokio::test]
async fn an_occupied_port_costs_one_dialect_and_is_said() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let other = hub_for_pages(&[]).await;
    for port in [port, other.compat("hello3d")] {
        let hub = hub(&["--compat", &format!("hello3d={port},moonsurf=0")]).await;
        assert_eq!(hub.api().get("/health").await.status, 200);
        assert_eq!(Ask::get("/health").send(hub.compat("moonsurf")).await.status, 200);
        let log = eventually("the log says it", async || {
            let log = hub.stderr();
            log.contains(&port.to_string()).then_some(log)
        })
        .await;
        assert!(log.contains("hello3d"), "{log}");
        let commands = hub.commands(PROGRAM);
        let shown = commands.run(&["dialects"]).await.must_exit(0).stdout;
        let line = shown.lines().find(|line| line.contains("hello3d")).unwrap_or_default();
        assert!(line.contains(&port.to_string()), "{shown}");
        let fine = shown.lines().find(|line| line.contains("moonsurf")).unwrap_or_default();
        assert!(fine.contains(&hub.compat("moonsurf").to_string()), "{shown}");
        let listed = commands.run(&["dialects", "--json"]).await.must_exit(0).json();
        let served = hub.api().get("/api/dialects").await.must_be(200).json();
        assert_eq!(listed, served["dialects"]);
        let named = |name: &str| {
            let mut all = listed.as_array().unwrap().iter();
            all.find(|one| one["name"] == name).unwrap().clone()
        };
        assert!(named("hello3d")["problem"].is_string() && named("moonsurf")["problem"].is_null());
        let client = McpHttp::modern(hub.port());
        assert!(client.request("tools/list", json!({})).await.result()["tools"].is_array());
    }
    let page = Hello3d::open(other.compat("hello3d"), "first").await;
    assert!(page.is_connected(), "the hub that was there first is not disturbed");
}
