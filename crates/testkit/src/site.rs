//! A web site for browser tests: pages from a folder, and what they say about themselves.
//!
//! A page includes `/report.js` and calls `report(name, data)`: that is how a test learns what
//! happened in it without asking through the program under test. The same site answers under
//! `127.0.0.1` and under `localhost`, which are two origins.
//!
//! | Path | What |
//! | --- | --- |
//! | `/…` | a file of the folder; `*.csp.html` comes with a strict Content-Security-Policy |
//! | `/report` | takes what a page reports |
//! | `/slow?ms=300` | answers late; `&then=/page.html` with a page |
//! | `/hold/name` | answers when the test says so; `?then=/page.html` with a page |
//! | `/parts/name/page.html` | a page up to `<!-- held -->`; the rest when the test says so |
//! | `/cached/name.js` | an empty script that may be kept |
//! | `/status/404` | answers with a status |
//! | `/download/name.txt` | a file to save |
//! | `/redirect?to=/page.html` | leads elsewhere |
//! | `/data?…` | JSON: the query and how often it was asked |
//! | `/echo` | JSON: the method, the headers in lower case, and the body of the request |
//! | `/cookie?…` | sets the cookie that the query writes |

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

use crate::eventually;

const REPORT: &str = "function report(name, data) { \
    fetch('/report', {method: 'POST', keepalive: true, \
    body: JSON.stringify({name, data: data === undefined ? null : data})}); }";
/// Where the first part of a page in parts ends.
const HELD: &[u8] = b"<!-- held -->";
const CSP: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; \
    require-trusted-types-for 'script'";

/// A running site; ends when it is dropped.
pub struct Site {
    port: u16,
    seen: Seen,
    /// What need not be held any more.
    let_go: watch::Sender<Vec<String>>,
    serving: JoinHandle<()>,
}

/// What pages reported, and which paths were asked for, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Noted>>);

#[derive(Default)]
struct Noted {
    reports: Vec<(String, Value)>,
    asked: Vec<String>,
}

impl Site {
    /// Serves a folder.
    pub async fn start(folder: impl Into<PathBuf>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, folder) = (Seen::default(), folder.into());
        let (let_go, held) = watch::channel(Vec::new());
        let serving = tokio::spawn(serve(listener, folder, seen.clone(), held));
        Self { port, seen, let_go, serving }
    }

    /// Returns the address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns the address of the same path in another origin.
    pub fn elsewhere(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    /// Returns everything that was reported under a name.
    pub fn reports(&self, name: &str) -> Vec<Value> {
        let seen = self.seen.0.lock().unwrap();
        seen.reports.iter().filter(|(told, _)| told == name).map(|(_, data)| data.clone()).collect()
    }

    /// Waits until a page has reported something under a name; returns the newest.
    pub async fn report(&self, name: &str) -> Value {
        let what = format!("a report of {name:?}");
        eventually(&what, async || self.reports(name).last().cloned()).await
    }

    /// Waits until a page has reported exactly this.
    pub async fn reported(&self, name: &str, data: Value) {
        let what = format!("a report of {name:?} with {data}");
        eventually(&what, async || self.reports(name).contains(&data).then_some(())).await;
    }

    /// Forgets what was reported.
    pub fn forget(&self) {
        self.seen.0.lock().unwrap().reports.clear();
    }

    /// Returns the paths that were asked for.
    pub fn asked(&self) -> Vec<String> {
        self.seen.0.lock().unwrap().asked.clone()
    }

    /// Waits until a path has been asked for.
    pub async fn until_asked(&self, path: &str) {
        let is_it = |asked: &String| asked == path;
        let look = async || self.asked().iter().any(is_it).then_some(());
        eventually(&format!("somebody asks for {path}"), look).await;
    }

    /// Answers `/hold/name`, now and from now on.
    pub fn let_go(&self, name: &str) {
        self.let_go.send_modify(|names| names.push(name.to_owned()));
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// What the test has let go of.
type Held = watch::Receiver<Vec<String>>;

async fn serve(listener: TcpListener, folder: PathBuf, seen: Seen, held: Held) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer(stream, folder.clone(), seen.clone(), held.clone()));
    }
}

/// Answers the requests of one connection.
async fn answer(mut stream: TcpStream, folder: PathBuf, seen: Seen, mut held: Held) {
    let mut buffer = Vec::new();
    while let Some((head, body)) = read_request(&mut stream, &mut buffer).await {
        let Some(target) = head.split_whitespace().nth(1).map(str::to_owned) else { return };
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        seen.0.lock().unwrap().asked.push(target.clone());
        if let Some(name) = path.strip_prefix("/hold/")
            && !until_let_go(&mut held, name).await
        {
            return;
        }
        let reply = match path {
            "/echo" => echo(&head, &body),
            _ => reply(path, query, &body, &folder, &seen).await,
        };
        let name = path.strip_prefix("/parts/").and_then(|rest| rest.split('/').next());
        let first = if name.is_some() { first_part(&reply) } else { reply.len() };
        if stream.write_all(&reply[..first]).await.is_err() {
            return;
        }
        let Some(name) = name else { continue };
        if !until_let_go(&mut held, name).await || stream.write_all(&reply[first..]).await.is_err()
        {
            return;
        }
    }
}

/// Waits until the test lets go of a name; `false` when it never will.
async fn until_let_go(held: &mut Held, name: &str) -> bool {
    held.wait_for(|names| names.iter().any(|known| known == name)).await.is_ok()
}

/// Returns where the part of a reply ends that is sent at once.
fn first_part(reply: &[u8]) -> usize {
    let found = reply.windows(HELD.len()).position(|part| part == HELD);
    found.unwrap_or_else(|| panic!("a page in parts needs {:?}", String::from_utf8_lossy(HELD)))
}

/// Reads one request: its head and its body.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    let head_end = loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let end = head_end + length.unwrap_or(0);
    while buffer.len() < end {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let body = buffer[head_end..end].to_vec();
    buffer.drain(..end);
    Some((head, body))
}

/// Says what was asked.
fn echo(head: &str, body: &[u8]) -> Vec<u8> {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let headers: serde_json::Map<_, _> =
        fields.map(|(name, value)| (name.to_lowercase(), json!(value.trim()))).collect();
    let method = head.split_whitespace().next();
    let told = json!({"method": method, "headers": headers, "body": String::from_utf8_lossy(body)});
    whole(200, "application/json", "", told.to_string().as_bytes())
}

async fn reply(path: &str, query: &str, body: &[u8], folder: &Path, seen: &Seen) -> Vec<u8> {
    let value = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
    };
    match path.trim_start_matches('/').split('/').collect::<Vec<_>>().as_slice() {
        ["report"] => {
            if let Ok(told) = serde_json::from_slice::<Value>(body) {
                let name = told["name"].as_str().unwrap_or_default().to_owned();
                seen.0.lock().unwrap().reports.push((name, told["data"].clone()));
            }
            whole(204, "text/plain", "", b"")
        }
        ["report.js"] => whole(200, "text/javascript", "", REPORT.as_bytes()),
        ["slow"] => {
            let ms = value("ms").and_then(|ms| ms.parse().ok()).unwrap_or(300);
            tokio::time::sleep(Duration::from_millis(ms)).await;
            late(folder, value("then"))
        }
        // Asked for by browsers on their own; not there would be an error in the page's console.
        ["favicon.ico"] => whole(204, "image/x-icon", "", b""),
        ["hold", _] => late(folder, value("then")),
        ["parts", _, name] => file(folder, name),
        ["cached", _] => whole(200, "text/javascript", "Cache-Control: max-age=3600\r\n", b""),
        ["status", code] => {
            let code = code.parse().unwrap_or(500);
            whole(code, "text/html", "", format!("<title>{code}</title>{code}").as_bytes())
        }
        ["download", name] => {
            let head = format!("Content-Disposition: attachment; filename=\"{name}\"\r\n");
            whole(200, "application/octet-stream", &head, b"the content of the file\n")
        }
        ["redirect"] => {
            let head = format!("Location: {}\r\n", value("to").unwrap_or_default());
            whole(302, "text/plain", &head, b"")
        }
        ["cookie"] => {
            let head = format!("Set-Cookie: {}\r\n", query.replace("%20", " "));
            whole(200, "text/plain", &head, b"")
        }
        ["data"] => {
            let asked =
                seen.0.lock().unwrap().asked.iter().filter(|it| it.starts_with("/data")).count();
            let data = json!({"query": query, "asked": asked}).to_string();
            whole(200, "application/json", "", data.as_bytes())
        }
        _ => file(folder, path),
    }
}

fn late(folder: &Path, then: Option<String>) -> Vec<u8> {
    match then {
        Some(then) => file(folder, &then),
        None => whole(200, "text/plain", "", b"late"),
    }
}

fn file(folder: &Path, path: &str) -> Vec<u8> {
    let path = path.trim_start_matches('/');
    let inside = !path.split('/').any(|part| part == "..");
    let Some(bytes) = inside.then(|| std::fs::read(folder.join(path)).ok()).flatten() else {
        return whole(404, "text/html", "", b"<title>404</title>nothing here");
    };
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("pdf") => "application/pdf",
        _ => "text/plain",
    };
    let head = match path.ends_with(".csp.html") {
        true => format!("Content-Security-Policy: {CSP}\r\n"),
        false => String::new(),
    };
    whole(200, kind, &head, &bytes)
}

fn whole(status: u16, kind: &str, more: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let kept = if more.contains("Cache-Control") { "" } else { "Cache-Control: no-store\r\n" };
    let head = format!(
        "HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         {kept}{more}\r\n"
    );
    [head.as_bytes(), body].concat()
}
