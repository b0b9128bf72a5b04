//! A tiny HTTP client that hides nothing: requests are made of the bytes that the test wants.
//!
//! [`Ask`] is a request with its usual parts, each of which can be changed or left out; [`Http`] is
//! one connection, on which anything can be written.

use std::io;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{PATIENCE, keyring, within};

/// A request.
#[derive(Debug, Clone)]
pub struct Ask {
    method: String,
    path: String,
    host: Option<String>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    shows_token: bool,
}

impl Ask {
    /// Makes a request without a body. The usual `Host` is added when it is sent.
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            host: Some(String::new()),
            headers: Vec::new(),
            body: Vec::new(),
            shows_token: false,
        }
    }

    /// Makes a `GET` request.
    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// Makes a `POST` request with a JSON body.
    pub fn post(path: &str, body: &Value) -> Self {
        Self::new("POST", path)
            .header("Content-Type", "application/json")
            .body(body.to_string().into_bytes())
    }

    /// Makes a request for a WebSocket of our own protocol.
    pub fn upgrade(path: &str) -> Self {
        Self::bare_upgrade(path).header("Sec-WebSocket-Protocol", "tabwire.v1")
    }

    /// Makes a request for a WebSocket that offers no protocol.
    pub fn bare_upgrade(path: &str) -> Self {
        Self::get(path)
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
    }

    /// Adds a header, also one that is there already.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Shows a token.
    pub fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    /// Makes a request that shows the token of the hub it is sent to.
    pub fn own(method: &str, path: &str) -> Self {
        Self { shows_token: true, ..Self::new(method, path) }
    }

    /// Makes a `GET` request that shows the hub's token.
    pub fn own_get(path: &str) -> Self {
        Self::own("GET", path)
    }

    /// Makes a `POST` request with a JSON body that shows the hub's token.
    pub fn own_post(path: &str, body: &Value) -> Self {
        Self { shows_token: true, ..Self::post(path, body) }
    }

    /// Sends another `Host` than the usual one.
    pub fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    /// Sends no `Host`.
    pub fn without_host(mut self) -> Self {
        self.host = None;
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }

    /// Returns the bytes on the wire, addressed to a port.
    pub fn bytes(&self, port: u16) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if let Some(host) = &self.host {
            let usual = format!("127.0.0.1:{port}");
            let host = if host.is_empty() { &usual } else { host };
            head += &format!("Host: {host}\r\n");
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(token) = self.shows_token.then(|| keyring::token_of(port)).flatten() {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        if !self.body.is_empty() {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        head += "\r\n";
        [head.as_bytes(), &self.body].concat()
    }

    /// Sends it on a connection of its own.
    pub async fn send(&self, port: u16) -> Response {
        Http::connect(port).await.ask(self).await
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body; empty after an upgrade.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Reads the body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the code of the fault in it; empty where there is none.
    pub fn fault(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Fails the test unless it has this status.
    #[track_caller]
    pub fn must_be(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }
}

/// One connection.
pub struct Http {
    port: u16,
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Http {
    /// Connects to a port on this machine.
    pub async fn connect(port: u16) -> Self {
        Self::try_connect(port).await.unwrap()
    }

    /// Connects to a port where perhaps nobody listens.
    pub async fn try_connect(port: u16) -> io::Result<Self> {
        let stream = within(PATIENCE, "connecting", TcpStream::connect(("127.0.0.1", port)));
        let stream = stream.await?;
        stream.set_nodelay(true)?;
        Ok(Self { port, stream, unread: Vec::new() })
    }

    /// Sends a request to a hub that may die meanwhile; `None` means that there was no answer.
    pub async fn ask_if_possible(port: u16, ask: &Ask) -> Option<Response> {
        let mut http = Self::try_connect(port).await.ok()?;
        http.send(&ask.bytes(port)).await.ok()?;
        let answer = within(3 * PATIENCE, "an answer or an end", http.read_response()).await;
        answer.ok().flatten()
    }

    /// Sends a request and reads its answer.
    pub async fn ask(&mut self, ask: &Ask) -> Response {
        self.send(&ask.bytes(self.port)).await.unwrap();
        let answer = within(3 * PATIENCE, "an answer", self.read_response()).await;
        answer.unwrap().expect("an answer before the connection ends")
    }

    /// Writes bytes as they are.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Waits until an answer has begun to arrive, and reads nothing of it.
    pub async fn answer_begins(&self) {
        within(PATIENCE, "an answer", self.stream.readable()).await.expect("the connection stays");
    }

    /// Reads one answer; `None` means that the connection ended instead.
    pub async fn read_response(&mut self) -> io::Result<Option<Response>> {
        let Some(mut response) = self.read_head().await? else { return Ok(None) };
        if response.status == 101 {
            return Ok(Some(response));
        }
        if response.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.read_chunk().await? {
                response.body.extend(chunk);
            }
            return Ok(Some(response));
        }
        let length = response.header("content-length").and_then(|text| text.parse().ok());
        response.body = self.take(length.unwrap_or(0)).await?;
        Ok(Some(response))
    }

    /// Reads the head of an answer and leaves its body.
    pub async fn read_head(&mut self) -> io::Result<Option<Response>> {
        let end = loop {
            if let Some(end) = find(&self.unread, b"\r\n\r\n") {
                break end;
            }
            if self.read_more().await? == 0 {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&self.unread[..end]).into_owned();
        self.unread.drain(..end + 4);
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
        let headers = lines.filter_map(|line| line.split_once(':'));
        Ok(Some(Response {
            status: status.parse().unwrap_or_else(|_| panic!("no status: {head}")),
            headers: headers
                .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
                .collect(),
            body: Vec::new(),
        }))
    }

    /// Reads one chunk of a body that comes in chunks; `None` is its end.
    pub async fn read_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let end = loop {
            if let Some(end) = find(&self.unread, b"\r\n") {
                break end;
            }
            if self.read_more().await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        let size = String::from_utf8_lossy(&self.unread[..end]).into_owned();
        let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
        self.unread.drain(..end + 2);
        let mut chunk = self.take(size + 2).await?;
        chunk.truncate(size);
        Ok((size > 0).then_some(chunk))
    }

    /// Returns the stream, with what was read from it and not used.
    pub fn into_parts(self) -> (TcpStream, Vec<u8>) {
        (self.stream, self.unread)
    }

    async fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        while self.unread.len() < count {
            if self.read_more().await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(self.unread.drain(..count).collect())
    }

    async fn read_more(&mut self) -> io::Result<usize> {
        self.stream.read_buf(&mut self.unread).await
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
