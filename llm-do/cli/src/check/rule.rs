//! `check --call`: shows the rule that decides about a call.

use std::fmt::Write;

use llm_do_core::base::printable::printable_line;
use llm_do_core::plane::approval::Rule;
use llm_do_core::session::runtime::RuntimeBuilder;
use llm_do_worker_file::did_you_mean;
use serde_json::json;

use super::super::args::CheckOptions;
use super::super::input::object;
use super::super::project::collect;
use super::super::{CommandError, print};

/// Prints the rule for a call of the tool `name` by a model or by code, and the other matching rules.
pub(super) fn explain(mut builder: RuntimeBuilder, name: &str, options: &CheckOptions) -> Result<(), CommandError> {
    let registry = collect(&mut builder)?;
    let arguments = options.input_json.as_deref().map_or_else(|| Ok(json!({})), object)?;
    let Some(tool) = registry.get(name) else {
        let hint = did_you_mean(name, registry.iter().map(|item| item.name()));
        return Err(CommandError::Usage(format!("unknown tool, worker or entry `{name}`{hint}")));
    };
    let approvals = builder.approvals(&registry).map_err(CommandError::from_error)?;
    let explained = approvals.explain(tool, options.caller.as_deref().unwrap_or_default(), arguments);
    let (decides, others) =
        explained.map_err(|fault| CommandError::Error(format!("no call of `{name}` is possible: {fault}")))?;
    let mut text = format!("{name}: {}\n  by {decides}", words(decides.rule()));
    if !others.is_empty() {
        text.push_str("\nother rules that match:");
    }
    for other in &others {
        // A text accepts all formatted output.
        let _ = write!(text, "\n  {}: {other}", words(other.rule()));
    }
    let lines: Vec<_> = text.lines().map(printable_line).collect();
    print(&lines.join("\n"))
}

/// Describes a rule.
fn words(rule: &Rule) -> String {
    match rule {
        Rule::PreApproved => "runs without approval".to_owned(),
        Rule::Ask => "needs approval".to_owned(),
        Rule::Blocked { reason } => format!("blocked: {reason}"),
    }
}
