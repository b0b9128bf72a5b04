//! Reading requests: bounded in size and time, strict, with errors that say what is valid.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{FromRequestParts, Query, Request},
    http::{Response, header, request::Parts},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use model::{Code, Fault};
use serde::de::DeserializeOwned;

use crate::{Edge, reply};

/// Reads a JSON body. A body that is not declared as JSON is refused: a web page could send it
/// without asking anybody.
pub async fn read_json<T: DeserializeOwned>(
    edge: &Arc<Edge>,
    request: Request,
) -> Result<T, Fault> {
    let invalid = |message: String| Fault::new(Code::InvalidArgument, message);
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
    if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
        return Err(invalid("send the body as Content-Type: application/json".to_owned()));
    }
    let config = edge.config.load_full();
    let limited = Limited::new(request.into_body(), config.body_bytes);
    let collected = tokio::time::timeout(config.body_timeout, limited.collect())
        .await
        .map_err(|_| invalid(format!("the body took longer than {:?}", config.body_timeout)))?;
    let bytes = match collected {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let message = format!("the body is larger than {} bytes", config.body_bytes);
            return Err(Fault::new(Code::TooLarge, message));
        }
        Err(error) => return Err(invalid(format!("the body cannot be read: {error}"))),
    };
    if let Some(complaint) = model::shape::complaint(&bytes) {
        return Err(Fault::new(Code::TooLarge, format!("the body is refused: {complaint}")));
    }
    serde_json::from_slice(&bytes).map_err(|error| invalid(format!("the body is wrong: {error}")))
}

/// A query string, read strictly.
pub struct ReadQuery<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for ReadQuery<T> {
    type Rejection = Response<Body>;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(params)) => Ok(Self(params)),
            Err(error) => Err(reply::fault(&Fault::new(Code::InvalidArgument, error.body_text()))),
        }
    }
}
