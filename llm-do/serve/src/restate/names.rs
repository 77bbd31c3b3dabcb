//! The names of an application's services in the engine.

use restate_sdk::context::RequestTarget;

use super::ServiceError;

/// The names of an application's services.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The service that starts runs.
    pub(super) runs: String,
    /// The virtual object that keeps open questions.
    pub(super) inbox: String,
}

/// The key of the only inbox.
const INBOX_KEY: &str = "all";

impl Names {
    /// Checks the name of an application, and derives those of its services.
    pub(super) fn new(name: &str) -> Result<Self, ServiceError> {
        let is_valid = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char));
        if !is_valid {
            return Err(ServiceError::new(format!(
                "invalid name `{name}` of a service in Restate: expected a letter, and then letters, digits, `.`, `_` and `-`"
            )));
        }
        Ok(Self { runs: name.to_owned(), inbox: format!("{name}.inbox") })
    }

    /// Returns the handler that runs one call of a run.
    pub(super) fn call(&self) -> RequestTarget {
        RequestTarget::service(&self.runs, "call")
    }

    /// Returns a handler of the inbox.
    pub(super) fn inbox(&self, handler: &str) -> RequestTarget {
        RequestTarget::object(&self.inbox, INBOX_KEY, handler)
    }
}
