//! `check`: reports faults that prevent the program from running.

mod change;
mod flow;
mod policy;
mod replay;
mod rule;

use std::path::Path;

use llm_do_core::observe::event::ItemKind;
use llm_do_core::session::runtime::RuntimeBuilder;

use super::args::CheckOptions;
use super::config::{Set, Settings};
use super::output::warn;
use super::project::no_project;
use super::trust::Trust;
use super::{CommandError, print};

/// Builds the runtime like `run`, and prints the numbers of entries, workers and tools.
///
/// An entry that may call a worker without a model is an error. A fault that a run may never reach is a warning.
pub(super) fn check(builder: RuntimeBuilder, options: &CheckOptions, runs_projects: bool) -> Result<(), CommandError> {
    let settings = Settings { model: Set::option(options.model.clone(), "--model"), ..options.items.settings() };
    let mut settings = settings.read(options.items.project.as_deref())?;
    let (builder, files) = options.items.add_to(builder, &mut settings, runs_projects, trust(options))?;
    settings.warn();
    if files.needs_project {
        return Err(no_project());
    }
    let builder = settings.add_to(builder);
    if let Some(name) = &options.call {
        return rule::explain(builder, name, options);
    }
    if options.flow {
        return flow::show(builder, options.change.json);
    }
    if let Some(journal) = &options.replay {
        return replay_against(builder, journal, options);
    }
    if !options.runs.is_empty() {
        let text = "recorded runs are chosen for `--replay JOURNAL`, which is missing".to_owned();
        return Err(CommandError::Usage(text));
    }
    let runtime = builder.build().map_err(CommandError::from_error)?;
    warn(runtime.warnings());
    let findings = runtime.model_findings();
    warn(&findings.warnings);
    if !findings.faults.is_empty() {
        return Err(CommandError::Error(findings.faults.join("\n")));
    }
    let count = |kind| runtime.registry().iter().filter(|item| item.kind() == kind).count();
    let (tools, workers, entries) = (count(ItemKind::Tool), count(ItemKind::Worker), count(ItemKind::Entry));
    if tools + workers + entries == 0 {
        return Err(CommandError::Error(runtime.registry().hint("", None)));
    }
    let left_out = files.left_out + runtime.warnings().len();
    if options.strict && left_out > 0 {
        let text = format!("left out: {left_out}; the warnings above name each, with the reason: mend or remove it");
        return Err(CommandError::Error(text));
    }
    print(&format!("ok (entries: {entries}, workers: {workers}, tools: {tools})"))
}

/// Returns how the user is asked about a project: it is shown, unless its workers run.
fn trust(options: &CheckOptions) -> Trust {
    let runs = options.replay.is_some() && options.change.runs(options.model.as_deref());
    if runs { options.items.trust(false) } else { Trust::Show }
}

/// Replays recorded runs against this program, or against a change.
fn replay_against(builder: RuntimeBuilder, journal: &Path, options: &CheckOptions) -> Result<(), CommandError> {
    match (options.change.runs(options.model.as_deref()), options.items.has_policy()) {
        (true, true) => {
            let text = "--policy is a change of its own: replay with it, or with --model, --prompt or --candidate";
            Err(CommandError::Usage(text.to_owned()))
        }
        (true, false) => change::replay(builder, journal, options),
        (false, true) => policy::replay(builder, journal, &options.runs, options.change.json),
        (false, false) => match options.change.without_effect() {
            Some(option) => {
                let text = format!("{option} has no effect without --model, --policy, --prompt or --candidate");
                Err(CommandError::Usage(text))
            }
            None => replay::replay(builder, journal, &options.runs),
        },
    }
}
