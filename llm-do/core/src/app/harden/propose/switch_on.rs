//! The limits of the evidence, and the next steps with a script.

use super::Parts;
use super::score::Score;
use super::split::RunSplit;

/// The number of cases below which the report calls the figure uncertain.
const FEW: usize = 10;

/// Returns the limits of the evidence about runs.
pub(super) fn notes_of_runs(parts: Parts, split: &RunSplit<'_>) -> Vec<String> {
    let mut notes = notes(parts, 0, split.identifier.as_deref());
    let left_out = split.left_out.iter();
    notes.extend(left_out.map(|(reason, runs)| format!("{runs} runs are not counted, since {reason}.")));
    notes
}

/// Returns the way to use a script that makes the calls of a worker.
pub(super) fn next_of_runs(worker: &str, script: &str) -> Vec<String> {
    let hybrid = format!(
        "As a hybrid: put the file into `tools/` of the project, and `hybrid: {script}` into the worker file of `{worker}`; in a program, \
         `Runtime::builder().tool(ScriptTool::open(\"{script}.py\")?).hybrid(\"{worker}\", \"{script}\")`. The script does the runs that it \
         knows. Where it abstains or fails before a call with an effect, the worker does the run; after it, the run fails."
    );
    vec![hybrid]
}

/// Returns the limits of the evidence.
pub(super) fn notes(parts: Parts, contradicting: usize, identifier: Option<&str>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(field) = identifier {
        notes.push(format!(
            "cases with the same `{field}` are in one part, so what a script learned about one does not count."
        ));
    }
    match parts.held_back {
        0 => notes.push("no case was held back, so nothing measures a script; record more runs.".to_owned()),
        few if few < FEW => {
            let cases = if few == 1 { "1 case was".to_owned() } else { format!("{few} cases were") };
            notes.push(format!("only {cases} held back, so the agreement is uncertain; record more runs."));
        }
        _ => {}
    }
    if parts.selecting == 0 {
        notes.push("no case chose among scripts, so the shown ones did; record more runs.".to_owned());
    }
    if contradicting > 0 {
        let inputs = if contradicting == 1 { "1 input".to_owned() } else { format!("{contradicting} inputs") };
        notes.push(format!("the worker gave several results to {inputs}, so it does not always agree with itself."));
    }
    notes
}

/// Returns the ways to use a script; the first is the one that fits its agreement.
pub(super) fn next(worker: &str, script: &str, held_back: &Score) -> Vec<String> {
    let shadow = format!(
        "In shadow: call `{script}` in place of `{worker}`, and keep the worker beside it: `Runtime::builder()\
         .shadow(Shadow::of(\"{script}\", \"{worker}\"))`. Each disagreement is an event."
    );
    let hybrid = format!(
        "As a hybrid: `Runtime::builder().hybrid(\"{worker}\", \"{script}\")`: the script answers, and where it abstains or fails, the worker \
         does."
    );
    let whole = format!(
        "Whole: read the script, rename its function and its file to `{worker}`, put the file into `tools/` of the project, and rename or \
         delete the worker. A program adds it with `Runtime::builder().tool(ScriptTool::open(\"{script}.py\")?.name(\"{worker}\"))`."
    );
    if held_back.disagree > 0 || held_back.agree == 0 {
        vec![shadow, hybrid, whole]
    } else if held_back.unsure > 0 {
        vec![hybrid, shadow, whole]
    } else {
        vec![whole, shadow, hybrid]
    }
}
