//! What a browser told of requests, cookies, storage and errors, in short lines for a model.
//!
//! In come the results of our extension's commands; whatever has another shape, such as the answer
//! of another project's extension, is left to be shown as it is.

use model::page_text::{self, address, block, exact, word};
use serde_json::{Map, Value};

/// Characters of an address in a list.
const ADDRESS: usize = 160;

/// Says a command's result in words; `None` means that there are none for it.
pub(crate) fn words(command: &str, result: &Value) -> Option<String> {
    match command {
        "browser_get_requests" => requests(result),
        "browser_get_request" => request(result),
        "browser_wait_for_request" => waited(result),
        "browser_mock_request" | "browser_unmock_requests" | "browser_intercept_requests" => {
            mocks(result)
        }
        "browser_set_headers" => headers_set(result),
        "browser_get_cookies" => cookies(result),
        "browser_set_cookie" => Some(format!("set {}", cookie(result.get("cookie")?)?)),
        "browser_clear_cookies" => cleared_cookies(result),
        "browser_get_local_storage" => storage(result),
        "browser_set_local_storage" => storage_set(result),
        "browser_clear_storage" => storage_cleared(result),
        "browser_get_errors" => errors(result),
        _ => None,
    }
}

/// One request as a line: number, method, status, kind, time, size, address.
fn line(request: &Value) -> Option<String> {
    let field = |name: &str| request.get(name).and_then(Value::as_str);
    let mut parts = vec![word(field("id")?).into_owned(), word(field("method")?).into_owned()];
    parts.push(match (request["status"].as_u64(), field("error")) {
        (_, Some(error)) => format!("failed: {}", exact(error)),
        (Some(status), None) => status.to_string(),
        (None, None) if request["lost"] == true => "not seen to its end".to_owned(),
        (None, None) if request["ms"].is_u64() => "done".to_owned(),
        (None, None) => "under way".to_owned(),
    });
    parts.extend(field("resourceType").map(|kind| word(kind).into_owned()));
    parts.extend(request["ms"].as_u64().map(|ms| format!("{ms} ms")));
    parts.extend(request["bytes"].as_f64().map(size));
    if request["fromCache"] == true {
        parts.push("cached".to_owned());
    }
    parts.push(short(&address(field("url")?)));
    Some(parts.join(" "))
}

fn requests(result: &Value) -> Option<String> {
    let list = result.get("requests")?.as_array()?;
    let next = result.get("next")?.as_u64()?;
    let mut lines = Vec::new();
    lines.extend(note(result));
    let older = count(result, "older");
    if older > 0 {
        lines.push(format!("({older} older ones are left out; narrow with url, or raise limit)"));
    }
    for request in list {
        lines.push(line(request)?);
    }
    if list.is_empty() {
        lines.push("no request fits; they are logged while the tab is driven".to_owned());
    }
    if count(result, "forgotten") > 0 {
        lines.push(format!("({} earlier ones are not kept)", count(result, "forgotten")));
    }
    if count(result, "mocks") > 0 {
        lines.push(format!("({} mocks are on)", count(result, "mocks")));
    }
    lines.push(format!("next: since {next}"));
    Some(lines.join("\n"))
}

fn waited(result: &Value) -> Option<String> {
    let next = result.get("next")?.as_u64()?;
    Some(format!("{}\nnext: since {next}", line(result)?))
}

fn request(result: &Value) -> Option<String> {
    let mut lines = vec![line(result)?];
    let timing = result["timing"].as_object().into_iter().flatten();
    let timing = timing.filter(|(_, ms)| ms.is_number());
    let parts: Vec<_> = timing.map(|(name, ms)| format!("{} {ms} ms", word(name))).collect();
    if !parts.is_empty() {
        lines.push(format!("timing: {}", parts.join(", ")));
    }
    if let Some(lost) = result["headers"].as_str() {
        lines.push(format!("headers: {}", exact(lost)));
    }
    for (name, title) in [("requestHeaders", "request headers"), ("responseHeaders", "headers")] {
        let Some(headers) = result[name].as_object() else { continue };
        lines.push(format!("{title}:"));
        lines.extend(headers.iter().map(|(name, value)| format!("  {}", entry(name, value))));
    }
    for (name, title) in [("requestBody", "request body"), ("responseBody", "body")] {
        let left_out = count(result, &format!("{name}LeftOut"));
        match (&result[name], result[format!("{name}Note").as_str()].as_str()) {
            (Value::String(body), _) if body.is_empty() => lines.push(format!("{title}: empty")),
            (Value::String(body), _) => lines.push(format!("{title}:\n{}", block(body))),
            (_, Some(note)) => lines.push(format!("{title}: {}", exact(note))),
            _ => {}
        }
        if left_out > 0 {
            lines.push(format!("… {left_out} characters are left out; raise maxLength"));
        }
    }
    Some(lines.join("\n"))
}

fn mocks(result: &Value) -> Option<String> {
    let list = result.get("mocks")?.as_array()?;
    let mut lines = Vec::new();
    lines.extend(note(result));
    lines.push(match list.len() {
        0 => "no mocks are on in this tab".to_owned(),
        1 => "1 mock is on in this tab:".to_owned(),
        several => format!("{several} mocks are on in this tab, the newest wins:"),
    });
    for mock in list {
        lines.push(one_mock(mock)?);
    }
    Some(lines.join("\n"))
}

fn one_mock(mock: &Value) -> Option<String> {
    let mut parts = vec![exact(&short(mock.get("url")?.as_str()?)).into_owned()];
    let kinds = [&mock["method"], &mock["resourceType"]].into_iter().filter_map(Value::as_str);
    parts.extend(kinds.map(|kind| word(kind).into_owned()));
    parts.push(match mock["fail"] == true {
        true => "is blocked".to_owned(),
        false => {
            format!("gets {} with {} characters", count(mock, "status"), count(mock, "bodyLength"))
        }
    });
    if let Some(times) = mock["times"].as_u64() {
        parts.push(format!("{times} more times"));
    }
    parts.push(format!("(used {} times)", count(mock, "used")));
    Some(parts.join(" "))
}

fn headers_set(result: &Value) -> Option<String> {
    let names = texts(result.get("headers")?)?;
    let note = note(result).map(|note| note + "\n").unwrap_or_default();
    Some(match names.is_empty() {
        true => format!("{note}no extra headers go along any more"),
        false => format!("{note}go along with every request of this tab: {}", names.join(", ")),
    })
}

fn cookies(result: &Value) -> Option<String> {
    let list = result.get("cookies")?.as_array()?;
    let mut lines = list.iter().map(cookie).collect::<Option<Vec<_>>>()?;
    if lines.is_empty() {
        lines.push("no cookie fits".to_owned());
    }
    if count(result, "leftOut") > 0 {
        let left_out = count(result, "leftOut");
        lines.push(format!("[{left_out} more are left out; ask for less with name or domain]"));
    }
    Some(lines.join("\n"))
}

/// One cookie as a line, much as a server would write it.
fn cookie(cookie: &Value) -> Option<String> {
    let text = |name: &str| cookie.get(name).and_then(Value::as_str).map(exact);
    let mut parts = vec![format!("{}={}", text("name")?, text("value")?)];
    parts.push(format!("{}{}", text("domain")?, text("path")?));
    parts.extend(Some("Secure".to_owned()).filter(|_| cookie["secure"] == true));
    parts.extend(Some("HttpOnly".to_owned()).filter(|_| cookie["httpOnly"] == true));
    let same_site = text("sameSite").filter(|same_site| same_site != "unspecified");
    parts.extend(same_site.map(|same_site| format!("SameSite={same_site}")));
    parts.extend(cookie["expires"].as_u64().map(|expires| format!("expires {expires}")));
    Some(parts.join("; "))
}

fn cleared_cookies(result: &Value) -> Option<String> {
    let cleared = result.get("cleared")?.as_u64()?;
    let names = texts(result.get("names")?)?;
    let colon = if names.is_empty() { "" } else { ": " };
    Some(format!("{} cleared{colon}{}", counted(cleared, "cookie"), names.join(", ")))
}

fn storage(result: &Value) -> Option<String> {
    let (kind, keys) = (word(result.get("storageType")?.as_str()?), result.get("keys")?.as_u64()?);
    let entries = result.get("storage")?.as_object()?;
    let mut lines = vec![match (entries.is_empty(), keys) {
        (true, 0) => format!("{kind} is empty"),
        (true, keys) => format!("{kind} has no such key; it has {}", counted(keys, "key")),
        (false, keys) => format!("{kind}, {} of {}:", entries.len(), counted(keys, "key")),
    }];
    lines.extend(entries.iter().map(|(name, value)| entry(name, value)));
    let (left_keys, characters) =
        (count(result, "leftOutKeys"), count(result, "leftOutCharacters"));
    if left_keys + characters > 0 {
        lines.push(format!(
            "[{} and {characters} characters are left out; ask for one with name]",
            counted(left_keys, "key")
        ));
    }
    Some(lines.join("\n"))
}

fn storage_set(result: &Value) -> Option<String> {
    let text = |name: &str| result.get(name).and_then(Value::as_str);
    let keys = result.get("keys")?.as_u64()?;
    let (kind, key) = (word(text("storageType")?), exact(text("key")?));
    Some(format!("{key} is set in {kind}, which has {} now", counted(keys, "key")))
}

fn storage_cleared(result: &Value) -> Option<String> {
    let cleared = result.get("cleared")?.as_u64()?;
    let kind = match result.get("storageType")?.as_str()? {
        "all" => "localStorage and sessionStorage".into(),
        kind => word(kind),
    };
    Some(format!("{} removed from {kind}", counted(cleared, "key")))
}

fn errors(result: &Value) -> Option<String> {
    let mut lines = Vec::new();
    for (name, title) in [("pageErrors", "uncaught"), ("errors", "console")] {
        for error in result.get(name)?.as_array()? {
            lines.push(format!("{title}: {}", one_error(error)?));
        }
        lines.extend(left_out(result, name));
    }
    for failed in result.get("failedRequests")?.as_array()? {
        lines.push(format!("request: {}", line(failed)?));
    }
    lines.extend(left_out(result, "failedRequests"));
    if lines.is_empty() {
        lines.push("nothing went wrong that was seen".to_owned());
    }
    Some(lines.join("\n"))
}

fn one_error(error: &Value) -> Option<String> {
    let mut text = exact(error.get("text")?.as_str()?).into_owned();
    let times = count(error, "count");
    if times > 1 {
        text.push_str(&format!(" ({times} times)"));
    }
    if let Some(url) = error["url"].as_str() {
        let place = error["line"].as_u64().map(|line| format!(":{line}")).unwrap_or_default();
        text.push_str(&format!(" at {}{place}", short(&address(url))));
    }
    Some(text)
}

fn left_out(result: &Value, name: &str) -> Option<String> {
    let more = count(result, &format!("{name}LeftOut"));
    (more > 0).then(|| format!("({more} earlier {name} are left out)"))
}

fn count(result: &Value, name: &str) -> u64 {
    result.as_object().and_then(|fields: &Map<_, _>| fields.get(name)?.as_u64()).unwrap_or(0)
}

fn counted(number: u64, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| Some(exact(text.as_str()?).into_owned())).collect()
}

fn note(result: &Value) -> Option<String> {
    Some(format!("note: {}", exact(result["note"].as_str()?)))
}

fn entry(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) => format!("{}: {}", exact(name), exact(text)),
        other => format!("{}: {}", exact(name), page_text::json(&other.to_string())),
    }
}

fn short(text: &str) -> String {
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

    use super::*;

    #[track_caller]
    fn check(command: &str, result: Value, expected: Option<&str>) {
        assert_eq!(words(command, &result).as_deref(), expected, "{result}");
    }

    #[test]
    fn requests_are_lines_with_the_next_cursor() {
        let get = json!({"id": "12", "method": "GET", "url": "https://a.example/x",
            "resourceType": "xhr", "status": 200, "ms": 34, "bytes": 1229, "startedAt": 1});
        let post = json!({"id": "15", "method": "POST", "url": "https://a.example/y",
            "resourceType": "fetch", "error": "net::ERR_FAILED", "ms": 3});
        let open = json!({"id": "16", "method": "GET", "url": "https://a.example/z",
            "resourceType": "fetch"});
        check(
            "browser_get_requests",
            json!({"requests": [get, post, open], "next": 40, "older": 7}),
            Some(
                "(7 older ones are left out; narrow with url, or raise limit)\n\
                12 GET 200 xhr 34 ms 1.2 KB https://a.example/x\n\
                15 POST failed: net::ERR_FAILED fetch 3 ms https://a.example/y\n\
                16 GET under way fetch https://a.example/z\n\
                next: since 40",
            ),
        );
        check(
            "browser_get_requests",
            json!({"requests": [], "next": 4, "older": 0}),
            Some("no request fits; they are logged while the tab is driven\nnext: since 4"),
        );
    }

    #[test]
    fn a_request_shows_headers_bodies_and_what_is_left_out() {
        check(
            "browser_get_request",
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
    fn cookies_storage_and_errors_are_readable() {
        let cookie = json!({"name": "a", "value": "b", "domain": "x.example", "path": "/",
            "secure": true, "httpOnly": true, "sameSite": "Lax", "expires": 99});
        check(
            "browser_get_cookies",
            json!({"cookies": [cookie]}),
            Some("a=b; x.example/; Secure; HttpOnly; SameSite=Lax; expires 99"),
        );
        check(
            "browser_get_local_storage",
            json!({"storageType": "localStorage", "keys": 2, "storage": {"k": "v"}}),
            Some("localStorage, 1 of 2 keys:\nk: v"),
        );
        check(
            "browser_get_errors",
            json!({"pageErrors": [{"text": "Error: x", "count": 2, "url": "u", "line": 3}],
                "errors": [], "errorsLeftOut": 4, "failedRequests": []}),
            Some("uncaught: Error: x (2 times) at u:3\n(4 earlier errors are left out)"),
        );
    }

    #[test]
    fn another_shape_has_no_words() {
        check("browser_get_requests", json!({"entries": []}), None);
        check("browser_get_cookies", json!([]), None);
        check("browser_mouse_click", json!({"url": "x"}), None);
    }
}
