//! Tools that are scripts.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::{Acts, FunctionTool};
use crate::base::error::{BoxError, fault_list};
use crate::base::open_file::read_only;
use crate::declare::tool::Effect;
use crate::observe::journal::digest_of_text;
use crate::plane::context::CallContext;
use crate::plane::definition::DeclaredRule;
use crate::plane::script::{LinkedScript, MAX_SOURCE, Script};

/// A tool that is a script, added by [`RuntimeBuilder::tool`](crate::session::runtime::RuntimeBuilder::tool).
///
/// [The module](https://docs.rs/llm-do/latest/llm_do/script/index.html) describes scripts. In a project, scripts are found by their place; this type is for programs that
/// add them in code. [`FunctionTool::from`] gives it an approval rule, a summary or a timeout. Building the runtime checks the
/// script against the tools that it may call.
///
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
/// use llm_do::json;
/// use llm_do::script::ScriptTool;
///
/// /// Return the price of an item, in cents.
/// #[tool(effect = read_only)]
/// fn price(item: &str) -> u64 {
///     item.len() as u64
/// }
///
/// const TOTAL: &str = r#"
/// def total(items: list[str]) -> int:
///     """
///     ---
///     toolsets: [price]
///     ---
///     Add the prices of items, in cents.
///     """
///     return sum([price(item) for item in items])
/// "#;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let runtime = Runtime::builder().tool(ScriptTool::parse("total", TOTAL)?).build()?;
/// assert_eq!(runtime.run_named("total", json!({ "items": ["pen", "paper"] })).await?, 8);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ScriptTool {
    script: Arc<Script>,
    name: String,
    description: String,
    toolsets: Vec<String>,
    effect: Option<Effect>,
}

impl ScriptTool {
    /// Reads a script: its function has the name of the file, without `.py`.
    ///
    /// # Errors
    ///
    /// Returns every fault of the file, with its line and column.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ScriptFault> {
        let path = path.as_ref();
        let function = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let text = read(path)
            .map_err(|error| ScriptFault { faults: vec![format!("{}: cannot be read: {error}", path.display())] })?;
        Self::from_text(&path.display().to_string(), &function, &text)
    }

    /// Reads the function with this name in the text of a script, as if its file were `NAME.py`.
    ///
    /// # Errors
    ///
    /// Returns every fault of the text, with its line and column.
    pub fn parse(function: &str, text: &str) -> Result<Self, ScriptFault> {
        Self::from_text(&format!("{function}.py"), function, text)
    }

    /// Reads a script; `file` is its name in faults.
    #[doc(hidden)]
    pub fn from_text(file: &str, function: &str, text: &str) -> Result<Self, ScriptFault> {
        let script = Script::read(file, function, text).map_err(|faults| ScriptFault { faults })?;
        Ok(Self {
            name: script.name.clone(),
            description: script.description.clone(),
            toolsets: script.toolsets.iter().map(|(name, _)| name.clone()).collect(),
            effect: script.effect,
            script: Arc::new(script),
        })
    }

    /// Replaces the name by which it is called. Default: that of the function.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Replaces the description. Default: the docstring.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds tools and toolsets that it may call, by name. Default: those in its front matter.
    pub fn toolsets(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        for name in names.into_iter().map(Into::into) {
            if !self.toolsets.contains(&name) {
                self.toolsets.push(name);
            }
        }
        self
    }

    /// Sets the effect of a call. Default: the effect in its front matter, or else the combined effects of its tools.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Returns the lines on which its front matter names tools and toolsets.
    #[doc(hidden)]
    #[must_use]
    pub fn toolset_lines(&self) -> Vec<(String, usize)> {
        self.script.toolsets.clone()
    }
}

/// Reads a file of at most the size of a script.
fn read(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    read_only(path)?.take(MAX_SOURCE as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_SOURCE {
        return Err(std::io::Error::other(format!(
            "it has more than {MAX_SOURCE} bytes, the maximum of a script: split it"
        )));
    }
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

impl From<ScriptTool> for FunctionTool {
    fn from(tool: ScriptTool) -> Self {
        let ScriptTool { script, name, description, toolsets, effect } = tool;
        let not_linked = |_: CallContext, _: Value| async { Err::<Value, BoxError>("the script is not linked".into()) };
        // A script without its own effect gets one when its tools are known.
        let effect_or_any = effect.unwrap_or_default();
        let mut script_tool = Self::new(name, description, script.parameters.clone(), effect_or_any, not_linked)
            .output_schema(script.output.clone())
            .toolsets(toolsets);
        script_tool.has_effect = effect.is_some();
        script_tool.version = Some(digest_of_text(&script.text));
        script_tool.script = Some(script);
        script_tool.acts = Acts::InCalls;
        script_tool
    }
}

impl FunctionTool {
    /// Sets the rule from a file.
    #[doc(hidden)]
    pub fn rule(self, approval: Option<DeclaredRule>) -> Self {
        Self { approval, ..self }
    }

    /// Returns the tool of a script that was linked with its tools.
    pub(crate) fn linked(&self, script: &Arc<Script>, linked: LinkedScript, effect: Effect) -> Self {
        let linked = Arc::new(linked);
        let run = move |ctx: CallContext, arguments| {
            let linked = Arc::clone(&linked);
            async move { linked.run(&ctx, arguments).await }
        };
        let of_run = Self::new("", "", Value::Null, effect, run).decode;
        let defaults = script.defaults.clone();
        let decode = move |given: Value| {
            let mut arguments = defaults.clone();
            arguments.extend(given.as_object().cloned().unwrap_or_default());
            of_run(Value::Object(arguments))
        };
        Self { effect, decode: Arc::new(decode), ..self.clone() }
    }
}

/// All faults of a script.
///
/// `Debug` prints the same text as `Display`, since a test that fails with `?` prints it.
pub struct ScriptFault {
    faults: Vec<String>,
}

impl ScriptFault {
    /// Returns the faults, each with its place: `tools/triage.py:3:12: ..`.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

fault_list!(ScriptFault, "the script");
