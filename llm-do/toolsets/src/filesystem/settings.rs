//! The settings of the tools.

use std::path::{Path, PathBuf};

/// The default maximum size of a file that is read, searched or written, in bytes: 10 MiB.
const MAX_BYTES: u64 = 10 << 20;

/// The settings of the filesystem tools, for [`RuntimeBuilder::state`](llm_do_core::session::runtime::RuntimeBuilder::state).
///
/// Without settings, the defaults apply.
///
/// A pattern has the syntax of a line in a `.gitignore` file, relative to the root: `*.pem` matches at any depth, `/notes` in the
/// root only. A matching folder includes everything in it. Letter case is ignored. A pattern applies to the real location of a
/// file, after symbolic links are resolved. An invalid pattern fails every call.
///
/// # Examples
///
/// ```
/// use llm_do::Runtime;
/// use llm_do::toolsets::filesystem::Filesystem;
///
/// # fn main() -> llm_do::Result<()> {
/// let files = Filesystem::new().root("site").hide(".env").protect("/vendor").max_bytes(1 << 20);
/// let runtime = Runtime::builder().project_root("/srv/app").state(files).build()?;
/// # drop(runtime);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "give the settings to `RuntimeBuilder::state`"]
pub struct Filesystem {
    root: Option<PathBuf>,
    pub(super) read_only: bool,
    pub(super) hidden: Vec<String>,
    pub(super) protected: Vec<String>,
    pub(super) max_bytes: u64,
}

impl Filesystem {
    /// Creates settings with the defaults.
    pub fn new() -> Self {
        Self {
            root: None,
            read_only: false,
            hidden: Vec::new(),
            protected: vec![".git".to_owned()],
            max_bytes: MAX_BYTES,
        }
    }

    /// Sets the root of [`filesystem_project`](super::filesystem_project), relative to the project's root. Default: the
    /// [project's root](llm_do_core::session::runtime::RuntimeBuilder::project_root).
    ///
    /// The root of [`filesystem_cwd`](super::filesystem_cwd) is the working directory, or the root of the [project](https://docs.rs/llm-do/latest/llm_do/project/index.html) that
    /// the session runs.
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// Refuses every change, even an approved one. Default: changes need approval.
    ///
    /// A model still sees the tools that change files; [`filesystem_project_ro`](super::filesystem_project_ro) omits
    /// them.
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Hides files: they are neither listed nor searched, read or changed. Default: nothing is hidden.
    pub fn hide(mut self, pattern: impl Into<String>) -> Self {
        self.hidden.push(pattern.into());
        self
    }

    /// Protects files from changes; they remain readable. Default: `.git`, since its hooks and its configuration run
    /// programs.
    ///
    /// `protect("!.git")` removes this protection.
    pub fn protect(mut self, pattern: impl Into<String>) -> Self {
        self.protected.push(pattern.into());
        self
    }

    /// Sets the maximum size of a file that is read, searched or written, in bytes. Default: 10 MiB.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Returns the root, for a project in this folder.
    pub(super) fn root_in(&self, project: &Path) -> PathBuf {
        self.root.as_ref().map_or_else(|| project.to_owned(), |root| project.join(root))
    }
}

impl Default for Filesystem {
    fn default() -> Self {
        Self::new()
    }
}
