//! `harden`: compares a candidate tool with the recorded results of a worker.

mod learn;
#[cfg(feature = "script")]
mod propose;
mod report;
mod status;

use std::io;
use std::path::Path;
use std::pin::pin;

use futures_util::{StreamExt, stream};
#[cfg(feature = "eval")]
use llm_do_core::app::eval::Dataset;
use llm_do_core::app::harden::{Agreement, Cases, Compared, Summary, Verdict, compare_one};
use llm_do_core::declare::tool::Effect;
use llm_do_core::observe::event::{Outcome, with_value};
use llm_do_core::plane::approval::ApprovalMode;
use llm_do_core::plane::registry::Registry;
use llm_do_core::session::runtime::{Runtime, RuntimeBuilder};
use llm_do_worker_file::did_you_mean;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::args::HardenOptions;
#[cfg(feature = "script")]
use super::config::Set;
use super::config::Settings;
use super::out_folder::OutFolder;
use super::run::block_on;
use super::{CommandError, print, print_json, recorded};

/// The worker and the candidate.
struct Pair<'a> {
    worker: &'a str,
    tool: &'a str,
}

pub(super) fn harden(
    builder: RuntimeBuilder,
    options: &HardenOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    if let Some([name, input]) = options.learn.explain.as_deref() {
        return learn::explain(builder, (name, input), options, runs_projects);
    }
    if options.status {
        return status::status(options);
    }
    match (&options.worker, &options.tool) {
        (Some(worker), Some(tool)) if !options.report => {
            compare(builder, &Pair { worker, tool }, options, runs_projects)
        }
        (Some(worker), None) if options.learn.learn => learn::learn(builder, worker, options, runs_projects),
        #[cfg(feature = "script")]
        (Some(worker), None) if options.propose.propose => propose::propose(builder, worker, options, runs_projects),
        // clap requires both without `--report`.
        _ => report::report(builder, options, runs_projects),
    }
}

/// Adds the files of the options, and returns the settings.
fn configured(
    builder: RuntimeBuilder,
    options: &HardenOptions,
    runs_projects: bool,
) -> Result<(RuntimeBuilder, Settings), CommandError> {
    let mut settings = options.items.settings();
    settings.batch = options.batch.setting();
    #[cfg(feature = "script")]
    {
        settings.model = Set::option(options.propose.model.clone(), "--model");
    }
    let mut settings = settings.read(options.items.project.as_deref())?;
    let trust = options.items.trust(options.approve_all);
    let (builder, _) = options.items.add_to(builder, &mut settings, runs_projects, trust)?;
    Ok((builder, settings))
}

/// Runs the candidate on each case, and prints the comparison.
fn compare(
    builder: RuntimeBuilder,
    pair: &Pair<'_>,
    options: &HardenOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let (mut builder, settings) = configured(builder, options, runs_projects)?;
    let registry = super::project::collect(&mut builder)?;
    check(&registry, pair.tool, options)?;
    let cases = cases(pair.worker, options, &registry)?;
    let token = builder.cancellation_token();
    let mode = if options.approve_all { ApprovalMode::ApproveAll } else { ApprovalMode::RejectAll };
    let builder = settings.add_batch(settings.add_model(builder)).without_journal_and_shadows().approval_mode(mode);
    // A worker that continues after a denied call would be compared as if it had the tool.
    let builder = if options.approve_all { builder } else { builder.end_on_denial(true) };
    let runtime = builder.build_on(registry).map_err(CommandError::from_error)?;
    let summary = block_on(&token, compare_all(&runtime, &cases, pair.tool, options, (&token, settings.is_batch())))??;
    let judgment = options.gate.gate().judge(&summary);
    if options.json {
        let mut line = json!(summary);
        line["gate"] = json!(judgment);
        print_json(&line.to_string())?;
    } else {
        print(&format!("{summary}\n{judgment}"))?;
    }
    let Pair { worker, tool } = pair;
    match summary.of {
        0 => {
            let fault = format!("`{worker}` failed in every case, so there is nothing to compare `{tool}` with");
            Err(CommandError::Error(fault))
        }
        _ if judgment.is_accepted() => Ok(()),
        _ => Err(CommandError::Error(format!("`{tool}` is refused: {}", judgment.faults.join("; ")))),
    }
}

/// Fails if the candidate is unknown, or may change something without `--approve-all`.
fn check(registry: &Registry, name: &str, options: &HardenOptions) -> Result<(), CommandError> {
    let unknown = || CommandError::Usage(format!("unknown tool `{name}`: {}", registry.hint(name, None)));
    let candidate = registry.get(name).ok_or_else(unknown)?;
    if candidate.effect() == Effect::ReadOnly || options.approve_all {
        return Ok(());
    }
    Err(CommandError::Usage(format!(
        "`{name}` is not `effect = read_only`, so it may change something: give --approve-all to allow that"
    )))
}

fn cases(worker: &str, options: &HardenOptions, registry: &Registry) -> Result<Cases, CommandError> {
    let mut cases = recorded::cases(worker, &options.journal, &options.runs, options.max_cases)?;
    label(&mut cases, options, registry)?;
    if cases.is_empty() {
        let near = did_you_mean(worker, cases.other_tools());
        return Err(CommandError::Error(format!("no finished call of `{worker}` in the journals{near}")));
    }
    Ok(cases)
}

/// Adds the right answers of the dataset, if there is one.
#[cfg(feature = "eval")]
fn label(cases: &mut Cases, options: &HardenOptions, registry: &Registry) -> Result<(), CommandError> {
    let Some(path) = &options.dataset else { return Ok(()) };
    let dataset = Dataset::read(path).map_err(CommandError::from_error)?;
    let worker = registry.get(cases.worker()).cloned();
    dataset.label(cases, worker.as_deref()).map_err(|error| CommandError::Usage(error.to_string()))
}

#[cfg(not(feature = "eval"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature that datasets need")]
fn label(_: &mut Cases, _: &HardenOptions, _: &Registry) -> Result<(), CommandError> {
    Ok(())
}

/// Opens the folder of a candidate; fails before anything is computed or paid if a new file exists, or another cannot be replaced.
fn open_for<'a>(
    path: &Path,
    new: impl IntoIterator<Item = &'a String>,
    replaced: [&String; 2],
) -> Result<OutFolder, CommandError> {
    let mut files = new.into_iter().map(|name| path.join(name));
    if let Some(file) = files.find(|file| file.symlink_metadata().is_ok()) {
        let file = file.display();
        return Err(CommandError::Usage(format!("{file} exists; give another --name or --out, or remove it")));
    }
    let folder = OutFolder::open(path).map_err(|error| fault(path, &error))?;
    for name in replaced {
        folder.existing(name).map_err(|error| fault(&path.join(name), &error))?;
    }
    Ok(folder)
}

fn fault(path: &Path, error: &io::Error) -> CommandError {
    CommandError::Error(format!("cannot write {}: {error}", path.display()))
}

fn agreement(options: &HardenOptions) -> Agreement {
    options.ignore.iter().fold(Agreement::new(), |agreement, pointer| agreement.ignore(pointer))
}

async fn compare_all(
    runtime: &Runtime,
    cases: &Cases,
    tool: &str,
    options: &HardenOptions,
    (token, is_batch): (&CancellationToken, bool),
) -> Result<Summary, CommandError> {
    let agreement = agreement(options);
    let mut summary = Summary::default();
    // A batch has the requests of all cases.
    let concurrent = if is_batch { cases.into_iter().count().max(1) } else { 1 };
    let all = stream::iter(cases).map(|case| compare_one(runtime, tool, case, &agreement));
    let mut all = pin!(all.buffered(concurrent));
    while let Some(compared) = all.next().await {
        if token.is_cancelled() {
            return Err(CommandError::Error("aborted by user".to_owned()));
        }
        summary.add(compared.verdict);
        if options.json { print_json(&json!(compared).to_string()) } else { print(&describe(&compared)) }?;
    }
    Ok(summary)
}

/// Describes a case on one line, with the different results below.
fn describe(compared: &Compared) -> String {
    let Compared { verdict, input, times, answers, worker, candidate, .. } = compared;
    let count = if *times == 1 { String::new() } else { format!(" ({times} times)") };
    let mut text = with_value(&format!("{:13}", verdict.as_str()), &input.to_string(), &count);
    let mut add = |label: &str, outcome: &Outcome| {
        let value = match outcome.as_result() {
            Ok(value) => value.to_string(),
            Err(error) => error.to_owned(),
        };
        text.push_str(&with_value(&format!("\n    {label:9}"), &value, ""));
    };
    if *verdict != Verdict::Agrees {
        add("worker", worker);
        if let Some(candidate) = candidate {
            add("candidate", candidate);
        }
    }
    if *answers > 1 {
        let note = format!("\n    the worker gave {answers} different answers; the most frequent is compared");
        text.push_str(&note);
    }
    text
}
