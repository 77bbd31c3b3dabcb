//! `check --flow`: shows what workers may read and send.

use llm_do_core::base::printable::printable_line;
use llm_do_core::observe::event::{Label, Labels};
use llm_do_core::plane::approval::{FlowMode, FlowOverview, Reach, SinkFlow, SourceFlow, WorkerFlow};
use llm_do_core::session::runtime::RuntimeBuilder;
use serde_json::json;

use super::super::project::collect;
use super::super::{CommandError, print, print_json};

/// Prints what each worker may read and where what it sends may arrive.
pub(super) fn show(mut builder: RuntimeBuilder, as_json: bool) -> Result<(), CommandError> {
    let registry = collect(&mut builder)?;
    let approvals = builder.approvals(&registry).map_err(CommandError::from_error)?;
    let overview = approvals.flow_overview(&registry);
    if as_json {
        return print_json(&format!("{:#}", json!(overview)));
    }
    if overview.mode == FlowMode::Off {
        return print("no labels: no source of untrusted or private values is declared, or `flow` is off");
    }
    print(&format!("flow: {}", overview.mode.word()))?;
    overview
        .workers
        .iter()
        .flat_map(|worker| lines(worker, &overview))
        .try_for_each(|line| print(&printable_line(&line)))
}

/// Describes a worker in lines.
fn lines(worker: &WorkerFlow, overview: &FlowOverview) -> Vec<String> {
    let mut lines = vec![format!(
        "{}: reads what is {}, returns what is {}",
        worker.name,
        words(worker.reads),
        words(worker.result)
    )];
    if worker.withholds && worker.reads.integrity == Label::Untrusted {
        lines.push("  its model does not see untrusted text, with which its code works".to_owned());
    }
    lines.extend(worker.sources.iter().map(source));
    lines.extend(worker.sinks.iter().map(|sink| described(sink, overview.mode)));
    if worker.has_all {
        lines.push(
            "  it reads untrusted text and private values, and sends: give these tools to several workers".to_owned(),
        );
    }
    lines
}

fn source(SourceFlow { name, labels }: &SourceFlow) -> String {
    format!("  {name} returns what is {}", words(*labels))
}

/// Describes when calls of a tool need approval.
fn described(SinkFlow { name, data, reach, .. }: &SinkFlow, mode: FlowMode) -> String {
    let besides = if data.is_empty() { String::new() } else { format!(" besides `{}`", data.join("`, `")) };
    let mut asks = vec![format!("untrusted text is in its arguments{besides}")];
    if *reach == Reach::Outside {
        if mode == FlowMode::Strict && !data.is_empty() {
            asks.push("untrusted text would leave".to_owned());
        }
        asks.push("private values would leave".to_owned());
    }
    format!("  {name} needs approval if {}", asks.join(", or if "))
}

fn words(Labels { integrity, is_private, .. }: Labels) -> String {
    format!("{}{}", integrity.word(), if is_private { " and private" } else { "" })
}
