//! A file server on loopback for demo pages, so that they have a web origin of their own.

use std::path::{Component, Path, PathBuf};

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Serves files below a folder until dropped.
pub struct Pages {
    /// Where it listens.
    pub port: u16,
    _serving: JoinSet<()>,
}

impl Pages {
    /// Starts serving.
    pub async fn start(folder: PathBuf) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut answers = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                answers.spawn(answer(stream, folder.clone()));
            }
        });
        Ok(Self { port, _serving: serving })
    }
}

async fn answer(mut stream: TcpStream, folder: PathBuf) {
    let mut head = vec![0; 8192];
    let Ok(count) = stream.read(&mut head).await else { return };
    let head = String::from_utf8_lossy(&head[..count]).into_owned();
    let path = head.split_whitespace().nth(1).unwrap_or("/");
    let path = path.split('?').next().unwrap_or("/").trim_start_matches('/');
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let (status, kind, body) = match std::fs::read(folder.join(path)) {
        Ok(body) if plain => ("200 OK", kind(path), body),
        _ => ("404 Not Found", "text/plain", b"not here".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(&body).await;
    let _ = stream.shutdown().await;
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => "application/octet-stream",
    }
}
