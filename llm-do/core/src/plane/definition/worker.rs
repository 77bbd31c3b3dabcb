//! The definitions of workers.

use llm_do_providers::{ServerSideTool, Settings};
use llm_do_worker_file::MIN_RESULT;
use serde_json::Value;

use super::instructions::{ComputedInstructions, Computing};
use crate::base::usage::Limits;
use crate::declare::prompt::AttachmentPolicy;
use crate::declare::worker_spec::OutputMode;
use crate::plane::context::{CallContext, StateKey};

/// How a model implements a worker.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct WorkerDef {
    pub(crate) instructions: &'static str,
    /// The function that computes the instructions, if any.
    pub(crate) computed: Option<ComputedInstructions>,
    pub(crate) model: Option<&'static str>,
    pub(crate) compatible_models: &'static [&'static str],
    pub(crate) settings: Option<fn() -> Settings>,
    pub(crate) hints: &'static [&'static str],
    pub(crate) code: bool,
    pub(crate) server_side_tools: Option<fn() -> Vec<ServerSideTool>>,
    /// The declared reason that a call has a weaker effect than its tools.
    pub(crate) effect_reason: Option<&'static str>,
    /// The reason that it may read untrusted text and private data, and send.
    pub(crate) flow_reason: Option<&'static str>,
    pub(crate) output: OutputMode,
    pub(crate) output_schema: Option<FileSchema>,
    pub(crate) max_turns: u32,
    pub(crate) retries: u32,
    pub(crate) limits: Option<fn() -> Limits>,
    /// How many bytes its model gets of a result, if it sets that.
    pub(crate) max_result: Option<u64>,
    pub(crate) attachments: Option<fn() -> AttachmentPolicy>,
}

#[doc(hidden)]
impl WorkerDef {
    /// Defines a worker with these instructions.
    #[must_use]
    pub const fn new(instructions: &'static str) -> Self {
        Self {
            instructions,
            computed: None,
            model: None,
            compatible_models: &[],
            settings: None,
            hints: &[],
            code: false,
            server_side_tools: None,
            flow_reason: None,
            effect_reason: None,
            output: OutputMode::Auto,
            output_schema: None,
            max_turns: 20,
            retries: 2,
            limits: None,
            max_result: None,
            attachments: None,
        }
    }

    /// Sets the function that computes the instructions. Default: none.
    #[must_use]
    pub const fn instructions_with(
        mut self,
        function: &'static str,
        parameters: fn() -> Vec<Option<StateKey>>,
        compute: fn(CallContext) -> Computing,
    ) -> Self {
        self.computed = Some(ComputedInstructions { function, parameters, compute });
        self
    }

    /// Sets the model. Default: the run's.
    #[must_use]
    pub const fn model(mut self, model: &'static str) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets the models that the run may choose, as globs. Default: any.
    #[must_use]
    pub const fn compatible_models(mut self, globs: &'static [&'static str]) -> Self {
        self.compatible_models = globs;
        self
    }

    /// Sets the settings of its requests. Default: the runtime's.
    #[must_use]
    pub const fn settings(mut self, settings: fn() -> Settings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Sets the hints for choosing it for a task. Default: none.
    #[must_use]
    pub const fn hints(mut self, hints: &'static [&'static str]) -> Self {
        self.hints = hints;
        self
    }

    /// Sets whether its model calls the tools by code. Default: false.
    #[must_use]
    pub const fn code(mut self, code: bool) -> Self {
        self.code = code;
        self
    }

    /// Sets the server-side tools. Default: none.
    #[must_use]
    pub const fn server_side_tools(mut self, tools: fn() -> Vec<ServerSideTool>) -> Self {
        self.server_side_tools = Some(tools);
        self
    }

    /// Sets the reason that a call has a weaker effect than its tools. Default: none.
    #[must_use]
    pub const fn effect_reason(mut self, reason: &'static str) -> Self {
        self.effect_reason = Some(reason);
        self
    }

    /// Sets the reason that it may read untrusted text and private data, and send. Default: none.
    #[must_use]
    pub const fn flow_reason(mut self, reason: &'static str) -> Self {
        self.flow_reason = Some(reason);
        self
    }

    /// Sets how the model returns the output. Default: [`OutputMode::Auto`].
    #[must_use]
    pub const fn output(mut self, mode: OutputMode) -> Self {
        self.output = mode;
        self
    }

    /// Sets the schema of the output that its file declares. Default: none.
    #[must_use]
    pub const fn output_schema(mut self, place: &'static str, schema: &'static str, ty: &'static str) -> Self {
        self.output_schema = Some(FileSchema { place, schema, ty });
        self
    }

    /// Sets the maximum number of requests in one call. Default: 20.
    #[must_use]
    pub const fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = turns;
        self
    }

    /// Sets the maximum number of consecutive retries of the output, of invalid arguments of one tool, or of equal
    /// calls that fail. Default: 2.
    #[must_use]
    pub const fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the limits of a call and all calls below it. Default: the run's limits.
    #[must_use]
    pub const fn limits(mut self, limits: fn() -> Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets how many bytes its model gets of a result. Default: the runtime's.
    #[must_use]
    pub const fn max_result(mut self, bytes: u64) -> Self {
        self.max_result = Some(bytes);
        self
    }

    /// Sets which files its prompt may have. Default: any.
    #[must_use]
    pub const fn attachments(mut self, policy: fn() -> AttachmentPolicy) -> Self {
        self.attachments = Some(policy);
        self
    }
}

/// The schema of the output in a worker file; the schema of the return type is known only at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileSchema {
    /// The file and the line.
    pub(crate) place: &'static str,
    /// The schema as JSON.
    pub(crate) schema: &'static str,
    /// The return type, as written in the source.
    pub(crate) ty: &'static str,
}

/// The value of a worker's `settings`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`settings` of a worker takes `llm_do::Settings`, not `{Self}`",
    label = "expected `Settings`",
    note = "for example, `Settings::new().temperature(0.2)`"
)]
pub trait SettingsValue {
    /// Returns the settings.
    fn into_settings(self) -> Settings;
}

// Only one type implements the trait, so the compiler's list of implementations would not help.
#[diagnostic::do_not_recommend]
impl SettingsValue for Settings {
    fn into_settings(self) -> Settings {
        self
    }
}

/// The value of a worker's `limits`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`limits` of a worker takes `llm_do::Limits`, not `{Self}`",
    label = "expected `Limits`",
    note = "for example, `Limits::new().requests(10)`"
)]
pub trait LimitsValue {
    /// Returns the limits.
    fn into_limits(self) -> Limits;
}

#[diagnostic::do_not_recommend]
impl LimitsValue for Limits {
    fn into_limits(self) -> Limits {
        self
    }
}

/// The value of a worker's `attachments`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`attachments` of a worker takes `llm_do::prompt::AttachmentPolicy`, not `{Self}`",
    label = "expected `AttachmentPolicy`",
    note = "for example, `AttachmentPolicy::new().count(3)`"
)]
pub trait AttachmentsValue {
    /// Returns the policy.
    fn into_policy(self) -> AttachmentPolicy;
}

#[diagnostic::do_not_recommend]
impl AttachmentsValue for AttachmentPolicy {
    fn into_policy(self) -> AttachmentPolicy {
        self
    }
}

/// Checks that the maximum number of turns is not 0.
///
/// # Panics
///
/// Panics, at compile time, if it is 0.
#[doc(hidden)]
#[track_caller]
pub const fn assert_turns(turns: u32) {
    assert!(turns > 0, "`max_turns` is 0, but a worker needs at least 1");
}

/// Checks that a shortened result has room for its beginning and its end.
///
/// # Panics
///
/// Panics, at compile time, if it has not.
#[doc(hidden)]
#[track_caller]
pub const fn assert_max_result(bytes: u64) {
    assert!(bytes >= MIN_RESULT, "`max_result` is a number of bytes, at least 1024");
}

/// Returns the value of JSON that a macro wrote.
///
/// # Panics
///
/// Panics if the text is not JSON, which macros never write.
#[doc(hidden)]
#[must_use]
pub fn json_value(json: &str) -> Value {
    serde_json::from_str(json).expect("a macro wrote this JSON")
}
