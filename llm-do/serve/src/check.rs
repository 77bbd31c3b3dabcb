//! Faults of the configuration of a service: names that are taken or unknown, shared secrets, unknown arguments.

use std::collections::HashSet;
use std::fmt::Display;

use llm_do_core::declare::schema::Property;
use llm_do_core::plane::registry::Registered;
use llm_do_core::session::runtime::Runtime;
use llm_do_worker_file::did_you_mean;
use serde_json::Value;

use super::{Client, Options, Schedule, Service, ServiceError, Webhook};

impl Service {
    pub(super) fn check(&self) -> Result<(), ServiceError> {
        ServiceError::check_faults("the service", &self.faults())
    }

    /// Lists the faults of the configuration.
    pub(super) fn faults(&self) -> Vec<String> {
        let Options { clients, schedules, webhooks, .. } = &self.options;
        let mut faults = taken("client", clients.iter().map(Client::name));
        faults.extend(taken("schedule", schedules.iter().map(|schedule| &*schedule.name)));
        faults.extend(taken("webhook", webhooks.iter().map(|webhook| &*webhook.name)));
        faults.extend(shared_secrets(clients, webhooks));
        faults.extend(schedules.iter().filter_map(|schedule| schedule_fault(&self.runtime, schedule)));
        faults.extend(webhooks.iter().flat_map(|webhook| webhook_faults(&self.runtime, webhook)));
        faults
    }
}

impl ServiceError {
    /// Returns an error with all faults, if there are any.
    pub(super) fn check_faults(what: impl Display, faults: &[String]) -> Result<(), Self> {
        let message = match faults {
            [] => return Ok(()),
            [only] => only.clone(),
            all => format!("{what} has {} faults:\n  {}", all.len(), all.join("\n  ")),
        };
        Err(Self::new(message))
    }
}

/// Returns a fault for each name that an earlier one has taken.
fn taken<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut known = HashSet::new();
    let taken = names.filter(|name| !known.insert(*name));
    taken.map(|name| format!("two {what}s have the name `{name}`")).collect()
}

/// Returns a fault for each secret that several clients and webhooks share, since the secret identifies the sender.
fn shared_secrets(clients: &[Client], webhooks: &[Webhook]) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, client) in clients.iter().enumerate() {
        let other = clients[..index].iter().find(|other| other.has_token_of(client));
        faults.extend(
            other.map(|other| format!("the clients `{}` and `{}` have the same token", other.name(), client.name())),
        );
    }
    for (index, webhook) in webhooks.iter().enumerate() {
        let name = &webhook.name;
        let other = webhooks[..index].iter().find(|other| other.has_key_of(webhook));
        faults.extend(other.map(|other| {
            format!(
                "the webhooks `{}` and `{name}` have the same secret: a request to one would be valid for the other",
                other.name
            )
        }));
        let client = clients.iter().find(|client| webhook.has_secret_of(client));
        faults.extend(client.map(|client| {
            format!(
                "the token of the client `{}` is the secret of the webhook `{name}`: its sender could act as the client",
                client.name()
            )
        }));
    }
    faults
}

fn schedule_fault(runtime: &Runtime, schedule: &Schedule) -> Option<String> {
    let Schedule { name, entry, arguments, .. } = schedule;
    let fault = match known(runtime, entry) {
        Err(error) => error.to_string(),
        Ok(item) => format!("invalid arguments for `{entry}`: {}", item.validate(arguments).err()?),
    };
    Some(format!("schedule `{name}`: {fault}"))
}

/// Returns why requests of a webhook could not start a run, if so.
fn webhook_faults(runtime: &Runtime, webhook: &Webhook) -> Vec<String> {
    let faults = match known(runtime, &webhook.entry) {
        Err(error) => vec![error.to_string()],
        Ok(item) => argument_faults(item, webhook),
    };
    faults.into_iter().map(|fault| format!("webhook `{}`: {fault}", webhook.name)).collect()
}

/// Returns the faults of the arguments that a webhook passes.
fn argument_faults(item: &Registered, webhook: &Webhook) -> Vec<String> {
    let Webhook { argument, type_argument, .. } = webhook;
    let (name, schema) = (item.name(), item.parameters());
    let mut faults = Vec::new();
    for (key, argument) in [("argument", argument), ("type_argument", type_argument)] {
        faults.extend(argument.as_ref().and_then(|argument| missing(key, argument, name, schema)));
    }
    if argument.is_some() && argument == type_argument {
        faults.push("`argument` and `type_argument` name the same argument".to_owned());
    }
    if type_argument.is_some() && webhook.is_standard() {
        faults.push("`type_argument` is never passed: requests of Standard Webhooks have no type".to_owned());
    }
    // Without `argument`, the body has all arguments.
    let Some(argument) = argument else { return faults };
    let is_passed = |name: &str| name == argument || type_argument.as_deref() == Some(name);
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    faults.extend(required.filter(|name| !is_passed(name)).map(|required| {
        format!("`{name}` requires `{required}`, which no request passes, since the body is passed as `{argument}`")
    }));
    faults
}

/// Returns the fault of an argument that does not exist.
fn missing(key: &str, argument: &str, item: &str, schema: &Value) -> Option<String> {
    if matches!(Property::of(schema, argument), Property::Declared(_) | Property::Allowed) {
        return None;
    }
    let known = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    Some(format!("`{key}`: `{item}` has no argument `{argument}`{}", did_you_mean(argument, known)))
}

/// Checks that a runtime has an item of this name.
pub(super) fn check_known(runtime: &Runtime, name: &str) -> Result<(), ServiceError> {
    known(runtime, name)?;
    Ok(())
}

/// Returns the item of this name, if a runtime has one.
fn known<'r>(runtime: &'r Runtime, name: &str) -> Result<&'r Registered, ServiceError> {
    let registry = runtime.registry();
    let unknown = || {
        let hint = did_you_mean(name, registry.iter().map(|item| item.name()));
        ServiceError::new(format!("unknown entry, tool or worker `{name}`{hint}"))
    };
    registry.get(name).map(|item| &**item).ok_or_else(unknown)
}
