//! First gate: the request is addressed to us.
//!
//! A page that had its own name rebound to a loopback address sends that name; ours are few and
//! known. A request in absolute form must name us there too. What names a host of the operator's, or
//! was forwarded, comes from somewhere else, whatever address it came from.

use std::{net::SocketAddr, sync::Arc};

use arc_swap::ArcSwapOption;
use axum::{
    extract::Request,
    http::{HeaderMap, header},
};
use model::{Code, Fault};

use super::{Refused, single};
use crate::Config;

/// The names under which the hub is reached, with the port, in lower case.
pub type Hosts = Vec<String>;

/// The names of the port that was asked for last: every request is compared with them, and
/// settings change seldom.
#[derive(Default)]
pub struct KnownHosts(ArcSwapOption<Names>);

/// The names of a port, with what they follow from.
struct Names {
    config: Arc<Config>,
    port: u16,
    main_port: u16,
    hosts: Arc<Hosts>,
}

impl KnownHosts {
    /// Returns the names of a port; those that the settings allow are for the main one.
    pub fn of(&self, config: &Arc<Config>, port: u16, main_port: u16) -> Arc<Hosts> {
        if let Some(names) = &*self.0.load()
            && (names.port, names.main_port) == (port, main_port)
            && Arc::ptr_eq(&names.config, config)
        {
            return names.hosts.clone();
        }
        let hosts = Arc::new(hosts_of(config, port, main_port));
        let names = Names { config: config.clone(), port, main_port, hosts: hosts.clone() };
        self.0.store(Some(Arc::new(names)));
        hosts
    }
}

/// Works out the names of a port.
pub fn hosts_of(config: &Config, port: u16, main_port: u16) -> Hosts {
    let mut hosts =
        vec![format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
    if port != main_port {
        return hosts;
    }
    for address in config.bind.iter().filter(|address| !address.is_unspecified()) {
        hosts.push(SocketAddr::new(*address, port).to_string());
    }
    hosts.extend(config.allow_host.iter().map(|host| host.to_ascii_lowercase()));
    hosts
}

/// The names of this machine for itself.
const LOOPBACK: &[&str] = &["127.0.0.1", "localhost", "[::1]"];

/// Refuses a request that is addressed to somebody else, or to nobody; returns how it names us.
pub fn check<'a>(hosts: &Hosts, request: &'a Request) -> Result<&'a str, Refused> {
    let Some(host) = single(request.headers(), &header::HOST)? else {
        return Err(refused("the request has no Host header"));
    };
    let known = |name: &str| hosts.iter().any(|host| host.eq_ignore_ascii_case(name));
    if !known(host) {
        return Err(refused("the request is addressed to another host"));
    }
    match request.uri().authority() {
        Some(authority) if !known(authority.as_str()) => {
            Err(refused("the request is addressed to another host"))
        }
        _ => Ok(host),
    }
}

/// Returns whether a name is one that the operator has added: behind it is a proxy or a tunnel.
pub fn is_configured(config: &Config, host: &str) -> bool {
    config.allow_host.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Returns whether somebody has passed the request on.
pub fn is_forwarded(headers: &HeaderMap) -> bool {
    // What proxies add. Requests have few headers, so going through them once is the least work.
    headers.keys().any(|name| {
        matches!(
            name.as_str(),
            "forwarded"
                | "x-forwarded-for"
                | "x-forwarded-host"
                | "x-forwarded-proto"
                | "x-real-ip"
                | "via"
        )
    })
}

/// Returns an address as proofs have it: all names of this machine for itself are one.
pub fn address(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    let port = |name: &&str| host.strip_prefix(*name).filter(|port| port.starts_with(':'));
    match LOOPBACK.iter().find_map(port) {
        Some(port) => format!("loopback{port}"),
        None => host,
    }
}

fn refused(message: &str) -> Refused {
    let hint = "use 127.0.0.1 or localhost with the hub's port, or name the host with --allow-host";
    Refused::new("host", Fault::new(Code::Refused, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[track_caller]
    fn check_host(uri: &str, hosts: &[&str], expected: Result<(), Code>) {
        let mut request = Request::builder().uri(uri);
        for host in hosts {
            request = request.header("host", *host);
        }
        let ours = vec!["127.0.0.1:8765".to_owned(), "localhost:8765".to_owned()];
        let request = request.body(Body::empty()).unwrap();
        let found = check(&ours, &request);
        let found = found.map(|_| ()).map_err(|refused| refused.fault.code);
        assert_eq!(found, expected, "{uri} {hosts:?}");
    }

    #[test]
    fn names_are_kept_until_the_settings_change() {
        let known = KnownHosts::default();
        let config = Arc::new(Config::default());
        let first = known.of(&config, 8765, 8765);
        assert!(Arc::ptr_eq(&first, &known.of(&config, 8765, 8765)), "worked out once");
        assert!(known.of(&config, 9000, 8765).contains(&"localhost:9000".to_owned()));
        let allow_host = vec!["Hub.example".to_owned()];
        let config = Arc::new(Config { allow_host, ..Config::default() });
        let allowed = |port| known.of(&config, port, 8765).contains(&"hub.example".to_owned());
        assert!(allowed(8765) && !allowed(9000), "the settings speak of the main port");
    }

    #[test]
    fn only_our_own_names_pass() {
        for ours in ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765"] {
            check_host("/health", &[ours], Ok(()));
        }
        for foreign in [
            "evil.example:8765",
            "127.0.0.1",
            "127.0.0.1:8766",
            "0.0.0.0:8765",
            "localhost.evil.example:8765",
            "localhost:8765.evil.example",
            "",
        ] {
            check_host("/health", &[foreign], Err(Code::Refused));
        }
        check_host("/health", &[], Err(Code::Refused));
        check_host("/health", &["localhost:8765", "localhost:8765"], Err(Code::InvalidArgument));
    }

    #[test]
    fn the_absolute_form_must_name_us_too() {
        check_host("http://localhost:8765/health", &["localhost:8765"], Ok(()));
        check_host("http://evil.example/health", &["localhost:8765"], Err(Code::Refused));
    }

    #[test]
    fn all_names_of_this_machine_are_one_address() {
        for (host, expected) in [
            ("127.0.0.1:8765", "loopback:8765"),
            ("LocalHost:8765", "loopback:8765"),
            ("[::1]:8766", "loopback:8766"),
            ("Hub.Example:8765", "hub.example:8765"),
            ("localhost.evil.example:8765", "localhost.evil.example:8765"),
            ("192.0.2.7:8765", "192.0.2.7:8765"),
        ] {
            assert_eq!(address(host), expected);
        }
    }
}
