//! Frames from a peer and messages of the hub, in any order, through a dialect's machine.
//!
//! A line is a step; its first letter says what it is: `>` a text frame, `%` a binary frame, `*` a
//! binary frame with the rest of the line compressed, `<` a message of the hub (see
//! [`hub_message`](crate::hub_message)), `~` the timer. Whatever the machine writes must be JSON.

use dialect::{Dialect, DialectInfo, Frame, Output, Start, native::compress};
use serde_json::value::RawValue;

use crate::hub_message;

/// Drives the machine of one dialect.
pub fn run(name: &str, input: &[u8]) {
    let info = dialect::find(name).expect("a target of this kind is named like its dialect");
    let mut machine = start(info, input);
    check(machine.open());
    for step in input.split(|byte| *byte == b'\n') {
        take(&mut *machine, step);
    }
}

/// Every second length of input has an instance id in the address.
fn start(info: &DialectInfo, input: &[u8]) -> Box<dyn Dialect> {
    let instance = input.len().is_multiple_of(2).then(|| "fuzz-1".parse().expect("an instance id"));
    (info.start)(&Start { instance, version: "0.0.0", liveness: info.liveness })
}

fn take(machine: &mut dyn Dialect, step: &[u8]) {
    let Some((kind, rest)) = step.split_first() else { return };
    let text = std::str::from_utf8(rest);
    check(match (kind, text) {
        (b'>', Ok(text)) => machine.receive(Frame::Text(text)),
        (b'<', Ok(text)) => match hub_message::read(text) {
            Some(message) => machine.send(message),
            None => return,
        },
        (b'%', _) => machine.receive(Frame::Binary(rest)),
        (b'*', _) => machine.receive(Frame::Binary(&compress::deflate(rest))),
        (b'~', _) => machine.wake(),
        _ => return,
    });
}

fn check(outputs: Vec<Output>) {
    for output in outputs {
        if let Output::Write(text) = output {
            let written = serde_json::from_str::<&RawValue>(&text);
            assert!(written.is_ok(), "this is no JSON: {text}");
        }
    }
}
