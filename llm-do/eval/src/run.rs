//! Runs one case, and judges its output.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do_core::base::error::{Result, chain};
use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::base::usage::{Limits, RunUsage};
use llm_do_core::observe::event::{Delivery, Event, EventKind, EventSink, Outcome};
use serde_json::Value;
use tokio::time::Instant;

use super::evaluator::builtin::Prepared;
use super::evaluator::{CalledTool, EvaluatorContext, Finding, Findings, Scalar};
use super::judge::Judge;
use super::plan::{Action, PlannedEvaluator, PlannedRun};
use super::record::{EvaluatorFailure, NamedFinding, RunFile, RunRecord};
use super::submissions::Submissions;

/// Runs one case and its evaluators. Errors of both are part of the record.
///
/// In a resumable evaluation in batches, `file` has where the answers of its requests will be.
pub(super) async fn run(
    planned: &PlannedRun<'_>,
    judge: Option<&Judge>,
    limits: Option<&Limits>,
    file: Option<&Arc<RunFile>>,
) -> RunRecord {
    let running = run_and_evaluate(planned, judge, limits, file);
    #[cfg(feature = "tracing")]
    let running = tracing::Instrument::instrument(running, span(planned));
    running.await
}

async fn run_and_evaluate(
    planned: &PlannedRun<'_>,
    judge: Option<&Judge>,
    limits: Option<&Limits>,
    file: Option<&Arc<RunFile>>,
) -> RunRecord {
    let calls = Arc::new(CallCollector::default());
    let mut start = planned.variant.runtime.start_named(&planned.variant.tool, planned.arguments.clone());
    start = start.shared_sink(Arc::clone(&calls) as _);
    if let Some(limits) = limits {
        start = start.limits(limits.clone());
    }
    if let Some(file) = file.filter(|_| planned.variant.runtime.is_batch()) {
        start = start.journal(Submissions { run: planned.key.clone(), file: Arc::clone(file) });
    }
    let handle = start.handle();
    let began = Instant::now();
    let result = start.await;
    let duration = began.elapsed();
    let mut record = RunRecord {
        variant: planned.variant.name.clone(),
        case: planned.case.name.clone(),
        repetition: planned.repetition,
        inputs: planned.case.case.inputs.clone(),
        expected_output: planned.case.case.expected_output.clone(),
        output: None,
        error: None,
        unsure: false,
        seconds: duration.as_secs_f64(),
        usage: handle.usage(),
        judge_usage: RunUsage::default(),
        findings: Vec::new(),
        failures: Vec::new(),
    };
    match result {
        Ok(output) => evaluate(planned, &output, duration, &calls.take(), judge, &mut record).await,
        Err(error) => {
            record.unsure = error.is_unsure();
            record.error = Some(chain(&error));
        }
    }
    report(planned, &record);
    record
}

/// Adds the findings of the evaluators, in order.
async fn evaluate(
    planned: &PlannedRun<'_>,
    output: &Value,
    duration: Duration,
    calls: &[CalledTool],
    judge: Option<&Judge>,
    record: &mut RunRecord,
) {
    let schema = planned.variant.runtime.registry().get(&planned.variant.tool).and_then(|item| item.output());
    let (case, usage, schema) = (planned.case.case, record.usage, schema.as_ref());
    let context = EvaluatorContext { case, output, duration, usage, calls, schema };
    for evaluator in &planned.case.evaluators {
        match evaluate_by(evaluator, &context, judge).await.and_then(finite) {
            Ok((findings, used)) => {
                record.judge_usage += used;
                findings.into_vec().into_iter().for_each(|finding| add(evaluator, finding, &mut record.findings));
            }
            Err(error) => {
                let (evaluator, error) = (evaluator.name.clone(), chain(&*error));
                record.failures.push(EvaluatorFailure { evaluator, error });
            }
        }
    }
    record.output = Some(output.clone());
}

async fn evaluate_by(
    evaluator: &PlannedEvaluator,
    context: &EvaluatorContext<'_>,
    judge: Option<&Judge>,
) -> Result<(Findings, RunUsage)> {
    let findings = match &evaluator.action {
        Action::BuiltIn(Prepared::Check(check)) => check.check(context)?,
        Action::BuiltIn(Prepared::Judge(arguments)) => {
            let judge = judge.ok_or("there is no runtime of a judge")?;
            return judge.judge(arguments, context).await;
        }
        Action::Own(own, arguments) => own.evaluate(context, arguments).await?,
    };
    Ok((findings, RunUsage::default()))
}

/// Rejects scores that are not finite.
fn finite((findings, used): (Findings, RunUsage)) -> Result<(Findings, RunUsage)> {
    let is_finite = |finding: &Finding| !matches!(finding.value, Scalar::Score(score) if !score.is_finite());
    if findings.iter().all(is_finite) { Ok((findings, used)) } else { Err("a score is not a finite number".into()) }
}

/// Adds a finding under a unique name: of equal names, the second is `NAME_2`.
fn add(evaluator: &PlannedEvaluator, finding: Finding, findings: &mut Vec<NamedFinding>) {
    let wanted = finding.name.unwrap_or_else(|| evaluator.name.clone());
    let is_free = |name: &String| findings.iter().all(|known| known.name != *name);
    let numbered = (2..).map(|number| format!("{wanted}_{number}"));
    let name = std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or(wanted);
    findings.push(NamedFinding { name, value: finding.value, reason: finding.reason });
}

/// Collects the nested calls of a run.
#[derive(Debug, Default)]
struct CallCollector(Mutex<CallList>);

#[derive(Debug, Default)]
struct CallList {
    calls: Vec<CalledTool>,
    /// The indices of the calls by id.
    indices: HashMap<u64, usize>,
}

impl CallCollector {
    fn take(&self) -> Vec<CalledTool> {
        std::mem::take(&mut self.0.lock().ignore_poison().calls)
    }
}

impl EventSink for CallCollector {
    fn emit(&self, event: &Arc<Event>) {
        if event.call == 0 {
            return;
        }
        let mut list = self.0.lock().ignore_poison();
        match &event.kind {
            EventKind::CallStarted { .. } => {
                let index = list.calls.len();
                list.indices.insert(event.call, index);
                list.calls.push(CalledTool { name: event.name.to_string(), failed: false });
            }
            EventKind::CallFinished { outcome: Outcome::Error(_), .. } => {
                if let Some(index) = list.indices.get(&event.call).copied()
                    && let Some(call) = list.calls.get_mut(index)
                {
                    call.failed = true;
                }
            }
            _ => {}
        }
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }
}

/// Returns the span of a run and its findings.
#[cfg(feature = "tracing")]
fn span(planned: &PlannedRun<'_>) -> tracing::Span {
    tracing::info_span!(
        target: "llm_do", "evaluate",
        "llm_do.evaluation.case" = &*planned.case.name,
        "llm_do.evaluation.variant" = &*planned.variant.name,
        "llm_do.evaluation.repetition" = planned.repetition,
    )
}

/// Reports each finding as an event of OpenTelemetry's conventions for generative AI.
#[cfg(feature = "tracing")]
fn report(planned: &PlannedRun<'_>, record: &RunRecord) {
    use tracing::{Level, event};

    let target = &*planned.variant.tool;
    for finding in &record.findings {
        let label = match &finding.value {
            Scalar::Score(_) => None,
            value => Some(value.to_string()),
        };
        event!(
            name: "gen_ai.evaluation.result", target: "llm_do", Level::INFO,
            "gen_ai.evaluation.name" = &*finding.name,
            "gen_ai.evaluation.score.value" = finding.value.number(),
            "gen_ai.evaluation.score.label" = label.as_deref(),
            "gen_ai.evaluation.explanation" = finding.reason.as_deref(),
            "gen_ai.evaluation.target" = target,
        );
    }
    for failure in &record.failures {
        event!(
            name: "gen_ai.evaluation.result", target: "llm_do", Level::WARN,
            "gen_ai.evaluation.name" = &*failure.evaluator, "error.type" = "evaluator_failed",
            "gen_ai.evaluation.explanation" = &*failure.error,
            "gen_ai.evaluation.target" = target,
        );
    }
}

#[cfg(not(feature = "tracing"))]
fn report(_: &PlannedRun<'_>, _: &RunRecord) {}
