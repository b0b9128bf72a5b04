//! The hub's admin API from the outside: requests over a connection of their own.

use std::path::Path;

use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, StatusCode,
    body::{Bytes, Incoming},
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::{cli::Target, config::Own, failure::Failure};

/// A hub on this machine.
pub struct Api {
    port: u16,
    token: Option<String>,
}

impl Api {
    /// Finds the hub and the token it may want.
    pub fn new(target: &Target) -> Result<Self, Failure> {
        Ok(Self { port: target.port, token: find_token(target)? })
    }

    /// Asks for something.
    pub async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.ask(Method::GET, path, None).await
    }

    /// Asks for something that is not JSON.
    pub async fn bytes(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let (status, body) = self.send(Method::GET, path, None).await?;
        if !status.is_success() {
            return Err(failure(&collect(body).await?));
        }
        Ok(body.collect().await.map_err(Failure::failed)?.to_bytes().to_vec())
    }

    /// Sends something.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.ask(Method::POST, path, Some(body)).await
    }

    /// Asks for something that comes line by line; ends when the hub or the reader does.
    pub async fn lines(
        &self,
        path: &str,
        mut each: impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (status, mut body) = self.send(Method::GET, path, None).await?;
        if status != StatusCode::OK {
            return Err(failure(&collect(body).await?));
        }
        let mut buffer = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(Failure::failed)?;
            buffer.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
            while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = buffer.drain(..=end).collect();
                each(String::from_utf8_lossy(&line).trim_end())?;
            }
        }
        Ok(())
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let (status, body) = self.send(method, path, body).await?;
        let value = collect(body).await?;
        if status.is_success() { Ok(value) } else { Err(failure(&value)) }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Incoming), Failure> {
        let port = self.port;
        let stream = TcpStream::connect(("127.0.0.1", port)).await.map_err(|error| {
            Failure::no_hub(format!(
                "no hub answers on 127.0.0.1:{port} ({error}); start one with `tabwire serve`"
            ))
        })?;
        let _ = stream.set_nodelay(true);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(Failure::failed)?;
        // Ends with the response's body; the runtime of a command ends right after.
        tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", format!("127.0.0.1:{port}"))
            .header("content-type", "application/json")
            .header("tabwire-client", "tabwire-cli");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let request = request.body(Full::new(bytes)).map_err(Failure::usage)?;
        let response = sender.send_request(request).await.map_err(|error| {
            Failure::failed(format!("the hub on port {port} did not answer: {error}"))
        })?;
        Ok((response.status(), response.into_body()))
    }
}

/// Runs a command's conversation with the hub.
pub fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // A thread may be reading standard input; it ends with the process, not before.
    runtime.shutdown_background();
    done
}

async fn collect(body: Incoming) -> Result<Value, Failure> {
    let bytes = body.collect().await.map_err(Failure::failed)?.to_bytes();
    serde_json::from_slice(&bytes)
        .map_err(|_| Failure::failed("whoever answers on that port is not a Tabwire hub"))
}

fn failure(body: &Value) -> Failure {
    let error = &body["error"];
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    let mut message = text("message");
    if !text("hint").is_empty() {
        message = format!("{message}\n  {}", text("hint"));
    }
    match error["code"].as_str() {
        Some("unauthorized" | "refused") => Failure::refused(message),
        Some("invalid_argument") => Failure::usage(message),
        Some(code) => Failure::failed(format!("{message} ({code})")),
        None => Failure::failed("the hub answered with an error that has no words"),
    }
}

/// `TABWIRE_TOKEN`, else the first token of the token file.
fn find_token(target: &Target) -> Result<Option<String>, Failure> {
    if let Ok(token) = std::env::var("TABWIRE_TOKEN") {
        return Ok(Some(token));
    }
    let usual = Own::default();
    let own = Own {
        data: target.data.clone().unwrap_or(usual.data.clone()),
        token_file: target.token_file.clone(),
        ..usual
    };
    own.token_file().map(|path| first_token(&path)).transpose()
}

fn first_token(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
    text.lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .find(|line| !line.is_empty())
        .map(|line| line.split_once('=').map_or(line, |(_, token)| token).trim().to_owned())
        .ok_or_else(|| Failure::usage(format!("{} has no token in it", path.display())))
}
