//! Coming back: how long it takes to be told what was missed, and what keeping it costs.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use model::SessionId;
use serde_json::{Value, json};
use store::{EmbeddedStore, NewEntry, Options, Store, StoreWrite, WriteTicket};
use tokio::{sync::Semaphore, task::JoinSet};

use super::{
    Times,
    client::{App, Socket},
    report::{Recovery, Report},
};
use crate::{
    http::Http,
    hub_process::{HubProcess, data_folder},
};

/// Sessions that come back at once, and what each has missed.
const SESSIONS: usize = 1000;
const MISSED: u64 = 100;
/// Peers that are served at the same time while the messages are made.
const AT_ONCE: usize = 64;
const ROUNDS: usize = 3000;

pub async fn measure(report: &mut Report) -> Result<()> {
    let hub = HubProcess::start("target/release/tabwire")?;
    let port = hub.port;
    let few = resume(port, "few", 100).await?;
    let many = resume(port, "many", 1000).await?;
    let all = all_at_once(port).await?;
    drop(hub);
    let (in_memory, on_disk) = cost_of_a_call().await?;
    let (single, batched) = (appends(1).await?, appends(64).await?);
    report.recovery(Recovery { few, many, all, in_memory, on_disk, single, batched });
    Ok(())
}

/// Lets one session miss messages and times its coming back.
async fn resume(port: u16, name: &str, missed: u64) -> Result<Duration> {
    let position = leave(port, name).await?;
    miss(port, name, missed).await?;
    let started = Instant::now();
    come_back(port, name, &position, missed).await?;
    Ok(started.elapsed())
}

/// Lets a thousand sessions miss messages and times their coming back together.
async fn all_at_once(port: u16) -> Result<Duration> {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut preparing = JoinSet::new();
    for number in 0..SESSIONS {
        let room = room.clone();
        preparing.spawn(async move {
            let _permit = room.acquire_owned().await?;
            let name = format!("back-{number}");
            let position = leave(port, &name).await?;
            miss(port, &name, MISSED).await?;
            Ok::<_, anyhow::Error>((name, position))
        });
    }
    let mut away = Vec::new();
    while let Some(prepared) = preparing.join_next().await {
        away.push(prepared??);
    }
    let started = Instant::now();
    let mut coming = JoinSet::new();
    for (name, position) in away {
        coming.spawn(async move { come_back(port, &name, &position, MISSED).await });
    }
    while let Some(back) = coming.join_next().await {
        back??;
    }
    Ok(started.elapsed())
}

/// Connects once and leaves; returns where in the hub's log that was.
async fn leave(port: u16, name: &str) -> Result<Value> {
    let (_, welcome) = Socket::hello(port, name, None).await?;
    Ok(json!({"epoch": welcome["epoch"], "sequence": welcome["currentSequence"]}))
}

async fn miss(port: u16, name: &str, count: u64) -> Result<()> {
    let mut http = Http::connect(port).await?;
    for number in 0..count {
        let event = json!({"session": name, "name": "tick", "data": {"number": number}});
        http.post("/api/events", &event).await?;
    }
    Ok(())
}

/// Connects again and waits until everything that was missed has been told.
async fn come_back(port: u16, name: &str, position: &Value, missed: u64) -> Result<()> {
    let (mut socket, welcome) = Socket::hello(port, name, Some(position)).await?;
    ensure!(welcome["recovered"] == true, "not recovered: {welcome}");
    let mut told = count(&welcome["replay"]);
    let mut more = welcome["more"] == true;
    let mut upto = last(&welcome["replay"]);
    while more {
        let from = json!({"epoch": position["epoch"], "sequence": upto});
        socket.send(json!({"type": "replayRequest", "from": from}).to_string()).await?;
        let page = socket.receive_type("replayPage").await?;
        told += count(&page["messages"]);
        upto = last(&page["messages"]);
        more = page["more"] == true;
    }
    ensure!(told == missed, "{told} of {missed} were told to {name}");
    Ok(())
}

fn count(messages: &Value) -> u64 {
    messages.as_array().map_or(0, |messages| messages.len() as u64)
}

fn last(messages: &Value) -> u64 {
    let last = messages.as_array().and_then(|messages| messages.last());
    last.and_then(|message| message["sequence"].as_u64()).unwrap_or_default()
}

/// The same call through a hub that keeps in memory and then through one that keeps on disk. Not in
/// turn: the thread that writes for the one would take its time from the other.
async fn cost_of_a_call() -> Result<(Duration, Duration)> {
    Ok((time_of_a_call("memory").await?, time_of_a_call("embedded").await?))
}

async fn time_of_a_call(store: &str) -> Result<Duration> {
    let data = data_folder().join(store);
    let line = ["serve", "--port", "0", "--log-level", "warn", "--store", store];
    let hub = HubProcess::spawn("target/release/tabwire", &line, &data)?;
    let _app = App::start(hub.port, "app").await?;
    let mut http = Http::connect(hub.port).await?;
    let mut times = Times::default();
    let call = json!({"tool": "noop", "session": "app"});
    for _ in 0..ROUNDS {
        times.take(http.post("/api/call", &call)).await?;
    }
    Ok(times.median())
}

/// Returns how many messages per second reach the disk with so many under way.
async fn appends(under_way: usize) -> Result<f64> {
    let folder = data_folder().join("appends");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let store = EmbeddedStore::open(Options::new(folder.join("bench.sqlite")))?;
    let session = SessionId::parse("s_bench")?;
    let log = store.load(&session)?.to_browser;
    let entry =
        || NewEntry { kind: "event".into(), name: "tick".into(), level: 0, body: "x".repeat(500) };
    let (started, mut count) = (Instant::now(), 0_usize);
    while started.elapsed() < Duration::from_secs(1) {
        let mut last = WriteTicket::done();
        for _ in 0..under_way {
            last = store.write(vec![StoreWrite::Append(log.clone(), entry())])?;
            count += 1;
        }
        last.wait().await;
        store.write(vec![StoreWrite::Trim(log.clone(), log.newest())])?;
    }
    Ok(count as f64 / started.elapsed().as_secs_f64())
}
