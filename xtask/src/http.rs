//! One HTTP connection to a program on this machine, kept open.

use anyhow::{Result, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, client::conn::http1::SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, task::JoinSet};

/// One HTTP connection that is kept open. Shows a hub of ours its token, and others one of no meaning.
pub struct Http {
    port: u16,
    token: Option<String>,
    sender: SendRequest<Full<Bytes>>,
    _connection: JoinSet<()>,
}

impl Http {
    pub async fn connect(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            let _ = connection.await;
        });
        // Also where nobody asks for one: a client that writes less would be measured, not a server.
        let token = testkit::keyring::token_of(port).or_else(|| Some("x".repeat(52)));
        Ok(Self { port, token, sender, _connection: driver })
    }

    pub async fn get(&mut self, path: &str) -> Result<Bytes> {
        self.ask("GET", path, Bytes::new()).await
    }

    pub async fn post(&mut self, path: &str, body: &Value) -> Result<Bytes> {
        self.ask("POST", path, Bytes::from(body.to_string())).await
    }

    /// Sends one MCP request of the newer era.
    pub async fn mcp(&mut self, method: &str, name: &str, body: &Value) -> Result<Bytes> {
        let request = Request::builder()
            .method("POST")
            .uri("/mcp")
            .header("host", format!("127.0.0.1:{}", self.port))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method)
            .header("mcp-name", name);
        let answer = self.send(request.body(Full::new(Bytes::from(body.to_string())))?).await?;
        if !answer.windows(9).any(|part| part == b"\"content\"") {
            bail!("{name}: {}", String::from_utf8_lossy(&answer));
        }
        Ok(answer)
    }

    async fn ask(&mut self, method: &str, path: &str, body: Bytes) -> Result<Bytes> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", format!("127.0.0.1:{}", self.port))
            .header("content-type", "application/json");
        self.send(request.body(Full::new(body))?).await
    }

    async fn send(&mut self, mut request: Request<Full<Bytes>>) -> Result<Bytes> {
        if let Some(token) = &self.token {
            let shown = format!("Bearer {token}").parse()?;
            request.headers_mut().insert("authorization", shown);
        }
        let asked = format!("{} {}", request.method(), request.uri());
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            bail!("{asked}: {status} {}", String::from_utf8_lossy(&body));
        }
        Ok(body)
    }
}
