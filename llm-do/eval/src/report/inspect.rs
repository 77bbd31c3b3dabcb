//! The runs of a variant as a log of `inspect_ai`, version 2 of its JSON format.

use jiff::{SignedDuration, Timestamp};
use llm_do_core::base::usage::RunUsage;
use llm_do_core::observe::journal::digest;
use serde_json::{Map, Value, json};

use super::build::metric_names;
use super::{Report, VariantSummary};
use crate::evaluator::Scalar;
use crate::record::RunRecord;

pub(super) fn log(report: &Report, variant: &str, time: Timestamp) -> Option<Value> {
    let variant = report.variants.iter().find(|known| known.name == variant)?;
    let runs: Vec<_> = report.runs.iter().filter(|run| run.variant == variant.name).collect();
    let seconds: f64 = runs.iter().map(|run| run.seconds).sum();
    let started = SignedDuration::try_from_secs_f64(seconds).ok().and_then(|took| time.checked_sub(took).ok());
    let (started, ended) = (rfc_3339(started.unwrap_or(time)), rfc_3339(time));
    let task = report.dataset.as_deref().unwrap_or("evaluation");
    let id = digest(&json!([task, variant.name, ended]));
    let mut ids: Vec<&str> = Vec::new();
    for run in &runs {
        if !ids.contains(&&*run.case) {
            ids.push(&run.case);
        }
    }
    Some(json!({
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": id, "run_id": id, "created": started, "task": task,
            "task_id": digest(&json!([task, variant.name])), "task_version": 0,
            "dataset": { "name": task, "samples": report.cases, "sample_ids": ids, "shuffled": false },
            "model": variant.name,
            "config": { "epochs": report.repetitions },
            "packages": { "llm-do": env!("CARGO_PKG_VERSION") },
        },
        "plan": { "name": "plan", "steps": [], "config": {} },
        "results": {
            "total_samples": runs.len(),
            "completed_samples": runs.len() - variant.failed,
            "scores": scores(report, variant),
        },
        "stats": {
            "started_at": started,
            "completed_at": ended,
            "model_usage": { &variant.name: usage(&variant.usage) },
        },
        "samples": runs.iter().map(|run| sample(run, variant)).collect::<Value>(),
    }))
}

/// Returns a time with its offset, which the viewer requires.
fn rfc_3339(time: Timestamp) -> String {
    time.to_string().replace('Z', "+00:00")
}

fn scores(report: &Report, variant: &VariantSummary) -> Value {
    let score = |name: &String| {
        let metric = variant.metric(name)?;
        let estimate = metric.estimate?;
        let value = |name: &str, value: f64| json!({ "name": name, "value": value, "params": {} });
        Some(json!({
            "name": name,
            "scorer": name,
            "scored_samples": metric.runs,
            "unscored_samples": variant.runs - metric.runs,
            "params": {},
            "metrics": {
                "mean": value("mean", estimate.mean),
                "low": value("low", estimate.low),
                "high": value("high", estimate.high),
            },
        }))
    };
    metric_names(&report.runs).iter().filter_map(score).collect()
}

fn usage(used: &RunUsage) -> Value {
    json!({
        "input_tokens": used.model.input_tokens,
        "output_tokens": used.model.output_tokens,
        "total_tokens": used.model.total_tokens(),
    })
}

fn sample(run: &RunRecord, variant: &VariantSummary) -> Value {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let output = run.output.as_ref().map(text);
    let mut scores = Map::new();
    let passes = u8::from(run.passes());
    scores.insert(super::PASSES.to_owned(), json!({ "value": passes, "answer": output }));
    for finding in &run.findings {
        let value = match &finding.value {
            Scalar::Assertion(holds) => json!(u8::from(*holds)),
            Scalar::Score(score) => json!(score),
            Scalar::Label(label) => json!(label),
        };
        let score = json!({ "value": value, "answer": output, "explanation": finding.reason });
        scores.insert(finding.name.clone(), score);
    }
    let choices = output.as_ref().map(|content| {
        let message = json!({ "role": "assistant", "content": content, "source": "generate" });
        json!({ "message": message, "stop_reason": "stop" })
    });
    let mut sample = json!({
        "id": run.case,
        "epoch": run.repetition,
        "input": text(&run.inputs),
        "target": run.expected_output.as_ref().map(text).unwrap_or_default(),
        "messages": [],
        "output": { "model": variant.name, "choices": choices.into_iter().collect::<Value>(), "usage": usage(&run.usage) },
        "scores": scores,
        "metadata": { "failures": run.failures },
        "model_usage": { &variant.name: usage(&run.usage) },
        "total_time": run.seconds,
    });
    if let Some(error) = &run.error {
        sample["error"] = json!({ "message": error, "traceback": "", "traceback_ansi": "" });
    }
    sample
}
