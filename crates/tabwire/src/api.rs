//! The hub's admin API from the outside: requests over a connection of their own.

use std::path::{Path, PathBuf};

use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, StatusCode,
    body::{Bytes, Incoming},
};
use hyper_util::rt::TokioIo;
use machine::{ReachError, private};
use serde_json::Value;

use crate::{cli::Target, failure::Failure};

/// The hub of a data folder, reached through its private socket: nobody else can answer there, so no
/// token is shown to anybody.
pub struct Api {
    data: PathBuf,
    /// The port that its user expects it to have.
    port: Option<u16>,
}

impl Api {
    /// Takes the hub that a command line means.
    pub fn new(target: &Target) -> Self {
        let port = target.port.filter(|port| *port != 0);
        Self { data: target.data.path(), port }
    }

    /// Takes the hub of a data folder.
    pub fn of(data: &Path) -> Self {
        Self { data: data.to_owned(), port: None }
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
        let (hub, stream) = private::open_http(&self.data).await.map_err(unreachable)?;
        let port = hub.port;
        if let Some(expected) = self.port.filter(|expected| *expected != port) {
            return Err(Failure::no_hub(format!(
                "the hub of the data folder {} listens on port {port}, not on {expected}; name the \
                 folder of the one that you mean with --data",
                self.data.display()
            )));
        }
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(Failure::failed)?;
        // Ends with the response's body; the runtime of a command ends right after.
        tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", format!("127.0.0.1:{port}"))
            .header("content-type", "application/json")
            .header("tabwire-client", "tabwire-cli");
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

fn unreachable(error: ReachError) -> Failure {
    match error {
        ReachError::NoHub(_) => Failure::no_hub(error),
        error => Failure::failed(error),
    }
}

/// Returns the port of the hub, or of the last one, or the usual one; and whether it is there.
pub fn find_hub(data: &Path) -> (u16, bool) {
    let found = block_on(async {
        Ok(match machine::status(data).await.map_err(Failure::failed)? {
            machine::Status::Running(hub) => (hub.port, true),
            machine::Status::Unresponsive(record) => (record.port, true),
            machine::Status::Stale(record) => (record.port, false),
            machine::Status::NotRunning => {
                let record = machine::record::read(data).map_err(Failure::failed)?;
                (record.map_or(0, |record| record.port), false)
            }
        })
    });
    match found {
        Ok((port, running)) if port != 0 => (port, running),
        _ => (edge::Config::default().port, false),
    }
}

/// Refuses to touch the data of a hub that is there.
pub fn must_not_run(data: &Path) -> Result<(), Failure> {
    block_on(async {
        match machine::status(data).await.map_err(Failure::failed)? {
            machine::Status::Running(_) | machine::Status::Unresponsive(_) => {
                Err(Failure::refused("a hub works with that data; stop it first: tabwire stop"))
            }
            machine::Status::Stale(_) | machine::Status::NotRunning => Ok(()),
        }
    })
}
