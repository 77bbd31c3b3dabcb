//! The name and version of the application, as shown to other programs and to users: in MCP, on the page of a service, in requests.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::plane::definition::ToolDef;

static APPLICATION: OnceLock<Application> = OnceLock::new();

/// The application as shown to users and other programs.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Application {
    pub name: String,
    /// `None` if the program did not state it.
    version: Option<String>,
}

/// The package that applications depend on.
const OWN: &str = "llm-do";
/// The package of the included toolsets, which does not count.
const TOOLSETS: &str = env!("CARGO_PKG_NAME");
/// The package that applications depend on, with its version.
const CRATE: &str = concat!("llm-do/", env!("CARGO_PKG_VERSION"));

impl Application {
    pub fn new(name: impl Into<String>, version: Option<String>) -> Self {
        Self { name: name.into(), version }
    }

    /// Sets the application of this process, unless it is set.
    pub fn set(self) {
        // An error means that the application is already set.
        let _ = APPLICATION.set(self);
    }

    /// Returns the application of this process: the one that its command line names, or the package whose items are
    /// linked, or this crate.
    pub fn current() -> &'static Self {
        APPLICATION.get_or_init(|| {
            let of_package =
                |(name, version): (&str, &str)| Self { name: name.to_owned(), version: Some(version.to_owned()) };
            linked_package().map_or_else(|| Self { name: OWN.to_owned(), version: None }, of_package)
        })
    }

    /// Returns the version, or that of this crate.
    #[must_use]
    pub fn version(&self) -> &str {
        self.version.as_deref().unwrap_or(env!("CARGO_PKG_VERSION"))
    }

    /// Returns the version for people, with the name of the package to which it belongs.
    #[must_use]
    pub fn shown_version(&self) -> String {
        self.version.clone().unwrap_or_else(|| format!("({CRATE})").replace('/', " "))
    }

    /// Returns the header `user-agent` of requests: the application, then this crate.
    #[must_use]
    pub fn user_agent(&self) -> String {
        let token = |text: &str| -> String {
            let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_.+".contains(char);
            text.chars().map(|char| if is_plain(char) { char } else { '-' }).collect()
        };
        match &self.version {
            _ if self.name == OWN => CRATE.to_owned(),
            Some(version) => format!("{}/{} {CRATE}", token(&self.name), token(version)),
            None => format!("{} {CRATE}", token(&self.name)),
        }
    }
}

/// Returns the name and the version of the package whose items are linked; of several, the package with the name of the
/// program.
fn linked_package() -> Option<(&'static str, &'static str)> {
    let packages = inventory::iter::<ToolDef>.into_iter().filter_map(|def| def.location.package_of());
    let packages: BTreeSet<_> = packages.filter(|(name, _)| ![OWN, TOOLSETS].contains(name)).collect();
    let program = std::env::current_exe().ok()?;
    let program = program.file_stem()?.to_string_lossy().replace('_', "-");
    let named = packages.iter().find(|(name, _)| name.replace('_', "-") == program);
    named.or(packages.first().filter(|_| packages.len() == 1)).copied()
}
