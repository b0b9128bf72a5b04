//! The hub stands still, as on a machine that sleeps: its relays answer in its place, and what they
//! have answered for is not done when it wakes up.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{
    Era, FakeApp, Machine, McpStdio,
    machine::gone,
    mcp::{Reply, text},
    rounds, strict,
};

use crate::{mcp_scene::LEGACY, scene::PROGRAM};

/// How long requests may take before the relay asks whether the hub is awake, where that is tried …
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// … and then answers in its place, on a machine that does nothing else: the hub has 2 s to say so.
const AT_MOST: Duration = Duration::from_secs(4);
/// How long a hub stands still that wakes up in time.
const MOMENT: Duration = Duration::from_millis(300);

/// How often each client calls a frozen hub.
const PAINTS: usize = 5;

fn call(tool: &str, args: Value) -> Value {
    json!({"name": tool, "arguments": args})
}

/// Returns the code of the fault that a request ended with.
#[track_caller]
fn code(reply: &Reply) -> String {
    let error = match reply.0.get("error") {
        Some(error) => &error["data"],
        None => &reply.0["result"]["_meta"]["tabwire"]["error"],
    };
    error["code"].as_str().unwrap_or_else(|| panic!("no fault: {}", reply.0)).to_owned()
}

/// Fails the test if a request was answered twice.
async fn check_quiet(client: &mut McpStdio) {
    client.request("tools/list", json!({})).await.result();
    let odd: Vec<_> = client.kept().filter(|message| message.get("method").is_none()).collect();
    assert!(odd.is_empty(), "answers that nobody waits for: {odd:?}");
}

async fn clients(machine: &Machine, flags: &[&str]) -> Vec<McpStdio> {
    let mut clients = Vec::new();
    for era in [Era::Modern, LEGACY] {
        clients.push(machine.relay().flags(flags).connect(era).await);
    }
    clients
}

#[tokio::test]
async fn every_request_is_answered_at_its_deadline_and_nothing_is_done_late() {
    let machine = Machine::new(PROGRAM);
    let limit = format!("{}ms", REQUEST_TIMEOUT.as_millis());
    let mut clients = clients(&machine, &["--request-timeout", &limit]).await;
    let mut usual = machine.relay().connect(LEGACY).await;
    let app = FakeApp::echo(machine.port(), "app", &["paint"]).await;
    let pid = machine.pid();
    machine.freeze_hub().await;
    // First, so that it is answered first if all have the same time.
    let waits = usual.ask("tools/list", json!({})).await;
    let frozen = Instant::now();
    let mut asked = Vec::new();
    for client in &mut clients {
        let mut ids = Vec::new();
        for number in 0..PAINTS {
            ids.push(client.ask("tools/call", call("paint", json!({"late": number}))).await);
        }
        ids.push(client.ask("tools/list", json!({})).await);
        asked.push(ids);
    }
    for (client, ids) in clients.iter_mut().zip(&asked) {
        for id in ids {
            let reply = client.answer(*id).await;
            assert_eq!(code(&reply), "hub_unresponsive", "{}", reply.0);
            assert!(frozen.elapsed() >= REQUEST_TIMEOUT, "before its time");
        }
    }
    strict(AT_MOST, frozen.elapsed(), "answers in the place of a frozen hub");
    let answered = tokio::time::timeout(Duration::from_millis(20), usual.answer(waits)).await;
    assert!(answered.is_err(), "a relay with the usual time still waits");
    drop(usual);
    let rest = Duration::from_secs(rounds(0, 60)).saturating_sub(frozen.elapsed());
    tokio::time::sleep(rest).await;
    machine.thaw_hub();
    for client in &mut clients {
        let (failed, said) = client.call("paint", json!({"late": false})).await.told();
        assert!(!failed, "{said}");
        check_quiet(client).await;
    }
    assert_eq!((machine.pid(), machine.hubs()), (pid, vec![pid]), "it is the same hub");
    let calls = app.received("callTool");
    let late: Vec<_> = calls.iter().filter(|call| call["args"]["late"] != false).collect();
    eprintln!("{} of {} were done late", late.len(), PAINTS * clients.len());
    assert!(late.is_empty(), "done after its deadline: {late:?}");
    assert_eq!(calls.len() - late.len(), clients.len());
}

#[tokio::test]
async fn a_hub_that_wakes_up_in_time_answers_as_if_nothing_had_been() {
    let machine = Machine::new(PROGRAM);
    let mut clients = clients(&machine, &[]).await;
    let app = FakeApp::echo(machine.port(), "app", &["paint"]).await;
    machine.freeze_hub().await;
    let mut asked = Vec::new();
    for client in &mut clients {
        let params = json!({"name": "paint", "arguments": {}});
        asked.push((
            client.ask("tools/call", params).await,
            client.ask("tools/list", json!({})).await,
        ));
    }
    tokio::time::sleep(MOMENT).await;
    machine.thaw_hub();
    for (client, (call, list)) in clients.iter_mut().zip(asked) {
        let (failed, said) = client.answer(call).await.told();
        assert!(!failed, "{said}");
        client.answer(list).await.result();
        check_quiet(client).await;
    }
    assert_eq!(app.received("callTool").len(), clients.len());
}

#[tokio::test]
async fn whoever_comes_to_a_frozen_hub_starts_no_other() {
    let machine = Machine::new(PROGRAM);
    let mut first = machine.relay().connect(LEGACY).await;
    let pid = machine.pid();
    machine.freeze_hub().await;
    let mut second = machine.relay().start();
    let id = second.ask("tools/list", json!({})).await;
    // Who comes later, and to no hub, has started one by then.
    let other = Machine::new(PROGRAM);
    other.relay().connect(LEGACY).await;
    assert_eq!(machine.hubs(), [pid], "it keeps its lock");
    machine.thaw_hub();
    second.answer(id).await.result();
    first.request("tools/list", json!({})).await.result();
    assert_eq!((machine.pid(), machine.hubs()), (pid, vec![pid]));
}

#[tokio::test]
async fn a_frozen_hub_that_is_ended_by_force_is_replaced() {
    let machine = Machine::new(PROGRAM);
    let mut clients = clients(&machine, &[]).await;
    let app = FakeApp::echo(machine.port(), "app", &["paint"]).await;
    let pid = machine.pid();
    machine.freeze_hub().await;
    let mut asked = Vec::new();
    for client in &mut clients {
        let params = json!({"name": "paint", "arguments": {}});
        asked.push((
            client.ask("tools/call", params).await,
            client.ask("tools/list", json!({})).await,
        ));
    }
    // By then the relays have passed on what they were asked: who came later, and to no hub, has
    // started one and been answered by it.
    Machine::new(PROGRAM).relay().connect(LEGACY).await;
    machine.run(&["stop", "--force"]).await.must_exit(0);
    gone(pid).await;
    for (client, (call, list)) in clients.iter_mut().zip(asked) {
        let result = client.answer(call).await.result();
        assert!(text(&result).contains("outcome_unknown"), "{result}");
        client.answer(list).await.result();
        check_quiet(client).await;
    }
    assert!(app.received("callTool").is_empty());
    assert_ne!(machine.running().await["pid"], pid);
}
