//! The service file: clients, schedules and webhooks.

use std::fs;
use std::path::{Path, PathBuf};

use llm_do_providers::Money;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Client, Role, Schedule, Service, ServiceError, Webhook};

/// The file, in JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceFile {
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    clients: Vec<ClientEntry>,
    #[serde(default)]
    schedules: Vec<ScheduleEntry>,
    #[serde(default)]
    webhooks: Vec<WebhookEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientEntry {
    name: String,
    token: Secret,
    roles: Vec<Role>,
    tenant: Option<String>,
    max_runs: Option<u64>,
    max_daily_cost: Option<Money>,
    max_run_cost: Option<Money>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScheduleEntry {
    name: String,
    cron: String,
    time_zone: Option<String>,
    entry: String,
    arguments: Option<Value>,
    tenant: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WebhookEntry {
    name: String,
    secret: Secret,
    entry: String,
    argument: Option<String>,
    type_argument: Option<String>,
    tenant: Option<String>,
}

/// Where a secret is: not in the file itself, which may be under version control.
#[derive(Debug)]
enum Secret {
    /// In an environment variable.
    Env(String),
    /// In a file of its own; a relative path starts at the folder of the service file.
    File(PathBuf),
}

impl<'de> Deserialize<'de> for Secret {
    /// Errors do not contain the value: it may be the secret itself, written here by mistake.
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

/// Returns whether a text is an environment variable by its looks, rather than a secret.
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
    /// Returns an error, with the place in the file, if it cannot be read, has an unknown field or a value of the wrong type, or
    /// if a part of it is unusable.
    pub fn configure(mut self, path: impl AsRef<Path>) -> Result<Self, ServiceError> {
        let path = path.as_ref();
        let at = |fault: String| ServiceError::new(format!("{}: {fault}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
        let file: ServiceFile = parse(&text).map_err(at)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        self.options.hosts.extend(file.hosts);
        let with_place = |error: ServiceError| at(error.to_string());
        for entry in file.clients {
            self = self.client(entry.client(folder).map_err(with_place)?);
        }
        for entry in file.schedules {
            self = self.schedule(entry.schedule().map_err(with_place)?);
        }
        for entry in file.webhooks {
            self = self.webhook(entry.webhook(folder).map_err(with_place)?);
        }
        Ok(self)
    }
}

fn parse(text: &str) -> Result<ServiceFile, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let file = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let error = error.into_inner();
        if path == "." { error.to_string() } else { format!("`{path}`: {error}") }
    })?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(file)
}

impl ClientEntry {
    fn client(self, folder: &Path) -> Result<Client, ServiceError> {
        let mut client = Client::new(self.name, &self.token.read(folder)?)?;
        client = self.roles.into_iter().fold(client, Client::role);
        if let Some(tenant) = self.tenant {
            client = client.tenant(tenant);
        }
        if let Some(runs) = self.max_runs {
            client = client.max_runs(runs);
        }
        if let Some(cost) = self.max_daily_cost {
            client = client.max_daily_cost(cost);
        }
        Ok(match self.max_run_cost {
            Some(cost) => client.max_run_cost(cost),
            None => client,
        })
    }
}

impl ScheduleEntry {
    fn schedule(self) -> Result<Schedule, ServiceError> {
        let mut schedule = Schedule::new(self.name, &self.cron, self.entry)?;
        if let Some(zone) = self.time_zone {
            schedule = schedule.time_zone(&zone)?;
        }
        if let Some(arguments) = self.arguments {
            schedule = schedule.arguments(arguments);
        }
        Ok(match self.tenant {
            Some(tenant) => schedule.tenant(tenant),
            None => schedule,
        })
    }
}

impl WebhookEntry {
    fn webhook(self, folder: &Path) -> Result<Webhook, ServiceError> {
        let mut webhook = Webhook::new(self.name, &self.secret.read(folder)?, self.entry)?;
        if let Some(argument) = self.argument {
            webhook = webhook.argument(argument);
        }
        if let Some(argument) = self.type_argument {
            webhook = webhook.type_argument(argument);
        }
        Ok(match self.tenant {
            Some(tenant) => webhook.tenant(tenant),
            None => webhook,
        })
    }
}
