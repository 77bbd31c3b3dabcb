//! The name and version of the application, as shown to other programs and to users: in MCP, on the page of a service, in requests.

use std::sync::OnceLock;

static APPLICATION: OnceLock<Application> = OnceLock::new();

/// What an application is called.
#[derive(Clone, Debug)]
pub(crate) struct Application {
    pub(crate) name: String,
    /// `None` if the program did not state it.
    version: Option<String>,
}

/// This crate, with its version.
const CRATE: &str = concat!("llm-do/", env!("CARGO_PKG_VERSION"));

impl Application {
    #[cfg(feature = "cli")]
    pub(crate) fn new(name: impl Into<String>, version: Option<String>) -> Self {
        Self { name: name.into(), version }
    }

    /// Sets the application of this process, unless it is set.
    #[cfg(feature = "cli")]
    pub(crate) fn set(self) {
        // An error means that it is set.
        let _ = APPLICATION.set(self);
    }

    /// Returns the application of this process; this crate if the program does not have its command line.
    pub(crate) fn current() -> &'static Self {
        APPLICATION.get_or_init(|| Self { name: "llm-do".to_owned(), version: None })
    }

    /// Returns the version, or that of this crate.
    pub(crate) fn version(&self) -> &str {
        self.version.as_deref().unwrap_or(env!("CARGO_PKG_VERSION"))
    }

    /// Returns the version for people, who must see whose it is.
    #[cfg(feature = "cli")]
    pub(crate) fn shown_version(&self) -> String {
        self.version.clone().unwrap_or_else(|| format!("({CRATE})").replace('/', " "))
    }

    /// Returns the header `user-agent` of requests: the application, then this crate.
    pub(crate) fn user_agent(&self) -> String {
        let token = |text: &str| -> String {
            let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_.+".contains(char);
            text.chars().map(|char| if is_plain(char) { char } else { '-' }).collect()
        };
        match &self.version {
            _ if self.name == "llm-do" => CRATE.to_owned(),
            Some(version) => format!("{}/{} {CRATE}", token(&self.name), token(version)),
            None => format!("{} {CRATE}", token(&self.name)),
        }
    }
}
