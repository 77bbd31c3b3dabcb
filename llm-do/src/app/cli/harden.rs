//! `harden`: how a candidate does on what a worker was asked.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::args::HardenOptions;
use super::run::{block_on, print_safely};
use super::{Failure, print};
use crate::app::harden::{Agreement, Cases, Compared, Summary, Verdict, compare_one};
use crate::declare::tool::Effect;
use crate::observe::event::{Outcome, with_value};
use crate::plane::approval::ApprovalMode;
use crate::plane::registry::{Registry, did_you_mean};
use crate::session::runtime::{Runtime, RuntimeBuilder};

/// Runs the candidate over each case, and prints how it did.
pub(super) fn harden(mut builder: RuntimeBuilder, options: &HardenOptions) -> Result<(), Failure> {
    let registry = builder.collect().map_err(Failure::error)?;
    check(&registry, options)?;
    let cases = cases(options)?;
    let token = builder.cancellation_token();
    let mode = if options.approve_all { ApprovalMode::ApproveAll } else { ApprovalMode::RejectAll };
    let runtime =
        builder.without_journal_and_shadows().approval_mode(mode).build_on(registry).map_err(Failure::error)?;
    let summary = block_on(&token, each(&runtime, &cases, options, &token))??;
    print(&if options.json { json!(summary).to_string() } else { summary.to_string() })?;
    if summary.all_agree() {
        return Ok(());
    }
    let (tool, worker) = (&options.tool, &options.worker);
    Err(Failure::Error(match summary.of {
        0 => format!("`{worker}` failed in every case, so there is nothing to compare `{tool}` with"),
        of => format!("`{tool}` does not agree with `{worker}` in {} of {of} cases", of - summary.agree),
    }))
}

/// Refuses a candidate that there is not, or that could change something unasked.
fn check(registry: &Registry, options: &HardenOptions) -> Result<(), Failure> {
    let name = &options.tool;
    let unknown = || Failure::Usage(format!("no tool `{name}`: {}", registry.hint(name, None)));
    let candidate = registry.get(name).ok_or_else(unknown)?;
    if candidate.effect() == Effect::ReadOnly || options.approve_all {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "`{name}` is not `effect = read_only`, so running it may change something: say --approve-all if it may"
    )))
}

fn cases(options: &HardenOptions) -> Result<Cases, Failure> {
    let mut cases = Cases::of(options.worker.as_str());
    for path in &options.journal {
        cases.add_file(path).map_err(Failure::error)?;
    }
    if cases.is_empty() {
        let near = did_you_mean(&options.worker, cases.others());
        return Err(Failure::Error(format!("the journals have no finished call of `{}`{near}", options.worker)));
    }
    Ok(cases)
}

async fn each(
    runtime: &Runtime,
    cases: &Cases,
    options: &HardenOptions,
    token: &CancellationToken,
) -> Result<Summary, Failure> {
    let agreement = options.ignore.iter().fold(Agreement::new(), |agreement, pointer| agreement.ignore(pointer));
    let mut summary = Summary::default();
    for case in cases {
        let compared = compare_one(runtime, &options.tool, case, &agreement).await;
        if token.is_cancelled() {
            return Err(Failure::Error("aborted by user".to_owned()));
        }
        summary.add(compared.verdict);
        print_safely(&if options.json { json!(compared).to_string() } else { describe(&compared) })?;
    }
    Ok(summary)
}

/// Tells a case in a line, and below it what differs.
fn describe(compared: &Compared) -> String {
    let Compared { verdict, input, times, answers, worker, candidate, .. } = compared;
    let often = if *times == 1 { String::new() } else { format!(" ({times} times)") };
    let mut text = with_value(&format!("{:13}", verdict.as_str()), &input.to_string(), &often);
    let mut add = |who: &str, outcome: &Outcome| {
        let value = match outcome {
            Outcome::Result(value) => value.to_string(),
            Outcome::Error(error) => error.clone(),
        };
        text.push_str(&with_value(&format!("\n    {who:9}"), &value, ""));
    };
    if *verdict != Verdict::Agrees {
        add("worker", worker);
        if let Some(candidate) = candidate {
            add("candidate", candidate);
        }
    }
    if *answers > 1 {
        let note = format!("\n    of the worker's {answers} different answers, the most frequent is compared");
        text.push_str(&note);
    }
    text
}
