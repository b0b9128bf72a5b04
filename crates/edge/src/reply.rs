//! Answers over HTTP: JSON, files, and faults with the status that fits.

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
};
use bytes::Bytes;
use model::{Code, Fault};
use schemars::JsonSchema;
use serde::Serialize;

/// A fault as the documents describe it.
#[derive(Serialize, JsonSchema)]
pub struct FaultBody<'f> {
    error: FaultView<'f>,
}

#[derive(Serialize, JsonSchema)]
struct FaultView<'f> {
    /// For branching.
    code: &'f str,
    #[schemars(extend("enum" = ["now", "later", "never", "check"]))]
    retry: &'static str,
    /// What happened.
    message: &'f str,
    /// What to try next.
    hint: Option<&'f str>,
}

/// Answers with JSON. Nothing that the hub tells may be kept by caches or guessed at.
pub fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    let body = serde_json::to_vec(body).expect("answers have string keys only");
    let mut response = text("application/json", body);
    *response.status_mut() = status;
    response
}

/// Answers with text of a media type.
pub fn text(media_type: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    harden(headers);
    response
}

/// Answers with bytes that may be anybody's: a browser saves them and never shows or runs them.
pub fn download(name: &str, mime_type: &str, bytes: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_str(mime_type);
    let unknown = HeaderValue::from_static("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, kind.unwrap_or(unknown));
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let name: String = name.chars().map(|it| if plain(it) { it } else { '_' }).collect();
    let saved = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    let unnamed = HeaderValue::from_static("attachment");
    headers.insert(header::CONTENT_DISPOSITION, saved.unwrap_or(unnamed));
    let nothing = HeaderValue::from_static("default-src 'none'; sandbox");
    headers.insert(header::CONTENT_SECURITY_POLICY, nothing);
    harden(headers);
    response
}

/// Answers with a fault.
pub fn fault(fault: &Fault) -> Response<Body> {
    let mut response = json(status(&fault.code), &fault_body(fault));
    if fault.code == Code::Unauthorized {
        let challenge = HeaderValue::from_static("Bearer realm=\"tabwire\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Writes a fault as the documents describe it.
pub fn fault_body(fault: &Fault) -> FaultBody<'_> {
    let (code, retry) = (fault.code.as_str(), fault.retry.as_str());
    let hint = fault.hint.as_deref();
    FaultBody { error: FaultView { code, retry, message: &fault.message, hint } }
}

/// Adds the headers that every answer carries.
pub fn harden(headers: &mut axum::http::HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

fn status(code: &Code) -> StatusCode {
    match code {
        Code::InvalidArgument => StatusCode::BAD_REQUEST,
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::Refused => StatusCode::FORBIDDEN,
        Code::NotFound | Code::UnknownSession | Code::UnknownTool | Code::UnknownTab => {
            StatusCode::NOT_FOUND
        }
        Code::AmbiguousSession | Code::TabOccupied | Code::Cancelled => StatusCode::CONFLICT,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::Busy => StatusCode::TOO_MANY_REQUESTS,
        Code::Unsupported | Code::ToolFailed | Code::Foreign(_) => StatusCode::UNPROCESSABLE_ENTITY,
        Code::OutcomeUnknown | Code::MalformedReply => StatusCode::BAD_GATEWAY,
        Code::NotConnected | Code::NotDelivered | Code::StateUnavailable | Code::ShuttingDown => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Code::TimedOut | Code::HubUnresponsive => StatusCode::GATEWAY_TIMEOUT,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
