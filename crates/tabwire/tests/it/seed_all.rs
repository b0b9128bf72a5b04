//! All five clients at once on the ports that they have built in, driven by two AI clients.
//!
//! One test, because these ports exist once on a machine. Runs of it side by side take turns.

use std::{env, fs::File, net::TcpListener, time::Duration};

use serde_json::{Value, json};
use testkit::{
    Era, HubProcess, McpHttp, McpStdio, StdioOptions, eventually,
    seeds::{
        enhanced::{self, Enhanced},
        hello3d::Hello3d,
        mcp_browser::{self, McpBrowser},
        moonsurf::{self, Moonsurf},
        webmcp::{self, WebMcp, WebMcpOptions},
        wire::Order,
    },
    within,
};

use crate::{
    scene::PROGRAM,
    seed_browsers::{names, session},
    seed_hello3d::patient_hub,
    seed_webmcp::{page_tools, shop},
};

/// The ports that the clients have built in: the one port, and three of their own.
const PORTS: [(u16, &str); 4] =
    [(8765, "enhanced and webmcp"), (3001, "hello3d"), (3300, "moonsurf"), (8851, "mcp_browser")];
/// Calls of each AI client to each of the five.
const ROUNDS: usize = 50;
/// How long all calls of both clients may take together.
const LIMIT: Duration = Duration::from_secs(300);

/// The five, as they connect by themselves.
struct Five {
    page: Hello3d,
    moonsurf: Moonsurf,
    enhanced: Enhanced,
    mcp_browser: McpBrowser,
    webmcp: WebMcp,
}

impl Five {
    async fn connect() -> Self {
        let page = Hello3d::open(3001, "first").await;
        let moonsurf = Moonsurf::start(3300).await;
        let enhanced = Enhanced::connect(8765).await;
        let mcp_browser = McpBrowser::connect(8851).await;
        let webmcp = WebMcpOptions::new(8765).tabs(vec![shop(71)]).connect().await;
        Self { page, moonsurf, enhanced, mcp_browser, webmcp }
    }
}

/// Who is asked for what, and what only that one can have answered.
struct Question {
    whose: &'static str,
    tool: &'static str,
    args: Value,
    answer: String,
}

/// Asks each of the five something that no other round and no other client asks.
fn questions(client: &str, round: usize) -> Vec<Question> {
    let mark = format!("{client}-{round}");
    let ask = |whose, tool, args, answer: String| Question { whose, tool, args, answer };
    // A colour of its own for each: red for one client, blue for the other.
    let color = match client {
        "stdio" => format!("#ff00{round:02x}"),
        _ => format!("#00{round:02x}ff"),
    };
    vec![
        ask("hello3d", "change_model_color", json!({"color": color}), color.clone()),
        ask(
            "moonsurf",
            "browser_execute",
            json!({"session": "moonsurf", "expression": format!("moon {mark}")}),
            format!("moon {mark}"),
        ),
        ask(
            "enhanced",
            "browser_navigate",
            json!({"session": "enhanced", "url": format!("https://enhanced.example/{mark}")}),
            format!("https://enhanced.example/{mark}"),
        ),
        ask(
            "mcp-browser",
            "browser_content",
            json!({"session": "mcp-browser", "action": "query", "selector": format!("#{mark}")}),
            format!("mcp-browser #{mark}"),
        ),
        ask(
            "chrome",
            "page_tools",
            json!({
                "session": "chrome", "action": "call", "tab": 71, "tool": "search",
                "args": {"query": mark},
            }),
            format!("\"query\":\"{mark}\""),
        ),
    ]
}

/// Fails the test unless a result is this question's, from the session that was asked.
#[track_caller]
fn check(question: &Question, result: &Value) {
    let Question { whose, tool, args, answer } = question;
    assert_ne!(result["isError"], true, "{whose} {tool} {args}: {result}");
    let said = format!("{}{}", testkit::mcp::text(result), result["structuredContent"]);
    assert!(said.contains(answer.as_str()), "{whose} {tool} {args}: {result}");
    let from = &result["_meta"]["tabwire"]["session"];
    assert_eq!(*from, json!(whose), "{tool} {args}: {result}");
}

async fn drive_stdio(client: &mut McpStdio, skip: &[&str]) {
    for round in 0..ROUNDS {
        // All of a round are under way at the same time.
        let mut asked = Vec::new();
        for question in questions("stdio", round) {
            if !skip.contains(&question.whose) {
                let params = json!({"name": question.tool, "arguments": question.args});
                asked.push((client.ask("tools/call", params).await, question));
            }
        }
        for (id, question) in asked {
            check(&question, &client.answer(id).await.result());
        }
    }
}

async fn drive_http(client: &McpHttp, skip: &[&str]) {
    for round in 0..ROUNDS {
        let one = async |number: usize| {
            let question = &questions("http", round)[number];
            if !skip.contains(&question.whose) {
                check(question, &client.call(question.tool, question.args.clone()).await.result());
            }
        };
        tokio::join!(one(0), one(1), one(2), one(3), one(4));
    }
}

/// Waits until no other run of this test on this machine has the ports; they are kept for this
/// one until the file is dropped.
async fn turn_on_the_ports() -> File {
    let path = env::temp_dir().join("tabwire-usual-ports.lock");
    let wait = move || {
        let own = File::options().create(true).append(true).open(&path);
        // One that another user has made can only be read, which is enough to lock it.
        let file = own.or_else(|_| File::open(&path));
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        file.lock().unwrap();
        file
    };
    tokio::task::spawn_blocking(wait).await.unwrap()
}

/// Fails with a clear message where another program has a port.
fn ports_must_be_free() {
    for (port, whose) in PORTS {
        if let Err(error) = TcpListener::bind(("127.0.0.1", port)) {
            panic!("port {port} of {whose} is not free, another program has it ({error}); end it");
        }
    }
}

async fn hub_on_the_usual_ports() -> HubProcess {
    ports_must_be_free();
    let origins = [moonsurf::ORIGIN, enhanced::ORIGIN, mcp_browser::ORIGIN, webmcp::ORIGIN];
    let flags = ["--port", "8765", "--compat", "all", "--allow-origin", &origins.join(",")];
    let hub = patient_hub().flags(&flags).start().await;
    for (dialect, port) in [("hello3d", 3001), ("moonsurf", 3300), ("mcp_browser", 8851)] {
        assert_eq!(hub.compat(dialect), port);
    }
    hub
}

/// Fails the test unless each heard what it was asked and nothing of the others.
fn nobody_heard_anything_else(five: &Five) {
    let colors = five.page.commands();
    assert_eq!(colors.len(), 2 * ROUNDS);
    assert!(colors.iter().all(|one| one["type"] == "changeColor"), "{colors:?}");
    let calls = five.moonsurf.calls();
    assert_eq!(calls.len(), 2 * ROUNDS);
    assert!(calls.iter().all(|(name, _)| name == "browser_evaluate"), "{calls:?}");
    let commands = five.enhanced.commands();
    assert_eq!(commands.len(), 2 * ROUNDS);
    assert!(commands.iter().all(|one| one["name"] == "browser_navigate"), "{commands:?}");
    let mut sessions: Vec<_> =
        commands.iter().map(|one| one["sessionId"].as_str().unwrap()).collect();
    sessions.sort_unstable();
    sessions.dedup();
    assert_eq!(sessions.len(), 2, "one per AI client");
    assert_eq!(five.mcp_browser.line.heard_of("dom_command").len(), 2 * ROUNDS);
    assert!(five.mcp_browser.line.heard_of("navigate").is_empty());
    assert_eq!(five.webmcp.line().heard_of("callTool").len(), 2 * ROUNDS);
    assert!(five.webmcp.line().heard_of("openTab").is_empty());
}

#[tokio::test]
async fn all_five_are_driven_by_two_ai_clients_at_once_and_one_death_stops_nobody() {
    // Dropped last: the next run starts when this hub is gone.
    let _turn = turn_on_the_ports().await;
    let hub = hub_on_the_usual_ports().await;
    let five = Five::connect().await;
    let all = ["chrome", "enhanced", "hello3d", "mcp-browser", "moonsurf"];
    for name in all {
        session(&hub, name).await;
    }
    assert_eq!(names(&hub).await, all);
    let mut stdio = StdioOptions::of(PROGRAM, &hub).connect(Era::Legacy("2025-11-25")).await;
    let http = McpHttp::modern(hub.port()).named("http");
    // What pages declare is found before it is called.
    page_tools(&http, json!({"action": "list"})).await;
    within(LIMIT, "all calls of both clients", async {
        tokio::join!(drive_stdio(&mut stdio, &[]), drive_http(&http, &[]))
    })
    .await;
    nobody_heard_anything_else(&five);

    five.enhanced.line.order(Order::Leave);
    eventually("its session is away", async || {
        (hub.api().session("enhanced").await["connected"] == false).then_some(())
    })
    .await;
    let skip = ["enhanced"];
    within(LIMIT, "all calls to the others", async {
        tokio::join!(drive_stdio(&mut stdio, &skip), drive_http(&http, &skip))
    })
    .await;
    let args = json!({"session": "enhanced", "url": "https://gone.example/"});
    let (failed, said) = http.call("browser_navigate", args).await.told();
    assert!(failed && said.contains("not_connected"), "{said}");
    for name in all {
        let session = hub.api().session(name).await;
        assert_eq!(session["connections"], 1, "{name}");
        assert_eq!(session["connected"], name != "enhanced", "{name}");
    }
}
