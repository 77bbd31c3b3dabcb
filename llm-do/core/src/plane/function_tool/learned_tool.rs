//! Tools that were learned from recorded cases.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use llm_do_learn::{Learned, MAX_FILE};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Acts, FunctionTool};
use crate::base::error::{BoxError, Unsure};
use crate::base::open_file::read_only;
use crate::declare::tool::Effect;
use crate::observe::journal::digest_of_text;
use crate::plane::context::CallContext;

/// A tool that was learned from recorded cases, added by [`RuntimeBuilder::tool`](crate::session::runtime::RuntimeBuilder::tool).
///
/// It is `effect = read_only`, and abstains with [`Unsure`] where it is not sure enough, so it is usually the code of a
/// [hybrid](crate::session::runtime::RuntimeBuilder::hybrid). [The module](https://docs.rs/llm-do/latest/llm_do/harden/index.html#learned-decisions)
/// describes how it is learned. In a project, files `*.learned.json` below `tools/` are found by their place; this type is for programs that add
/// them in code.
///
/// # Examples
///
/// ```no_run
/// use llm_do::harden::LearnedTool;
/// use llm_do::prelude::*;
///
/// # fn main() -> Result<()> {
/// let urgency = LearnedTool::open("tools/urgency.learned.json")?;
/// let runtime = Runtime::builder().tool(urgency).hybrid("urgency", "urgency_learned").build()?;
/// # drop(runtime);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct LearnedTool {
    learned: Arc<Learned>,
    name: String,
    signature: Signature,
    /// The digest of the file: evidence about another one does not count.
    version: String,
}

/// The description of a learned tool in its file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Signature {
    pub(crate) description: String,
    /// The schema of the arguments.
    pub(crate) parameters: Value,
    /// The schema of the result, if it is known.
    pub(crate) output: Option<Value>,
}

/// Why a file is not a learned tool.
///
/// `Debug` prints the same text as `Display`, since a test that fails with `?` prints it.
pub struct LearnedFault {
    file: String,
    reason: String,
}

impl LearnedTool {
    /// Reads a file `NAME.learned.json` of at most 5 MB.
    ///
    /// # Errors
    ///
    /// Returns the first fault of the file: anyone may have written it, so all of it is checked.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LearnedFault> {
        let path = path.as_ref();
        let file = path.display().to_string();
        match read(path) {
            Ok(text) => Self::from_text(&file, &text),
            Err(error) => Err(LearnedFault { file, reason: format!("cannot be read: {error}") }),
        }
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    ///
    /// Returns the first fault of the text.
    pub fn parse(text: &str) -> Result<Self, LearnedFault> {
        Self::from_text("the file", text)
    }

    /// Reads a text; `file` is its name in faults.
    pub(crate) fn from_text(file: &str, text: &str) -> Result<Self, LearnedFault> {
        let fault = |reason: String| LearnedFault { file: file.to_owned(), reason };
        let learned = Learned::parse(text).map_err(|error| fault(error.to_string()))?;
        let signature =
            Signature::deserialize(learned.signature()).map_err(|error| fault(format!("`signature`: {error}")))?;
        Ok(Self {
            name: learned.name().to_owned(),
            signature,
            learned: Arc::new(learned),
            version: digest_of_text(text),
        })
    }

    /// Replaces the name by which it is called. Default: that in the file.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Replaces the description. Default: that in the file, of the worker from whose cases it was learned.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.signature.description = description.into();
        self
    }

    /// Returns the name by which it is called.
    #[must_use]
    pub fn tool_name(&self) -> &str {
        &self.name
    }

    /// Returns what was learned.
    #[doc(hidden)]
    #[must_use]
    pub fn learned(&self) -> &Learned {
        &self.learned
    }
}

impl LearnedFault {
    /// Returns the fault without the file.
    #[doc(hidden)]
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// Reads a file of at most the size of what is learned.
fn read(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    read_only(path)?.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_FILE {
        return Err(std::io::Error::other(format!(
            "it has more than {MAX_FILE} bytes, the maximum of what is learned"
        )));
    }
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

impl From<LearnedTool> for FunctionTool {
    fn from(tool: LearnedTool) -> Self {
        let LearnedTool { learned, name, signature: Signature { description, parameters, output }, version } = tool;
        let decides = Arc::clone(&learned);
        let run = move |_: CallContext, input: Value| {
            let decision = decides.decide(&input).map_err(|unsure| BoxError::from(Unsure::new(unsure.to_string())));
            async move { decision }
        };
        let nothing: [&str; 0] = [];
        let tool = Self::new(name, description, parameters, Effect::ReadOnly, run);
        let mut tool = tool.toolsets(nothing).version(version);
        if let Some(output) = output {
            tool = tool.output_schema(output);
        }
        tool.learned = Some(learned);
        tool.acts = Acts::InCalls;
        tool
    }
}

impl fmt::Display for LearnedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.reason)
    }
}

impl fmt::Debug for LearnedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LearnedFault {}
