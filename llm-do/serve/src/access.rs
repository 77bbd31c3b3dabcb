//! The clients of a service: bearers of tokens, with roles and quotas.

use std::fmt;
use std::sync::Arc;

use llm_do_providers::Money;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::ServiceError;

/// The minimum length of a token, in characters; shorter tokens can be guessed.
const MIN_TOKEN_CHARS: usize = 16;

/// A permission of the bearer of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "::schemars")]
#[non_exhaustive]
pub enum Role {
    /// Starts runs and chats, and cancels and resumes those of its own tenant. Resuming a run that would repeat effects
    /// also requires [`Decide`](Self::Decide).
    Start,
    /// Lists and watches runs: state, result, events, and what waits for a person.
    Watch,
    /// Decides about approvals and answers questions.
    Decide,
    /// All operations, for all tenants, and the metrics.
    Administer,
}

impl Role {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Watch => "watch",
            Self::Decide => "decide",
            Self::Administer => "administer",
        }
    }
}

/// A client of a service: the bearer of a token, with its roles and quotas.
///
/// The runs that a client starts belong to its tenant. It sees, decides about and cancels only runs of its tenant,
/// unless its role is [`Administer`](Role::Administer). Only a digest of the token is stored.
#[derive(Clone)]
#[must_use]
pub struct Client {
    name: Arc<str>,
    tenant: Arc<str>,
    digest: [u8; 32],
    roles: Vec<Role>,
    quota: Quota,
}

/// The quotas of a client; unlimited by default.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quota {
    /// Runs that have not finished.
    pub(super) runs: Option<u64>,
    /// The cost of the runs of a day, in UTC.
    pub(super) daily_cost: Option<Money>,
    /// The cost of each run.
    pub(super) run_cost: Option<Money>,
}

impl Client {
    /// Creates a client with this name, whose requests have the header `Authorization: Bearer TOKEN`.
    ///
    /// Its tenant has the same name; it has no roles.
    ///
    /// # Errors
    ///
    /// Returns an error for a token of less than 16 characters, or with other characters than letters, digits and `-._~+/=`.
    pub fn new(name: impl Into<Arc<str>>, token: &str) -> Result<Self, ServiceError> {
        let name = name.into();
        let is_valid = |char: char| char.is_ascii_alphanumeric() || "-._~+/=".contains(char);
        if token.len() < MIN_TOKEN_CHARS {
            let chars = token.len();
            let text = format!(
                "client `{name}`: the token has {chars} characters: use at least {MIN_TOKEN_CHARS}, chosen at random"
            );
            return Err(ServiceError::new(text));
        }
        if !token.chars().all(is_valid) {
            let text = format!("client `{name}`: the token has invalid characters: use letters, digits and `-._~+/=`");
            return Err(ServiceError::new(text));
        }
        let (tenant, digest) = (Arc::clone(&name), digest(token));
        Ok(Self { name, tenant, digest, roles: Vec::new(), quota: Quota::default() })
    }

    /// Adds a role. Default: none.
    pub fn role(mut self, role: Role) -> Self {
        self.roles.push(role);
        self
    }

    /// Sets the tenant, whose runs the client shares with the tenant's other clients. Default: the name of the client.
    pub fn tenant(mut self, tenant: impl Into<Arc<str>>) -> Self {
        self.tenant = tenant.into();
        self
    }

    /// Sets the maximum number of unfinished runs of the tenant when this client starts one. Default: unlimited.
    pub fn max_runs(mut self, runs: u64) -> Self {
        self.quota.runs = Some(runs);
        self
    }

    /// Sets the maximum total cost of the tenant's runs of one day, in UTC, when this client starts one. Default:
    /// unlimited.
    ///
    /// The cost of a run that is started or resumed is limited to the remaining amount, and to
    /// [`max_run_cost`](Self::max_run_cost). The possible cost of unfinished runs is reserved, so set that limit too if
    /// the client has several concurrent runs.
    pub fn max_daily_cost(mut self, cost: Money) -> Self {
        self.quota.daily_cost = Some(cost);
        self
    }

    /// Sets the maximum cost of each run that this client starts or resumes. Default: unlimited.
    pub fn max_run_cost(mut self, cost: Money) -> Self {
        self.quota.run_cost = Some(cost);
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether this is the token of the client.
    pub(super) fn has_token(&self, token: &[u8]) -> bool {
        bool::from(self.digest.ct_eq(&Sha256::digest(token)))
    }

    /// Returns whether both clients have the same token, so that a request would not identify its client.
    pub(super) fn has_token_of(&self, other: &Self) -> bool {
        bool::from(self.digest.ct_eq(&other.digest))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("name", &self.name).field("roles", &self.roles).finish_non_exhaustive()
    }
}

/// The sender of a request.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) name: Arc<str>,
    pub(super) tenant: Arc<str>,
    pub(super) quota: Quota,
    roles: Vec<Role>,
}

impl Identity {
    /// Returns the identity of a program on this machine, where no token is required.
    pub(super) fn local() -> Self {
        Self { name: "local".into(), tenant: "local".into(), quota: Quota::default(), roles: vec![Role::Administer] }
    }

    /// Returns whether it has this role.
    pub(super) fn may(&self, role: Role) -> bool {
        self.roles.iter().any(|own| *own == role || *own == Role::Administer)
    }

    /// Returns the tenant whose runs it may see; `None` if it may see all.
    pub(super) fn scope(&self) -> Option<Arc<str>> {
        (!self.may(Role::Administer)).then(|| Arc::clone(&self.tenant))
    }
}

/// Finds the client of a token. The time depends neither on the client nor on the number of matching characters.
pub(super) fn identify(clients: &[Client], token: &str) -> Option<Identity> {
    let given = digest(token);
    let mut found = None;
    for client in clients {
        if bool::from(client.digest.ct_eq(&given)) {
            found = Some(client);
        }
    }
    found.map(|Client { name, tenant, roles, quota, .. }| Identity {
        name: Arc::clone(name),
        tenant: Arc::clone(tenant),
        quota: *quota,
        roles: roles.clone(),
    })
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
