//! All settings: their names, and their values from options, variables, files and code.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use llm_do_core::observe::event::Verbosity;
use llm_do_core::plane::approval::{ApprovalMode, FlowMode};
use llm_do_core::session::runtime::{Preset, RuntimeBuilder};
use llm_do_project::{Demand, Kind};
use llm_do_providers::Money;
use llm_do_providers::is_registered_by_program;

use super::file::ConfigFile;
use super::source::{Given, Set, Slot, Source};
use super::types::EndsRun;
use crate::CommandError;
use crate::output::Format;

/// A setting: its key in files. In capitals and with the prefix `LLM_DO_`, the key is its variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) key: &'static str,
    /// Whether the file of a project cannot set it.
    pub(super) is_of_user: bool,
    pub(super) slot: fn(&mut Settings) -> &mut dyn Slot,
    /// The text that is shown if the setting is unset.
    pub(super) unset: &'static str,
}

impl Setting {
    const fn new(key: &'static str, slot: fn(&mut Settings) -> &mut dyn Slot) -> Self {
        Self { key, is_of_user: false, slot, unset: "none" }
    }

    const fn unlimited(self) -> Self {
        Self { unset: "unlimited", ..self }
    }

    const fn of_user(self) -> Self {
        Self { is_of_user: true, ..self }
    }

    const fn of_policy(self) -> Self {
        Self { unset: "by policy", ..self }
    }

    pub(super) fn variable(&self) -> String {
        format!("LLM_DO_{}", self.key.to_uppercase())
    }
}

/// The settings, in the order in which they are shown.
pub(super) const SETTINGS: [Setting; 18] = [
    Setting::new("model", |settings| &mut settings.model),
    Setting::new("approval_mode", |settings| &mut settings.approval_mode),
    Setting::new("flow", |settings| &mut settings.flow).of_user().of_policy(),
    Setting::new("end_on_denial", |settings| &mut settings.end_on_denial),
    Setting::new("max_depth", |settings| &mut settings.max_depth),
    Setting::new("max_concurrent_calls", |settings| &mut settings.max_concurrent_calls),
    Setting::new("limit_requests", |settings| &mut settings.limit_requests).unlimited(),
    Setting::new("limit_tokens", |settings| &mut settings.limit_tokens).unlimited(),
    Setting::new("limit_cost", |settings| &mut settings.limit_cost).unlimited(),
    Setting::new("timeout", |settings| &mut settings.timeout).unlimited(),
    Setting::new("policy", |settings| &mut settings.policy).of_user(),
    Setting::new("worker_dir", |settings| &mut settings.worker_dir).of_user(),
    Setting::new("chats", |settings| &mut settings.chats).of_user(),
    Setting::new("verbose", |settings| &mut settings.verbose),
    Setting::new("output", |settings| &mut settings.output),
    Setting::new("content", |settings| &mut settings.content).of_user(),
    Setting::new("batch", |settings| &mut settings.batch),
    Setting::new("compaction", |settings| &mut settings.compaction),
];

/// The values of the settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) model: Set<String>,
    pub(crate) approval_mode: Set<ApprovalMode>,
    pub(crate) flow: Set<FlowMode>,
    pub(crate) end_on_denial: Set<EndsRun>,
    pub(crate) max_depth: Set<u32>,
    pub(crate) max_concurrent_calls: Set<NonZeroUsize>,
    pub(crate) limit_requests: Set<u64>,
    pub(crate) limit_tokens: Set<u64>,
    pub(crate) limit_cost: Set<Money>,
    pub(crate) timeout: Set<Duration>,
    pub(crate) policy: Set<PathBuf>,
    pub(crate) worker_dir: Set<Vec<PathBuf>>,
    pub(crate) chats: Set<PathBuf>,
    pub(crate) verbose: Set<Verbosity>,
    pub(crate) output: Set<Format>,
    pub(crate) content: Set<bool>,
    pub(crate) batch: Set<bool>,
    pub(crate) compaction: Set<bool>,
    /// Values of the project's file that have no effect, since another value is stricter.
    pub(crate) warnings: Vec<String>,
}

impl Settings {
    /// Adds the variables and the files to the options; all faults are reported as one error.
    pub(crate) fn read(mut self, project: Option<&Path>) -> Result<Self, CommandError> {
        let mut faults = self.read_variables();
        for file in ConfigFile::of_user().into_iter().chain([ConfigFile::of_project(project)]) {
            faults.extend(file.read_into(&mut self));
        }
        if faults.is_empty() { Ok(self) } else { Err(CommandError::Usage(faults.join("\n"))) }
    }

    fn read_variables(&mut self) -> Vec<String> {
        SETTINGS.iter().filter_map(|setting| self.read_variable(setting).err()).collect()
    }

    /// A blank variable counts as unset.
    fn read_variable(&mut self, setting: &Setting) -> Result<(), String> {
        let name = setting.variable();
        let Some(value) = std::env::var_os(&name) else { return Ok(()) };
        let text = value.into_string().map_err(|_| format!("`{name}`: the value is not valid UTF-8"))?;
        if text.trim().is_empty() {
            return Ok(());
        }
        let slot = (setting.slot)(self);
        let parsed = slot.parse(&Given::Text(text), Path::new(""), Source::Variable(name.clone()));
        parsed.map_err(|message| format!("`{name}`: {message}"))
    }

    /// Adds the settings of the project and the application, and decides about the values of the project's file.
    pub(crate) fn complete(&mut self, builder: &RuntimeBuilder, application: &Preset) {
        let (all, default) = (builder.preset(), RuntimeBuilder::default().preset());
        self.offer(&all, application, &Source::Manifest);
        self.offer(application, &default, &Source::Application);
        self.approval_mode.offer(default.approval_mode, Source::Default);
        self.end_on_denial.offer(EndsRun(default.end_on_denial), Source::Default);
        self.max_depth.offer(default.max_depth, Source::Default);
        self.max_concurrent_calls.offer(default.max_concurrent_calls, Source::Default);
        self.verbose.offer(Verbosity::default(), Source::Default);
        self.output.offer(Format::default(), Source::Default);
        self.content.offer(default.content, Source::Default);
        self.batch.offer(false, Source::Default);
        self.compaction.offer(true, Source::Default);
        for setting in &SETTINGS {
            if let Some((of_project, stricter)) = (setting.slot)(self).settle() {
                self.warnings.push(format!(
                    "{of_project}: `{}` has no effect: the value in effect is stricter ({stricter}), and a project's \
                     file cannot loosen it",
                    setting.key
                ));
            }
        }
    }

    /// Offers the settings that differ from the base.
    fn offer(&mut self, preset: &Preset, base: &Preset, source: &Source) {
        fn differing<T: Clone + PartialEq>(set: &mut Set<T>, value: Option<&T>, base: Option<&T>, source: &Source) {
            if let Some(value) = value.filter(|value| Some(*value) != base) {
                set.offer(value.clone(), source.clone());
            }
        }
        let (limits, fewer) = (&preset.limits, &base.limits);
        differing(&mut self.model, preset.model.as_ref(), base.model.as_ref(), source);
        differing(&mut self.approval_mode, Some(&preset.approval_mode), Some(&base.approval_mode), source);
        differing(&mut self.flow, preset.flow.as_ref(), base.flow.as_ref(), source);
        let (ends, base_ends) = (EndsRun(preset.end_on_denial), EndsRun(base.end_on_denial));
        differing(&mut self.end_on_denial, Some(&ends), Some(&base_ends), source);
        differing(&mut self.content, Some(&preset.content), Some(&base.content), source);
        differing(&mut self.max_depth, Some(&preset.max_depth), Some(&base.max_depth), source);
        let (calls, base_calls) = (&preset.max_concurrent_calls, &base.max_concurrent_calls);
        differing(&mut self.max_concurrent_calls, Some(calls), Some(base_calls), source);
        differing(&mut self.limit_requests, limits.requests.as_ref(), fewer.requests.as_ref(), source);
        differing(&mut self.limit_tokens, limits.total_tokens.as_ref(), fewer.total_tokens.as_ref(), source);
        differing(&mut self.limit_cost, limits.cost.as_ref(), fewer.cost.as_ref(), source);
        differing(&mut self.timeout, limits.wall_time.as_ref(), fewer.wall_time.as_ref(), source);
    }

    /// Returns the demand of the project's file, unless the user has set the value for this command.
    pub(crate) fn demand(&self) -> Option<Demand> {
        let (model, source) = self.model.of_project()?;
        let text = format!("workers ask the model `{model}`, with your key of its provider");
        (!is_registered_by_program(model)).then(|| Demand::new(Kind::Model, source.to_string(), text))
    }

    /// Returns whether the approval mode of a manifest has no effect, or is not less strict.
    pub(crate) fn decides_mode(&self) -> bool {
        let of_project = self.approval_mode.of_project().map(|(mode, _)| *mode);
        self.approval_mode.get().is_some() || of_project.is_some_and(|mode| mode != ApprovalMode::ApproveAll)
    }

    pub(crate) fn verbosity(&self) -> Verbosity {
        self.verbose.get().copied().unwrap_or_default()
    }

    pub(crate) fn format(&self) -> Format {
        self.output.get().copied().unwrap_or_default()
    }

    /// Sets the model of workers that declare none, unless the application has set it.
    pub(crate) fn add_model(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
        match (self.model.get(), self.model.source()) {
            (Some(name), Some(source)) if !matches!(source, Source::Application | Source::Manifest) => {
                builder.model_set_by(name.clone(), format!("`{source}`"))
            }
            _ => builder,
        }
    }

    /// Returns whether requests of `eval`, `harden` and `serve` go to the batch API of their provider.
    pub(crate) fn is_batch(&self) -> bool {
        self.batch.get() == Some(&true)
    }

    /// Sends requests to the batch API of their provider, if the setting is set.
    pub(crate) fn add_batch(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
        if self.is_batch() { builder.map_settings(|settings| settings.batch(true)) } else { builder }
    }

    /// Sets the limits and the approval of calls in a run.
    pub(crate) fn add_to(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
        let mut builder = self.add_model(builder);
        if let Some(mode) = self.approval_mode.get() {
            builder = builder.approval_mode(*mode);
        }
        if let Some(mode) = self.flow.get() {
            builder = builder.flow(*mode);
        }
        if let Some(EndsRun(ends)) = self.end_on_denial.get() {
            builder = builder.end_on_denial(*ends);
        }
        if let Some(content) = self.content.get() {
            builder = builder.content(*content);
        }
        if self.compaction.get() == Some(&false) {
            builder = builder.compaction(None);
        }
        if let Some(depth) = self.max_depth.get() {
            builder = builder.max_depth(*depth);
        }
        if let Some(calls) = self.max_concurrent_calls.get() {
            builder = builder.max_concurrent_calls(*calls);
        }
        builder.map_limits(|mut limits| {
            limits.requests = self.limit_requests.get().copied().or(limits.requests);
            limits.total_tokens = self.limit_tokens.get().copied().or(limits.total_tokens);
            limits.cost = self.limit_cost.get().copied().or(limits.cost);
            limits.wall_time = self.timeout.get().copied().or(limits.wall_time);
            limits
        })
    }
}
