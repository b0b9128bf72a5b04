//! ripulio/browser-mcp: two browsers, two sockets of one browser, strangers, and frames that are
//! none.

use serde_json::json;
use testkit::{
    Ask, Dial, FakeApp, HubOptions, eventually,
    frame::{frame, opcode},
    seeds::{
        webmcp::{ORIGIN, Tab, WebMcpOptions},
        wire::Order,
    },
};

use crate::{
    scene::{PROGRAM, hub},
    seed_browsers::{
        client, done, failed, feed_of, hub_for_extensions, names, session, until_said,
    },
    seed_enhanced_odd::UNREADABLE,
    seed_webmcp::{page_tools, shop, shopping, until_tabs},
};

#[tokio::test]
async fn two_browsers_are_two_sessions() {
    let hub = hub_for_extensions(&[]).await;
    let options =
        |label: &str, id: i64| WebMcpOptions::new(hub.port()).label(label).tabs(vec![shop(id)]);
    let home = options("home", 71).connect().await;
    session(&hub, "chrome").await;
    let work = options("work", 5_081).connect().await;
    session(&hub, "chrome-2").await;
    let claude = client(&hub, "claude");
    page_tools(&claude, json!({"action": "list"})).await;
    for (name, tab, from) in [("chrome", 71, "home"), ("chrome-2", 5_081, "work")] {
        let args = json!({
            "action": "call", "session": name, "tab": tab, "tool": "search",
            "args": {"query": name},
        });
        let result = done(&claude, "page_tools", args).await;
        assert_eq!((&result["from"], &result["tab"]), (&json!(from), &json!(tab)));
        assert_eq!(result["args"]["query"], name);
    }
    assert_eq!(home.line().heard_of("callTool").len(), 1);
    assert_eq!(work.line().heard_of("callTool").len(), 1);
    let said = failed(&claude, "browser_tab", json!({"action": "new"})).await;
    assert!(said.contains("\"chrome\"") && said.contains("\"chrome-2\""), "{said}");
    // One leaves, the other does not notice.
    drop(home);
    hub.api().until_connected("chrome", false).await;
    let args = json!({
        "action": "call", "session": "chrome-2", "tab": 5_081, "tool": "search",
        "args": {"query": "again"},
    });
    assert_eq!(done(&claude, "page_tools", args).await["from"], "work");
    work.line().must_be_open();
}

#[tokio::test]
async fn a_browser_that_was_restarted_is_the_same_session() {
    let hub = hub_for_extensions(&[]).await;
    let before = shopping(&hub).await;
    drop(before);
    hub.api().until_connected("chrome", false).await;
    // A restarted browser numbers its tabs anew.
    let tabs = vec![shop(9_001)];
    let after = WebMcpOptions::new(hub.port()).tabs(tabs).connect().await;
    session(&hub, "chrome").await;
    until_tabs(&hub, "chrome", &[(9_001, "Shop")]).await;
    assert_eq!(names(&hub).await, ["chrome"]);
    after.line().must_be_open();
}

#[tokio::test]
async fn a_browser_of_another_make_has_its_own_name() {
    let hub = hub_for_extensions(&[]).await;
    let options = WebMcpOptions::new(hub.port()).browser("Microsoft Edge").tabs(vec![shop(71)]);
    let _edge = options.connect().await;
    session(&hub, "microsoft-edge").await;
}

#[tokio::test]
async fn two_sockets_of_one_browser_are_one_session_and_the_newest_is_spoken_to() {
    let hub = hub_for_extensions(&[]).await;
    let options = WebMcpOptions::new(hub.port()).tabs(vec![shop(71)]).events_everywhere();
    let mut browser = options.connect().await;
    session(&hub, "chrome").await;
    let claude = client(&hub, "claude");
    page_tools(&claude, json!({"action": "list"})).await;
    browser.open_another().await;
    browser.lines[1].until_heard("connect").await;
    let search = json!({"action": "call", "tool": "search", "tab": 71, "args": {"query": "tea"}});
    eventually("calls go to the newest", async || {
        page_tools(&claude, json!({"action": "list"})).await;
        done(&claude, "page_tools", search.clone()).await;
        (!browser.lines[1].heard_of("callTool").is_empty()).then_some(())
    })
    .await;
    browser.user_opens(Tab::new(75, "News", "https://news.example/"));
    browser.user_goes(75, "Weather", "https://weather.example/");
    until_tabs(&hub, "chrome", &[(71, "Shop"), (75, "Weather")]).await;
    browser.user_closes(75);
    browser.user_opens(Tab::new(80, "Marker", "https://marker.example/"));
    until_tabs(&hub, "chrome", &[(71, "Shop"), (80, "Marker")]).await;
    // A call that goes through after the events: both sockets have been read by then.
    for line in &browser.lines {
        line.say(json!({"type": "ping"}));
        line.until_heard("pong").await;
        line.must_be_open();
    }
    assert_eq!(names(&hub).await, ["chrome"]);
    let of_75 = |items: Vec<serde_json::Value>| {
        items.iter().filter(|item| item["body"].to_string().contains("75")).count()
    };
    assert_eq!(of_75(feed_of(&hub, "chrome", "tabCreated").await), 1);
    assert_eq!(of_75(feed_of(&hub, "chrome", "tabClosed").await), 1);
    let updates = feed_of(&hub, "chrome", "tabUpdated").await;
    let weather = updates.iter().filter(|item| item["body"].to_string().contains("Weather"));
    assert_eq!(weather.count(), 1, "{updates:?}");
}

#[tokio::test]
async fn an_answer_counts_on_whichever_socket_of_the_browser_it_comes() {
    let hub = hub_for_extensions(&[]).await;
    let mut browser = shopping(&hub).await;
    let claude = client(&hub, "claude");
    page_tools(&claude, json!({"action": "list"})).await;
    browser.hold("callTool");
    let search = json!({"action": "call", "tool": "search", "tab": 71, "args": {"query": "tea"}});
    let (result, ()) = tokio::join!(done(&claude, "page_tools", search), async {
        browser.until_held(1).await;
        browser.open_another().await;
        browser.lines[1].until_heard("connect").await;
        browser.release();
    });
    assert_eq!(result["args"]["query"], "tea");
    browser.lines[0].must_be_open();
}

#[tokio::test]
async fn the_loss_of_one_socket_does_not_end_the_session() {
    let hub = hub_for_extensions(&[]).await;
    let mut browser = shopping(&hub).await;
    let claude = client(&hub, "claude");
    page_tools(&claude, json!({"action": "list"})).await;
    browser.open_another().await;
    browser.lines[1].until_heard("connect").await;
    browser.close_line(0).await;
    // The extension has lost its way to this port by now, and makes a new one within 5 s.
    browser.open_another().await;
    browser.lines[2].until_heard("connect").await;
    let search = json!({"action": "call", "tool": "search", "tab": 71, "args": {"query": "tea"}});
    eventually("the newest is spoken to", async || {
        page_tools(&claude, json!({"action": "list"})).await;
        done(&claude, "page_tools", search.clone()).await;
        (!browser.lines[2].heard_of("callTool").is_empty()).then_some(())
    })
    .await;
    assert_eq!(names(&hub).await, ["chrome"]);
    until_tabs(&hub, "chrome", &[(71, "Shop"), (72, "Blank")]).await;
}

#[tokio::test]
async fn another_page_cannot_occupy_the_place() {
    let hub = hub_for_extensions(&[]).await;
    // Whoever comes first and says nothing, or lies, is in nobody's way.
    let mut silent = WebMcpOptions::new(hub.port()).dial().connect().await;
    silent.until("connect").await;
    for origin in [
        "https://evil.example",
        "http://localhost:5173",
        "null",
        "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ] {
        let dial = WebMcpOptions::new(hub.port()).origin(Some(origin)).dial();
        let answer = dial.try_connect().await.err().flatten();
        assert_eq!(answer.expect("a refusal").status, 403, "{origin}");
    }
    let browser = shopping(&hub).await;
    let claude = client(&hub, "claude");
    page_tools(&claude, json!({"action": "list"})).await;
    let search = json!({"action": "call", "tool": "search", "tab": 71, "args": {"query": "tea"}});
    assert_eq!(done(&claude, "page_tools", search).await["from"], "webmcp");
    browser.line().must_be_open();
}

#[tokio::test]
async fn whoever_has_no_token_drives_nobody_where_one_is_required() {
    let options = HubOptions::new(PROGRAM);
    let tokens = options.place().write("tokens", "a-secret-that-is-long-enough\n");
    let tokens = tokens.to_str().unwrap();
    let flags = ["--require-token", "--token-file", tokens, "--allow-origin", ORIGIN];
    let hub = options.flags(&flags).start().await;
    let browser = WebMcpOptions::new(hub.port()).tabs(vec![shop(71)]).connect().await;
    let token = "a-secret-that-is-long-enough";
    eventually("the browser is a session", async || {
        let answer = hub.api().with_token(token).get("/api/sessions/chrome").await;
        (answer.status == 200 && answer.json()["connected"] == true).then_some(())
    })
    .await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let ask = Ask::post("/mcp", &message).header("Accept", "application/json, text/event-stream");
    assert_eq!(ask.send(hub.port()).await.status, 401);
    assert_eq!(Ask::get("/api/sessions").send(hub.port()).await.status, 401);
    let bearer = format!("Bearer {token}");
    let claude = client(&hub, "claude").header("Authorization", &bearer);
    let opened =
        done(&claude, "browser_tab", json!({"action": "new", "url": "https://a.example/"}));
    assert_eq!(opened.await["tab"], 72);
    browser.line().must_be_open();
}

#[tokio::test]
async fn any_extension_may_be_let_in_and_is_marked_and_gets_no_further() {
    let hub = hub(&["--allow-origin", "chrome-extension://*"]).await;
    until_said(&hub, &["WARN", "chrome-extension://*"]).await;
    let any = "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let _browser = WebMcpOptions::new(hub.port()).origin(Some(any)).connect().await;
    assert_eq!(session(&hub, "chrome").await["unproven"], true);
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for ask in
        [Ask::own_get("/api/sessions"), Ask::own_post("/mcp", &message), Ask::own_get("/metrics")]
    {
        let answer = ask.header("Origin", any).send(hub.port()).await;
        assert_eq!(answer.status, 403);
    }
    let native = Dial::root(hub.port()).origin(any).try_connect().await.err().flatten();
    assert_eq!(native.expect("a refusal").status, 403);
    for page in ["https://evil.example", "http://localhost:5173", "null"] {
        let dial = WebMcpOptions::new(hub.port()).origin(Some(page)).dial();
        assert_eq!(dial.try_connect().await.err().flatten().unwrap().status, 403, "{page}");
    }
    let named = crate::seed_browsers::hub_for_extensions(&[]).await;
    let _browser = WebMcpOptions::new(named.port()).origin(Some(ORIGIN)).connect().await;
    assert_eq!(session(&named, "chrome").await["unproven"], true, "an origin is no proof");
}

#[tokio::test]
async fn a_frame_that_cannot_be_read_is_answered_and_costs_nothing() {
    let hub = hub_for_extensions(&[]).await;
    let bystander = FakeApp::echo(hub.port(), "bystander", &["greet"]).await;
    let browser = shopping(&hub).await;
    for (number, frame) in UNREADABLE.iter().enumerate() {
        browser.line().text(frame);
        browser.line().until_heard_times("error", number + 1).await;
    }
    browser.line().order(Order::Bytes(frame(opcode::BINARY, true, b"\x00\x01")));
    browser.line().until_heard_times("error", UNREADABLE.len() + 1).await;
    for frame in [
        "{}",
        r#"{"type":"telepathy"}"#,
        r#"{"type":"toolResult"}"#,
        r#"{"type":"toolResult","callId":7,"result":1}"#,
        r#"{"type":"toolsDiscovered","callId":"none","tabId":"x","tools":5}"#,
        r#"{"type":"toolsChanged","tabId":71,"tools":[5,{"name":7},{"name":"kept"}]}"#,
        r#"{"type":"tabCreated"}"#,
        r#"{"type":"tabCreated","tab":{"id":"x"}}"#,
        r#"{"type":"tabUpdated","tab":{"id":4000000,"title":5}}"#,
        r#"{"type":"tabClosed","tabId":"all"}"#,
        r#"{"type":"tabFocused","tabId":123456}"#,
        r#"{"type":"connected","browser":7,"tabs":[5]}"#,
    ] {
        browser.line().text(frame);
    }
    browser.line().say(json!({"type": "ping"}));
    browser.line().until_heard("pong").await;
    browser.line().must_be_open();
    assert_eq!(hub.api().session("bystander").await["connections"], 1);
    assert!(bystander.received("error").is_empty());
    assert_eq!(session(&hub, "chrome").await["connections"], 1);
}
