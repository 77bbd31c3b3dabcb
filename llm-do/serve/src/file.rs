//! The service file: clients, schedules and webhooks.

mod fields;

use std::fs;
use std::path::{Path, PathBuf};

use llm_do_providers::Money;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use self::fields::Fields;
use super::{Client, Role, Schedule, Service, ServiceError, Webhook};

/// The location of a secret, which is never in the file itself, since that may be under version control.
#[derive(Debug)]
enum Secret {
    /// In an environment variable.
    Env(String),
    /// In a separate file; a relative path starts at the folder of the service file.
    File(PathBuf),
}

impl<'de> Deserialize<'de> for Secret {
    /// Errors do not contain the value, which may be the secret itself, written here by mistake.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let is_single = value.as_object().is_some_and(|fields| fields.len() == 1);
        match (value["env"].as_str(), value["file"].as_str()) {
            (Some(name), None) if is_single => Ok(Self::Env(name.to_owned())),
            (None, Some(path)) if is_single => Ok(Self::File(path.into())),
            _ => Err(D::Error::custom(
                r#"expected `{"env": NAME}` or `{"file": PATH}`: the secret itself does not belong in this file"#,
            )),
        }
    }
}

/// Returns whether a text looks like the name of an environment variable, and not like a secret.
fn is_variable(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

impl Secret {
    fn read(&self, folder: &Path) -> Result<String, ServiceError> {
        let (secret, place) = match self {
            Self::Env(name) => {
                let place = if is_variable(name) {
                    format!("the environment variable `{name}`")
                } else {
                    "the environment variable that `env` names".to_owned()
                };
                let missing = |_| ServiceError::new(format!("{place} is not set"));
                (std::env::var(name).map_err(missing)?, place)
            }
            Self::File(path) => {
                let path = folder.join(path);
                let fault = |error| ServiceError::new(format!("cannot read {}: {error}", path.display()));
                (fs::read_to_string(&path).map_err(fault)?, path.display().to_string())
            }
        };
        match secret.trim() {
            "" => Err(ServiceError::new(format!("{place} is empty"))),
            secret => Ok(secret.to_owned()),
        }
    }
}

impl Service {
    /// Adds the clients, schedules, webhooks and hosts of a file in JSON.
    ///
    /// # Errors
    ///
    /// Returns all faults, each with the place in the file, if it cannot be read, has an unknown field or a value of the wrong type,
    /// or if a part of it is unusable: by itself, or beside what was added before.
    pub fn configure(mut self, path: impl AsRef<Path>) -> Result<Self, ServiceError> {
        let path = path.as_ref();
        let at = |fault: String| ServiceError::new(format!("{}: {fault}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
        let mut faults = Vec::new();
        let file = fields::read(&text, &mut faults).map_err(at)?;
        self.add(file, path.parent().unwrap_or(Path::new("")), &mut faults);
        faults.extend(self.faults());
        match faults.as_slice() {
            [] => Ok(self),
            [only] => Err(at(only.clone())),
            all => Err(at(format!("{} faults:\n  {}", all.len(), all.join("\n  ")))),
        }
    }

    /// Adds what a file configures.
    fn add(&mut self, file: Value, folder: &Path, faults: &mut Vec<String>) {
        let Some(mut file) = Fields::from_value(file, String::new(), faults) else { return };
        let hosts: Vec<String> = file.optional("hosts").unwrap_or_default();
        let [clients, schedules, webhooks] =
            ["clients", "schedules", "webhooks"].map(|key| file.optional::<Vec<Value>>(key).unwrap_or_default());
        file.finish();
        self.options.hosts.extend(hosts);
        let entries = |key: &'static str, values: Vec<Value>| {
            values.into_iter().enumerate().map(move |(index, value)| (format!("{key}[{index}]"), value))
        };
        for (place, value) in entries("clients", clients) {
            self.options
                .clients
                .extend(Fields::from_value(value, place, faults).and_then(|entry| client(entry, folder)));
        }
        for (place, value) in entries("schedules", schedules) {
            self.options.schedules.extend(Fields::from_value(value, place, faults).and_then(schedule));
        }
        for (place, value) in entries("webhooks", webhooks) {
            self.options
                .webhooks
                .extend(Fields::from_value(value, place, faults).and_then(|entry| webhook(entry, folder)));
        }
    }
}

/// Reads a client; returns `None` if it has faults.
fn client(mut entry: Fields<'_>, folder: &Path) -> Option<Client> {
    let name: Option<String> = entry.required("name");
    let token = entry.secret("token", folder);
    let roles: Option<Vec<Role>> = entry.required("roles");
    let tenant: Option<String> = entry.optional("tenant");
    let max_runs: Option<u64> = entry.optional("max_runs");
    let max_daily_cost: Option<Money> = entry.optional("max_daily_cost");
    let max_run_cost: Option<Money> = entry.optional("max_run_cost");
    let made = name.zip(token).and_then(|(name, token)| entry.made(Client::new(name, &token)));
    let is_valid = entry.finish();
    let mut client = made.filter(|_| is_valid)?;
    client = roles?.into_iter().fold(client, Client::role);
    if let Some(tenant) = tenant {
        client = client.tenant(tenant);
    }
    if let Some(runs) = max_runs {
        client = client.max_runs(runs);
    }
    if let Some(cost) = max_daily_cost {
        client = client.max_daily_cost(cost);
    }
    Some(match max_run_cost {
        Some(cost) => client.max_run_cost(cost),
        None => client,
    })
}

/// Reads a schedule; returns `None` if it has faults.
fn schedule(mut entry: Fields<'_>) -> Option<Schedule> {
    let name: Option<String> = entry.required("name");
    let cron: Option<String> = entry.required("cron");
    let zone: Option<String> = entry.optional("time_zone");
    let item: Option<String> = entry.required("entry");
    let arguments: Option<Value> = entry.optional("arguments");
    let tenant: Option<String> = entry.optional("tenant");
    let parts = name.zip(cron).zip(item);
    let made = parts.and_then(|((name, cron), item)| entry.made(Schedule::new(name, &cron, item)));
    let made = match (made, zone) {
        (Some(schedule), Some(zone)) => entry.made(schedule.time_zone(&zone)),
        (made, _) => made,
    };
    let is_valid = entry.finish();
    let mut schedule = made.filter(|_| is_valid)?;
    if let Some(arguments) = arguments {
        schedule = schedule.arguments(arguments);
    }
    Some(match tenant {
        Some(tenant) => schedule.tenant(tenant),
        None => schedule,
    })
}

/// Reads a webhook; returns `None` if it has faults.
fn webhook(mut entry: Fields<'_>, folder: &Path) -> Option<Webhook> {
    let name: Option<String> = entry.required("name");
    let secret = entry.secret("secret", folder);
    let item: Option<String> = entry.required("entry");
    let argument: Option<String> = entry.optional("argument");
    let type_argument: Option<String> = entry.optional("type_argument");
    let tenant: Option<String> = entry.optional("tenant");
    let parts = name.zip(secret).zip(item);
    let made = parts.and_then(|((name, secret), item)| entry.made(Webhook::new(name, &secret, item)));
    let is_valid = entry.finish();
    let mut webhook = made.filter(|_| is_valid)?;
    if let Some(argument) = argument {
        webhook = webhook.argument(argument);
    }
    if let Some(argument) = type_argument {
        webhook = webhook.type_argument(argument);
    }
    Some(match tenant {
        Some(tenant) => webhook.tenant(tenant),
        None => webhook,
    })
}

impl Fields<'_> {
    /// Reads where a required secret is, and the secret.
    fn secret(&mut self, name: &'static str, folder: &Path) -> Option<String> {
        let secret: Secret = self.required(name)?;
        match secret.read(folder) {
            Ok(secret) => Some(secret),
            Err(error) => self.fault(name, &error),
        }
    }
}
