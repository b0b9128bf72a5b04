//! mcp-browser: commands in the one tab that it controls, over every transport.

use serde_json::{Value, json};
use testkit::{
    McpClient, PATIENCE, Unanswered,
    mcp::client::WAYS,
    seeds::{
        enhanced::tabs::PIXEL,
        mcp_browser::{McpBrowser, McpBrowserOptions, page::Tab},
    },
    within,
};

use crate::{
    scene::PROGRAM,
    seed_browsers::{client, done, failed, hub_for_extensions, session},
    seed_mcp_browser::hub_and_browser,
};

#[tokio::test]
async fn a_navigation_is_reported_when_the_tab_says_that_it_is_there() {
    let (hub, browser) = hub_and_browser(&[]).await;
    browser.change(|page| page.slow = true);
    let claude = client(&hub, "claude");
    let args = json!({"url": "https://slow.example/"});
    let (result, ()) = tokio::join!(done(&claude, "browser_navigate", args), async {
        let command = browser.line.until_heard("navigate").await;
        assert_eq!(command["url"], "https://slow.example/");
        // It is asked more than once, and the call goes on while the page loads.
        browser.line.until_heard_times("get_tab_info", 2).await;
        assert_eq!(hub.api().session("mcp-browser").await["callsInFlight"], 1);
        browser.change(|page| page.redirects.push_back("https://landed.example/".to_owned()));
        browser.change(|page| page.finish_loading());
    });
    assert!(result.to_string().contains("https://landed.example/"), "where it ended up: {result}");
}

#[tokio::test]
async fn a_page_that_does_not_load_is_not_reported_as_loaded() {
    let (hub, browser) = hub_and_browser(&["--call-timeout", "600ms"]).await;
    browser.change(|page| page.slow = true);
    let claude = client(&hub, "claude");
    let said = failed(&claude, "browser_navigate", json!({"url": "https://never.example/"})).await;
    assert!(said.contains("timed_out"), "{said}");
    // It may be read later than the end of the call.
    browser.line.until_heard("navigate").await;
    assert_eq!(browser.line.heard_of("navigate").len(), 1, "once");
}

#[tokio::test]
async fn every_command_reaches_the_tab_over_every_transport() {
    for way in WAYS {
        let (hub, browser) = hub_and_browser(&[]).await;
        browser.change(|page| page.evaluates = Some(Ok("\"four\"".to_owned())));
        let mut claude = McpClient::connect(PROGRAM, &hub, way).await;
        for (tool, args, part) in [
            ("browser_navigate", json!({"url": "https://a.example/"}), "https://a.example/"),
            ("browser_content", json!({"action": "query", "selector": "#p"}), "mcp-browser #p"),
            ("browser_content", json!({"action": "get"}), "Text of mcp-browser"),
            ("browser_content", json!({"action": "get", "format": "semantic"}), "Heading of"),
            ("browser_content", json!({"action": "get", "format": "ascii"}), "Button of"),
            ("browser_interact", json!({"action": "click", "selector": "#buy"}), ""),
            ("browser_interact", json!({"action": "type", "selector": "#q", "text": "tea"}), ""),
            ("browser_interact", json!({"action": "check", "selector": "#c"}), ""),
            ("browser_interact", json!({"action": "select", "selector": "#s", "value": "b"}), ""),
            ("browser_interact", json!({"action": "submit", "selector": "form"}), ""),
            ("browser_navigate", json!({"action": "wait", "selector": "#w"}), ""),
            ("browser_execute", json!({"expression": "2 + 2"}), "four"),
        ] {
            let result = claude.call(tool, args.clone()).await.result();
            assert_ne!(result["isError"], true, "{way:?} {tool} {args}: {result}");
            assert!(result.to_string().contains(part), "{way:?} {tool} {args}: {result}");
        }
        let picture = json!({"action": "screenshot"});
        let picture = claude.call("browser_content", picture).await.result();
        let content = picture["content"].as_array().unwrap();
        let image = content.iter().find(|one| one["type"] == "image");
        assert_eq!(image.map(|one| &one["data"]), Some(&json!(PIXEL)), "{way:?}: {picture}");
        let commands = browser.line.heard_of("dom_command");
        assert!(commands.iter().all(|one| one["command"]["params"].is_object()), "{commands:?}");
        let mut ids: Vec<_> = commands.iter().map(|one| one["requestId"].to_string()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "each has its own id");
    }
}

#[tokio::test]
async fn what_fails_in_the_page_is_an_error_over_every_transport() {
    for way in WAYS {
        let (hub, browser) = hub_and_browser(&[]).await;
        let error = "ReferenceError: nothing is not defined".to_owned();
        browser.change(|page| page.evaluates = Some(Err(error)));
        let mut claude = McpClient::connect(PROGRAM, &hub, way).await;
        for (tool, args, part) in [
            ("browser_interact", json!({"action": "click", "selector": "#missing"}), "not found"),
            (
                "browser_interact",
                json!({"action": "type", "selector": "#missing", "text": "x"}),
                "not found",
            ),
            ("browser_content", json!({"action": "query", "selector": "#missing"}), "not found"),
            (
                "browser_navigate",
                json!({"action": "wait", "selector": "#missing", "timeoutMs": 20_000}),
                "not found",
            ),
            ("browser_execute", json!({"expression": "nothing"}), "ReferenceError"),
        ] {
            let (failed, said) = claude.call(tool, args.clone()).await.told();
            assert!(failed, "{way:?} {tool} {args}: {said}");
            assert!(said.contains(part), "{way:?} {tool} {args}: {said}");
        }
    }
}

/// Answers one click in a shape of its own.
async fn click_answered(browser: &McpBrowser, round: usize, answer: Value) {
    let heard = |kind: &str| browser.line.heard_of(kind);
    let command = testkit::eventually("a click", async || {
        let clicks = [heard("dom_command"), heard("click")].concat();
        clicks.get(round).cloned()
    })
    .await;
    let mut answer = answer;
    answer["type"] = json!("dom_command_response");
    answer["requestId"] = command["requestId"].clone();
    browser.line.say(answer);
}

#[tokio::test]
async fn answers_are_understood_flat_and_nested() {
    let (hub, browser) = hub_and_browser(&[]).await;
    browser.hold("#buy");
    let claude = client(&hub, "claude");
    for (round, (answer, fails, part)) in [
        (json!({"success": true, "selector": "#buy"}), false, ""),
        (json!({"success": false, "error": "covered by a dialog"}), true, "covered by a dialog"),
        (json!({"response": {"success": true, "elementInfo": {"text": "Buy"}}}), false, "Buy"),
        (json!({"response": {"success": false, "error": "gone"}}), true, "gone"),
        (json!({"response": {"success": false}}), true, ""),
        (json!({"response": null}), true, ""),
        (json!({}), true, ""),
    ]
    .into_iter()
    .enumerate()
    {
        let args = json!({"action": "click", "selector": "#buy"});
        let call = async { claude.call("browser_interact", args).await.told() };
        let ((failed, said), ()) =
            tokio::join!(call, click_answered(&browser, round, answer.clone()));
        assert_eq!(failed, fails, "{answer}: {said}");
        assert!(said.contains(part), "{answer}: {said}");
    }
    browser.line.must_be_open();
}

#[tokio::test]
async fn calls_at_once_get_their_own_answers() {
    let (hub, browser) = hub_and_browser(&[]).await;
    browser.hold("get_element");
    let query = |name: &'static str, selector: &'static str| {
        let client = client(&hub, name);
        async move {
            done(&client, "browser_content", json!({"action": "query", "selector": selector})).await
        }
    };
    let all = async { tokio::join!(query("a", "#one"), query("b", "#two"), query("c", "#three")) };
    let release = async {
        browser.line.until_heard_times("dom_command", 3).await;
        // The newest first.
        browser.release();
    };
    let ((one, two, three), ()) =
        within(PATIENCE, "three answers", async { tokio::join!(all, release) }).await;
    for (result, selector) in [(one, "#one"), (two, "#two"), (three, "#three")] {
        assert!(result.to_string().contains(&format!("mcp-browser {selector}")), "{result}");
    }
}

#[tokio::test]
async fn without_a_tab_every_call_is_an_error_at_once_that_says_what_to_do() {
    let hub = hub_for_extensions(&["--call-timeout", "60s"]).await;
    let options = McpBrowserOptions::new(hub.compat("mcp_browser")).without_tab();
    let browser = options.connect().await;
    session(&hub, "mcp-browser").await;
    let claude = client(&hub, "claude");
    let unanswered = Unanswered::call(hub.port()).await;
    for (tool, args) in [
        ("browser_navigate", json!({"url": "https://a.example/"})),
        ("browser_content", json!({"action": "query", "selector": "#a"})),
        ("browser_interact", json!({"action": "click", "selector": "#a"})),
        ("browser_content", json!({"action": "screenshot"})),
        ("browser_execute", json!({"expression": "1"})),
    ] {
        let said = failed(&claude, tool, args.clone()).await;
        assert!(said.contains("Connect") || said.contains("tab"), "{tool} {args}: {said}");
    }
    unanswered.must_be_under_way("at once, not after the timeout").await;
    browser.assign(Tab::new(4711, "https://start.example/"));
    done(&claude, "browser_navigate", json!({"url": "https://a.example/"})).await;
    assert_eq!(browser.tab().unwrap().url, "https://a.example/");
}

#[tokio::test]
async fn a_tab_that_was_closed_ends_calls_in_time_and_says_what_to_do() {
    let (hub, browser) = hub_and_browser(&["--call-timeout", "400ms"]).await;
    browser.change(|page| page.tab.as_mut().unwrap().closed = true);
    let claude = client(&hub, "claude");
    for (tool, args) in [
        ("browser_navigate", json!({"url": "https://a.example/"})),
        ("browser_content", json!({"action": "query", "selector": "#a"})),
    ] {
        let said = failed(&claude, tool, args).await;
        assert!(said.contains("timed_out"), "{said}");
    }
    browser.line.must_be_open();
}

#[tokio::test]
async fn what_it_has_no_command_for_is_refused() {
    let (hub, browser) = hub_and_browser(&[]).await;
    let claude = client(&hub, "claude");
    for (tool, args) in [
        ("browser_content", json!({"action": "pdf"})),
        ("browser_network", json!({"action": "get_cookies"})),
        ("browser_emulate", json!({"action": "offline", "offline": true})),
        ("browser_navigate", json!({"action": "back"})),
        ("browser_interact", json!({"action": "press", "key": "Enter"})),
    ] {
        let said = failed(&claude, tool, args.clone()).await;
        assert!(said.contains("unsupported"), "{tool} {args}: {said}");
    }
    assert!(browser.line.heard_of("dom_command").is_empty());
    browser.line.must_be_open();
}

#[tokio::test]
async fn an_object_that_a_script_returns_is_an_object() {
    let (hub, browser) = hub_and_browser(&[]).await;
    // The extension makes a text of every value, and of an object a useless one.
    browser.change(|page| page.object = Some(json!({"answer": 42})));
    let claude = client(&hub, "claude");
    let args = json!({"expression": "({answer: 6 * 7})"});
    let result = done(&claude, "browser_execute", args).await;
    assert!(result.to_string().contains("42"), "{result}");
}

#[tokio::test]
async fn the_one_tab_is_listed() {
    let (hub, _browser) = hub_and_browser(&[]).await;
    let listed = done(&client(&hub, "claude"), "browser_tab", json!({"action": "list"})).await;
    let tab = &listed["tabs"][0];
    assert_eq!((&tab["tab"], &tab["url"]), (&json!(4711), &json!("https://start.example/")));
    assert_eq!(listed["tabs"].as_array().map(Vec::len), Some(1), "{listed}");
}
