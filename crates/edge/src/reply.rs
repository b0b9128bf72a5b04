//! Answers over HTTP: JSON, and faults with the status that fits.

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
};
use model::{Code, Fault};
use serde::Serialize;

/// Answers with JSON. Nothing that the hub tells may be kept by caches or guessed at.
pub fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    let text = serde_json::to_vec(body).expect("answers have string keys only");
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    harden(headers);
    response
}

/// Answers with a fault.
pub fn fault(fault: &Fault) -> Response<Body> {
    let body = serde_json::json!({ "error": fault_json(fault) });
    let mut response = json(status(&fault.code), &body);
    if fault.code == Code::Unauthorized {
        let challenge = HeaderValue::from_static("Bearer realm=\"tabwire\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Writes a fault as the documents describe it.
pub fn fault_json(fault: &Fault) -> serde_json::Value {
    serde_json::json!({
        "code": fault.code.as_str(),
        "retry": fault.retry.as_str(),
        "message": fault.message,
        "hint": fault.hint,
    })
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
