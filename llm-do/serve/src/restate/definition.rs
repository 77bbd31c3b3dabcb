//! The definitions of an application's services for the engine.

use std::time::Duration;

use restate_sdk::discovery;
use restate_sdk::endpoint::{Endpoint, ServiceOptions};
use restate_sdk::service::ServiceDefinition;
use restate_sdk::service::macro_support::service_definition;
use serde_json::{Value, json};

use super::handler::Handlers;
use super::inbox::Inbox;
use super::names::Names;
use super::{Options, ServiceError};

/// The first pause between two attempts of an invocation; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The number of attempts within one day, after which the engine pauses the invocation until an operator resumes it.
const ATTEMPTS: u64 = 24 * 60 * 6;

/// Returns the endpoint for the engine's requests.
pub(super) fn endpoint(handlers: Handlers, names: &Names, options: &Options) -> Result<Endpoint, ServiceError> {
    let runs = define(runs(names))?;
    let inbox = define(inbox(names))?;
    // The attributes of the SDK would generate the same from a trait, but with one name for all applications.
    let runs: ServiceDefinition = service_definition(handlers, runs).options(
        ServiceOptions::new()
            .inactivity_timeout(options.park_after)
            .abort_timeout(options.longest_step)
            .journal_retention(options.keep_finished)
            .idempotency_retention(options.keep_finished)
            .retry_policy_initial_interval(FIRST_PAUSE)
            .retry_policy_exponentiation_factor(2.0)
            .retry_policy_max_interval(LONGEST_PAUSE)
            .retry_policy_max_attempts(ATTEMPTS)
            .retry_policy_pause_on_max_attempts(),
    );
    // The history of the inbox is not needed later, and it is called often.
    let inbox = service_definition(Inbox, inbox).options(ServiceOptions::new().journal_retention(Duration::ZERO));
    let mut endpoint = Endpoint::builder().bind(runs).bind(inbox);
    for key in &options.identity_keys {
        let fault = |error| ServiceError::new(format!("invalid identity key `{key}`: {error}"));
        endpoint = endpoint.identity_key(key).map_err(fault)?;
    }
    Ok(endpoint.build())
}

fn define(description: Value) -> Result<discovery::Service, ServiceError> {
    let fault = |error| ServiceError::new(format!("cannot describe the service: {error}"));
    serde_json::from_value(description).map_err(fault)
}

fn runs(names: &Names) -> Value {
    json!({
        "name": names.runs,
        "ty": "SERVICE",
        "documentation": "Runs the entries of an application.",
        "handlers": [
            {
                "name": "run",
                "documentation": "Runs an entry and returns its result and what it used.",
                "input": {
                    "required": true,
                    "contentType": "application/json",
                    "jsonSchema": {
                        "type": "object",
                        "properties": {
                            "entry": { "type": "string" },
                            "arguments": { "type": "object" },
                            "tenant": { "type": "string" },
                        },
                        "required": ["entry"],
                        "additionalProperties": false,
                    },
                },
                "output": json_output(),
            },
            {
                "name": "call",
                "documentation": "Runs one call of a run, on behalf of that run.",
                "input": { "required": true, "contentType": "application/json" },
                "output": json_output(),
                "ingressPrivate": true,
            },
        ],
    })
}

fn json_output() -> Value {
    json!({ "contentType": "application/json", "setContentTypeIfEmpty": true })
}

fn inbox(names: &Names) -> Value {
    let handler = |name: &str, documentation: &str, is_private: bool| {
        json!({
            "name": name,
            "ty": "EXCLUSIVE",
            "documentation": documentation,
            "input": { "required": true, "contentType": "application/json" },
            "output": json_output(),
            "ingressPrivate": is_private,
        })
    };
    json!({
        "name": names.inbox,
        "ty": "VIRTUAL_OBJECT",
        "documentation": "What runs ask people, until it is answered.",
        "handlers": [
            handler("ask", "Adds what a run asks.", true),
            handler("withdraw", "Removes what a run no longer asks.", true),
            handler("answer", "Answers: the id and the digest as listed, and a decision or an answer.", false),
            {
                "name": "list",
                "ty": "SHARED",
                "documentation": "Lists what is asked.",
                "output": json_output(),
            },
        ],
    })
}
