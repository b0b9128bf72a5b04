//! The pages that come with the program, such as the viewer: plain files, no listing, no state.
//!
//! Who has the files is the binary's matter; it gives a function. What a page may load is said by
//! a content security policy: its own files, sockets of this hub, and models from anywhere that
//! the user names. A page that is opened on another machine gets its key here.

use std::{borrow::Cow, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Path, Request, State},
    http::{HeaderMap, HeaderValue, Response, StatusCode, header},
    routing::{get, post},
};
use model::{Code, Fault};
use serde::Deserialize;
use serde_json::json;

use crate::{Edge, admin::body::read_json, reply};

/// One file of a page.
pub struct File {
    /// What is in it.
    pub bytes: Cow<'static, [u8]>,
    /// Changes with the bytes.
    pub tag: String,
}

/// Finds a file by page and path: `("viewer", "main.js")`.
pub type Files = fn(&str, &str) -> Option<File>;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; \
    connect-src 'self' ws: wss: http: https: data: blob:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The routes of this file.
pub fn routes(files: Files) -> Router<Arc<Edge>> {
    let file = move |Path(path): Path<String>, headers: HeaderMap| async move {
        find(files, "viewer", &path, &headers)
    };
    let index = move |headers| file(Path("index.html".to_owned()), headers);
    Router::new()
        .route("/viewer", get(|| async { moved("/viewer/") }))
        .route("/viewer/", get(index))
        .route("/viewer/{*path}", get(file))
        .route("/pages/key", post(key))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KeyBody {
    code: String,
}

/// Trades the one-time code of a link for the key of a page.
async fn key(State(edge): State<Arc<Edge>>, request: Request) -> Response<Body> {
    let body: KeyBody = match read_json(&edge, request).await {
        Ok(body) => body,
        Err(fault) => return reply::fault(&fault),
    };
    match edge.page_keys.trade(&body.code) {
        Some(key) => reply::json(StatusCode::OK, &json!({ "key": key })),
        None => {
            let fault = Fault::new(Code::Unauthorized, "this link was used, or is too old");
            reply::fault(&fault.hint("make a new one with `tabwire open viewer --link`"))
        }
    }
}

fn find(files: Files, page: &str, path: &str, headers: &HeaderMap) -> Response<Body> {
    let Some(file) = files(page, path) else {
        let fault = Fault::new(Code::NotFound, format!("there is no {page} page of that name"));
        let fault = match files(page, "index.html") {
            Some(_) => fault,
            None => fault.hint("this program was built without it; run `npm run build` in web"),
        };
        return reply::fault(&fault);
    };
    let tag = format!("\"{}\"", file.tag);
    let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    let is_known = known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag));
    let mut response = match is_known {
        true => status(StatusCode::NOT_MODIFIED),
        false => Response::new(Body::from(file.bytes)),
    };
    let headers = response.headers_mut();
    reply::harden(headers);
    // Kept, but asked for each time: the next version has the same addresses.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(path)));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

fn moved(to: &'static str) -> Response<Body> {
    let mut response = status(StatusCode::PERMANENT_REDIRECT);
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(to));
    reply::harden(response.headers_mut());
    response
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("wasm") => "application/wasm",
        Some("glb") => "model/gltf-binary",
        _ => "application/octet-stream",
    }
}
