//! The model `demo:reviewer`, which follows rules: it knows four patterns, and searches for each with `grep`.

use std::sync::Arc;

use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};
use llm_do::{Value, json};

/// A pattern of `grep`, the severity of a match, and the message about it.
const PATTERNS: [(&str, &str, &str); 4] = [
    ("0\\.\\.=.*len()", "bug", "the last index is out of bounds: use `0..`, or iterate over the values"),
    ("password}", "risk", "a password is printed"),
    ("unwrap()", "risk", "this panics: return an `Option` or an error"),
    ("TODO", "style", "a task is left"),
];

model_provider!("demo", |_name| Ok(Arc::new(FunctionModel::answering(answer))));

fn answer(request: Request<'_>) -> Answer {
    let searched: Vec<_> = request.results("shell").collect();
    if let Some((pattern, ..)) = PATTERNS.get(searched.len()) {
        // The arguments of a worker without a body are its prompt, as JSON.
        let prompt: Value = request.prompt().parse().unwrap_or_default();
        let folder = prompt["folder"].as_str().unwrap_or(".");
        return Answer::call("shell", json!({ "command": format!("grep -rn '{pattern}' {folder}") }));
    }
    let findings = searched.iter().zip(PATTERNS).flat_map(|(result, (_, severity, message))| {
        result.content.lines().filter_map(move |line| finding(line, severity, message))
    });
    Answer::output(findings.collect())
}

/// Makes a finding of a line `FILE:LINE:TEXT`.
fn finding(line: &str, severity: &str, message: &str) -> Option<Value> {
    let (file, rest) = line.split_once(':')?;
    let number: u32 = rest.split(':').next()?.parse().ok()?;
    Some(json!({ "severity": severity, "file": file, "line": number, "message": message }))
}
