//! Reads the bodies of requests: JSON, of limited size, within a limited time.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// How long a request may take to arrive.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A body in JSON.
#[derive(Debug)]
pub(super) struct Json<T>(pub(super) T);

/// A body as bytes.
#[derive(Debug)]
pub(super) struct Raw(pub(super) Bytes);

/// Returns whether a body has this media type, with any parameters.
pub(super) fn has_type(headers: &HeaderMap, media_type: &str) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().is_some_and(|value| value.trim().eq_ignore_ascii_case(media_type))
}

impl<S: Send + Sync> FromRequest<S> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let read = tokio::time::timeout(TIMEOUT, Bytes::from_request(request, state)).await;
        let slow = || Problem::new(StatusCode::REQUEST_TIMEOUT, "slow_request", "the body took longer than 20 seconds");
        read.map_err(|_| slow())?.map(Self).map_err(|rejection: BytesRejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "body_too_large",
                "the body is too large: the limit is 1 MiB, unless the operator has changed it",
            ),
            _ => Problem::invalid("the body could not be read"),
        })
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        // A web page cannot send this type to another origin without asking.
        if !has_type(request.headers(), "application/json") {
            let text = "the header `content-type` must be `application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", text));
        }
        let Raw(bytes) = Raw::from_request(request, state).await?;
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            let at = if path == "." { String::new() } else { format!("`{path}`: ") };
            Problem::invalid(format!("{at}{}", error.into_inner()))
        })?;
        reader.end().map_err(|error| Problem::invalid(error.to_string()))?;
        Ok(Self(value))
    }
}
