//! A bad network: a proxy on loopback that cuts, delays, splits and freezes.
//!
//! What it does to connections is decided by the test, by hand or by a number of bytes after
//! which each connection is cut, in the middle of whatever that is.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinHandle,
    time::sleep,
};

/// A proxy in front of a port. Everything ends when it is dropped.
pub struct Cutter {
    port: u16,
    control: Arc<Control>,
    accepting: JoinHandle<()>,
}

struct Control {
    target: u16,
    /// Counts up; every connection that is older ends.
    generation: watch::Sender<u64>,
    frozen: watch::Sender<bool>,
    delay_ms: AtomicU64,
    split: AtomicBool,
    /// Bytes that a new connection may carry, both ways together; negative means any number.
    budget: AtomicI64,
}

impl Cutter {
    /// Starts a proxy in front of a port on this machine.
    pub async fn start(target: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let control = Arc::new(Control {
            target,
            generation: watch::Sender::new(0),
            frozen: watch::Sender::new(false),
            delay_ms: AtomicU64::new(0),
            split: AtomicBool::new(false),
            budget: AtomicI64::new(-1),
        });
        let accepting = tokio::spawn(accept(listener, control.clone()));
        Self { port, control, accepting }
    }

    /// Returns the port to connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Cuts every connection.
    pub fn cut(&self) {
        self.control.generation.send_modify(|generation| *generation += 1);
    }

    /// Cuts each new connection after so many bytes, both ways together.
    pub fn cut_after(&self, bytes: Option<u64>) {
        let budget = bytes.map_or(-1, |bytes| bytes as i64);
        self.control.budget.store(budget, Ordering::Relaxed);
    }

    /// Stops forwarding, or goes on; connections stay open and silent meanwhile.
    pub fn freeze(&self, frozen: bool) {
        self.control.frozen.send_replace(frozen);
    }

    /// Holds back everything for a while.
    pub fn delay(&self, delay: Duration) {
        self.control.delay_ms.store(delay.as_millis() as u64, Ordering::Relaxed);
    }

    /// Forwards byte by byte.
    pub fn split(&self, split: bool) {
        self.control.split.store(split, Ordering::Relaxed);
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

async fn accept(listener: TcpListener, control: Arc<Control>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(carry(stream, control.clone()));
    }
}

/// Carries one connection until one side ends or it is cut.
async fn carry(from_peer: TcpStream, control: Arc<Control>) {
    let mut generation = control.generation.subscribe();
    let Ok(from_hub) = TcpStream::connect(("127.0.0.1", control.target)).await else { return };
    for stream in [&from_peer, &from_hub] {
        stream.set_nodelay(true).unwrap();
    }
    let budget = control.budget.load(Ordering::Relaxed);
    let left = AtomicI64::new(if budget < 0 { i64::MAX } else { budget });
    let (peer_read, peer_write) = from_peer.into_split();
    let (hub_read, hub_write) = from_hub.into_split();
    // Whichever ends first ends all: the streams are dropped with the arms.
    tokio::select! {
        _ = generation.changed() => {}
        () = pump(peer_read, hub_write, &control, &left) => {}
        () = pump(hub_read, peer_write, &control, &left) => {}
    }
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    control: &Control,
    left: &AtomicI64,
) {
    let mut buffer = [0; 8192];
    let mut frozen = control.frozen.subscribe();
    loop {
        let count = match from.read(&mut buffer).await {
            Ok(count) if count > 0 => count,
            _ => return,
        };
        if frozen.wait_for(|frozen| !frozen).await.is_err() {
            return;
        }
        let delay = control.delay_ms.load(Ordering::Relaxed);
        if delay > 0 {
            sleep(Duration::from_millis(delay)).await;
        }
        let allowed = left.fetch_sub(count as i64, Ordering::Relaxed).clamp(0, count as i64);
        let piece = if control.split.load(Ordering::Relaxed) { 1 } else { buffer.len() };
        for part in buffer[..allowed as usize].chunks(piece) {
            if to.write_all(part).await.is_err() {
                return;
            }
        }
        if allowed < count as i64 {
            return;
        }
    }
}
