//! Order, deadlines and cancelling: acting calls of one tab go one at a time, reads pass by.

use serde_json::{Value, json};
use testkit::{Api, Ask, FakeBrowser, Http, Incoming};
use tokio::sync::Notify;

use crate::scene::hub;

/// A browser with tabs of these numbers.
async fn browser(port: u16, tabs: &[u64]) -> FakeBrowser {
    let mut browser = FakeBrowser::browser(port, "chrome");
    browser.connect().await;
    for tab in tabs {
        let tab = json!({"id": tab, "title": "A page", "url": "https://example.com/"});
        browser.publish(json!({"type": "tabCreated", "tab": tab})).await;
    }
    browser.settle().await;
    browser
}

/// Waits until so many calls are under way.
async fn until_in_flight(api: &Api, count: u32) {
    api.until_metric("tabwire_calls_in_flight", f64::from(count)).await;
}

#[tokio::test]
async fn closing_the_clients_connection_cancels_the_call() {
    let hub = hub(&["--call-timeout", "20s"]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let mut client = Http::connect(hub.port()).await;
    let ask = Ask::own_post("/api/call", &json!({"tool": "paint"}));
    client.send(&ask.bytes(hub.port())).await.unwrap();
    let call = app.call().await;
    drop(client);
    assert_eq!(app.until("cancel").await["callId"], call["callId"]);
    let api = hub.api();
    until_in_flight(&api, 0).await;
    let cancelled = "tabwire_calls_total{tool=\"paint\",outcome=\"cancelled\"}";
    assert_eq!(api.metrics().await.get(cancelled), 1.0);
    assert_eq!(api.session("north").await["callsInFlight"], 0);
}

#[tokio::test]
async fn a_cancelled_call_that_still_waits_is_never_sent() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let api = hub.api();
    let paint = async |number: u64| api.call_tool("north", "paint", json!({"n": number})).await;
    let second_is_gone = Notify::new();
    let (first, third, ()) = tokio::join!(
        paint(1),
        async {
            until_in_flight(&api, 1).await;
            let mut client = Http::connect(hub.port()).await;
            let ask = Ask::own_post("/api/call", &json!({"tool": "paint", "args": {"n": 2}}));
            client.send(&ask.bytes(hub.port())).await.unwrap();
            until_in_flight(&api, 2).await;
            drop(client);
            until_in_flight(&api, 1).await;
            second_is_gone.notify_one();
            paint(3).await
        },
        async {
            let call = app.call().await;
            assert_eq!(call["args"]["n"], 1);
            // Not told by the counters alone: they show the end of the second call a moment before
            // it is out of the number of those that are under way.
            second_is_gone.notified().await;
            let cancelled = "tabwire_calls_total{tool=\"paint\",outcome=\"cancelled\"}";
            assert_eq!(api.metrics().await.get(cancelled), 1.0);
            until_in_flight(&api, 2).await;
            app.answer(&call, json!(1)).await;
            let call = app.call().await;
            assert_eq!(call["args"]["n"], 3, "neither the second nor a cancel of it");
            app.answer(&call, json!(3)).await;
        }
    );
    assert_eq!(first.must_be(200).json()["result"], 1);
    assert_eq!(third.must_be(200).json()["result"], 3);
}

#[tokio::test]
async fn the_deadline_travels_and_shrinks_while_a_call_waits() {
    let hub = hub(&["--call-timeout", "60s", "--call-timeout-max", "80s"]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let api = hub.api();
    let paint = async |timeout: Option<u64>| {
        let body = json!({"tool": "paint", "timeoutMs": timeout});
        api.call(body).await
    };
    let (.., ()) = tokio::join!(
        paint(Some(30_000)),
        async {
            until_in_flight(&api, 1).await;
            paint(None).await
        },
        async {
            until_in_flight(&api, 2).await;
            paint(Some(3_600_000)).await
        },
        async {
            let remaining = |call: &Value| call["deadlineMs"].as_u64().unwrap();
            let first = app.call().await;
            assert!((1..=30_000).contains(&remaining(&first)), "as asked: {first}");
            until_in_flight(&api, 3).await;
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            app.answer(&first, json!(1)).await;
            let second = app.call().await;
            assert!((30_001..=59_700).contains(&remaining(&second)), "waited 0.3 s: {second}");
            app.answer(&second, json!(2)).await;
            let third = app.call().await;
            assert!((60_001..=79_700).contains(&remaining(&third)), "the longest: {third}");
            app.answer(&third, json!(3)).await;
        }
    );
}

#[tokio::test]
async fn a_call_whose_time_ends_while_it_waits_is_never_sent() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let api = hub.api();
    let (first, second, ()) = tokio::join!(
        api.call_tool("north", "paint", json!({"n": 1})),
        async {
            until_in_flight(&api, 1).await;
            api.call(json!({"tool": "paint", "args": {"n": 2}, "timeoutMs": 100})).await
        },
        async {
            let call = app.call().await;
            let timed_out = "tabwire_calls_total{tool=\"paint\",outcome=\"timed_out\"}";
            api.until_metric(timed_out, 1.0).await;
            app.answer(&call, json!(1)).await;
            app.settle().await;
        }
    );
    first.must_be(200);
    assert_eq!((second.status, second.fault().as_str()), (504, "timed_out"));
    assert_eq!(second.json()["error"]["retry"], "now", "nothing happened");
    hub.api().event("north", "marker", json!(null)).await;
    assert_eq!(app.socket().until("event").await["name"], "marker", "no call came before");
}

#[tokio::test]
async fn acting_calls_go_one_at_a_time_in_order_and_reads_pass_by() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint", "look?"]).await;
    let api = hub.api();
    let paint = async |number: u32| {
        until_in_flight(&api, number).await;
        api.call_tool("north", "paint", json!({"n": number})).await
    };
    let (.., looked, ()) = tokio::join!(
        paint(0),
        paint(1),
        paint(2),
        paint(3),
        async {
            until_in_flight(&api, 4).await;
            api.call_tool("north", "look", json!({})).await
        },
        async {
            let first = app.call().await;
            assert_eq!(first["args"]["n"], 0);
            let look = app.call().await;
            assert_eq!(look["toolName"], "look", "three wait, the read does not");
            app.answer(&look, json!("seen")).await;
            app.answer(&first, json!(0)).await;
            for number in 1..4 {
                let call = app.call().await;
                assert_eq!(call["args"]["n"], number);
                // One at a time: the next comes only after this answer.
                app.settle().await;
                app.answer(&call, json!(number)).await;
            }
        }
    );
    assert_eq!(looked.must_be(200).json()["result"], "seen");
}

#[tokio::test]
async fn an_abandoned_call_holds_its_lane_until_it_is_answered_or_its_grace_is_over() {
    for (answers, grace) in [(true, "60s"), (false, "400ms")] {
        let hub = hub(&["--abandoned-grace", grace]).await;
        let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
        let api = hub.api();
        let paint = async |timeout: u64| {
            let body = json!({"tool": "paint", "timeoutMs": timeout});
            api.call(body).await
        };
        // Long enough to be sent: a call whose time is over is not.
        let (abandoned, call) = tokio::join!(paint(2_000), app.call());
        assert_eq!(abandoned.fault(), "timed_out");
        let cancel = app.until("cancel").await;
        assert_eq!(cancel["callId"], call["callId"]);
        let (next, ()) = tokio::join!(paint(50_000), async {
            if answers {
                until_in_flight(&api, 1).await;
                // Nothing was sent while the lane was held.
                app.settle().await;
                app.answer(&call, json!("late")).await;
            }
            let next = app.call().await;
            app.answer(&next, json!("next")).await;
        });
        assert_eq!(next.must_be(200).json()["result"], "next");
    }
}

#[tokio::test]
async fn tabs_do_not_wait_for_each_other() {
    let hub = hub(&[]).await;
    let mut browser = browser(hub.port(), &[7, 8]).await;
    let api = hub.api();
    let click = async |tab: u64, target: &str, before: u32| {
        until_in_flight(&api, before).await;
        api.call(json!({"tool": "click", "target": target, "tab": tab, "args": {"tab": tab}})).await
    };
    let (.., ()) = tokio::join!(
        click(7, "command", 0),
        click(8, "page", 1),
        click(7, "page", 2),
        click(8, "command", 3),
        async {
            let seven = browser.call().await;
            let eight = browser.call().await;
            let tabs = (&seven["tabId"], &eight["tabId"]);
            assert_eq!(tabs, (&json!(7), &json!(8)), "in parallel");
            assert_eq!((&seven["target"], &eight["target"]), (&json!("command"), &json!("page")));
            until_in_flight(&api, 4).await;
            browser.answer(&eight, json!(1)).await;
            let next = browser.call().await;
            assert_eq!((&next["tabId"], &next["target"]), (&json!(8), &json!("command")));
            browser.answer(&next, json!(2)).await;
            browser.answer(&seven, json!(3)).await;
            let last = browser.call().await;
            assert_eq!((&last["tabId"], &last["target"]), (&json!(7), &json!("page")));
            browser.answer(&last, json!(4)).await;
        }
    );
}

#[tokio::test]
async fn a_tab_means_nothing_to_an_app() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let api = hub.api();
    let paint = async |tab: u32| {
        until_in_flight(&api, tab).await;
        api.call(json!({"tool": "paint", "tab": tab, "args": {"n": tab}})).await
    };
    let (.., ()) = tokio::join!(paint(0), paint(1), async {
        let first = app.call().await;
        assert!(first.get("tabId").is_none(), "an app has no tabs: {first}");
        until_in_flight(&api, 2).await;
        api.event("north", "marker", json!(null)).await;
        while app.seen.delivered.is_empty() {
            if let Incoming::Message(message) = app.socket().recv().await {
                assert_ne!(message["type"], "callTool", "one at a time, whatever tab is named");
                if message["type"] == "event" {
                    app.seen.offer(&message);
                }
            }
        }
        app.answer(&first, json!(1)).await;
        let second = app.call().await;
        app.answer(&second, json!(2)).await;
    });
}

#[tokio::test]
async fn a_tab_must_be_named_once_and_is_remembered_for_the_client() {
    let hub = hub(&[]).await;
    let mut browser = browser(hub.port(), &[7, 8]).await;
    let click = async |client: &str, tab: Value| {
        let body = json!({"tool": "click", "target": "page", "tab": tab});
        Ask::own_post("/api/call", &body).header("Tabwire-Client", client).send(hub.port()).await
    };
    for (tab, part) in [(json!(null), "none was used before"), (json!(99), "no tab 99")] {
        let answer = click("one", tab).await.must_be(404);
        assert_eq!(answer.fault(), "unknown_tab");
        let text = answer.text();
        assert!(text.contains(part) && text.contains("7 ") && text.contains("8 "), "{text}");
    }
    for tab in [json!(8), json!(null)] {
        let (answer, ()) = tokio::join!(click("one", tab), async {
            let call = browser.call().await;
            assert_eq!(call["tabId"], 8);
            browser.answer(&call, json!(1)).await;
        });
        answer.must_be(200);
    }
    assert_eq!(click("two", json!(null)).await.fault(), "unknown_tab", "another client");
}
