//! What a macro registers of a worker's model.

use llm_do_providers::{ServerSideTool, Settings};

use crate::base::usage::Limits;
use crate::declare::worker_spec::OutputMode;

/// How a model implements a worker.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct WorkerDef {
    pub(crate) instructions: &'static str,
    pub(crate) model: Option<&'static str>,
    pub(crate) compatible_models: &'static [&'static str],
    pub(crate) settings: Option<fn() -> Settings>,
    pub(crate) hints: &'static [&'static str],
    pub(crate) server_side_tools: Option<fn() -> Vec<ServerSideTool>>,
    pub(crate) output: OutputMode,
    pub(crate) output_schema: Option<Written>,
    pub(crate) max_turns: u32,
    pub(crate) retries: u32,
    pub(crate) limits: Option<fn() -> Limits>,
}

#[doc(hidden)]
impl WorkerDef {
    /// Describes a worker with these instructions.
    #[must_use]
    pub const fn new(instructions: &'static str) -> Self {
        Self {
            instructions,
            model: None,
            compatible_models: &[],
            settings: None,
            hints: &[],
            server_side_tools: None,
            output: OutputMode::Auto,
            output_schema: None,
            max_turns: 20,
            retries: 2,
            limits: None,
        }
    }

    /// Sets the model. Default: the run's.
    #[must_use]
    pub const fn model(mut self, model: &'static str) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets the models that the run may choose. Default: any.
    #[must_use]
    pub const fn compatible_models(mut self, globs: &'static [&'static str]) -> Self {
        self.compatible_models = globs;
        self
    }

    /// Sets what its requests ask of the model. Default: what the runtime's settings say.
    #[must_use]
    pub const fn settings(mut self, settings: fn() -> Settings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Says what it is good for. Default: nothing.
    #[must_use]
    pub const fn hints(mut self, hints: &'static [&'static str]) -> Self {
        self.hints = hints;
        self
    }

    /// Sets the tools that the provider may run. Default: none.
    #[must_use]
    pub const fn server_side_tools(mut self, tools: fn() -> Vec<ServerSideTool>) -> Self {
        self.server_side_tools = Some(tools);
        self
    }

    /// Sets how the model gives the output. Default: [`OutputMode::Auto`].
    #[must_use]
    pub const fn output(mut self, mode: OutputMode) -> Self {
        self.output = mode;
        self
    }

    /// Says which schema its file gives of its output. Default: none.
    #[must_use]
    pub const fn output_schema(mut self, place: &'static str, schema: &'static str, ty: &'static str) -> Self {
        self.output_schema = Some(Written { place, schema, ty });
        self
    }

    /// Sets the limit on requests in one call. Default: 20.
    #[must_use]
    pub const fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = turns;
        self
    }

    /// Sets how often in a row the same thing may fail and be tried again. Default: 2.
    #[must_use]
    pub const fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets what a call, and all below it, may use together. Default: what the run may.
    #[must_use]
    pub const fn limits(mut self, limits: fn() -> Limits) -> Self {
        self.limits = Some(limits);
        self
    }
}

/// A schema of the output as a worker file gives it; the type's own is known at run time only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// The file and the line.
    pub(crate) place: &'static str,
    /// JSON.
    pub(crate) schema: &'static str,
    /// The return type, as the source spells it.
    pub(crate) ty: &'static str,
}

/// What `settings` of a worker may be.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`settings` of a worker takes `llm_do::Settings`, not `{Self}`",
    label = "no settings",
    note = "such as `Settings::new().temperature(0.2)`"
)]
pub trait SettingsValue {
    /// Returns them.
    fn into_settings(self) -> Settings;
}

// Whoever gives another type reads the message above, and needs no list of one type.
#[diagnostic::do_not_recommend]
impl SettingsValue for Settings {
    fn into_settings(self) -> Settings {
        self
    }
}

/// What `limits` of a worker may be.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`limits` of a worker takes `llm_do::Limits`, not `{Self}`",
    label = "no limits",
    note = "such as `Limits::new().requests(10)`"
)]
pub trait LimitsValue {
    /// Returns them.
    fn into_limits(self) -> Limits;
}

#[diagnostic::do_not_recommend]
impl LimitsValue for Limits {
    fn into_limits(self) -> Limits {
        self
    }
}

/// Refuses a limit on turns that allows none.
///
/// # Panics
///
/// Panics, at compile time, if it is 0.
#[doc(hidden)]
#[track_caller]
pub const fn assert_turns(turns: u32) {
    assert!(turns > 0, "a worker needs at least one turn: its model is asked once or more");
}
