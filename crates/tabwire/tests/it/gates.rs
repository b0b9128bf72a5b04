//! Every route is behind the same gates, and nothing happens before they are passed.

use serde_json::json;
use testkit::{Ask, Dial, FakeBrowser};

use crate::scene::{Scene, hub};

const ROUTES: &[&str] = &[
    "/",
    "/session/x",
    "/health",
    "/metrics",
    "/info",
    "/viewer/",
    "/pages/key",
    "/mcp",
    "/nowhere",
    "//api/sessions",
    "/api",
];

/// Every route, those of the admin API as its router has them.
fn routes() -> Vec<String> {
    let fill = |path: &str| path.replace("{session}", "bystander").replace("{id}", "x");
    let admin = edge::admin::routes().into_iter().map(|route| fill(route.path));
    ROUTES.iter().map(|route| (*route).to_owned()).chain(admin).collect()
}

const FOREIGN_ORIGINS: &[&str] = &[
    "null",
    "https://evil.example",
    "http://evil.example:{port}",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://localhost:{port}.evil.example",
    "http://localhost:{port}@evil.example",
    "http://user@localhost:{port}",
    "http://localhost:",
    "http://0.0.0.0:{port}",
    "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
    "chrome-extension://flijodnkmdflbekoipgfjippcnecmdfj",
    "moz-extension://6d0f4b7e",
    "file://",
    "ws://localhost:{port}",
    "http://[::1]:{port}.evil.example",
];

const FOREIGN_HOSTS: &[&str] = &[
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil.example:{port}",
    "localhost:{port}.evil.example",
    "0.0.0.0:{port}",
    "127.0.0.2:{port}",
    "[::2]:{port}",
    " ",
];

/// Every way to ask for a route.
fn asks(route: &str) -> [Ask; 3] {
    let body = json!({"tool": "greet", "session": "bystander", "name": "x"});
    [Ask::get(route), Ask::upgrade(route), Ask::post(route, &body)]
}

async fn check_everywhere(scene: &Scene, status: u16, change: impl Fn(Ask) -> Ask) {
    for route in routes() {
        for ask in asks(&route) {
            let answer = change(ask.clone()).send(scene.port()).await;
            assert_eq!(answer.status, status, "{:?}: {}", change(ask), answer.text());
            assert!(answer.header("access-control-allow-origin").is_none());
        }
    }
}

/// Fails the test when a refused request had an effect.
async fn nothing_happened(scene: &Scene) {
    let sessions = scene.api().sessions().await;
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["sent"]["sequence"], 0);
    assert_eq!(scene.api().metrics().await.sum("tabwire_calls_total"), 0.0);
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_foreign_host_is_refused_on_every_route() {
    let scene = Scene::new(&[]).await;
    for host in FOREIGN_HOSTS {
        let host = host.replace("{port}", &scene.port().to_string());
        check_everywhere(&scene, 403, |ask| ask.host(&host)).await;
    }
    nothing_happened(&scene).await;
}

#[tokio::test]
async fn a_missing_host_is_refused_and_a_doubled_one_is_wrong_on_every_route() {
    let scene = Scene::new(&[]).await;
    check_everywhere(&scene, 403, Ask::without_host).await;
    let ours = format!("127.0.0.1:{}", scene.port());
    check_everywhere(&scene, 400, |ask| ask.header("Host", &ours)).await;
    check_everywhere(&scene, 400, |ask| ask.header("Host", "evil.example")).await;
    nothing_happened(&scene).await;
}

#[tokio::test]
async fn a_foreign_origin_is_refused_on_every_route() {
    let scene = Scene::new(&[]).await;
    for origin in FOREIGN_ORIGINS {
        let origin = origin.replace("{port}", &scene.port().to_string());
        check_everywhere(&scene, 403, |ask| ask.header("Origin", &origin)).await;
    }
    nothing_happened(&scene).await;
}

#[tokio::test]
async fn a_doubled_origin_is_wrong_on_every_route() {
    let scene = Scene::new(&[]).await;
    let ours = format!("http://127.0.0.1:{}", scene.port());
    for second in [ours.as_str(), "https://evil.example"] {
        check_everywhere(&scene, 400, |ask| ask.header("Origin", &ours).header("Origin", second))
            .await;
    }
    nothing_happened(&scene).await;
}

#[tokio::test]
async fn the_hub_is_reached_under_its_own_names() {
    let hub = hub(&["--allow-host", "hub.example:8765"]).await;
    let port = hub.port();
    for host in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("LOCALHOST:{port}"),
        format!("[::1]:{port}"),
        "hub.example:8765".to_owned(),
    ] {
        Ask::get("/health").host(&host).send(port).await.must_be(200);
    }
    let absolute = format!("http://localhost:{port}/health");
    Ask::get(&absolute).send(port).await.must_be(200);
    Ask::get("http://evil.example/health").send(port).await.must_be(403);
}

#[tokio::test]
async fn a_page_on_this_machine_may_be_an_app_and_nothing_more() {
    let scene = Scene::new(&[]).await;
    for (number, origin) in
        ["http://localhost:5173", "http://127.0.0.1", "https://[::1]:8443"].iter().enumerate()
    {
        let named = |kind: &str| format!("{kind}-{number}");
        let mut app =
            FakeBrowser::app(scene.port(), &named("app")).dialled(|dial| dial.origin(origin));
        app.connect().await;
        assert_eq!(scene.api().session(&named("app")).await["origin"], *origin);
        let browser = FakeBrowser::browser(scene.port(), &named("browser"));
        let ending = browser.dialled(|dial| dial.origin(origin)).try_connect().await.unwrap_err();
        assert_eq!((ending.code, ending.clean), (4503, true), "{ending:?}");
        for route in routes().iter().filter(|route| route.starts_with("/api") || *route == "/mcp") {
            for ask in asks(route) {
                let answer = ask.header("Origin", origin).send(scene.port()).await;
                assert_eq!(answer.status, 403, "{route}: {}", answer.text());
            }
        }
        let preflight = Ask::new("OPTIONS", "/api/call")
            .header("Origin", origin)
            .header("Access-Control-Request-Method", "POST");
        preflight.send(scene.port()).await.must_be(403);
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn our_own_pages_control_nothing() {
    let scene = Scene::new(&[]).await;
    for origin in ["http://127.0.0.1", "http://localhost", "http://[::1]"] {
        let origin = format!("{origin}:{}", scene.port());
        for route in ["/api/sessions", "/mcp", "/metrics", "/info"] {
            let ask = Ask::own_get(route).header("Origin", &origin);
            ask.send(scene.port()).await.must_be(403);
        }
    }
    let embedded = Ask::own_get("/api/sessions").header("Sec-Fetch-Site", "same-origin");
    embedded.send(scene.port()).await.must_be(403);
}

#[tokio::test]
async fn a_configured_origin_is_exact_and_controls_with_a_token() {
    let hub = hub(&["--allow-origin", "https://app.example"]).await;
    let ask = |origin: &str| Ask::own_get("/api/sessions").header("Origin", origin);
    ask("https://app.example").send(hub.port()).await.must_be(200);
    for near in ["https://app.example:8443", "http://app.example", "https://www.app.example"] {
        ask(near).send(hub.port()).await.must_be(403);
    }
    let unknown = Ask::get("/api/sessions").header("Origin", "https://app.example");
    unknown.send(hub.port()).await.must_be(401);
    let page = |dial: Dial| dial.origin("https://app.example");
    FakeBrowser::app(hub.port(), "app").dialled(page).connect().await;
    let browser = FakeBrowser::browser(hub.port(), "chrome");
    let ending = browser.dialled(page).try_connect().await.unwrap_err();
    assert_eq!(ending.code, 4503, "a browser needs more than an origin: {ending:?}");
}

#[tokio::test]
async fn a_body_that_a_page_could_send_unasked_is_refused() {
    let scene = Scene::new(&[]).await;
    let body = json!({"tool": "greet", "session": "bystander", "name": "x"}).to_string();
    for route in ["/api/call", "/api/events"] {
        for kind in [
            None,
            Some("text/plain"),
            Some("text/plain; application/json"),
            Some("application/x-www-form-urlencoded"),
            Some("multipart/form-data; boundary=x"),
            Some("application/jsonp"),
        ] {
            let mut ask = Ask::own("POST", route).body(body.clone().into_bytes());
            if let Some(kind) = kind {
                ask = ask.header("Content-Type", kind);
            }
            let answer = ask.send(scene.port()).await;
            assert_eq!((answer.status, answer.fault().as_str()), (400, "invalid_argument"));
        }
    }
    nothing_happened(&scene).await;
    let ask = Ask::own("POST", "/api/call")
        .header("Content-Type", "Application/JSON; charset=utf-8")
        .body(json!({"tool": "greet", "session": "bystander"}).to_string().into_bytes());
    ask.send(scene.port()).await.must_be(200);
}

#[tokio::test]
async fn a_body_that_is_wrong_says_why() {
    let scene = Scene::new(&["--body-bytes", "1000"]).await;
    let check = async |body: &str, status: u16, code: &str| {
        let ask = Ask::own("POST", "/api/call")
            .header("Content-Type", "application/json")
            .body(body.as_bytes().to_vec());
        let answer = ask.send(scene.port()).await;
        assert_eq!((answer.status, answer.fault().as_str()), (status, code), "{body:.100}");
    };
    check("not json", 400, "invalid_argument").await;
    check("{}", 400, "invalid_argument").await;
    check(r#"{"tool":"greet","tol":1}"#, 400, "invalid_argument").await;
    check(r#"{"tool":"greet","tool":"other"}"#, 400, "invalid_argument").await;
    check(r#"{"tool":"greet","args":[1]}"#, 400, "invalid_argument").await;
    check(r#"{"tool":"greet","timeoutMs":-1}"#, 400, "invalid_argument").await;
    check(
        &format!(r#"{{"tool":"greet","args":{{"a":"{}"}}}}"#, "x".repeat(1000)),
        413,
        "too_large",
    )
    .await;
    let deep =
        format!(r#"{{"tool":"greet","args":{{"a":{}{}}}}}"#, "[".repeat(128), "]".repeat(128));
    check(&deep, 413, "too_large").await;
    scene.bystander_answers().await;
}

#[tokio::test]
async fn unknown_addresses_and_methods_are_told_apart() {
    let hub = hub(&[]).await;
    for path in ["/nowhere", "/api", "/api/nowhere", "/mcpx", "/Health", "/api/sessions/a/b/c"] {
        let answer = Ask::own_get(path).send(hub.port()).await;
        assert_eq!((answer.status, answer.fault().as_str()), (404, "not_found"), "{path}");
    }
    for (method, path) in [("POST", "/health"), ("GET", "/api/call"), ("DELETE", "/api/sessions")] {
        Ask::own(method, path).send(hub.port()).await.must_be(405);
    }
    let plain = Ask::own_get("/session/x").send(hub.port()).await;
    assert_eq!((plain.status, plain.fault().as_str()), (400, "invalid_argument"));
    assert!(Dial::session(hub.port(), "x").try_connect().await.is_ok());
}
