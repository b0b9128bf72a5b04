//! Where a browser may be sent: http, https and about:blank; of the hub's own pages to its app and to
//! the examples of the SDK only.
//!
//! Browsers read addresses more leniently than anybody else, so what could be another spelling of
//! the hub's host is taken for it. Where a page leads by itself is not seen here.

use std::net::{Ipv4Addr, Ipv6Addr};

use model::{Code, Fault, json::shorten};
use percent_encoding::percent_decode_str;

/// First parts of the hub's own paths whose pages are there to be driven.
const OPEN: [&str; 2] = ["viewer", "sdk"];

/// Checks an address; `own` are the hub's hosts with their ports, such as `127.0.0.1:8765`.
pub fn check(url: &str, own: &[String]) -> Result<(), Fault> {
    if url.eq_ignore_ascii_case("about:blank") {
        return Ok(());
    }
    let Some((rest, usual_port)) = after_scheme(url) else {
        let shown = shorten(url, 200);
        let message = format!("`url` must begin with http:// or https://, not {shown:?}");
        return Err(Fault::new(Code::InvalidArgument, message).hint("about:blank is allowed too"));
    };
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.is_empty() || url.chars().any(char::is_control) {
        let shown = shorten(url, 200);
        return Err(Fault::new(Code::InvalidArgument, format!("{shown:?} is no web address")));
    }
    let is_own = own.iter().any(|own| is_same(host, usual_port, own));
    if is_own && !first_part(path).is_some_and(|part| OPEN.contains(&part.as_str())) {
        let message = "of the hub's own pages, browsers are sent to /viewer/ and /sdk/ only";
        return Err(Fault::new(Code::Refused, message));
    }
    Ok(())
}

fn after_scheme(url: &str) -> Option<(&str, &str)> {
    [("http://", "80"), ("https://", "443")].into_iter().find_map(|(scheme, port)| {
        let head = url.get(..scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then(|| (&url[scheme.len()..], port))
    })
}

/// Whether two hosts may be the same to a browser; the first may lack its port.
fn is_same(host: &str, usual_port: &str, own: &str) -> bool {
    let (name, port) = split_port(host);
    let (own_name, own_port) = split_port(own);
    let port = port.filter(|port| !port.is_empty()).unwrap_or(usual_port);
    // Leading zeros count for nothing in a port.
    // An own host without a port is behind a proxy, whatever port that has.
    let same_port = own_port.is_none_or(|own| own == port.trim_start_matches('0'));
    same_port && (plain(name).is_none() || plain(name) == plain(own_name))
}

fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        // The colons of `[::1]` are inside.
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    }
}

/// The one spelling of a host; none for one that a browser would first have to work out, such as
/// `2130706433`, `127.1`, `%6cocalhost` or letters outside ASCII.
fn plain(name: &str) -> Option<String> {
    if let Some(inner) = name.strip_prefix('[') {
        let address: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
        return Some(address.to_canonical().to_string());
    }
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if !name.bytes().all(known) {
        return None;
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with(|first: char| first.is_ascii_digit());
    match name.parse::<Ipv4Addr>() {
        Ok(address) => Some(address.to_string()),
        Err(_) if is_number => None,
        Err(_) => Some(name),
    }
}

/// The first part of a path that is not passed over, with `..`, `\` and escapes worked out.
fn first_part(path: &str) -> Option<String> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = percent_decode_str(path).decode_utf8_lossy().to_ascii_lowercase();
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.first().map(|part| (*part).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_code(url: &str, expected: Option<Code>) {
        let own = ["127.0.0.1:8765", "localhost:8765", "[::1]:8765"].map(str::to_owned);
        assert_eq!(check(url, &own).map_err(|fault| fault.code).err(), expected, "{url}");
    }

    #[test]
    fn only_web_addresses_are_gone_to() {
        for url in [
            "https://example.com/a?b#c",
            "HTTP://example.com",
            "about:blank",
            "https://user:word@example.com:444/api",
            "http://münchen.example/",
            "http://[2001:db8::1]/api",
        ] {
            check_code(url, None);
        }
        for url in [
            "",
            "example.com",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "chrome://settings",
            "view-source:http://a.example/",
            " http://a.example/",
            "http:a.example",
            "http:///a.example/",
            "http://a.exam\tple/",
            "https://",
        ] {
            check_code(url, Some(Code::InvalidArgument));
        }
    }

    #[test]
    fn of_the_hubs_own_pages_only_two_are_gone_to_in_any_spelling() {
        for url in [
            "http://127.0.0.1:8765/api/sessions",
            "http://localhost:8765/mcp",
            "HTTP://LOCALHOST.:08765/dashboard/",
            "http://[0:0:0:0:0:0:0:1]:8765/api",
            "http://[::ffff:127.0.0.1]:8765/api",
            "http://2130706433:8765/api",
            "http://0x7f.1:8765/api",
            "http://127.1:8765/api",
            "http://%6cocalhost:8765/api",
            "http://ｌocalhost:8765/api",
            "http://a.example@127.0.0.1:8765/api",
            "http://127.0.0.1:8765\\api",
            "http://127.0.0.1:8765/viewer/../api",
            "http://127.0.0.1:8765/%2e/%61pi",
            "http://127.0.0.1:8765/",
            "http://127.0.0.1:8765",
            "http://127.0.0.1:8765/metrics",
            "http://127.0.0.1:8765/viewer-of-mine",
        ] {
            check_code(url, Some(Code::Refused));
        }
        for url in [
            "http://127.0.0.1:8765/viewer/",
            "http://127.0.0.1:8765/viewer/?name=x",
            "http://127.0.0.1:8765/sdk/examples/todo/",
            "http://127.0.0.1:3000/api",
            "http://example.com:8765/api",
            "http://10.0.0.7:8765/api",
            "http://localhost/api",
        ] {
            check_code(url, None);
        }
    }
}
