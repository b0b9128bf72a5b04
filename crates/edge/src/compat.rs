//! Extra ports for unmodified clients of other projects, which have their ports built in.
//!
//! Each is the same port again with a dialect chosen in advance: same gates, same limits, loopback
//! only, and nothing behind it but that dialect. A port that is taken costs only that dialect.

use std::{net::IpAddr, ops::RangeInclusive, sync::Arc};

use axum::{Router, routing::any};
use dialect::{DIALECTS, DialectInfo};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{Edge, browser_ws, gate::ListenerKind, listener, status};

/// A dialect with the port that it is wanted on.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// Which dialect.
    pub info: &'static DialectInfo,
    /// Where.
    pub port: u16,
}

/// Reads the setting: names, `name=port`, or `all`.
pub fn parse(words: &[String]) -> Result<Vec<Wanted>, String> {
    let with_port = || DIALECTS.iter().filter_map(|info| Some((info, info.compat_port?)));
    let mut wanted: Vec<Wanted> = Vec::new();
    for word in words {
        if word == "all" {
            for (info, port) in with_port() {
                if !wanted.iter().any(|known| known.info.name == info.name) {
                    wanted.push(Wanted { info, port });
                }
            }
            continue;
        }
        let (name, port) = match word.split_once('=') {
            Some((name, port)) => (name, Some(port)),
            None => (word.as_str(), None),
        };
        let Some((info, usual)) = with_port().find(|(info, _)| info.name == name) else {
            let names: Vec<_> = with_port().map(|(info, _)| info.name).collect();
            return Err(match dialect::find(name) {
                Some(_) => format!("{name} needs no port of its own: it is served on the one port"),
                None => format!("{name:?} is not one of {}, all", names.join(", ")),
            });
        };
        let port = match port {
            None => usual,
            Some(text) => text.parse().map_err(|_| format!("{word:?}: {text:?} is not a port"))?,
        };
        wanted.retain(|known| known.info.name != info.name);
        wanted.push(Wanted { info, port });
    }
    Ok(wanted)
}

/// Reads a range of ports, such as `3301-3399`; nothing means none.
pub fn parse_range(text: &str) -> Result<RangeInclusive<u16>, String> {
    if text.is_empty() {
        // An empty range: everybody shares one port.
        return Ok(RangeInclusive::new(1, 0));
    }
    let read = || {
        let (first, last) = text.split_once('-')?;
        let (first, last) = (first.trim().parse::<u16>().ok()?, last.trim().parse().ok()?);
        (first > 0 && first <= last).then_some(first..=last)
    };
    read().ok_or_else(|| format!("{text:?} is not a range of ports; write it as 3301-3399"))
}

/// Opens a port on this machine's own addresses.
pub(crate) fn bind(port: u16) -> Result<Vec<TcpListener>, listener::BindError> {
    let loopback = [IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])];
    listener::bind(&loopback, port)
}

impl Edge {
    /// Accepts on all sockets of a port that is for one dialect.
    pub(crate) fn accept_all(
        self: &Arc<Self>,
        listeners: Vec<TcpListener>,
        router: &Router,
        info: &'static DialectInfo,
        stop: &CancellationToken,
    ) {
        for listener in listeners {
            self.listen(listener, router.clone(), ListenerKind::Compat(info), stop.clone());
        }
    }
}

/// Sockets and nothing else.
pub(crate) fn socket_routes(edge: &Arc<Edge>) -> Router {
    Router::new()
        .route("/", any(browser_ws::upgrade))
        .fallback(status::not_found)
        .with_state(edge.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], expected: Result<&[(&str, u16)], &str>) {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        match (parse(&words), expected) {
            (Ok(wanted), Ok(expected)) => {
                let found: Vec<_> =
                    wanted.iter().map(|wanted| (wanted.info.name, wanted.port)).collect();
                assert_eq!(found, expected, "{words:?}");
            }
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (found, _) => panic!("{words:?}: {:?}", found.map(|wanted| wanted.len())),
        }
    }

    #[test]
    fn dialects_are_wanted_by_name_with_or_without_a_port() {
        check(&[], Ok(&[]));
        check(&["hello3d"], Ok(&[("hello3d", 3001)]));
        check(&["mcp_browser=0", "hello3d"], Ok(&[("mcp_browser", 0), ("hello3d", 3001)]));
        let all: &[_] = &[("hello3d", 3001), ("moonsurf", 3300), ("mcp_browser", 8851)];
        check(&["all"], Ok(all));
        check(&["hello3d", "hello3d=7"], Ok(&[("hello3d", 7)]));
    }

    #[test]
    fn odd_wishes_are_refused_with_what_there_is() {
        check(&["helo3d"], Err("hello3d, moonsurf, mcp_browser, all"));
        check(&["enhanced"], Err("served on the one port"));
        check(&["hello3d=x"], Err("not a port"));
        assert_eq!(parse_range("3301-3399"), Ok(3301..=3399));
        assert!(parse_range("").is_ok_and(|range| range.is_empty()));
        for odd in ["1", "9-1", "0-5", "a-b", "1-70000"] {
            assert!(parse_range(odd).is_err(), "{odd}");
        }
    }
}
