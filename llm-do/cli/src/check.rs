//! `check`: reports faults that prevent the program from running.

mod flow;
mod replay;
mod rule;

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
    let (builder, files) = options.items.add_to(builder, &mut settings, runs_projects, Trust::Show)?;
    settings.warn();
    if files.needs_project {
        return Err(no_project());
    }
    let builder = settings.add_to(builder);
    if let Some(name) = &options.call {
        return rule::explain(builder, name, options.input_json.as_deref());
    }
    if options.flow {
        return flow::show(builder, options.json);
    }
    let builder = match &options.replay {
        Some(journal) => return replay::replay(builder, journal, &options.runs),
        None if !options.runs.is_empty() => {
            return Err(CommandError::Usage(
                "recorded runs are chosen for `--replay JOURNAL`, which is missing".to_owned(),
            ));
        }
        None => builder,
    };
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
