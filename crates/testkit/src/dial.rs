//! How a fake peer connects: where to, how it names itself, what it offers and pretends.

use tokio_tungstenite::{WebSocketStream, tungstenite::protocol::Role};

use crate::{Ask, Http, PATIENCE, Response, Socket, keyring, within};

/// A WebSocket connection that is about to be made.
#[derive(Debug, Clone)]
pub struct Dial {
    port: u16,
    host_port: u16,
    path: String,
    protocols: Vec<String>,
    headers: Vec<(String, String)>,
    shows_token: bool,
    host: Option<String>,
}

impl Dial {
    /// Connects to the root of the hub on a port, offering our own protocol.
    pub fn root(port: u16) -> Self {
        Self {
            port,
            host_port: port,
            path: "/".to_owned(),
            protocols: vec!["tabwire.v1".to_owned()],
            headers: Vec::new(),
            shows_token: true,
            host: None,
        }
    }

    /// Connects as an instance that is named in the path.
    pub fn session(port: u16, instance: &str) -> Self {
        Self::root(port).path(&format!("/session/{instance}"))
    }

    /// Takes another path, with its query.
    pub fn path(mut self, path: &str) -> Self {
        self.path = path.to_owned();
        self
    }

    /// Goes to a hub on another port.
    pub fn to(mut self, port: u16) -> Self {
        (self.port, self.host_port) = (port, port);
        self
    }

    /// Goes through a proxy on another port; the hub is addressed by its own name all the same.
    pub fn via(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Names the hub in another way than by its address.
    pub fn addressed(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    /// Offers one more subprotocol.
    pub fn offer(mut self, protocol: &str) -> Self {
        self.protocols.push(protocol.to_owned());
        self
    }

    /// Offers these subprotocols and no others.
    pub fn offer_only(mut self, protocols: &[&str]) -> Self {
        self.protocols = protocols.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Pretends to come from a page of this origin.
    pub fn origin(self, origin: &str) -> Self {
        self.header("Origin", origin)
    }

    /// Returns where it dials, as proofs have it.
    pub fn address(&self) -> String {
        format!("loopback:{}", self.host_port)
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Shows no token, as whoever has none.
    pub fn without_token(mut self) -> Self {
        self.shows_token = false;
        self
    }

    /// Returns the token that a program shows; a page can show none.
    fn own_token(&self) -> Option<String> {
        let says = |wanted: &str| self.headers.iter().any(|(name, _)| name == wanted);
        let shows = self.shows_token && !says("Origin") && !says("Authorization");
        shows.then(|| keyring::token_of(self.host_port)).flatten()
    }

    /// Connects; fails the test when the hub does not switch to WebSocket.
    pub async fn connect(&self) -> Socket {
        match self.try_connect().await {
            Ok(socket) => socket,
            Err(Some(response)) => panic!("refused: {} {}", response.status, response.text()),
            Err(None) => panic!("the connection ended during the handshake"),
        }
    }

    /// Connects; an error is the answer of a hub that does not want to, or none at all.
    pub async fn try_connect(&self) -> Result<Socket, Option<Response>> {
        let host = self.host.clone().unwrap_or_else(|| format!("127.0.0.1:{}", self.host_port));
        let mut ask = Ask::bare_upgrade(&self.path).host(&host);
        if !self.protocols.is_empty() {
            ask = ask.header("Sec-WebSocket-Protocol", &self.protocols.join(", "));
        }
        for (name, value) in &self.headers {
            ask = ask.header(name, value);
        }
        if let Some(token) = self.own_token() {
            ask = ask.bearer(&token);
        }
        let mut http = Http::try_connect(self.port).await.map_err(|_| None)?;
        http.send(&ask.bytes(self.host_port)).await.map_err(|_| None)?;
        let answer = within(PATIENCE, "the handshake's answer", http.read_response()).await;
        let response = answer.ok().flatten().ok_or(None)?;
        if response.status != 101 {
            return Err(Some(response));
        }
        let (stream, unread) = http.into_parts();
        let stream = WebSocketStream::from_partially_read(stream, unread, Role::Client, None).await;
        Ok(Socket::new(stream, response))
    }
}
