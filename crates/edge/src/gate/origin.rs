//! Second gate: a web page that asks is one that may.
//!
//! Browsers name the page's origin and pages cannot forge it. Origins are compared whole; the only
//! patterns are [`ANY_EXTENSION`], for the dialects of other projects alone. An extension that the
//! operator names may be a browser or an app and never controls; a web page is never a browser of
//! another project. Our own extension may open a socket, and has to prove itself there. Programs
//! that are no browsers send none and are judged by the other gates.

use axum::http::{HeaderMap, HeaderName, header};
use model::{Code, Fault, Kind};

use super::{Area, Refused, host::Hosts, single};
use crate::config::Config;

/// What a request's origin may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// No page asks: a socket needs a token or a proof.
    Program,
    /// A page of ours, or another page on this machine: an app, never a browser.
    Page,
    /// Allowed by the operator; a browser of our own protocol only with a token or a proof.
    Configured,
    /// Some extension, allowed by the operator without saying which.
    Unproven,
    /// Our own extension: nothing before it has proven that it is paired.
    Paired,
}

/// What an operator writes to let every extension speak the dialects of other projects.
pub const ANY_EXTENSION: &[&str] = &["chrome-extension://*", "moz-extension://*"];

impl Grant {
    /// Returns whether the peer may introduce itself as a browser.
    pub fn may_be_browser(self) -> bool {
        self != Self::Page
    }

    /// Returns whether the peer may prove that it is paired. A page has no key, and none to get.
    pub fn may_prove(self) -> bool {
        !matches!(self, Self::Page | Self::Unproven)
    }

    /// Returns whether the peer must prove that it is paired.
    pub fn must_prove(self) -> bool {
        self == Self::Paired
    }
}

/// Refuses an origin that may not ask for this.
pub fn check(
    config: &Config,
    hosts: &Hosts,
    area: Area,
    headers: &HeaderMap,
) -> Result<(Option<String>, Grant), Refused> {
    let Some(origin) = single(headers, &header::ORIGIN)? else {
        return match area == Area::Control && is_of_a_page(headers)? {
            true => Err(unnamed()),
            false => Ok((None, Grant::Program)),
        };
    };
    // Exactly: browsers write origins in lower case, so whoever does not is none.
    let origin = origin.to_owned();
    let same = |allowed: &String| *allowed == origin;
    let page = || match area {
        // Ours neither: whoever can run a script in one would have everything.
        Area::Control => false,
        // What can only be a browser is no page, wherever that comes from.
        Area::Foreign(Kind::Browser) => false,
        Area::Socket | Area::Open | Area::Foreign(Kind::App) => {
            is_ours(&origin, hosts) || (is_loopback_page(&origin) && is_app(config, &origin))
        }
    };
    let configured = || match area {
        Area::Socket => true,
        Area::Foreign(Kind::Browser) => is_extension(&origin),
        Area::Foreign(Kind::App) => true,
        Area::Control | Area::Open => !is_extension(&origin),
    };
    let grant = if area == Area::Socket && origin == guard::pairing::extension_origin() {
        // Before what the operator says: naming it must not spare it the proof.
        Grant::Paired
    } else if config.allow_origin.iter().any(same) && configured() {
        Grant::Configured
    } else if matches!(area, Area::Foreign(_)) && is_some_extension(config, &origin) {
        Grant::Unproven
    } else if page() {
        Grant::Page
    } else {
        return Err(refused(&origin));
    };
    Ok((Some(origin), grant))
}

/// What `app_origins` can say besides origins.
pub const ALL_APPS: &str = "loopback";
/// Likewise: each waits for its user's word.
pub const ASKED_APPS: &str = "ask";

/// Returns whether a page of this machine may be an app, though it may have to wait.
fn is_app(config: &Config, origin: &str) -> bool {
    let names = |entry: &String| entry == origin || entry == ALL_APPS || entry == ASKED_APPS;
    config.app_origins.iter().any(names)
}

/// Returns whether a page that may be an app needs its user's word first.
pub fn is_asked(config: &Config, hosts: &Hosts, origin: &str) -> bool {
    let spared = |entry: &String| entry == origin || entry == ALL_APPS;
    config.app_origins.iter().any(|entry| entry == ASKED_APPS)
        && !config.app_origins.iter().any(spared)
        && !is_ours(origin, hosts)
}

/// Checks an entry of the setting `app_origins`.
pub fn is_app_entry(text: &str) -> bool {
    [ALL_APPS, ASKED_APPS].contains(&text) || is_loopback_page(text)
}

/// Returns whether a browser says that a page asks, ours or another. Of what a page only embeds, such
/// as a picture, browsers do not name the origin.
fn is_of_a_page(headers: &HeaderMap) -> Result<bool, Refused> {
    let site = single(headers, &HeaderName::from_static("sec-fetch-site"))?;
    Ok(site.is_some_and(|site| site != "none"))
}

fn is_extension(origin: &str) -> bool {
    origin.split_once("://").is_some_and(|(scheme, _)| scheme.ends_with("-extension"))
}

/// Returns whether it is an extension and any will do.
fn is_some_extension(config: &Config, origin: &str) -> bool {
    let allowed = config.allow_origin.iter().filter(|text| ANY_EXTENSION.contains(&text.as_str()));
    let id = |text: &String| origin.strip_prefix(text.strip_suffix('*')?).map(str::to_owned);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    allowed.filter_map(id).any(|id| !id.is_empty() && id.bytes().all(plain))
}

/// Checks a setting: an origin, or the word for all extensions.
pub fn is_allowable(text: &str) -> bool {
    is_origin(text) || ANY_EXTENSION.contains(&text)
}

/// Checks a text: an origin is a scheme and a host, with a port where it is not the usual one, all
/// in lower case as browsers write it.
pub fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return false };
    let small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let plain = |byte: u8| small(byte) || b".-:[]".contains(&byte);
    !scheme.is_empty()
        && scheme.bytes().all(|byte| small(byte) || b"+-.".contains(&byte))
        && !host.is_empty()
        && host.bytes().all(plain)
}

fn is_ours(origin: &str, hosts: &Hosts) -> bool {
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some_and(|host| hosts.iter().any(|ours| ours == host))
}

/// Returns whether an origin is a page's on this machine.
pub fn is_loopback_page(origin: &str) -> bool {
    let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let Some(rest) = rest else { return false };
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| match rest.strip_prefix(host) {
        Some("") => true,
        Some(port) => port.strip_prefix(':').is_some_and(|port| {
            !port.is_empty() && port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit())
        }),
        None => false,
    })
}

fn unnamed() -> Refused {
    let fault = Fault::new(Code::Refused, "a web page may not do this")
        .hint("type the address into the browser yourself, or use a program that is none");
    Refused::new("origin", fault)
}

fn refused(origin: &str) -> Refused {
    let shown = model::json::shorten(origin, 100);
    let hint = match is_origin(origin) {
        true if is_loopback_page(origin) => {
            format!("if you trust it, start the hub with --app-origins '{shown}'")
        }
        true => format!("if you trust it, start the hub with --allow-origin '{shown}'"),
        false => "serve the page from an address of its own, such as http://localhost".to_owned(),
    };
    let fault =
        Fault::new(Code::Refused, format!("the origin {shown:?} may not do this")).hint(hint);
    Refused::new("origin", fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(area: Area, origin: &str) -> Result<Grant, &'static str> {
        let config =
            Config { allow_origin: vec!["https://app.example".into()], ..Config::default() };
        let hosts = vec!["127.0.0.1:8765".to_owned(), "localhost:8765".to_owned()];
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, origin.parse().unwrap());
        check(&config, &hosts, area, &headers).map(|found| found.1).map_err(|found| found.gate)
    }

    #[test]
    fn pages_on_this_machine_may_be_apps_and_nothing_more() {
        for page in ["http://127.0.0.1:5173", "http://localhost", "https://[::1]:8443"] {
            assert_eq!(judge(Area::Socket, page), Ok(Grant::Page), "{page}");
            assert_eq!(judge(Area::Control, page), Err("origin"), "{page}");
        }
        assert!(!Grant::Page.may_be_browser());
    }

    #[test]
    fn what_a_page_elsewhere_embeds_controls_nothing() {
        let judge = |area, site: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("sec-fetch-site", site.parse().unwrap());
            check(&Config::default(), &Vec::new(), area, &headers).map(|found| found.1).ok()
        };
        for site in ["cross-site", "same-site", "same-origin", "odd"] {
            assert_eq!(judge(Area::Control, site), None, "{site}");
            assert_eq!(judge(Area::Open, site), Some(Grant::Program), "{site}");
        }
        assert_eq!(judge(Area::Control, "none"), Some(Grant::Program));
    }

    #[test]
    fn our_own_pages_are_apps_and_control_nothing() {
        for ours in ["http://127.0.0.1:8765", "http://localhost:8765"] {
            assert_eq!(judge(Area::Socket, ours), Ok(Grant::Page));
            assert_eq!(judge(Area::Control, ours), Err("origin"));
        }
    }

    #[test]
    fn foreign_origins_are_refused_everywhere() {
        for area in [Area::Socket, Area::Control, Area::Open] {
            for foreign in [
                "null",
                "https://evil.example",
                "http://localhost.evil.example",
                "http://127.0.0.1.evil.example",
                "http://localhost:8765.evil.example",
                "http://localhost:",
                "http://evil.example:8765",
                "chrome-extension://abcdefghijklmnop",
                "file://",
                "http://user@localhost:8765",
                "https://app.example.evil.example",
                "http://app.example",
                "https://APP.example",
                "HTTPS://app.example",
                "http://LOCALHOST:8765",
                "http://Localhost",
                "",
            ] {
                assert_eq!(judge(area, foreign), Err("origin"), "{foreign} {area:?}");
            }
        }
    }

    #[test]
    fn an_extension_that_is_named_may_connect_and_never_controls() {
        let extension = "chrome-extension://abcdefghijklmnop";
        let allow_origin = vec![extension.to_owned(), "https://app.example".to_owned()];
        let config = Config { allow_origin, ..Config::default() };
        let judge = |area, origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            check(&config, &Vec::new(), area, &headers).map(|found| found.1).ok()
        };
        for area in [Area::Socket, Area::Foreign(Kind::Browser), Area::Foreign(Kind::App)] {
            assert_eq!(judge(area, extension), Some(Grant::Configured), "{area:?}");
        }
        for area in [Area::Control, Area::Open] {
            assert_eq!(judge(area, extension), None, "{area:?}");
            assert_eq!(judge(area, "https://app.example"), Some(Grant::Configured), "{area:?}");
        }
        assert_eq!(judge(Area::Foreign(Kind::Browser), "https://app.example"), None);
    }

    #[test]
    fn our_extension_may_open_a_socket_to_prove_itself_and_nothing_else() {
        let ours = guard::pairing::extension_origin();
        assert_eq!(judge(Area::Socket, &ours), Ok(Grant::Paired));
        assert!(Grant::Paired.must_prove() && Grant::Paired.may_be_browser());
        for area in [Area::Control, Area::Open, Area::Foreign(Kind::Browser)] {
            assert_eq!(judge(area, &ours), Err("origin"), "{area:?}");
        }
        assert_eq!(judge(Area::Foreign(Kind::App), &ours), Err("origin"));
        for other in [
            format!("{ours}x"),
            format!("{ours}/"),
            format!("{ours}.evil.example"),
            ours.replace("chrome-", "moz-"),
            ours.replace("chrome-extension", "https"),
            ours.to_ascii_uppercase(),
            ours.replace("chrome", "Chrome"),
        ] {
            assert_eq!(judge(Area::Socket, &other), Err("origin"), "{other}");
        }
        let config = Config { allow_origin: vec![ours.clone()], ..Config::default() };
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, ours.parse().unwrap());
        let named = check(&config, &Vec::new(), Area::Socket, &headers).map(|found| found.1);
        assert_eq!(named, Ok(Grant::Paired), "naming it does not spare it the proof");
    }

    #[test]
    fn all_extensions_may_speak_foreign_dialects_and_nothing_else() {
        let allow_origin = vec!["chrome-extension://*".to_owned()];
        let config = Config { allow_origin, ..Config::default() };
        let judge = |area, origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            check(&config, &Vec::new(), area, &headers).map(|found| found.1).ok()
        };
        let extension = "chrome-extension://abcdefghijklmnop";
        let browser = Area::Foreign(Kind::Browser);
        assert_eq!(judge(browser, extension), Some(Grant::Unproven));
        for area in [Area::Socket, Area::Control, Area::Open] {
            assert_eq!(judge(area, extension), None, "{area:?}");
        }
        for other in [
            "chrome-extension://",
            "chrome-extension://a.b",
            "moz-extension://abc",
            "http://localhost:5173",
        ] {
            assert_eq!(judge(browser, other), None, "{other}");
        }
        assert_eq!(judge(Area::Foreign(Kind::App), "http://localhost:5173"), Some(Grant::Page));
    }

    #[test]
    fn configured_origins_are_exact() {
        assert_eq!(judge(Area::Control, "https://app.example"), Ok(Grant::Configured));
        assert_eq!(judge(Area::Socket, "https://app.example:8443"), Err("origin"));
        for good in ["https://app.example", "chrome-extension://abc", "http://[::1]:80"] {
            assert!(is_origin(good), "{good}");
        }
        for bad in [
            "app.example",
            "https://App.example",
            "HTTPS://app.example",
            "https://",
            "https://a/b",
            "chrome-extension://*",
            "*",
            "",
        ] {
            assert!(!is_origin(bad), "{bad}");
        }
    }
}
