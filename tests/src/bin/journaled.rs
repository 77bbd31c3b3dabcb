//! An application for the tests of journals, which kill and restart it.
//!
//! `journaled CASE MODE FOLDER [OWNER]`: each effect is a line of the file `effects` in the folder, synced to disk, and then a
//! line of the output. The last line of the output is a JSON list: the result, or the error.
//!
//! Without an owner, the journal is the file `run.jsonl`; with one, it is the run `run` in `runs.db`, which the process claims
//! for its owner for a short time; the owner `anyone` opens it without a claim.

#[path = "journaled/cases.rs"]
mod cases;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use llm_do::approval::{ApprovalMode, ApprovalRequest, Decision};
use llm_do::context::{InputHandler, InputRequest};
use llm_do::error::{BoxError, chain};
use llm_do::journal::{FileJournal, Journal, JournalError, SqliteJournal};
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;
use llm_do::{Value, async_trait, json};

/// The file of effects.
#[derive(Clone, Debug)]
struct Effects(PathBuf);

impl Effects {
    fn add(&self, effect: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.0)?;
        file.write_all(format!("{effect}\n").as_bytes())?;
        file.sync_data()?;
        print_line(effect)
    }

    /// Returns the result of a call, if it has had its effect.
    fn result_of(&self, request: &ApprovalRequest) -> Option<usize> {
        let (line, result) = match &*request.tool {
            "append" => {
                let line = request.arguments["line"].as_str()?.to_owned();
                let length = line.len();
                (line, length)
            }
            "append_set" => {
                let mut words: Vec<_> =
                    request.arguments["words"].as_array()?.iter().filter_map(Value::as_str).collect();
                words.sort_unstable();
                let counts = request.arguments["counts"].as_object()?.len();
                (format!("set {}", words.join(" ")), words.len() + counts)
            }
            _ => return None,
        };
        let lines = fs::read_to_string(&self.0).ok()?;
        lines.lines().any(|made| made == line).then_some(result)
    }
}

/// A user whose answers are effects.
#[derive(Debug)]
struct User(Effects);

#[async_trait]
impl InputHandler for User {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        self.0.add(&format!("asked {}", request.question.prompt))?;
        Ok(format!("the {} answer", request.question.prompt))
    }
}

fn print_line(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

/// Decides by the first word of the line. A call that may have had its effect has happened if its line is in the file.
async fn decide(effects: Effects, request: ApprovalRequest) -> Decision {
    tokio::task::yield_now().await;
    if request.began.is_some()
        && let Some(result) = effects.result_of(&request)
    {
        return Decision::happened(result);
    }
    let line = request.arguments["line"].as_str().unwrap_or_default();
    match line.split_once(' ') {
        Some(("refuse", what)) => Decision::deny(format!("{what} is not to be")),
        Some(("edit", what)) => Decision::approve_with(json!({ "line": format!("edited {what}") })),
        _ => Decision::approve(),
    }
}

/// A model that makes the calls of its worker, one per answer, and then answers with all results.
fn model() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let results: Vec<_> = request.messages.iter().flat_map(tool_results).collect();
        let has = |name: &str| request.tools.iter().any(|tool| *tool.name == *name);
        let line = |line: &str| ("append", json!({ "line": line }));
        let calls: Vec<(&str, Value)> = if has("append_all") {
            let several = ("append_all", json!({ "of": "clerk's", "count": 3 }));
            (0..3).map(|n| line(&format!("clerk {n}"))).chain([several]).collect()
        } else if has("append_set") {
            let set =
                |of: &str| json!({ "words": (0..8).map(|n| format!("{of}{n}")).collect::<Vec<_>>(), "counts": {} });
            vec![("append_set", set("f")), ("append_set", set("g"))]
        } else if has("worker_create") {
            let spec = json!({ "name": "led", "instructions": "You are led.", "description": "Helps." });
            vec![("worker_create", spec), ("worker_call", json!({ "worker": "led", "input": "now" }))]
        } else if has("append") {
            ["dare one", "refuse two", "edit three", "dare four"].map(line).into()
        } else {
            Vec::new()
        };
        let part = match calls.get(results.len()) {
            Some((name, arguments)) => {
                ResponsePart::ToolCall(ToolCall::new(results.len().to_string(), *name, arguments.to_string()))
            }
            None if calls.is_empty() => {
                ResponsePart::Text { text: request.instructions.unwrap_or_default().to_owned() }
            }
            None => ResponsePart::Text { text: results.join(",") },
        };
        Ok(Response::new("clerk", vec![part], Usage::of_request(1, 1)))
    })
}

fn tool_results(message: &Message) -> Vec<String> {
    match message {
        Message::Tool { results } => results.iter().map(|result| result.content.clone()).collect(),
        _ => Vec::new(),
    }
}

fn mode(name: &str) -> ApprovalMode {
    match name {
        "approve_all" => ApprovalMode::ApproveAll,
        "reject_all" => ApprovalMode::RejectAll,
        _ => ApprovalMode::Prompt,
    }
}

/// How long a process claims its run.
const CLAIM: Duration = Duration::from_millis(300);

/// Opens the journal of the run.
async fn journal(folder: &Path, owner: Option<&str>) -> Result<Arc<dyn Journal>> {
    let Some(owner) = owner else { return Ok(Arc::new(FileJournal::open(folder.join("run.jsonl"))?)) };
    let runs = SqliteJournal::open(folder.join("runs.db"))?;
    if owner == "anyone" {
        return Ok(Arc::new(runs.run("run").await?));
    }
    loop {
        match runs.claim("run", owner, CLAIM).await {
            Err(JournalError::Claimed { .. }) => tokio::time::sleep(CLAIM / 10).await,
            claimed => return Ok(Arc::new(claimed?)),
        }
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(case), Some(mode_name), Some(folder)) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err("usage: journaled CASE MODE FOLDER [OWNER]".into());
    };
    let folder = PathBuf::from(folder);
    let effects = Effects(folder.join("effects"));
    let outside = effects.clone();
    let runtime = Runtime::builder()
        .input_handler(User(effects.clone()))
        .state(effects)
        .force_model(model())
        .approve_with(move |request| decide(outside.clone(), request))
        .approval_mode(mode(&mode_name))
        .worker_store(folder.join("made"))
        .worker_dir(folder.join("made"))
        .build()?;
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (name, call_arguments) = cases::call(&case);
    let journal = tokio.block_on(journal(&folder, arguments.next().as_deref()))?;
    let run = runtime.start_named(name, call_arguments).shared_journal(journal);
    let result = match tokio.block_on(run.into_future()) {
        Ok(Value::Array(results)) => json!(results),
        Ok(result) => json!([result]),
        Err(error) => json!([chain(&error)]),
    };
    Ok(print_line(&result.to_string())?)
}
