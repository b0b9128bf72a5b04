//! Our extension as the hub sees it: its origin, its key, and the proof in both directions.
//!
//! It only opens connections; what comes after the welcome is for the socket. The proofs are
//! computed here from the protocol's document, and the hub's own is checked each time.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{Dial, Ending, Incoming, Socket};

/// The origin of our extension.
pub const EXTENSION: &str = "chrome-extension://flijodnkmdflbekoipgfjippcnecmdfi";

/// An extension that proves itself.
#[derive(Clone)]
pub struct FakeExtension {
    dial: Dial,
    instance: String,
    key: Vec<u8>,
    pairing: bool,
    name: Option<String>,
    /// The page that it carries: its instance id and its origin.
    carried: Option<(String, String)>,
    resume_token: Option<String>,
    /// What it tells in place of the origin that it signs for.
    told_origin: Option<String>,
    /// Where it thinks that it dials, where somebody stands between.
    dialled: Option<String>,
    /// What whoever stands between makes of that.
    told_address: Option<String>,
}

/// A socket on which the hub has proven itself, and what there is to prove.
pub struct Challenged {
    /// The socket.
    pub socket: Socket,
    /// The hub's own proof.
    pub hubs_proof: String,
    /// The same, as it should be.
    pub expected: String,
    /// Our proof, as it should be.
    pub proof: String,
    /// The lasting key, where this pairs.
    lasting: Vec<u8>,
}

impl FakeExtension {
    /// Makes one that has a key, in base64url.
    pub fn new(port: u16, instance: &str, key: &str) -> Self {
        Self {
            dial: Dial::session(port, instance).origin(EXTENSION),
            instance: instance.to_owned(),
            key: BASE64.decode(key).unwrap(),
            pairing: false,
            name: Some(instance.to_owned()),
            carried: None,
            resume_token: None,
            told_origin: None,
            dialled: None,
            told_address: None,
        }
    }

    /// Has dialled somebody who passes everything on to the hub, and who may tell the hub another
    /// address than the extension did.
    pub fn relayed(mut self, dialled: &str, told: &str) -> Self {
        self.dialled = Some(dialled.to_owned());
        self.told_address = Some(told.to_owned());
        self
    }

    /// Returns the address that it signs for.
    fn address(&self) -> String {
        self.dialled.clone().unwrap_or_else(|| self.dial.address())
    }

    /// Presents a token of a welcome.
    pub fn resuming(mut self, welcome: &Value) -> Self {
        self.resume_token = welcome["resumeToken"].as_str().map(str::to_owned);
        self
    }

    /// Signs for another origin than the one that it tells.
    pub fn telling(mut self, origin: &str) -> Self {
        self.told_origin = Some(origin.to_owned());
        self
    }

    /// Carries a page: the same key, for a socket of the page's own.
    pub fn carrying(&self, page: &str, origin: &str) -> Self {
        let address = format!("/session/{page}");
        Self {
            dial: self.dial.clone().path(&address),
            name: Some(page.to_owned()),
            carried: Some((page.to_owned(), origin.to_owned())),
            ..self.clone()
        }
    }

    /// Makes one into which somebody has pasted a code.
    pub fn with_code(port: u16, instance: &str, code: &str) -> Self {
        let code = code.replace('-', "");
        let key = Sha256::digest(format!("tabwire.v1 code\n{code}"));
        Self { pairing: true, ..Self::new(port, instance, &BASE64.encode(key)) }
    }

    /// Calls itself nothing.
    pub fn nameless(mut self) -> Self {
        self.name = None;
        self
    }

    /// Changes how it connects.
    pub fn dialled(mut self, change: impl FnOnce(Dial) -> Dial) -> Self {
        self.dial = change(self.dial);
        self
    }

    /// Returns its key, in base64url.
    pub fn key(&self) -> String {
        BASE64.encode(&self.key)
    }

    /// Connects and says who it is; an error is how the hub closed instead of a challenge.
    pub async fn greet(&self) -> Result<Challenged, Ending> {
        let nonce = new_nonce();
        let mut socket = self.dial.connect().await;
        let mut hello = json!({
            "type": "hello", "instanceId": self.instance, "kind": "browser", "nonce": nonce,
            "address": self.told_address.clone().unwrap_or_else(|| self.address()),
        });
        if let Some((page, origin)) = &self.carried {
            hello["instanceId"] = json!(page);
            hello["kind"] = json!("app");
            hello["carrier"] = json!(self.instance);
            hello["origin"] = json!(self.told_origin.as_ref().unwrap_or(origin));
        }
        if self.pairing {
            hello["pairing"] = json!(true);
        }
        socket.send(&hello).await;
        let challenge = expect(&mut socket, "challenge").await;
        let challenge = match challenge {
            Ok(challenge) => challenge,
            Err(said) => return Err(ended(socket, said).await),
        };
        let hubs = challenge["nonce"].as_str().unwrap();
        let address = self.address();
        let sign = |label: &str| {
            let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).unwrap();
            let head = format!("{label}\n{address}");
            let words = match &self.carried {
                None => format!("{head}\n{}\n{nonce}\n{hubs}", self.instance),
                Some((page, origin)) => {
                    format!("{head}\n{page}\n{nonce}\n{hubs}\n{}\n{origin}", self.instance)
                }
            };
            mac.update(words.as_bytes());
            mac.finalize().into_bytes().to_vec()
        };
        Ok(Challenged {
            hubs_proof: challenge["proof"].as_str().unwrap().to_owned(),
            expected: BASE64.encode(sign("tabwire.v2 hub")),
            proof: BASE64.encode(sign("tabwire.v2 browser")),
            lasting: sign("tabwire.v2 key"),
            socket,
        })
    }

    /// Connects and is welcomed; from then on a code is used up and the lasting key is there.
    pub async fn connect(&mut self) -> (Socket, Value) {
        match self.try_connect().await {
            Ok(connected) => connected,
            Err(ending) => panic!("{} was not welcomed: {ending:?}", self.instance),
        }
    }

    /// Connects; an error is how the hub closed instead of a welcome.
    pub async fn try_connect(&mut self) -> Result<(Socket, Value), Ending> {
        let challenged = self.greet().await?;
        let proof = challenged.proof.clone();
        let lasting = challenged.lasting.clone();
        let proven = challenged.hubs_proof == challenged.expected;
        let connected = self.prove(challenged, &proof).await?;
        assert!(proven, "the hub's own proof is wrong");
        if std::mem::take(&mut self.pairing) {
            self.key = lasting;
        }
        Ok(connected)
    }

    /// Says the rest, with any proof; an error is how the hub closed instead of a welcome.
    pub async fn prove(
        &self,
        challenged: Challenged,
        proof: &str,
    ) -> Result<(Socket, Value), Ending> {
        let mut socket = challenged.socket;
        let mut prove = json!({
            "type": "prove", "proof": proof, "version": "1.0", "epoch": "life",
        });
        if self.carried.is_none() {
            prove["commands"] = json!(["browser_navigate"]);
        }
        if let Some(name) = &self.name {
            prove["name"] = json!(name);
        }
        if let Some(token) = &self.resume_token {
            prove["resumeToken"] = json!(token);
        }
        socket.send(&prove).await;
        match expect(&mut socket, "welcome").await {
            Ok(welcome) => Ok((socket, welcome)),
            Err(said) => Err(ended(socket, said).await),
        }
    }
}

/// Waits for a message; an error is what came instead.
async fn expect(socket: &mut Socket, kind: &str) -> Result<Value, Incoming> {
    match socket.recv().await {
        Incoming::Message(message) if message["type"] == kind => Ok(message),
        other => Err(other),
    }
}

async fn ended(socket: Socket, first: Incoming) -> Ending {
    match first {
        Incoming::Message(message) => {
            let mut ending = socket.ended().await;
            ending.said.insert(0, message);
            ending
        }
        Incoming::Close(code, reason) => {
            Ending { code, reason, said: Vec::new(), clean: true, by_hub: true }
        }
        Incoming::Lost(reason) => {
            Ending { code: 0, reason, said: Vec::new(), clean: false, by_hub: true }
        }
    }
}

/// Makes a nonce that differs from all others; tests need no secrets.
fn new_nonce() -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    BASE64.encode(Sha256::digest(format!("{now} {number} {}", std::process::id())))
}
