//! ripulio/browser-mcp: tabs that are opened, closed and brought to the front, and the answers
//! that the extension gives in three different ways or not at all.

use serde_json::{Value, json};
use testkit::{
    PATIENCE, Unanswered,
    seeds::{
        webmcp::{Load, Tab, WebMcpOptions},
        wire::Order,
    },
    within,
};

use crate::{
    seed_browsers::{client, done, failed, feed_of, hub_for_extensions, session},
    seed_webmcp::{page_tools, shop, shopping, until_tabs},
};

#[tokio::test]
async fn a_tab_is_opened_in_the_background_and_in_front() {
    let hub = hub_for_extensions(&[]).await;
    let browser = shopping(&hub).await;
    let claude = client(&hub, "claude");
    for (round, active) in [false, true].into_iter().enumerate() {
        let url = format!("https://{active}.example/");
        let args = json!({"action": "new", "url": url, "active": active});
        let opened = done(&claude, "browser_tab", args).await;
        let request = browser.line().heard_of("openTab")[round].clone();
        assert_eq!((&request["url"], &request["focus"]), (&json!(url), &json!(active)));
        assert!(request["requestId"].is_string(), "{request}");
        let tab = browser.tabs().into_iter().find(|tab| tab.url == url).unwrap();
        assert_eq!(opened["tab"], json!(tab.id), "{active}: {opened}");
    }
    until_tabs(
        &hub,
        "chrome",
        &[
            (71, "Shop"),
            (72, "Blank"),
            (73, "webmcp at https://false.example/"),
            (74, "webmcp at https://true.example/"),
        ],
    )
    .await;
    let created = feed_of(&hub, "chrome", "tabCreated").await;
    for id in ["73", "74"] {
        let times = created.iter().filter(|item| item["body"].to_string().contains(id)).count();
        assert_eq!(times, 1, "tab {id} is created once: {created:?}");
    }
}

#[tokio::test]
async fn a_tab_in_front_is_reported_when_its_page_is_there() {
    let hub = hub_for_extensions(&[]).await;
    let browser = shopping(&hub).await;
    browser.load(Load::Slow);
    let claude = client(&hub, "claude");
    let args = json!({"action": "new", "url": "https://slow.example/", "active": true});
    let (opened, ()) = tokio::join!(done(&claude, "browser_tab", args), async {
        browser.line().until_heard("openTab").await;
        // The bare event has come by now: the hub shows the tab, and the call goes on.
        until_tabs(&hub, "chrome", &[(71, "Shop"), (72, "Blank"), (73, "")]).await;
        assert_eq!(hub.api().session("chrome").await["callsInFlight"], 1);
        browser.finish_loading();
    });
    assert_eq!(opened["tab"], 73, "{opened}");
}

#[tokio::test]
async fn a_page_that_never_loads_ends_in_time_and_not_for_others() {
    let hub = hub_for_extensions(&["--call-timeout", "1s"]).await;
    let browser = shopping(&hub).await;
    browser.load(Load::Slow);
    let claude = client(&hub, "claude");
    let args = json!({"action": "new", "url": "https://never.example/", "active": true});
    let said = failed(&claude, "browser_tab", args).await;
    assert!(said.contains("timed_out"), "{said}");
    browser.load(Load::Fast);
    let args = json!({
        "action": "new", "url": "https://quick.example/", "active": true, "timeoutMs": 20_000,
    });
    let opened = done(&claude, "browser_tab", args).await;
    assert_eq!(opened["tab"], 74, "its own answer, not the late one: {opened}");
}

#[tokio::test]
async fn tabs_opened_at_once_are_told_apart() {
    let hub = hub_for_extensions(&[]).await;
    let browser = shopping(&hub).await;
    browser.load(Load::Slow);
    let open = |client: &'static str, url: &'static str, active: bool| {
        let client = crate::seed_browsers::client(&hub, client);
        async move {
            done(&client, "browser_tab", json!({"action": "new", "url": url, "active": active}))
                .await
        }
    };
    let all = async {
        tokio::join!(
            open("one", "https://one.example/", true),
            open("two", "https://two.example/", true),
            open("three", "https://three.example/", false),
        )
    };
    let finish = async {
        browser.line().until_heard_times("openTab", 3).await;
        browser.finish_loading();
    };
    let ((one, two, three), ()) =
        within(PATIENCE, "three tabs", async { tokio::join!(all, finish) }).await;
    for (opened, url) in [(one, "one"), (two, "two"), (three, "three")] {
        let tabs = browser.tabs();
        let tab = tabs.iter().find(|tab| tab.url.contains(url)).unwrap();
        assert_eq!(opened["tab"], json!(tab.id), "{url}: {opened}");
    }
}

#[tokio::test]
async fn a_tab_is_closed_once_whichever_of_its_two_endings_comes_first() {
    for answer_first in [false, true] {
        let hub = hub_for_extensions(&[]).await;
        let browser = shopping(&hub).await;
        if answer_first {
            browser.answer_before_event();
        }
        let claude = client(&hub, "claude");
        done(&claude, "browser_tab", json!({"action": "close", "tab": 72})).await;
        assert_eq!(browser.line().heard_of("closeTab")[0]["tabId"], 72);
        until_tabs(&hub, "chrome", &[(71, "Shop")]).await;
        browser.user_opens(Tab::new(80, "Marker", "https://marker.example/"));
        until_tabs(&hub, "chrome", &[(71, "Shop"), (80, "Marker")]).await;
        assert_eq!(feed_of(&hub, "chrome", "tabClosed").await.len(), 1, "{answer_first}");
    }
}

#[tokio::test]
async fn a_tab_is_brought_to_the_front() {
    let hub = hub_for_extensions(&[]).await;
    let browser = shopping(&hub).await;
    let claude = client(&hub, "claude");
    done(&claude, "browser_tab", json!({"action": "activate", "tab": 71})).await;
    assert_eq!(browser.line().heard_of("focusTab")[0]["tabId"], 71);
    let tabs = hub.api().session("chrome").await["tabs"].clone();
    let front = tabs.as_array().unwrap().iter().find(|tab| tab["active"] == true);
    assert_eq!(front.map(|tab| &tab["id"]), Some(&json!(71)), "{tabs}");
}

#[tokio::test]
async fn an_unknown_tab_is_answered_at_once_although_the_extension_says_nothing() {
    let hub = hub_for_extensions(&["--call-timeout", "60s"]).await;
    let browser = shopping(&hub).await;
    let claude = client(&hub, "claude");
    let unanswered = Unanswered::call(hub.port()).await;
    for (tool, args) in [
        ("browser_tab", json!({"action": "close", "tab": 999})),
        ("browser_tab", json!({"action": "activate", "tab": 999})),
        ("page_tools", json!({"action": "call", "tab": 999, "tool": "search", "args": {}})),
    ] {
        let said = failed(&claude, tool, args.clone()).await;
        assert!(said.contains("999"), "{tool} {args}: {said}");
    }
    unanswered.must_be_under_way("at once: nobody waited for the extension").await;
    browser.line().must_be_open();
}

#[tokio::test]
async fn a_tab_that_is_closed_while_it_loads_ends_in_time() {
    let hub = hub_for_extensions(&["--call-timeout", "500ms"]).await;
    let browser = shopping(&hub).await;
    browser.load(Load::Slow);
    let claude = client(&hub, "claude");
    let args = json!({"action": "new", "url": "https://slow.example/", "active": true});
    // The extension never says a word about such a tab.
    let (said, ()) = tokio::join!(failed(&claude, "browser_tab", args), async {
        browser.line().until_heard("openTab").await;
        browser.user_closes(73);
    });
    assert!(said.contains("timed_out") || said.contains("closed"), "{said}");
    until_tabs(&hub, "chrome", &[(71, "Shop"), (72, "Blank")]).await;
    assert_eq!(hub.api().session("chrome").await["callsInFlight"], 0);
}

#[tokio::test]
async fn the_browser_that_goes_away_ends_its_calls_and_comes_back_with_its_tabs() {
    let hub = hub_for_extensions(&["--call-timeout", "60s"]).await;
    let mut browser = shopping(&hub).await;
    let claude = client(&hub, "claude");
    page_tools(&claude, json!({"action": "list"})).await;
    browser.hold("callTool");
    let args = json!({"action": "call", "tool": "search", "tab": 71, "args": {"query": "tea"}});
    let (said, ()) = tokio::join!(failed(&claude, "page_tools", args.clone()), async {
        browser.until_held(1).await;
        browser.line().order(Order::Leave);
    });
    assert!(said.contains("outcome_unknown"), "{said}");
    hub.api().until_connected("chrome", false).await;
    browser.user_closes(72);
    browser.open_another().await;
    until_tabs(&hub, "chrome", &[(71, "Shop")]).await;
    browser.release();
    page_tools(&claude, json!({"action": "list"})).await;
    let result = done(&claude, "page_tools", args).await;
    assert_eq!(result["tab"], 71);
}

#[tokio::test]
async fn what_it_has_no_message_for_is_refused() {
    let hub = hub_for_extensions(&[]).await;
    let browser = shopping(&hub).await;
    let claude = client(&hub, "claude");
    for (tool, args) in [
        ("browser_execute", json!({"expression": "1", "tab": 71})),
        ("browser_content", json!({"action": "screenshot", "tab": 71})),
        ("browser_interact", json!({"action": "click", "selector": "#a", "tab": 71})),
        ("browser_navigate", json!({"action": "back", "tab": 71})),
    ] {
        let said = failed(&claude, tool, args.clone()).await;
        assert!(said.contains("unsupported"), "{tool} {args}: {said}");
    }
    let kinds: Vec<Value> = browser.line().heard().iter().map(|one| one["type"].clone()).collect();
    let quiet = kinds
        .iter()
        .all(|kind| ["connect", "discoverTools", "pong"].contains(&kind.as_str().unwrap()));
    assert!(quiet, "{kinds:?}");
}

#[tokio::test]
async fn clients_share_a_browser_and_none_takes_the_tab_of_another() {
    let hub = hub_for_extensions(&[]).await;
    let tabs = vec![shop(71), shop(81)];
    let _browser = WebMcpOptions::new(hub.port()).tabs(tabs).connect().await;
    session(&hub, "chrome").await;
    let (claude, cursor) = (client(&hub, "claude"), client(&hub, "cursor"));
    let search = |tab: Option<i64>| {
        let mut args = json!({"action": "call", "tool": "search", "args": {"query": "tea"}});
        if let Some(tab) = tab {
            args["tab"] = json!(tab);
        }
        args
    };
    page_tools(&claude, json!({"action": "list"})).await;
    assert_eq!(done(&claude, "page_tools", search(Some(71))).await["tab"], 71);
    assert_eq!(done(&claude, "page_tools", search(None)).await["tab"], 71, "its own, once named");
    let said = failed(&cursor, "page_tools", search(None)).await;
    assert!(said.contains("unknown_tab") && said.contains("71") && said.contains("81"), "{said}");
    assert_eq!(done(&cursor, "page_tools", search(Some(81))).await["tab"], 81);
    assert_eq!(done(&claude, "page_tools", search(None)).await["tab"], 71);
}
