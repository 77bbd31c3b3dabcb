//! `harden --propose`: lets a model write a script, and writes the script and its report.

use std::io;
use std::path::PathBuf;

use llm_do_core::app::harden::{Proposal, ProposeError, Proposer, Runs};
use llm_do_core::observe::event::ItemKind;
use llm_do_core::plane::registry::Registry;
use llm_do_core::session::runtime::RuntimeBuilder;
use llm_do_worker_file::did_you_mean;
use serde_json::json;

use super::{agreement, cases, configured, fault, open_for};
use crate::args::HardenOptions;
use crate::out_folder::OutFolder;
use crate::run::block_on;
use crate::{CommandError, print, print_json, project, recorded};

/// The files of a proposal: a folder, and their names in it.
struct ProposalFiles {
    folder: PathBuf,
    script: String,
    markdown: String,
    json: String,
    /// The name of the file with the Rust function, if requested.
    rust: Option<String>,
}

pub(super) fn propose(
    builder: RuntimeBuilder,
    worker: &str,
    options: &HardenOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let (builder, settings) = configured(builder, options, runs_projects)?;
    let builder = settings.add_batch(settings.add_model(builder));
    let proposer = proposer(worker, options);
    let files = ProposalFiles::new(options, proposer.script_name());
    let folder = files.open()?;
    let token = builder.cancellation_token();
    let mut builder = proposer.prepared(builder);
    let registry = project::collect(&mut builder)?;
    let proposal = if options.propose.paths {
        let runs = runs(worker, options, &registry)?;
        block_on(&token, proposer.propose_paths_on(builder, registry, &runs))?
    } else {
        let cases = cases(worker, options, &registry)?;
        block_on(&token, proposer.propose_on(builder, registry, &cases))?
    };
    let proposal = proposal.map_err(failure)?;
    files.write(&folder, &proposal)?;
    if options.json {
        print_json(&json!(proposal.report).to_string())?;
    } else {
        print(proposal.report.to_string().trim_end())?;
    }
    if proposal.script.is_some() {
        return Ok(());
    }
    let faults = proposal.report.chosen.map(|chosen| chosen.judgment.faults.join("; "));
    let why = faults.map(|faults| format!(": {faults}")).unwrap_or_default();
    Err(CommandError::Error(format!("no script for `{worker}` was good enough{why}")))
}

/// Reads the recorded runs of the worker. What is not a worker has none, which the proposer reports.
fn runs(worker: &str, options: &HardenOptions, registry: &Registry) -> Result<Runs, CommandError> {
    #[cfg(feature = "eval")]
    if options.dataset.is_some() {
        return Err(CommandError::Usage(
            "--paths needs the calls of runs, which a dataset has not: give --journal".to_owned(),
        ));
    }
    let runs = recorded::runs(worker, &options.journal, &options.runs, options.max_cases)?;
    let is_worker = registry.get(worker).is_some_and(|item| item.kind() == ItemKind::Worker);
    if runs.is_empty() && is_worker {
        return Err(CommandError::Error(no_runs(worker, &runs)));
    }
    Ok(runs)
}

/// Says that there are no runs, and why some are not counted.
fn no_runs(worker: &str, runs: &Runs) -> String {
    let near = did_you_mean(worker, runs.other_tools());
    let left_out: Vec<_> =
        runs.left_out().into_iter().map(|(reason, runs)| format!("{runs} are not counted, since {reason}")).collect();
    let left_out = if left_out.is_empty() { String::new() } else { format!("; {}", left_out.join("; ")) };
    format!("no finished call of `{worker}` that its model answered in the journals{near}{left_out}")
}

fn proposer(worker: &str, options: &HardenOptions) -> Proposer {
    let proposer = Proposer::new(worker).attempts(options.propose.attempts.get()).agreement(agreement(options));
    let proposer = proposer.gate(options.gate.gate());
    let proposer = match &options.candidate.name {
        Some(name) => proposer.name(name),
        None => proposer,
    };
    let proposer = match options.propose.budget {
        Some(budget) => proposer.budget(budget),
        None => proposer,
    };
    match &options.propose.model {
        Some(model) => proposer.model(model),
        None => proposer,
    }
}

fn failure(error: ProposeError) -> CommandError {
    match error {
        ProposeError::UnknownWorker { .. } | ProposeError::NotAWorker { .. } | ProposeError::EntryIsCode { .. } => {
            CommandError::Usage(error.to_string())
        }
        ProposeError::Cancelled => CommandError::Error("aborted by user".to_owned()),
        other => CommandError::from_error(other),
    }
}

impl ProposalFiles {
    fn new(options: &HardenOptions, name: &str) -> Self {
        let file = |end: &str| format!("{name}.{end}");
        Self {
            folder: options.candidate.out.clone().unwrap_or_default(),
            script: file("py"),
            markdown: file("propose.md"),
            json: file("propose.json"),
            rust: options.propose.rust.then(|| file("rs")),
        }
    }

    /// Opens the folder; fails before any paid request if the files cannot be written.
    fn open(&self) -> Result<OutFolder, CommandError> {
        let new = [Some(&self.script), self.rust.as_ref()].into_iter().flatten();
        open_for(&self.folder, new, [&self.json, &self.markdown])
    }

    fn write(&self, folder: &OutFolder, proposal: &Proposal) -> Result<(), CommandError> {
        let report = &proposal.report;
        let json = serde_json::to_string_pretty(report).map_err(CommandError::from_error)?;
        let fault =
            |name: &str, written: io::Result<()>| written.map_err(|error| fault(&self.folder.join(name), &error));
        fault(&self.json, folder.replace(&self.json, &format!("{json}\n")))?;
        fault(&self.markdown, folder.replace(&self.markdown, &report.to_string()))?;
        let files = [(Some(&self.script), &proposal.script), (self.rust.as_ref(), &proposal.rust)];
        for (name, text) in files.into_iter().filter_map(|(name, text)| name.zip(text.as_ref())) {
            fault(name, folder.create(name, text))?;
        }
        Ok(())
    }
}
