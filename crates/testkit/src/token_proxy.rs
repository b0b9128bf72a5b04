//! A proxy that shows the hub's token for clients that cannot send headers of their own.
//!
//! One request per connection: the head is rewritten, everything else is passed on as it is. What is
//! addressed to another host than the proxy stays so, and is for the hub to refuse.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
};

use crate::keyring;

/// Heads of test clients are short.
const HEAD: usize = 64 << 10;

/// A proxy on a port of its own, which may be known before its hub is.
pub struct TokenProxy {
    listener: TcpListener,
    /// Where it listens.
    pub port: u16,
}

impl TokenProxy {
    /// Takes a port.
    pub fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// Serves a hub that was started by this process, for as long as the process lives.
    pub fn serve(self, hub: u16) {
        let Self { listener, port } = self;
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // An error is the end of one connection, and its client sees that.
                thread::spawn(move || pass_on(client, port, hub));
            }
        });
    }
}

fn pass_on(mut client: TcpStream, own: u16, hub: u16) -> io::Result<()> {
    let (head, rest) = read_head(&mut client)?;
    let mut server = TcpStream::connect(("127.0.0.1", hub))?;
    server.set_nodelay(true)?;
    client.set_nodelay(true)?;
    server.write_all(rewrite(&head, own, hub).as_bytes())?;
    server.write_all(&rest)?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    let asking = thread::spawn(move || {
        let copied = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
        copied
    });
    let answered = io::copy(&mut server, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
    let _ = asking.join();
    answered.map(|_| ())
}

/// Reads a request's head, and whatever of its body came with it.
fn read_head(client: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut read = Vec::new();
    let mut part = [0; 4096];
    loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = read.split_off(end + 4);
            read.truncate(end);
            return Ok((String::from_utf8_lossy(&read).into_owned(), rest));
        }
        let count = client.read(&mut part)?;
        if count == 0 || read.len() > HEAD {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        read.extend_from_slice(&part[..count]);
    }
}

/// Addresses a head to the hub, with its token, and asks for the end of the connection.
fn rewrite(head: &str, own: u16, hub: u16) -> String {
    let to_us = ["127.0.0.1", "localhost"].map(|name| format!("host: {name}:{own}"));
    let rewrite = |line: &str| match line.to_ascii_lowercase() {
        lower if to_us.contains(&lower) => Some(format!("Host: 127.0.0.1:{hub}")),
        lower if lower.starts_with("connection:") => None,
        _ => Some(line.to_owned()),
    };
    let mut lines: Vec<_> = head.split("\r\n").filter_map(rewrite).collect();
    lines.push("Connection: close".to_owned());
    if let Some(token) = keyring::token_of(hub) {
        lines.push(format!("Authorization: Bearer {token}"));
    }
    lines.join("\r\n") + "\r\n\r\n"
}
