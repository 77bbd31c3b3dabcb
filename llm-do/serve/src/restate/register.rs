//! Registers the address of the application with the engine.

use std::time::Duration;

use llm_do_core::base::error::chain;
use serde_json::{Value, json};

use super::ServiceError;

/// The number of attempts to reach the engine, once per second, since it may start at the same time.
const ATTEMPTS: usize = 30;

/// Registers the deployment at `uri` with the engine whose administration listens at `admin`.
///
/// # Errors
///
/// Returns an error if the engine cannot be reached, or if it refuses the deployment.
pub(super) async fn register(admin: &str, uri: &str, replaces: bool) -> Result<(), ServiceError> {
    let address = format!("{}/deployments", admin.trim_end_matches('/'));
    let body = json!({ "uri": uri, "force": replaces }).to_string();
    let http = reqwest::Client::new();
    let mut attempt = 1;
    let response = loop {
        let request = http.post(&address).header("content-type", "application/json").body(body.clone());
        match request.send().await {
            Ok(response) => break response,
            Err(error) if !error.is_builder() && attempt < ATTEMPTS => tokio::time::sleep(Duration::from_secs(1)).await,
            Err(error) => return Err(ServiceError::new(format!("cannot reach Restate at {admin}: {}", chain(&error)))),
        }
        attempt += 1;
    };
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let text = response.text().await.unwrap_or_default();
    let message = serde_json::from_str::<Value>(&text).ok().and_then(|body| Some(body["message"].as_str()?.to_owned()));
    let reason = message.unwrap_or(text);
    Err(ServiceError::new(format!("Restate at {admin} refused the deployment {uri} with status {status}: {reason}")))
}
