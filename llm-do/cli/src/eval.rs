//! `eval`: runs variants over a dataset; makes datasets of journals, and their schema.

mod demands;
mod import;
mod verdict;
mod write;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use llm_do_core::app::eval::{Dataset, EvalError, Evaluation, Evaluator, Kept, Variant};
use llm_do_core::declare::tool::Effect;
use llm_do_core::observe::event::ItemKind;
use llm_do_core::plane::approval::ApprovalMode;
use llm_do_core::plane::registry::Registry;
use llm_do_core::session::runtime::{Runtime, RuntimeBuilder};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::args::{EvalCommand, EvalOptions, EvaluateOptions, ReportFormat};
use super::config::{Set, Settings};
use super::run::block_on;
use super::trust::Subject;
use super::{CommandError, print, print_json};

/// The evaluators that the program adds, by name.
pub(super) type Evaluators = BTreeMap<String, Arc<dyn Evaluator>>;

/// The default number of concurrent runs.
const CONCURRENCY: NonZeroUsize = NonZeroUsize::new(4).expect("it is not 0");

pub(super) fn eval(
    builder: RuntimeBuilder,
    options: &EvalOptions,
    evaluators: Evaluators,
    runs_projects: bool,
) -> Result<(), CommandError> {
    match &options.command {
        Some(EvalCommand::Import(options)) => import::import(options),
        Some(EvalCommand::Schema(options)) => import::schema(builder, options, &evaluators, runs_projects),
        None => evaluate(builder, &options.evaluate, evaluators, runs_projects),
    }
}

fn evaluate(
    builder: RuntimeBuilder,
    options: &EvaluateOptions,
    evaluators: Evaluators,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let Some(path) = &options.dataset else { return Ok(()) };
    let dataset = Dataset::read(path).map_err(CommandError::from_error)?;
    let is_own = |name: &str| evaluators.contains_key(name);
    let demanded = demands::of_dataset(&dataset, path, options.items.project.as_deref(), is_own);
    let kept = options.results.as_ref().map(Kept::in_folder);
    let latest = kept.as_ref().map(|kept| kept.latest(dataset.name.as_deref())).transpose();
    let latest = latest.map_err(CommandError::from_error)?.flatten();
    let token = builder.cancellation_token();
    let prices = builder.price_table().clone();
    let (variants, is_batch) = variants(builder, options, runs_projects, demanded)?;
    // The runs are not cancelled, which would cancel the batches that a resumed evaluation waits for.
    let token = if is_batch && options.journal.is_some() { CancellationToken::new() } else { token };
    let mut judge = Runtime::builder().prices(prices).cancellation(token.clone());
    if is_batch {
        judge = judge.map_settings(|settings| settings.batch(true));
    }
    if let Some(model) = &options.judge_model {
        judge = judge.model_set_by(model.clone(), "`--judge-model`".to_owned());
    }
    let of = dataset.cases.len() * variants.len() * options.repeat.max(1) as usize;
    let mut evaluation = Evaluation::new(dataset)
        .judge(judge)
        .repeat(options.repeat)
        .concurrency(concurrency(options, is_batch))
        .seed(options.seed)
        .cancellation(token.clone())
        .on_finished(progress(of));
    if let Some(budget) = options.budget {
        evaluation = evaluation.budget(budget);
    }
    if let Some(file) = &options.journal {
        evaluation = evaluation.resumable(file);
    }
    let evaluation = evaluators.into_iter().fold(evaluation, |all, (name, own)| all.shared_evaluator(name, own));
    let evaluation = variants.into_iter().fold(evaluation, Evaluation::variant);
    let report = block_on(&token, evaluation.run())?.map_err(|error| failure(error, options))?;
    let now = Timestamp::now();
    write::files(&report, options, now)?;
    match options.output {
        ReportFormat::Text => print(report.to_string().trim_end())?,
        ReportFormat::Json => print_json(&json!(report).to_string())?,
    }
    if let Some(kept) = &kept {
        kept.keep(&report, now).map_err(CommandError::from_error)?;
    }
    verdict::check(&report, latest.as_ref(), options)
}

/// Returns how many runs are concurrent: a batch has the requests of all.
fn concurrency(options: &EvaluateOptions, is_batch: bool) -> NonZeroUsize {
    options.concurrency.unwrap_or(if is_batch { NonZeroUsize::MAX } else { CONCURRENCY })
}

/// Returns each tool with each model, on one registry, and whether requests go to batches.
fn variants(
    builder: RuntimeBuilder,
    options: &EvaluateOptions,
    runs_projects: bool,
    demanded: Subject,
) -> Result<(Vec<Variant>, bool), CommandError> {
    let mut settings = options.items.settings();
    settings.model = Set::option(options.model.first().cloned(), "--model");
    settings.batch = options.batch.setting();
    let mut settings = settings.read(options.items.project.as_deref())?;
    let trust = options.items.trust(options.approve_all);
    let (mut builder, _) = options.items.add_with(builder, &mut settings, runs_projects, trust, vec![demanded])?;
    let registry = super::project::collect_for(&mut builder, Some(options.tool.clone()))?;
    options.tool.iter().try_for_each(|name| check(&registry, name, options))?;
    let mode = if options.approve_all { ApprovalMode::ApproveAll } else { ApprovalMode::RejectAll };
    let builder = configured(&settings, builder).without_journal_and_shadows().approval_mode(mode);
    // A worker that continues after a denied call would be measured as if it had the tool.
    let builder = if options.approve_all { builder } else { builder.end_on_denial(true) };
    let models: Vec<_> = match options.model.as_slice() {
        [] => vec![None],
        models => models.iter().map(Some).collect(),
    };
    let mut variants = Vec::new();
    for model in &models {
        let mut builder = builder.copy_without_items();
        if let Some(model) = model {
            builder = builder.model_set_by((*model).clone(), "`--model`".to_owned()).override_models_of(&options.tool);
        }
        let runtime = builder.build_on(registry.clone()).map_err(CommandError::from_error)?;
        for tool in &options.tool {
            let name = match (options.tool.len(), model) {
                (_, None) => tool.clone(),
                (1, Some(model)) => (*model).clone(),
                (_, Some(model)) => format!("{tool} on {model}"),
            };
            variants.push(Variant::new(name, tool, &runtime));
        }
    }
    Ok((variants, settings.is_batch()))
}

fn configured(settings: &Settings, builder: RuntimeBuilder) -> RuntimeBuilder {
    settings.warn();
    settings.add_batch(settings.add_to(builder))
}

/// Fails if the tool is unknown, or may change something without `--approve-all`.
fn check(registry: &Registry, name: &str, options: &EvaluateOptions) -> Result<(), CommandError> {
    let unknown = || CommandError::Usage(format!("unknown tool `{name}`: {}", registry.hint(name, None)));
    let item = registry.get(name).ok_or_else(unknown)?;
    let is_harmless = item.effect() == Effect::ReadOnly || item.kind() != ItemKind::Tool;
    if !is_harmless && !options.approve_all {
        return Err(CommandError::Usage(format!(
            "`{name}` is not `effect = read_only`, so it may change something: give --approve-all to allow that"
        )));
    }
    Ok(())
}

/// Counts finished runs at a terminal.
fn progress(of: usize) -> impl Fn(&llm_do_core::app::eval::RunRecord) + Send + Sync {
    let (finished, is_shown) = (AtomicUsize::new(0), io::stderr().is_terminal());
    move |_| {
        let finished = finished.fetch_add(1, Ordering::Relaxed) + 1;
        if is_shown {
            let end = if finished == of { "\n" } else { "" };
            // Ignored: standard error may be closed.
            let _ = write!(io::stderr(), "\r{finished} of {of} runs{end}");
        }
    }
}

fn failure(error: EvalError, options: &EvaluateOptions) -> CommandError {
    let resume = match (&error, &options.journal) {
        (EvalError::Cancelled { .. } | EvalError::Budget { .. }, Some(file)) => {
            format!("\nrun the same command again to resume: finished runs are recorded in `{}`", file.display())
        }
        _ => String::new(),
    };
    match CommandError::from_error(error) {
        CommandError::Error(text) => CommandError::Error(text + &resume),
        usage @ CommandError::Usage(_) => usage,
    }
}
