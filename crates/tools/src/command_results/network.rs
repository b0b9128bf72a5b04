//! Requests of a tab, mocks of requests, and headers that go along.

use std::collections::BTreeMap;

use model::page_text::{address, block, exact, word};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{CommandResult, FileBytes, noted, site_data::entry};

/// Characters of an address in a list.
const ADDRESS: usize = 160;

/// A request, in short.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestReport {
    /// By which it can be asked for.
    pub id: String,
    /// Such as `GET`.
    pub method: String,
    pub url: String,
    /// What for, such as `xhr`.
    pub resource_type: Option<String>,
    /// Milliseconds since 1970.
    pub started_at: Option<f64>,
    pub status: Option<u64>,
    /// Why it got nothing.
    pub error: Option<String>,
    pub ms: Option<u64>,
    pub bytes: Option<f64>,
    pub mime_type: Option<String>,
    /// Nothing went out for it.
    pub from_cache: Option<bool>,
    /// The extension's worker was restarted before its end.
    pub lost: Option<bool>,
}

impl RequestReport {
    /// Says it as a line: number, method, status, kind, time, size, address.
    pub(super) fn line(&self) -> String {
        let mut parts = vec![word(&self.id).into_owned(), word(&self.method).into_owned()];
        parts.push(match (self.status, &self.error) {
            (_, Some(error)) => format!("failed: {}", exact(error)),
            (Some(status), None) => status.to_string(),
            (None, None) if self.lost == Some(true) => "not seen to its end".to_owned(),
            (None, None) if self.ms.is_some() => "done".to_owned(),
            (None, None) => "under way".to_owned(),
        });
        parts.extend(self.resource_type.as_ref().map(|kind| word(kind).into_owned()));
        parts.extend(self.ms.map(|ms| format!("{ms} ms")));
        parts.extend(self.bytes.map(size));
        parts.extend((self.from_cache == Some(true)).then(|| "cached".to_owned()));
        parts.push(short(&address(&self.url)));
        parts.join(" ")
    }
}

/// Requests that were asked for, the newest last.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestList {
    pub requests: Vec<RequestReport>,
    /// From where the next list goes on.
    pub next: u64,
    /// How many older ones fit, too.
    #[serde(default)]
    pub older: u64,
    /// How many are not kept any more.
    pub forgotten: Option<u64>,
    /// Milliseconds since 1970; what was before is not known.
    pub watched_since: Option<f64>,
    /// How many are on.
    pub mocks: Option<u64>,
    pub note: Option<String>,
}

impl CommandResult for RequestList {
    fn words(&self) -> Option<String> {
        let Self { requests, next, older, forgotten, mocks, note, .. } = self;
        let mut lines: Vec<_> = note.iter().map(|note| noted(note)).collect();
        if *older > 0 {
            lines.push(format!(
                "({older} older ones are left out; narrow with url, or raise limit)"
            ));
        }
        lines.extend(requests.iter().map(RequestReport::line));
        if requests.is_empty() {
            lines.push("no request fits; they are logged while the tab is driven".to_owned());
        }
        if let Some(forgotten @ 1..) = forgotten {
            lines.push(format!("({forgotten} earlier ones are not kept)"));
        }
        if let Some(mocks @ 1..) = mocks {
            lines.push(format!("({mocks} mocks are on)"));
        }
        lines.push(format!("next: since {next}"));
        Some(lines.join("\n"))
    }
}

/// A request that was waited for.
#[derive(Deserialize, JsonSchema)]
pub struct AwaitedRequest {
    #[serde(flatten)]
    pub request: RequestReport,
    /// From where the next wait goes on.
    pub next: u64,
}

impl CommandResult for AwaitedRequest {
    fn words(&self) -> Option<String> {
        Some(format!("{}\nnext: since {}", self.request.line(), self.next))
    }
}

/// A request in full, or the part that was asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestDetail {
    #[serde(flatten)]
    pub request: RequestReport,
    pub timing: Option<RequestTiming>,
    /// Why there are none.
    pub headers: Option<String>,
    /// What went along; what logs somebody in is masked.
    pub request_headers: Option<BTreeMap<String, String>>,
    /// What came along; what logs somebody in is masked.
    pub response_headers: Option<BTreeMap<String, String>>,
    pub request_body: Option<String>,
    /// Characters that are not told.
    pub request_body_left_out: Option<u64>,
    pub response_body: Option<String>,
    /// Characters that are not told.
    pub response_body_left_out: Option<u64>,
    /// Why it is not known.
    pub response_body_note: Option<String>,
    /// What came, where that is no text.
    pub file: Option<FileBytes>,
}

/// How long the parts of a request took, in milliseconds.
#[derive(Deserialize, JsonSchema)]
pub struct RequestTiming {
    pub dns: Option<f64>,
    pub connect: Option<f64>,
    pub tls: Option<f64>,
    pub wait: Option<f64>,
    /// From the first byte to the last.
    pub receive: Option<f64>,
}

impl RequestTiming {
    fn words(&self) -> Option<String> {
        let Self { dns, connect, tls, wait, receive } = self;
        let all = [
            ("connect", connect),
            ("dns", dns),
            ("receive", receive),
            ("tls", tls),
            ("wait", wait),
        ];
        let parts = all.iter().filter_map(|(name, ms)| Some(format!("{name} {} ms", (**ms)?)));
        let parts: Vec<_> = parts.collect();
        (!parts.is_empty()).then(|| format!("timing: {}", parts.join(", ")))
    }
}

impl CommandResult for RequestDetail {
    fn words(&self) -> Option<String> {
        let mut lines = vec![self.request.line()];
        lines.extend(self.timing.as_ref().and_then(RequestTiming::words));
        lines.extend(self.headers.as_ref().map(|lost| format!("headers: {}", exact(lost))));
        for (headers, title) in
            [(&self.request_headers, "request headers"), (&self.response_headers, "headers")]
        {
            let Some(headers) = headers else { continue };
            lines.push(format!("{title}:"));
            let header = |(name, value): (&String, &String)| {
                format!("  {}", entry(name, &Value::String(value.clone())))
            };
            lines.extend(headers.iter().map(header));
        }
        for (body, note, left_out, title) in [
            (&self.request_body, &None, self.request_body_left_out, "request body"),
            (&self.response_body, &self.response_body_note, self.response_body_left_out, "body"),
        ] {
            match (body, note) {
                (Some(body), _) if body.is_empty() => lines.push(format!("{title}: empty")),
                (Some(body), _) => lines.push(format!("{title}:\n{}", block(body))),
                (None, Some(note)) => lines.push(format!("{title}: {}", exact(note))),
                (None, None) => {}
            }
            if let Some(left_out @ 1..) = left_out {
                lines.push(format!("… {left_out} characters are left out; raise maxLength"));
            }
        }
        Some(lines.join("\n"))
    }
}

/// The mocks of a tab, the newest first.
#[derive(Deserialize, JsonSchema)]
pub struct MockList {
    pub mocks: Vec<MockReport>,
    pub removed: Option<u64>,
    pub enabled: Option<bool>,
    pub note: Option<String>,
}

/// A mock.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MockReport {
    pub url: String,
    pub method: Option<String>,
    pub resource_type: Option<String>,
    pub status: Option<u64>,
    pub fail: Option<bool>,
    pub body_length: Option<u64>,
    pub times: Option<u64>,
    #[serde(default)]
    pub used: u64,
}

impl CommandResult for MockList {
    fn words(&self) -> Option<String> {
        let mut lines: Vec<_> = self.note.iter().map(|note| noted(note)).collect();
        lines.push(match self.mocks.len() {
            0 => "no mocks are on in this tab".to_owned(),
            1 => "1 mock is on in this tab:".to_owned(),
            several => format!("{several} mocks are on in this tab, the newest wins:"),
        });
        lines.extend(self.mocks.iter().map(MockReport::line));
        Some(lines.join("\n"))
    }
}

impl MockReport {
    fn line(&self) -> String {
        let mut parts = vec![exact(&short(&self.url)).into_owned()];
        let kinds = [&self.method, &self.resource_type].into_iter().flatten();
        parts.extend(kinds.map(|kind| word(kind).into_owned()));
        let (status, length) =
            (self.status.unwrap_or_default(), self.body_length.unwrap_or_default());
        parts.push(match self.fail {
            Some(true) => "is blocked".to_owned(),
            _ => format!("gets {status} with {length} characters"),
        });
        parts.extend(self.times.map(|times| format!("{times} more times")));
        parts.push(format!("(used {} times)", self.used));
        parts.join(" ")
    }
}

/// Headers that go along with every request of a tab.
#[derive(Deserialize, JsonSchema)]
pub struct HeadersSet {
    pub headers: Vec<String>,
    pub note: Option<String>,
}

impl CommandResult for HeadersSet {
    fn words(&self) -> Option<String> {
        let note = self.note.as_ref().map(|note| noted(note) + "\n").unwrap_or_default();
        let names: Vec<_> = self.headers.iter().map(|name| exact(name)).collect();
        Some(match names.is_empty() {
            true => format!("{note}no extra headers go along any more"),
            false => format!("{note}go along with every request of this tab: {}", names.join(", ")),
        })
    }
}

/// Cuts an address.
pub(super) fn short(text: &str) -> String {
    match text.chars().count() > ADDRESS {
        true => format!("{}…", text.chars().take(ADDRESS).collect::<String>()),
        false => text.to_owned(),
    }
}

fn size(bytes: f64) -> String {
    match bytes {
        ..1024.0 => format!("{bytes:.0} B"),
        1024.0..1_048_576.0 => format!("{:.1} KB", bytes / 1024.0),
        _ => format!("{:.1} MB", bytes / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::command_results::said;

    use super::*;

    #[track_caller]
    fn check<R: CommandResult>(result: Value, expected: Option<&str>) {
        assert_eq!(said::<R>(result).as_deref(), expected);
    }

    #[test]
    fn requests_are_lines_with_the_next_cursor() {
        let get = json!({"id": "12", "method": "GET", "url": "https://a.example/x",
            "resourceType": "xhr", "status": 200, "ms": 34, "bytes": 1229, "startedAt": 1});
        let post = json!({"id": "15", "method": "POST", "url": "https://a.example/y",
            "resourceType": "fetch", "error": "net::ERR_FAILED", "ms": 3});
        let open = json!({"id": "16", "method": "GET", "url": "https://a.example/z",
            "resourceType": "fetch"});
        check::<RequestList>(
            json!({"requests": [get, post, open], "next": 40, "older": 7}),
            Some(
                "(7 older ones are left out; narrow with url, or raise limit)\n\
                12 GET 200 xhr 34 ms 1.2 KB https://a.example/x\n\
                15 POST failed: net::ERR_FAILED fetch 3 ms https://a.example/y\n\
                16 GET under way fetch https://a.example/z\n\
                next: since 40",
            ),
        );
        check::<RequestList>(
            json!({"requests": [], "next": 4, "older": 0}),
            Some("no request fits; they are logged while the tab is driven\nnext: since 4"),
        );
    }

    #[test]
    fn a_request_shows_headers_bodies_and_what_is_left_out() {
        check::<RequestDetail>(
            json!({"id": "1", "method": "POST", "url": "https://a.example/", "status": 200,
                "resourceType": "fetch", "timing": {"wait": 3.5},
                "requestHeaders": {"Cookie": "•••"}, "responseHeaders": {"A": "b"},
                "requestBody": "sent", "responseBody": "got", "responseBodyLeftOut": 9}),
            Some(
                "1 POST 200 fetch https://a.example/\ntiming: wait 3.5 ms\nrequest headers:\n  \
                Cookie: •••\nheaders:\n  A: b\nrequest body:\n  sent\nbody:\n  got\n… 9 characters are \
                left out; raise maxLength",
            ),
        );
    }

    #[test]
    fn another_shape_has_no_words() {
        check::<RequestList>(json!({"entries": []}), None);
        check::<MockList>(json!([]), None);
    }
}
