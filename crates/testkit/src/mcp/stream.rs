//! One answer over HTTP: a JSON body, or a stream of events that goes on.
//!
//! Dropping it closes the connection, which is how an HTTP client withdraws a request. Waiting for
//! the next message is cancel-safe.

use std::{collections::VecDeque, time::Duration};

use serde_json::Value;
use tokio::{io::AsyncReadExt, net::TcpStream};

use super::read_message;
use crate::{Ask, Http, PATIENCE, Response, within};

/// An answer that is being read.
pub struct McpStream {
    /// Status and headers; the body is not in it.
    pub head: Response,
    /// The id of the newest event that had one; an older client may come back for what follows.
    pub last_event: Option<String>,
    stream: TcpStream,
    unread: Vec<u8>,
    /// What has been read of the body and not been used.
    body: Vec<u8>,
    /// Bytes of the body that are still to come; `None` when it comes in chunks.
    left: Option<usize>,
    ended: bool,
    messages: VecDeque<Value>,
    patience: Duration,
}

impl McpStream {
    /// Sends a request and waits for the head of its answer; no wait is longer than `patience`.
    pub(super) async fn open(port: u16, ask: &Ask, patience: Duration) -> Self {
        let mut http = Http::connect(port).await;
        http.send(&ask.bytes(port)).await.unwrap();
        let head = within(patience, "the head of an answer", http.read_head()).await;
        let head = head.unwrap().expect("an answer before the connection ends");
        let left = match head.header("transfer-encoding") {
            Some("chunked") => None,
            _ => Some(head.header("content-length").map_or(0, |text| text.parse().unwrap())),
        };
        let (stream, unread) = http.into_parts();
        Self {
            head,
            last_event: None,
            stream,
            unread,
            body: Vec::new(),
            left,
            ended: false,
            messages: VecDeque::new(),
            patience,
        }
    }

    /// Returns whether the answer is a stream of events.
    pub fn is_events(&self) -> bool {
        self.head.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// Waits for the next message; `None` is the end of the answer.
    pub async fn next(&mut self) -> Option<Value> {
        within(self.patience, "a message on the stream", async {
            loop {
                self.take_messages();
                if let Some(message) = self.messages.pop_front() {
                    return Some(message);
                }
                if !self.read_body().await {
                    return None;
                }
            }
        })
        .await
    }

    /// Waits for a message, passing over all others.
    pub async fn until(&mut self, method: &str) -> Value {
        loop {
            match self.next().await {
                Some(message) if message["method"] == method => return message,
                Some(_) => {}
                None => panic!("the stream ended before {method}"),
            }
        }
    }

    /// Reads to the end; returns the answer as it is for requests that are not answered in MCP.
    pub async fn rest(mut self) -> Response {
        assert!(!self.is_events(), "a stream of events has no body to return");
        within(PATIENCE, "a body", async { while self.read_body().await {} }).await;
        Response { body: self.body, ..self.head }
    }

    /// Takes whole messages out of what has been read.
    fn take_messages(&mut self) {
        if !self.is_events() {
            if self.ended && !self.body.is_empty() {
                let body = std::mem::take(&mut self.body);
                self.messages.push_back(read_message(&body));
            }
            return;
        }
        while let Some(end) = self.body.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<_> = self.body.drain(..end + 2).collect();
            let event = String::from_utf8(event).expect("events are text");
            let field =
                |name: &'static str| event.lines().filter_map(move |line| line.strip_prefix(name));
            if let Some(id) = field("id:").next_back() {
                self.last_event = Some(id.trim().to_owned());
            }
            let data = field("data:").collect::<Vec<_>>().join("\n");
            // The first event of a resumable stream has no data; a comment has no field at all.
            if !data.trim().is_empty() {
                self.messages.push_back(read_message(data.trim().as_bytes()));
            }
        }
    }

    /// Reads more of the body; `false` is its end.
    async fn read_body(&mut self) -> bool {
        loop {
            if self.ended {
                return false;
            }
            if self.unpack() {
                return true;
            }
            let read = self.stream.read_buf(&mut self.unread).await;
            assert!(read.unwrap() > 0, "the connection ended in the middle of an answer");
        }
    }

    /// Moves what is complete into the body; `false` means that more must be read.
    fn unpack(&mut self) -> bool {
        if let Some(left) = &mut self.left {
            let count = self.unread.len().min(*left);
            *left -= count;
            self.ended = *left == 0;
            self.body.extend(self.unread.drain(..count));
            return count > 0 || self.ended;
        }
        let Some(end) = self.unread.windows(2).position(|pair| pair == b"\r\n") else {
            return false;
        };
        let size = std::str::from_utf8(&self.unread[..end]).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let whole = end + 2 + size + 2;
        if self.unread.len() < whole {
            return false;
        }
        let chunk: Vec<_> = self.unread.drain(..whole).collect();
        self.body.extend(&chunk[end + 2..whole - 2]);
        self.ended = size == 0;
        true
    }
}
