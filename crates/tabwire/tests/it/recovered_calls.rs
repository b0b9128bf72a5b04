//! Calls whose socket is cut under them: done once or not at all, one answer each, and the real
//! one where the executor knows it.

use std::{
    pin::pin,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{
    Api, Cutter, Executor, FakeBrowser, HubProcess, Incoming, Response, Rng, Unanswered,
    eventually, rounds, strict,
};
use tokio::time::sleep;

use crate::scene::hub;

/// Long enough to come back in any test, and shorter than a call may take.
const PATIENT: &[&str] = &["--resume-grace", "60s", "--call-timeout", "80s"];
/// What happens at once takes less than this on a machine that does nothing else.
const AT_ONCE: Duration = Duration::from_secs(1);

/// An app that keeps results, connected, with one tool that acts and one that reads.
async fn keeper(hub: &HubProcess) -> FakeBrowser {
    let mut app = FakeBrowser::app(hub.port(), "viewer").able("results");
    app.connect().await;
    app.offer_tools(&["click", "look?"]).await;
    app
}

/// Waits until so many calls are in the session: sent, or in line.
async fn until_calls(api: &Api, count: u64) {
    eventually(&format!("{count} calls"), async || {
        (api.session("viewer").await["callsInFlight"] == count).then_some(())
    })
    .await;
}

async fn click(api: &Api, number: u64) -> Response {
    api.call_tool("viewer", "click", json!({"n": number})).await
}

/// Comes back after a cut and waits for the hub's question after a call.
async fn asked_after(app: &mut FakeBrowser) -> Value {
    app.connect().await;
    match app.recv().await {
        Incoming::Message(message) if message["type"] == "callQuery" => message,
        other => panic!("waiting for a question: {other:?}"),
    }
}

#[track_caller]
fn check_done(answer: Response, runs: u64) {
    let body = answer.must_be(200).json();
    assert_eq!(body["result"]["runs"], runs, "{body}");
}

#[tokio::test]
async fn a_click_that_was_never_read_is_sent_again_under_the_same_id() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    let mut executor = Executor::default();
    let api = hub.api();
    let (answer, ()) = tokio::join!(click(&api, 1), async {
        until_calls(&api, 1).await;
        // What the hub wrote dies with the socket, unread.
        app.vanish();
        let query = asked_after(&mut app).await;
        let status = executor.status(&query);
        assert_eq!(status["state"], "unknown");
        app.say(status).await;
        let call = app.call().await;
        assert_eq!(call["callId"], query["callId"]);
        assert!(call["deadlineMs"].as_u64().unwrap() <= 80_000, "what is left of it: {call}");
        let result = executor.run(&call);
        app.say(result).await;
    });
    check_done(answer, 1);
    assert_eq!(executor.total(), 1);
}

#[tokio::test]
async fn a_click_that_was_received_goes_on_over_the_cut() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    let mut executor = Executor::default();
    let api = hub.api();
    let (answer, ()) = tokio::join!(click(&api, 1), async {
        let call = app.call().await;
        app.vanish();
        let query = asked_after(&mut app).await;
        assert_eq!(query["callId"], call["callId"]);
        app.say(json!({"type": "callStatus", "callId": call["callId"], "state": "running"})).await;
        app.settle().await;
        let result = executor.run(&call);
        app.say(result).await;
    });
    check_done(answer, 1);
    assert_eq!(executor.total(), 1);
}

#[tokio::test]
async fn a_click_that_was_done_has_its_real_result_after_the_cut() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    let mut executor = Executor::default();
    let api = hub.api();
    let (answer, ()) = tokio::join!(click(&api, 1), async {
        let call = app.call().await;
        executor.run(&call);
        app.vanish();
        let query = asked_after(&mut app).await;
        app.say(executor.status(&query)).await;
        app.settle().await;
    });
    check_done(answer, 1);
    assert_eq!(executor.total(), 1);
    assert_eq!(api.session("viewer").await["callsInFlight"], 0);
}

#[tokio::test]
async fn an_error_is_an_end_that_is_kept_too() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    let api = hub.api();
    let (answer, ()) = tokio::join!(click(&api, 1), async {
        let call = app.call().await;
        app.vanish();
        asked_after(&mut app).await;
        app.say(json!({"type": "callStatus", "callId": call["callId"], "state": "ended",
            "error": {"code": "ELEMENT_NOT_FOUND", "message": "no element matches #buy"}}))
            .await;
    });
    assert_eq!(answer.must_be(422).fault(), "ELEMENT_NOT_FOUND");
}

#[tokio::test]
async fn a_result_that_comes_before_the_question_ends_the_call() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    let api = hub.api();
    let (answer, call) = tokio::join!(click(&api, 1), async {
        let call = app.call().await;
        app.vanish();
        app.connect().await;
        app.answer(&call, json!({"runs": 1})).await;
        // The question is answered all the same, and changes nothing.
        app.say(json!({"type": "callStatus", "callId": call["callId"], "state": "ended",
            "result": {"runs": 2}}))
            .await;
        app.settle().await;
        call
    });
    check_done(answer, 1);
    assert!(call["callId"].is_string());
    app.settle().await;
}

#[tokio::test]
async fn a_cut_may_come_again_and_again() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    let mut executor = Executor::default();
    let api = hub.api();
    let (answer, ()) = tokio::join!(click(&api, 1), async {
        let call = app.call().await;
        for _ in 0..5 {
            app.vanish();
            let query = asked_after(&mut app).await;
            assert_eq!(query["callId"], call["callId"]);
        }
        executor.run(&call);
        app.vanish();
        let query = asked_after(&mut app).await;
        app.say(executor.status(&query)).await;
    });
    check_done(answer, 1);
}

#[tokio::test]
async fn another_life_of_the_peer_does_not_know() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    let api = hub.api();
    let away = Unanswered::away(hub.port()).await;
    let started = Instant::now();
    let (answer, ()) = tokio::join!(click(&api, 1), async {
        app.call().await;
        app.forget();
        app.connect().await;
        // Whether it is asked or not, there must be no second call.
        app.say(json!({"type": "ping"})).await;
        loop {
            match app.recv().await {
                Incoming::Message(message) if message["type"] == "pong" => break,
                Incoming::Message(message) if message["type"] == "callQuery" => {
                    app.say(Executor::default().status(&message)).await;
                }
                Incoming::Message(message) => assert_ne!(message["type"], "callTool"),
                end => panic!("{end:?}"),
            }
        }
    });
    assert_eq!((answer.status, answer.fault().as_str()), (502, "outcome_unknown"));
    assert_eq!(answer.json()["error"]["retry"], "check");
    away.must_be_under_way("at once, not after the grace").await;
    strict(AT_ONCE, started.elapsed(), "the end of a call to a life that is over");
    api.event("viewer", "marker", json!(null)).await;
    loop {
        match app.socket().recv().await {
            Incoming::Message(message) if message["type"] == "event" => break,
            Incoming::Message(message) => assert_ne!(message["type"], "callTool"),
            end => panic!("{end:?}"),
        }
    }
}

#[tokio::test]
async fn a_read_is_simply_repeated() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.call_tool("viewer", "look", json!({})), async {
        let first = app.call().await;
        app.vanish();
        app.connect().await;
        let second = app.call().await;
        assert_eq!(second["toolName"], first["toolName"]);
        app.answer(&second, json!("seen")).await;
    });
    assert_eq!(answer.must_be(200).json()["result"], "seen");
}

#[tokio::test]
async fn calls_that_wait_in_line_wait_on() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    let mut executor = Executor::default();
    let api = hub.api();
    let later = async |number: u64| {
        until_calls(&api, number - 1).await;
        click(&api, number).await
    };
    let (first, second, third, ()) = tokio::join!(later(1), later(2), later(3), async {
        let call = app.call().await;
        until_calls(&api, 3).await;
        executor.run(&call);
        app.vanish();
        let query = asked_after(&mut app).await;
        app.say(executor.status(&query)).await;
        for number in 2..=3 {
            let call = app.call().await;
            assert_eq!(call["args"]["n"], number, "in order");
            let result = executor.run(&call);
            app.say(result).await;
        }
    });
    for answer in [first, second, third] {
        check_done(answer, 1);
    }
    assert_eq!(executor.total(), 3);
}

#[tokio::test]
async fn a_call_made_while_the_peer_is_away_is_refused_or_waits_for_it() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    app.vanish();
    hub.api().until_connected("viewer", false).await;
    let api = hub.api();
    let away = Unanswered::away(hub.port()).await;
    let started = Instant::now();
    let answer = click(&api, 1).await;
    away.must_be_under_way("at once, not after the grace").await;
    strict(AT_ONCE, started.elapsed(), "the refusal of a call to who is away");
    assert_eq!(answer.fault(), "not_connected", "{}", answer.text());
}

#[tokio::test]
async fn who_does_not_come_back_leaves_unknown_outcomes_and_undelivered_calls() {
    let hub = hub(&["--resume-grace", "300ms", "--call-timeout", "80s"]).await;
    let mut app = keeper(&hub).await;
    let api = hub.api();
    let unanswered = Unanswered::call(hub.port()).await;
    let started = Instant::now();
    let (running, waiting, reading, ()) = tokio::join!(
        click(&api, 1),
        async {
            until_calls(&api, 1).await;
            click(&api, 2).await
        },
        async {
            until_calls(&api, 2).await;
            api.call_tool("viewer", "look", json!({})).await
        },
        async {
            app.call().await;
            assert_eq!(app.call().await["toolName"], "look");
            app.vanish();
        }
    );
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(300), "the grace is given: {took:?}");
    unanswered.must_be_under_way("the grace and no more, not the time of calls").await;
    strict(AT_ONCE, took, "the ends of calls after a grace of 0.3 s");
    assert_eq!(running.fault(), "outcome_unknown");
    assert_eq!(waiting.fault(), "not_delivered");
    assert_eq!(reading.json()["error"]["retry"], "now", "{}", reading.text());
    assert_eq!(api.session("viewer").await["callsInFlight"], 0);
    // Who comes later is asked nothing, and its late result is nobody's.
    app.connect().await;
    api.event("viewer", "marker", json!(null)).await;
    match app.socket().recv().await {
        Incoming::Message(message) => assert_eq!(message["type"], "event", "{message}"),
        end => panic!("{end:?}"),
    }
}

#[tokio::test]
async fn who_says_goodbye_is_not_waited_for() {
    let hub = hub(PATIENT).await;
    let mut app = keeper(&hub).await;
    let api = hub.api();
    let away = Unanswered::away(hub.port()).await;
    let started = Instant::now();
    let (running, waiting, ()) = tokio::join!(
        click(&api, 1),
        async {
            until_calls(&api, 1).await;
            click(&api, 2).await
        },
        async {
            app.call().await;
            until_calls(&api, 2).await;
            app.say(json!({"type": "bye", "code": "normal", "retry": false, "message": "done"}))
                .await;
            app.take_socket().close().await;
        }
    );
    away.must_be_under_way("at once, not after the grace").await;
    strict(AT_ONCE, started.elapsed(), "the ends of calls after a goodbye");
    assert_eq!(
        (running.fault().as_str(), waiting.fault().as_str()),
        ("outcome_unknown", "not_delivered")
    );
}

#[tokio::test]
async fn a_deadline_counts_while_the_peer_is_away() {
    // Long enough to be sent: a call whose time is over is not.
    let hub = hub(&["--resume-grace", "60s", "--call-timeout", "2s"]).await;
    let mut app = keeper(&hub).await;
    let api = hub.api();
    let away = Unanswered::away(hub.port()).await;
    let started = Instant::now();
    let (answer, ()) = tokio::join!(click(&api, 1), async {
        app.call().await;
        app.vanish();
    });
    assert_eq!(answer.fault(), "timed_out", "{}", answer.text());
    away.must_be_under_way("at its deadline, not after the grace").await;
    strict(3 * AT_ONCE, started.elapsed(), "the end of a call that has 2 s");
    // Coming back later, it is not told to begin.
    app.connect().await;
    api.event("viewer", "marker", json!(null)).await;
    loop {
        match app.socket().recv().await {
            Incoming::Message(message) if message["type"] == "event" => break,
            Incoming::Message(message) => assert_ne!(message["type"], "callTool", "{message}"),
            end => panic!("{end:?}"),
        }
    }
}

#[tokio::test]
async fn a_peer_that_keeps_no_results_is_not_waited_for() {
    let hub = hub(PATIENT).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "viewer", &["click"]).await;
    let api = hub.api();
    let away = Unanswered::away(hub.port()).await;
    let started = Instant::now();
    let (answer, ()) = tokio::join!(click(&api, 1), async {
        app.call().await;
        app.vanish();
    });
    assert_eq!(answer.fault(), "outcome_unknown");
    away.must_be_under_way("at once, not after the grace").await;
    strict(AT_ONCE, started.elapsed(), "the end of a call to a peer that keeps no results");
}

/// Lives through cuts: runs what it is told once, answers questions, comes back.
async fn live(mut app: FakeBrowser, executor: Arc<Mutex<Executor>>) {
    loop {
        match app.recv().await {
            Incoming::Message(message) => {
                let answer = match message["type"].as_str().unwrap() {
                    "callTool" => executor.lock().unwrap().run(&message),
                    "callQuery" => executor.lock().unwrap().status(&message),
                    _ => continue,
                };
                app.try_say(&answer).await;
            }
            _ => {
                app.vanish();
                while !app.connect_if_possible().await {}
                app.ask_for_more().await;
                app.send_again().await;
            }
        }
    }
}

#[tokio::test]
async fn clicks_over_random_cuts_are_done_once_and_answered_once() {
    let mut rng = Rng::seeded(20_260_501);
    let hub = hub(&[PATIENT, &["--takeover-probe", "100ms"]].concat()).await;
    let cutter = Cutter::start(hub.port()).await;
    let mut app = FakeBrowser::app(hub.port(), "viewer")
        .able("results")
        .dialled(|dial| dial.via(cutter.port()));
    app.connect().await;
    app.offer_tools(&["click"]).await;
    app.until_acked().await;
    let executor = Arc::<Mutex<Executor>>::default();
    let life = tokio::spawn(live(app, executor.clone()));
    let api = hub.api();
    for number in 1..=rounds(60, 3000) {
        // Somewhere in the call, its result, the next handshake or the question after it.
        cutter.cut_after(rng.percent(70).then(|| rng.between(1100, 2600)));
        if rng.percent(50) {
            cutter.cut();
        }
        let mut clicking = pin!(click(&api, number));
        let answer = loop {
            // Cancel-safe: the click is polled on, and waiting leaves nothing behind.
            tokio::select! {
                answer = &mut clicking => break answer,
                // Other limits for who tries again: one may be too low for any handshake.
                () = sleep(Duration::from_millis(20)) => {
                    cutter.cut_after(rng.percent(50).then(|| rng.between(1100, 2600)));
                }
            }
        };
        let runs = executor.lock().unwrap().runs(&json!({"n": number}));
        match answer.fault().as_str() {
            "" => {
                assert_eq!(runs, 1, "{number}");
                assert_eq!(answer.must_be(200).json()["result"]["runs"], 1);
            }
            // Nobody was there when it was asked for.
            "not_connected" | "not_delivered" => assert_eq!(runs, 0, "{number}"),
            other => panic!("{number}: {other} after {runs} runs: {}", answer.text()),
        }
    }
    life.abort();
}
