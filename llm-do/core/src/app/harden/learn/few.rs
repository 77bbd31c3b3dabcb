//! Few rules as a script.

use std::sync::Arc;

use llm_do_learn::{Learned, Short};

use super::super::signature::parameters;
use super::report::FewRules;
use super::{Labelled, Learner, judgment};
use crate::plane::approval::ApprovalMode;
use crate::plane::function_tool::{FunctionTool, ScriptTool};
use crate::plane::registry::{Registered, Registry};
use crate::plane::script::{ScriptCallee, identifier, stubs};
use crate::session::runtime::{Runtime, RuntimeBuilder};

/// The most cases on which the script runs, to see that it decides as the rules do.
const MAX_RUNS: usize = 500;

/// The types that a signature may need.
const IMPORTS: [&str; 4] = ["Any", "Literal", "NotRequired", "TypedDict"];

/// Where the script takes the place of a worker.
type Place<'a> = (&'a Arc<Registered>, &'a Registry, RuntimeBuilder);

impl Learner {
    /// Finds few rules that are nearly as good, and returns them as a script that was checked and passes the gate.
    pub(super) async fn few_rules(
        &self,
        search: &llm_do_learn::Learner,
        learned: &Learned,
        labelled: &Labelled,
        place: Place<'_>,
    ) -> Option<(FewRules, String)> {
        let few = search.short(learned, &labelled.examples)?;
        let judgment = judgment(self.gate, few.evidence());
        let script = format!("{}_script", identifier(&self.worker));
        let text = script_text(&script, place.0, &few)?;
        let runtime = runtime(&script, &text, place).ok()?;
        let is_checked = judgment.is_accepted() && decides_alike(&runtime, &script, &few, labelled).await;
        is_checked.then_some((FewRules { script, judgment }, text))
    }
}

/// Returns the text of a script with the signature of the worker.
fn script_text(name: &str, worker: &Registered, few: &Short) -> Option<String> {
    let description = format!("{}\n\nBy few rules. {}.", worker.description(), few.evidence());
    let parameters = Arc::new(parameters(worker));
    let own = ScriptCallee {
        shown: name.into(),
        description: description.trim().to_owned(),
        parameters,
        ..worker.as_callee(&worker.name)
    };
    let signature = stubs(vec![own]).ok()?;
    let head = signature.strip_suffix("    ...\n")?;
    let imports: Vec<_> = IMPORTS.into_iter().filter(|name| head.contains(name)).collect();
    let imports =
        if imports.is_empty() { String::new() } else { format!("from typing import {}\n\n\n", imports.join(", ")) };
    Some(format!("{imports}{head}{}", few.python_body()))
}

/// Checks a script like any script, and returns a runtime in which nothing but the script runs.
fn runtime(name: &str, text: &str, (_, registry, builder): Place<'_>) -> Result<Runtime, Vec<String>> {
    let tool = ScriptTool::parse(name, text).map_err(|fault| fault.faults().to_vec())?;
    let linked = registry.with_script(FunctionTool::from(tool))?;
    let builder = builder.without_journal_and_shadows().approval_mode(ApprovalMode::RejectAll);
    builder.map_limits(|limits| limits.requests(0)).build_on(linked).map_err(|error| vec![error.to_string()])
}

async fn decides_alike(runtime: &Runtime, name: &str, few: &Short, labelled: &Labelled) -> bool {
    for case in labelled.examples.iter().take(MAX_RUNS) {
        let result = runtime.run_named(name, case.input.clone()).await;
        let is_alike = match (result, few.decide(&case.input)) {
            (Ok(output), Some(expected)) => output == *expected,
            (Err(error), None) => error.is_unsure(),
            _ => false,
        };
        if !is_alike {
            return false;
        }
    }
    true
}
