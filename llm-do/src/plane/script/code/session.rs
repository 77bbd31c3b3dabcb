//! The tool `run_code` of a worker: its code runs in a process, which lives as long as the worker's call.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use super::super::exception::{Raised, ScriptError, raised};
use super::super::limits::{MAX_PROCESS, MAX_TIME};
use super::super::names::{Callees, ScriptCallee};
use super::instructions::instructions;
use super::protocol::{End, READY, Reply, Request, ToolData, VARIABLE};
use crate::base::clip::clip;
use crate::base::error::{BoxError, CallError};
use crate::plane::context::CallContext;

/// How long the process may take for its first line.
const START: Duration = Duration::from_secs(10);
/// How long the process may compute, which is longer than the interpreter's own limit: then it does not check it.
const STALLED: Duration = Duration::from_secs(5 + MAX_TIME.as_secs());
/// The maximum size of the last value that the model sees, in bytes of JSON.
const MAX_SHOWN: usize = 16 * 1024;
/// The maximum number of calls of failed code that are listed, and the size of each.
const MAX_LISTED: usize = 20;
const MAX_LISTED_BYTES: usize = 200;

/// What a worker's code can call, and the program that runs it.
#[derive(Debug)]
pub(crate) struct CodeTool {
    tools: Vec<ToolData>,
    callees: Callees,
}

/// The process of a worker's call; `None` before its first code, and after a failure of the process.
#[derive(Debug, Default)]
struct Session(Mutex<Option<Process>>);

impl CodeTool {
    pub(crate) fn new(tools: Vec<ScriptCallee>) -> Result<Self, Vec<String>> {
        let data = tools.iter().map(ToolData::from).collect();
        Ok(Self { tools: data, callees: Callees::new(tools)? })
    }

    /// Returns what the model of a worker with these instructions reads.
    pub(crate) fn instructions(&self, own: &str) -> String {
        instructions(own, &self.callees)
    }

    /// Runs code as the call of `ctx`, whose caller is the worker.
    pub(crate) async fn run(&self, ctx: &CallContext, code: &str) -> Result<Value, BoxError> {
        let own = Arc::new(Session::default());
        let session = match ctx.caller() {
            Some(worker) => {
                Arc::clone(worker.frame().rare_or_default().code.get_or_init(|| own)).downcast::<Session>().ok()
            }
            None => Some(own),
        };
        let session = session.ok_or("the worker's call has another session")?;
        // One piece of code at a time, in the order of the calls.
        let mut process = session.0.lock().await;
        let is_first = process.is_none();
        // Out of its place, so that a call that is dropped ends the process.
        let mut running = match process.take() {
            Some(running) => running,
            None => Process::start(&self.tools).await?,
        };
        let mut made = Vec::new();
        match running.run(ctx, code, &mut made).await {
            Ok((printed, end)) => {
                *process = Some(running);
                shown(&printed, end, &made)
            }
            Err(Stopped::Call(error)) => Err(error.into()),
            Err(Stopped::Process(reason)) => {
                let names = if is_first { "" } else { " and its variables are gone" };
                let text = format!("the code was ended: {reason}{names}; do less at a time{}", listed(&made));
                Err(ScriptError::new(text).into())
            }
        }
    }
}

/// A call that code made, for its model.
struct Made {
    call: String,
    result: String,
}

/// Why a process cannot go on.
enum Stopped {
    /// The error of a call ends the run.
    Call(CallError),
    Process(String),
}

#[derive(Debug)]
struct Process {
    /// Killed when this is dropped.
    _child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Process {
    async fn start(tools: &[ToolData]) -> Result<Self, BoxError> {
        if std::env::var_os(VARIABLE).is_some() {
            return Err("this program does not call `llm_do::script::interpreter_process` first in `main`".into());
        }
        let mut command = Command::new(std::env::current_exe()?);
        command.env_clear().env(VARIABLE, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.kill_on_drop(true).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err("the process has no pipes".into()) };
        let mut process = Self { _child: child, input, output: BufReader::new(output).lines() };
        let first = tokio::time::timeout(START, process.output.next_line()).await;
        if !matches!(&first, Ok(Ok(Some(line))) if line == READY) {
            let advice = "call `llm_do::script::interpreter_process()` first in `main`";
            return Err(format!("the program did not start as an interpreter; {advice}").into());
        }
        process.send(&Request::Tools(tools.to_vec())).await.map_err(|_| "the interpreter process ended")?;
        Ok(process)
    }

    /// Runs code to its end, and makes its calls.
    async fn run(&mut self, ctx: &CallContext, code: &str, made: &mut Vec<Made>) -> Result<(String, End), Stopped> {
        self.send(&Request::Run(code.to_owned())).await?;
        loop {
            match self.next().await? {
                Reply::Ended { printed, end } => {
                    printed.lines().for_each(|line| ctx.progress(line));
                    return Ok((printed, end));
                }
                Reply::Call(shown, arguments) => {
                    let call = format!("{shown}({})", clipped(&arguments.to_string()));
                    let (answer, result) = match ctx.call_tool(&shown, arguments).await {
                        Ok(value) => {
                            let result = clipped(&value.to_string());
                            (Request::Value(value), result)
                        }
                        Err(error) => match raised(&error) {
                            Raised::Stop => return Err(Stopped::Call(error)),
                            Raised::Exception(kind, text) => {
                                let result = clipped(&format!("{kind}: {text}"));
                                (Request::Exception(kind.to_string(), text), result)
                            }
                        },
                    };
                    made.push(Made { call, result });
                    self.send(&answer).await?;
                }
            }
        }
    }

    async fn send(&mut self, request: &Request) -> Result<(), Stopped> {
        let ended = || Stopped::Process("its process ended".to_owned());
        let mut line = serde_json::to_string(request).map_err(|error| Stopped::Process(error.to_string()))?;
        line.push('\n');
        self.input.write_all(line.as_bytes()).await.map_err(|_| ended())?;
        self.input.flush().await.map_err(|_| ended())
    }

    async fn next(&mut self) -> Result<Reply, Stopped> {
        match tokio::time::timeout(STALLED, self.output.next_line()).await {
            Err(_) => Err(Stopped::Process(format!("it computed for more than {} s", STALLED.as_secs()))),
            Ok(Ok(Some(line))) => serde_json::from_str(&line).map_err(|error| Stopped::Process(error.to_string())),
            Ok(_) => Err(Stopped::Process(format!(
                "its process used more than {} MiB of memory, or crashed",
                MAX_PROCESS >> 20
            ))),
        }
    }
}

/// Returns what the model sees of code that ended.
fn shown(printed: &str, end: End, made: &[Made]) -> Result<Value, BoxError> {
    let printed = clipped_to(printed, MAX_SHOWN);
    match end {
        End::Value(value) => {
            let value = bounded(value);
            Ok(if printed.is_empty() {
                json!({ "value": value })
            } else {
                json!({ "value": value, "printed": printed })
            })
        }
        End::Refused(faults) => Err(ScriptError::new(format!("the code was refused before it ran:\n{faults}")).into()),
        End::Failed(text) => {
            let printed = if printed.is_empty() { String::new() } else { format!("\nprinted:\n{printed}") };
            Err(ScriptError::new(format!("{text}{}{printed}", listed(made))).into())
        }
    }
}

/// Returns a value, or the beginning of one that is too large for the model.
fn bounded(value: Value) -> Value {
    let text = value.to_string();
    let size = text.len();
    if size <= MAX_SHOWN {
        return value;
    }
    let beginning = clipped_to(&text, MAX_SHOWN / 4);
    json!(format!("{size} bytes, of which this is the beginning: {beginning}; compute what you need of it"))
}

/// Lists the calls that failed code made, so that the model does not repeat their effects.
fn listed(made: &[Made]) -> String {
    if made.is_empty() {
        return "\nIt had made no calls.".to_owned();
    }
    let calls: Vec<_> =
        made.iter().take(MAX_LISTED).map(|made| format!("\n  {} -> {}", made.call, made.result)).collect();
    let calls = calls.concat();
    let more = made.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    format!("\nBefore that it made these calls, so do not repeat them:{calls}{more}")
}

fn clipped(text: &str) -> String {
    clipped_to(text, MAX_LISTED_BYTES)
}

fn clipped_to(text: &str, bytes: usize) -> String {
    let beginning = clip(text, bytes);
    if beginning.len() == text.len() { text.to_owned() } else { format!("{beginning}...") }
}
