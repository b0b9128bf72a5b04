//! The plain command line of a relay, read without the library.
//!
//! One relay runs per AI client, all day, and nearly all its memory is the program's pages that it
//! has touched: reading `tabwire stdio --session viewer` with the library would be a fifth of them.
//! Whatever is not plain (help, mistakes, odd spellings) is left to the library, which decides and
//! says what is wrong; so there is no error here, and nothing is taken that it would refuse.

use std::{ffi::OsString, time::Duration};

use super::{DataFolder, JoinedHub, Stdio};

/// What `--idle-exit` is when it is not given, as in [`JoinedHub`].
const IDLE_EXIT: Duration = Duration::from_secs(15 * 60);
/// What `--request-timeout` is when it is not given, as in [`Stdio`].
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads the words after the program's name, if they are a plain relay's.
pub fn read(
    words: impl IntoIterator<Item = OsString>,
    environment: impl Fn(&str) -> Option<OsString>,
) -> Option<Stdio> {
    let mut words = words.into_iter().map(|word| word.into_string().ok());
    if words.next()?? != "stdio" {
        return None;
    }
    let (mut session, mut data, mut port) = (None, None, None);
    let (mut idle_exit, mut request_timeout, mut no_start) = (None, None, false);
    while let Some(word) = words.next() {
        let word = word?;
        if word == "--no-start" && !no_start {
            no_start = true;
            continue;
        }
        let (place, value) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), value.to_owned()),
            _ => (word, words.next()??),
        };
        let place = match place.as_str() {
            "--session" | "-s" => &mut session,
            "--data" => &mut data,
            "--port" => &mut port,
            "--idle-exit" => &mut idle_exit,
            "--request-timeout" => &mut request_timeout,
            _ => return None,
        };
        if value.is_empty() || value.starts_with('-') || place.replace(value).is_some() {
            return None;
        }
    }
    for (place, name) in [(&mut data, "TABWIRE_DATA"), (&mut port, "TABWIRE_PORT")] {
        if let (None, Some(value)) = (&place, environment(name)) {
            *place = Some(value.into_string().ok().filter(|value| !value.is_empty())?);
        }
    }
    let time = |given: Option<String>, usual| match given {
        Some(time) => humantime::parse_duration(&time).ok(),
        None => Some(usual),
    };
    let idle_exit = time(idle_exit, IDLE_EXIT)?;
    let request_timeout = time(request_timeout, REQUEST_TIMEOUT)?;
    let port = match port {
        Some(port) => Some(port.parse().ok()?),
        None => None,
    };
    let data = DataFolder { data: data.map(Into::into) };
    let hub = JoinedHub { data, port, idle_exit, no_start };
    Some(Stdio { session, request_timeout, hub })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches};

    use super::{
        super::{Cli, Command},
        *,
    };

    fn by_hand(line: &str) -> Option<Stdio> {
        read(line.split(' ').map(OsString::from), |_| None)
    }

    fn by_library(line: &str) -> Option<Stdio> {
        let words = std::iter::once("tabwire").chain(line.split(' '));
        let matches = Cli::command().try_get_matches_from(words).ok()?;
        match Cli::from_arg_matches(&matches).ok()?.command {
            Command::Stdio(stdio) => Some(stdio),
            _ => None,
        }
    }

    const PLAIN: &[&str] = &[
        "stdio",
        "stdio --no-start",
        "stdio --session viewer",
        "stdio -s viewer --data /some/where",
        "stdio --session=viewer --port=9000 --no-start",
        "stdio --session a=b --port 0",
        "stdio --idle-exit 5m --data=a=b",
        "stdio --request-timeout 5s",
    ];

    #[test]
    fn plain_lines_are_read_as_the_library_reads_them() {
        // The library looks at the process's own environment.
        if ["TABWIRE_DATA", "TABWIRE_PORT"].iter().any(|name| std::env::var_os(name).is_some()) {
            return;
        }
        for line in PLAIN {
            let plain = by_hand(line).unwrap_or_else(|| panic!("{line} is plain"));
            assert_eq!(Some(plain), by_library(line), "{line}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_library() {
        for line in [
            "",
            "serve",
            "stdio --help",
            "stdio -h",
            "stdio --version",
            "stdio viewer",
            "stdio --",
            "stdio --session",
            "stdio --session=",
            "stdio --session --no-start",
            "stdio -sviewer",
            "stdio --session a --session b",
            "stdio --no-start --no-start",
            "stdio --no-start=true",
            "stdio --port 70000",
            "stdio --port x",
            "stdio --idle-exit soon",
            "stdio --request-timeout soon",
            "stdio --prot 1",
        ] {
            assert_eq!(by_hand(line), None, "{line}");
        }
    }

    #[test]
    fn every_flag_of_a_relay_is_known_here() {
        let command = Cli::command();
        let stdio = command.find_subcommand("stdio").unwrap();
        for flag in stdio.get_arguments().filter_map(|argument| argument.get_long()) {
            let lines = PLAIN.iter().filter(|line| line.contains(&format!("--{flag}")));
            assert!(lines.count() > 0, "--{flag} is in no line that both read");
        }
    }

    #[test]
    fn the_environment_counts_where_no_flag_does() {
        let environment = |name: &str| {
            Some(OsString::from(if name == "TABWIRE_PORT" { "9000" } else { "/some/where" }))
        };
        let line = ["stdio", "--port", "9001"].map(OsString::from);
        let hub = read(line, environment).unwrap().hub;
        assert_eq!((hub.port, hub.data.path()), (Some(9001), "/some/where".into()));
        let wrong = read(["stdio".into()], |_| Some("not a port".into()));
        assert_eq!(wrong, None);
    }
}
