//! Ten thousand connections: how fast they come in, and what each costs while it is idle.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use tokio::{sync::Semaphore, task::JoinSet};

use super::{
    Times,
    client::Socket,
    report::{Crowd, Report},
    resident,
    socket::Floor,
};
use crate::hub_process::HubProcess;

/// Handshakes under way at the same time: a burst, but within what the kernel queues.
const AT_ONCE: usize = 1000;

pub async fn measure(report: &mut Report, connections: usize) -> Result<()> {
    let floor = Floor::start()?;
    let bare = arrive(connections, |_| Socket::connect(floor.socket, "/", None)).await?;
    let (bare_time, bare_sockets, _) = bare;
    drop(bare_sockets);
    let hub = HubProcess::start("target/release/tabwire")?;
    let at_rest = resident(hub.process.id())?;
    let port = hub.port;
    let arrived = arrive(connections, move |number| async move {
        Socket::app(port, &format!("crowd-{number}")).await
    });
    let (time, sockets, slowest) = arrived.await?;
    // Let what was only needed for arriving be given back.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let crowded = resident(hub.process.id())?;
    ensure!(sockets.len() == connections, "not everybody came in");
    let each = crowded.saturating_sub(at_rest) / connections as u64;
    report.crowd(Crowd { connections, bare_time, time, slowest, at_rest, each });
    Ok(())
}

async fn arrive<F, Fut>(count: usize, connect: F) -> Result<(Duration, Vec<Socket>, Duration)>
where
    F: Fn(usize) -> Fut,
    Fut: Future<Output = Result<Socket>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut arriving = JoinSet::new();
    let started = Instant::now();
    for number in 0..count {
        let permit = room.clone().acquire_owned().await?;
        let connecting = connect(number);
        arriving.spawn(async move {
            let mut times = Times::default();
            let socket = times.take(connecting).await?;
            drop(permit);
            Ok::<_, anyhow::Error>((socket, times.median()))
        });
    }
    let (mut sockets, mut slowest) = (Vec::with_capacity(count), Duration::ZERO);
    while let Some(arrived) = arriving.join_next().await {
        let (socket, took) = arrived??;
        sockets.push(socket);
        slowest = slowest.max(took);
    }
    Ok((started.elapsed(), sockets, slowest))
}
