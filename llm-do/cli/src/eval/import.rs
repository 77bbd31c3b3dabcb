//! `eval import` and `eval schema`.

use std::io::{self, Write};

use llm_do_core::session::runtime::RuntimeBuilder;
use llm_do_eval::Dataset;
use llm_do_worker_file::did_you_mean;

use super::Evaluators;
use crate::args::{ImportOptions, SchemaOptions};
use crate::trust::Trust;
use crate::{CommandError, print, print_json, project, recorded};

/// Prints a dataset of recorded calls.
pub(super) fn import(options: &ImportOptions) -> Result<(), CommandError> {
    let ImportOptions { worker, journal, runs, max_cases } = options;
    let cases = recorded::cases(worker, journal, runs, *max_cases)?;
    let (dataset, left_out) = Dataset::from_recorded(&cases);
    if left_out > 0 {
        // Ignored: standard error may be closed.
        let _ =
            writeln!(io::stderr(), "warning: {left_out} cases are left out, since `{}` failed in them", options.worker);
    }
    if dataset.cases.is_empty() {
        let near = did_you_mean(&options.worker, cases.other_tools());
        return Err(CommandError::Error(format!("no result of `{}` in the journals{near}", options.worker)));
    }
    print(dataset.to_yaml().trim_end())
}

/// Prints the schema of datasets.
pub(super) fn schema(
    builder: RuntimeBuilder,
    options: &SchemaOptions,
    own: &Evaluators,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let own = own.keys().map(String::as_str);
    let Some(tool) = &options.tool else { return print_json(&format!("{:#}", Dataset::json_schema(None, None, own))) };
    let mut settings = options.items.settings().read(options.items.project.as_deref())?;
    let (mut builder, _) = options.items.add_to(builder, &mut settings, runs_projects, Trust::Show)?;
    let registry = project::collect(&mut builder)?;
    let unknown = || CommandError::Usage(format!("unknown tool `{tool}`: {}", registry.hint(tool, None)));
    let item = registry.get(tool).ok_or_else(unknown)?;
    let schema = Dataset::json_schema(Some(item.parameters()), item.output().as_ref(), own);
    print_json(&format!("{schema:#}"))
}
