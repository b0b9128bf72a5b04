//! The hub's own log: lines on standard error, at the level that the settings name.
//!
//! The level counts for our rooms. Libraries are held at `warn`, and the one for MCP, which shows
//! whole messages, is off: what was typed, called or proven is in no log. A line is one line whatever
//! a peer has put into it, and shows no control character but the colours of its own form.

use std::{
    fmt::Result as Formatted,
    io::{self, IsTerminal},
    str::FromStr,
};

use tracing::{Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer, Registry,
    field::RecordFields,
    fmt::{
        self,
        format::{DefaultFields, FormatFields, Writer},
    },
    layer::{Context, SubscriberExt},
    reload,
};

use crate::terminal;

/// The rooms, by the names of their crates: they say nothing that is not for a log.
const ROOMS: [&str; 12] = [
    "dialect", "edge", "guard", "hub", "launch", "machine", "mcp", "model", "snapshot", "store",
    "tabwire", "tools",
];
/// Libraries that say nothing at all: their warnings and errors show messages too.
const SILENT: [&str; 1] = ["rmcp"];

/// Changes the level while the hub runs.
pub struct LogLevel(reload::Handle<Threshold, Registry>);

impl LogLevel {
    /// Takes a level of the settings.
    pub fn set(&self, level: &str) {
        // An error means that the log has ended, which it never does.
        let _ = self.0.reload(Threshold::new(level));
    }
}

/// Starts the log of this process.
pub fn start(level: &str) -> LogLevel {
    let (threshold, handle) = reload::Layer::new(Threshold::new(level));
    let lines = fmt::layer()
        .fmt_fields(EscapedFields)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    // An error means that a log was started before; this is the only place that does.
    let _ = tracing::subscriber::set_global_default(
        tracing_subscriber::registry().with(threshold).with(lines),
    );
    LogLevel(handle)
}

/// What gets into the log.
struct Threshold {
    ours: LevelFilter,
}

impl Threshold {
    fn new(level: &str) -> Self {
        Self { ours: LevelFilter::from_str(level).unwrap_or(LevelFilter::INFO) }
    }

    fn of(&self, target: &str) -> LevelFilter {
        match target.split("::").next().unwrap_or_default() {
            room if ROOMS.contains(&room) => self.ours,
            library if SILENT.contains(&library) => LevelFilter::OFF,
            _ => self.ours.min(LevelFilter::WARN),
        }
    }
}

impl<S: Subscriber> Layer<S> for Threshold {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= self.of(metadata.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.ours)
    }
}

/// Writes the fields of a line, its message among them: all of it that is not ours.
struct EscapedFields;

impl<'writer> FormatFields<'writer> for EscapedFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> Formatted {
        let mut text = String::new();
        DefaultFields::new().format_fields(Writer::new(&mut text), fields)?;
        writer.write_str(&terminal::one_line(&text))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        sync::{Arc, Mutex},
    };

    use super::*;

    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(with_colours: bool, log: impl FnOnce()) -> String {
        let page = Page::default();
        let into = page.clone();
        let lines = fmt::layer()
            .fmt_fields(EscapedFields)
            .with_writer(move || into.clone())
            .with_ansi(with_colours)
            .without_time();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), log);
        String::from_utf8(page.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn a_line_is_one_line_and_only_its_form_has_colours() {
        const HOSTILE: &str = "\x1b]0;pwned\x07\u{9b}31m\u{202e}\r\x1b[31mred\nWARN forged";
        for with_colours in [false, true] {
            let text = logged(with_colours, || {
                let span = tracing::info_span!("connection", name = %HOSTILE).entered();
                tracing::warn!(name = %HOSTILE, plain = HOSTILE, "{HOSTILE}");
                drop(span);
            });
            assert_eq!(text.matches('\n').count(), 1, "{text:?}");
            assert!(text.ends_with('\n'), "{text:?}");
            assert_eq!(text.matches("WARN forged").count(), 4, "{text:?}");
            // What is left after our own colours has nothing that steers.
            let form = ["0", "1", "2", "3", "33"].map(|code| format!("\x1b[{code}m"));
            assert_eq!(form.iter().any(|colour| text.contains(colour)), with_colours);
            let text = form.iter().fold(text, |text, colour| text.replace(colour, ""));
            assert_eq!(terminal::one_line(text.trim_end_matches('\n')), text.trim_end());
        }
    }

    #[test]
    fn libraries_are_quiet_whatever_the_level() {
        #[track_caller]
        fn check(level: &str, target: &str, expected: LevelFilter) {
            assert_eq!(Threshold::new(level).of(target), expected, "{target} at {level}");
        }
        check("trace", "hub::session::work", LevelFilter::TRACE);
        check("trace", "hubbub::wire", LevelFilter::WARN);
        check("trace", "hyper::proto::h1", LevelFilter::WARN);
        check("trace", "rmcp::service", LevelFilter::OFF);
        check("error", "rmcp", LevelFilter::OFF);
        check("error", "hyper", LevelFilter::ERROR);
        check("info", "edge::gate", LevelFilter::INFO);
    }

    #[test]
    fn every_room_is_known() {
        let crates = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
        let names = crates.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        // Those that never log anything may miss.
        let mute = ["conformance", "lines", "processes", "testkit"];
        let mut rooms: Vec<_> = names.filter(|name| !mute.contains(&name.as_str())).collect();
        rooms.sort();
        assert_eq!(rooms, ROOMS);
    }
}
