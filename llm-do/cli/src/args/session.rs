//! Options of a runtime, which are settings.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args};
use llm_do_core::app::harden::Guarantee;
use llm_do_core::plane::approval::{ApprovalMode, FlowMode};
use llm_do_core::session::runtime::RuntimeBuilder;
use llm_do_providers::Money;

use crate::CommandError;
use crate::config::{EndsRun, Set, Settings, approval_mode, flow_mode, seconds};
use crate::project::{Entries, FileOptions};
use crate::run::verbosity;
use crate::state;

/// Options of a runtime.
#[derive(Args, Debug)]
pub(crate) struct SessionOptions {
    /// The model, `provider:model`, of workers that declare none; default: `LLM_DO_MODEL`, or `model` of a configuration
    /// file.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How calls that need approval are decided: `prompt` asks the user; default: `prompt`.
    #[arg(long, value_name = "MODE", value_parser = modes())]
    approval_mode: Option<ApprovalMode>,
    /// Approve every call that needs approval; blocked calls stay blocked.
    #[arg(long, conflicts_with_all = ["reject_all", "approval_mode"])]
    approve_all: bool,
    /// Deny every call that needs approval.
    #[arg(long, conflicts_with = "approval_mode")]
    reject_all: bool,
    /// How strict the rule about untrusted and private values is, where a policy declares sources; default: that of the policy, or else
    /// `strict`.
    #[arg(long, value_name = "MODE", value_parser = flow_modes())]
    flow: Option<FlowMode>,
    /// End the run when a call is denied; `=false`, the default, returns the denial to the worker's model.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    end_on_denial: Option<bool>,
    /// Record what is sent to models in the events: messages, instructions, tool definitions, images; shown by `trace`.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    content: Option<bool>,
    /// Maximum nesting depth of workers; default: 5.
    #[arg(long, value_name = "N")]
    max_depth: Option<u32>,
    /// Maximum number of read-only calls of one turn that run together; default: 16.
    #[arg(long, value_name = "N")]
    max_concurrent_calls: Option<NonZeroUsize>,
    /// Have this tool answer the calls of a worker first, in place of what its file names; `WORKER=` for the worker alone; may be given
    /// several times.
    #[arg(long, value_name = "WORKER=TOOL", value_parser = hybrid)]
    hybrid: Vec<(String, Option<String>)>,
    /// Have code answer for a hybrid only while comparisons show that it disagrees in at most this share, with this confidence; default:
    /// 0.95; may be given several times.
    #[arg(long, value_name = "WORKER=SHARE[@CONFIDENCE]", value_parser = guarantee)]
    guarantee: Vec<(String, Guarantee)>,
    /// The file with the evidence of guarantees, which programs may share; default: a file of the project in the user's folder for
    /// state, and for `serve` its database.
    #[arg(long, value_name = "FILE")]
    pub(crate) evidence: Option<PathBuf>,
    /// Show calls (-v), and what models write (-vv).
    #[arg(short, long, action = ArgAction::Count)]
    verbose: u8,
    #[command(flatten)]
    pub(crate) items: FileOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

/// Parses a pair of a worker and a tool.
fn hybrid(text: &str) -> Result<(String, Option<String>), String> {
    let (worker, tool) = text.split_once('=').ok_or("expected `WORKER=TOOL`, or `WORKER=` for the worker alone")?;
    Ok((worker.to_owned(), Some(tool).filter(|tool| !tool.is_empty()).map(str::to_owned)))
}

/// Parses the guarantee of a worker.
fn guarantee(text: &str) -> Result<(String, Guarantee), String> {
    let (worker, numbers) = text.split_once('=').ok_or("expected `WORKER=SHARE`, such as `urgency=0.02`")?;
    let (share, confidence) = numbers.split_once('@').unwrap_or((numbers, "0.95"));
    let number =
        |text: &str| text.parse::<f64>().map_err(|_| format!("expected a number such as 0.02, found `{text}`"));
    let guarantee = Guarantee::new(number(share)?, number(confidence)?).map_err(|fault| fault.to_string())?;
    Ok((worker.to_owned(), guarantee))
}

/// Parses an approval mode, and lists the modes in help and completions.
fn modes() -> impl TypedValueParser<Value = ApprovalMode> {
    PossibleValuesParser::new(["prompt", "approve_all", "reject_all"]).try_map(|word| approval_mode(&word))
}

/// Parses a mode of the rule about where values came from, and lists the modes in help and completions.
fn flow_modes() -> impl TypedValueParser<Value = FlowMode> {
    PossibleValuesParser::new(["strict", "lenient", "off"]).try_map(|word| flow_mode(&word))
}

impl SessionOptions {
    /// Returns the settings that the options set.
    pub(crate) fn settings(&self) -> Settings {
        let limits = &self.limits;
        Settings {
            model: Set::option(self.model.clone(), "--model"),
            approval_mode: self.approval_mode(),
            flow: Set::option(self.flow, "--flow"),
            end_on_denial: Set::option(self.end_on_denial.map(EndsRun), "--end-on-denial"),
            content: Set::option(self.content, "--content"),
            max_depth: Set::option(self.max_depth, "--max-depth"),
            max_concurrent_calls: Set::option(self.max_concurrent_calls, "--max-concurrent-calls"),
            limit_requests: Set::option(limits.limit_requests, "--limit-requests"),
            limit_tokens: Set::option(limits.limit_tokens, "--limit-tokens"),
            limit_cost: Set::option(limits.limit_cost, "--limit-cost"),
            timeout: Set::option(limits.timeout, "--timeout"),
            verbose: Set::option((self.verbose > 0).then(|| verbosity(self.verbose)), "--verbose"),
            ..self.items.settings()
        }
    }

    /// Adds the files to the builder; the user decides whether those of a project may approve calls.
    pub(crate) fn add_files(
        &self,
        builder: RuntimeBuilder,
        settings: &mut Settings,
        runs_projects: bool,
    ) -> Result<(RuntimeBuilder, Entries), CommandError> {
        let approves_all = settings.approval_mode.get() == Some(&ApprovalMode::ApproveAll);
        let trust = self.items.trust(approves_all);
        let (builder, entries) = self.items.add_to(builder, settings, runs_projects, trust)?;
        let switched = |builder: RuntimeBuilder, (worker, tool): &(String, Option<String>)| {
            builder.replace_hybrid(worker, tool.as_deref())
        };
        let builder = self.hybrid.iter().fold(builder, switched);
        let guaranteed = |builder: RuntimeBuilder, (worker, guarantee): &(String, Guarantee)| {
            builder.guarantee(worker.clone(), *guarantee)
        };
        let builder = self.guarantee.iter().fold(builder, guaranteed);
        let builder = match &self.evidence {
            Some(path) => builder.evidence_file(path),
            None => builder,
        };
        Ok((builder, entries))
    }

    /// Keeps evidence of guarantees in the file of the project, unless the user or the program names one.
    pub(crate) fn keep_evidence(&self, builder: RuntimeBuilder, project: Option<&Path>) -> RuntimeBuilder {
        match state::evidence(project).filter(|_| self.evidence.is_none()) {
            Some(path) => builder.default_evidence_file(path),
            None => builder,
        }
    }

    fn approval_mode(&self) -> Set<ApprovalMode> {
        match (self.approve_all, self.reject_all) {
            (true, _) => Set::option(Some(ApprovalMode::ApproveAll), "--approve-all"),
            (_, true) => Set::option(Some(ApprovalMode::RejectAll), "--reject-all"),
            _ => Set::option(self.approval_mode, "--approval-mode"),
        }
    }
}

/// Limits of a run; an option that is not given keeps the application's limit.
#[derive(Args, Debug)]
pub(crate) struct LimitOptions {
    /// Maximum number of requests to models.
    #[arg(long, value_name = "N")]
    limit_requests: Option<u64>,
    /// Send no further request after this many tokens, input and output.
    #[arg(long, value_name = "N")]
    limit_tokens: Option<u64>,
    /// Send no further request after this cost in US dollars, such as 0.50; a request with a charge of unknown price is
    /// refused.
    #[arg(long, value_name = "DOLLARS")]
    limit_cost: Option<Money>,
    /// End the run after this many seconds, such as 90 or 0.5, or this duration, such as 2m.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}
