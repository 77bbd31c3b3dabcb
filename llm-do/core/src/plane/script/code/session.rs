//! The tool `run_code` of a worker: its code runs in a process, which lives as long as the worker's call.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::super::calls::{self, Call, CallAnswer};
use super::super::exception::ScriptError;
use super::super::names::{Callees, ScriptCallee};
use super::instructions::rules;
use super::process::Process;
use super::protocol::{End, Reply, Request, ToolData};
use super::reader::Reader;
use super::shown::{MAX_SHOWN, clipped_to};
use crate::base::error::{BoxError, CallError};
use crate::observe::event::Labels;
use crate::plane::context::CallContext;
use crate::plane::origin::{RepeatedCall, WrittenCode};

/// The maximum number of calls of failed code that are listed, and the size of each.
const MAX_LISTED: usize = 20;
const MAX_LISTED_BYTES: usize = 200;

/// The callees of a worker's code, and the program that runs it.
#[derive(Debug)]
pub(crate) struct CodeTool {
    tools: Vec<ToolData>,
    callees: Callees,
    /// The names of the tools that are read-only.
    read_only: BTreeSet<Arc<str>>,
}

/// The process of a worker's call; `None` before its first code, and after a failure of the process.
#[derive(Debug, Default)]
struct Session(Mutex<Option<CodeProcess>>);

/// Code that ran to its end, in the form for the journal.
#[derive(Debug, Deserialize, Serialize)]
struct Ran {
    code: String,
    /// The answers to its calls, one list for each time that it waited.
    answers: Vec<Vec<CallAnswer>>,
    /// The labels of the code, if values were labelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<Labels>,
}

impl CodeTool {
    pub(crate) fn new(tools: Vec<ScriptCallee>) -> Result<Self, Vec<String>> {
        let data = tools.iter().map(ToolData::from).collect();
        let read_only = tools.iter().filter(|tool| tool.is_read_only).map(|tool| Arc::clone(&tool.shown)).collect();
        Ok(Self { tools: data, callees: Callees::new(tools)?, read_only })
    }

    /// Returns the text for the model of a worker after its instructions.
    pub(crate) fn rules(&self) -> String {
        rules(&self.callees)
    }

    /// Runs code as the call of `ctx`, whose caller is the worker.
    pub(crate) async fn run(&self, ctx: &CallContext, code: &str) -> Result<Value, BoxError> {
        let own = Arc::new(Session::default());
        // So far, it has only its arguments: the code, which is made of all that its writer had read.
        let written = ctx.labels_to_keep();
        let session = match ctx.caller() {
            Some(worker) => Arc::clone(worker.frame().extras_or_default().code.session.get_or_init(|| own))
                .downcast::<Session>()
                .ok(),
            None => Some(own),
        };
        let session = session.ok_or("the worker's call has another session")?;
        // Pieces of code run one at a time, in order.
        let mut process = session.0.lock().await;
        let replayed = replayed_code(ctx);
        let is_first = process.is_none() && replayed.is_empty();
        // The process is removed from the session, so that dropping the call kills the process.
        let mut running = match process.take() {
            Some(running) => running,
            None => CodeProcess::start(&self.tools).await?,
        };
        let earlier = take_over(ctx);
        let (made, answers) = (Vec::new(), Vec::new());
        let mut calls = SessionCalls { ctx, read_only: &self.read_only, made, answers, written, earlier };
        let ended = match running.repeat(replayed, &mut calls).await {
            Ok(()) => running.run(code, &mut calls).await,
            Err(stopped) => Err(stopped),
        };
        let SessionCalls { made, answers, .. } = calls;
        hold(ctx);
        match ended {
            Ok((printed, end)) => {
                *process = Some(running);
                printed.lines().for_each(|line| ctx.progress(line));
                keep_for_journal(ctx, Ran { code: code.to_owned(), answers, labels: written }, &end)?;
                match Reader::of(ctx) {
                    Some(reader) => reader.shown(&printed, end, &made),
                    None => shown(&printed, end, &made),
                }
            }
            Err(Stopped::Call(error)) => Err(error.into()),
            Err(Stopped::Process(reason)) => {
                let names = if is_first { "" } else { " and its variables are gone" };
                let made = Reader::of(ctx).map_or_else(|| listed(&made), |reader| reader.listed(&made));
                let text = format!("the code was ended: {reason}{names}; do less at a time{made}");
                Err(ScriptError::new(text).into())
            }
        }
    }
}

/// Removes and returns the code of earlier calls of the worker whose results a journal replayed; this process has not
/// run it.
fn replayed_code(ctx: &CallContext) -> Vec<Ran> {
    let replayed = ctx.caller().and_then(|worker| worker.frame().extras()?.code.replayed.get());
    let replayed = replayed.map(|mut replayed| std::mem::take(&mut *replayed)).unwrap_or_default();
    replayed.iter().filter_map(|ran| serde_json::from_str(ran).ok()).collect()
}

/// Notes what the code of earlier calls of the worker has left in its variables; returns that code.
fn take_over(ctx: &CallContext) -> WrittenCode {
    let held = ctx.caller().and_then(|worker| worker.frame().extras()?.code.held.get());
    let Some(held) = held else { return WrittenCode::of_model() };
    ctx.origin_notes().take_over(&held);
    held.code().map_or_else(WrittenCode::of_model, |code| WrittenCode::clone(code))
}

/// Keeps what the code has read for the code that follows: its variables hold it.
fn hold(ctx: &CallContext) {
    if let Some(worker) = ctx.caller().filter(|_| ctx.tracks_origins()) {
        *worker.frame().extras_or_default().code.held.get_or_default() = ctx.origin_notes().hold();
    }
}

/// Stores code that ran, with the answers to its calls, for the journal's record of the call.
fn keep_for_journal(ctx: &CallContext, ran: Ran, end: &End) -> Result<(), BoxError> {
    if ctx.journal().is_none() || matches!(end, End::Refused(_)) {
        return Ok(());
    }
    let ran = serde_json::to_string(&ran)?;
    // Set only once, since a call runs one piece of code.
    _ = ctx.frame().extras_or_default().effects.ran_code.set(ran);
    Ok(())
}

/// A call that code made, as shown to its model.
pub(super) struct Made {
    pub(super) tool: Arc<str>,
    call: String,
    result: String,
}

/// Makes the calls of one piece of code.
struct SessionCalls<'a> {
    ctx: &'a CallContext,
    read_only: &'a BTreeSet<Arc<str>>,
    made: Vec<Made>,
    answers: Vec<Vec<CallAnswer>>,
    /// The labels of the code, if values are labelled.
    written: Option<Labels>,
    /// The code that ran before.
    earlier: WrittenCode,
}

impl SessionCalls<'_> {
    /// Notes the texts of the code that is about to run.
    fn begin(&self, literals: BTreeSet<String>) {
        let code = WrittenCode::of_model();
        let code = match self.written {
            Some(labels) => code.with_literals(literals, labels).after(&self.earlier),
            None => code,
        };
        self.ctx.origin_notes().set_code(code);
    }

    /// Notes the texts of code that ran in another process, which had these labels.
    fn begin_earlier(&mut self, literals: BTreeSet<String>, labels: Option<Labels>) {
        let Some(labels) = labels else { return };
        let code = WrittenCode::of_model().with_literals(literals, labels);
        self.earlier = code.after(&self.earlier);
    }

    /// Notes calls that code made in another process.
    fn repeat(&self, calls: &[(Arc<str>, Value)], answers: &[CallAnswer]) {
        if !self.ctx.has_flow() {
            return;
        }
        let (code, worst) = (Arc::new(self.earlier.clone()), self.ctx.origin_notes().labels());
        for ((shown, arguments), answer) in calls.iter().zip(answers) {
            let CallAnswer::Value(result) = answer else { continue };
            let call = RepeatedCall { shown, arguments, result, code: &code, worst };
            self.ctx.host().note_repeated(&self.ctx.declaring(), &call);
        }
    }

    /// Makes calls that the code waits for together. An error that ends the run is returned.
    async fn make(&mut self, calls: Vec<(Arc<str>, Value)>) -> Result<Vec<CallAnswer>, CallError> {
        let call = |(shown, arguments)| {
            let is_read_only = self.read_only.contains(&shown);
            Call { shown, arguments, is_read_only }
        };
        let calls: Vec<_> = calls.into_iter().map(call).collect();
        let texts: Vec<_> = calls
            .iter()
            .map(|Call { shown, arguments, .. }| {
                (Arc::clone(shown), format!("{shown}({})", clipped(&arguments.to_string())))
            })
            .collect();
        let mut raised = Vec::new();
        let answers = calls::make(self.ctx, calls, &mut raised).await?;
        // The code is from the model, so it does not continue either.
        if let Some(stopped) = raised.into_iter().find(CallError::is_stopped) {
            return Err(stopped);
        }
        for ((tool, call), answer) in texts.into_iter().zip(&answers) {
            let result = match answer {
                CallAnswer::Value(value) => value.to_string(),
                CallAnswer::Exception(kind, text) => format!("{kind}: {text}"),
            };
            self.made.push(Made { tool, call, result: clipped(&result) });
        }
        self.answers.push(answers.clone());
        Ok(answers)
    }
}

/// The reason why a process cannot continue.
enum Stopped {
    /// The error of a call ends the run.
    Call(CallError),
    Process(String),
}

/// An interpreter process with the tools of a worker.
#[derive(Debug)]
struct CodeProcess(Process);

impl CodeProcess {
    async fn start(tools: &[ToolData]) -> Result<Self, BoxError> {
        let mut process = Process::start(None).await?;
        process.send(&Request::Tools(tools.to_vec())).await.map_err(|_| "the interpreter process ended")?;
        Ok(Self(process))
    }

    /// Runs code to its end, and makes its calls; returns its output.
    async fn run(&mut self, code: &str, calls: &mut SessionCalls<'_>) -> Result<(String, End), Stopped> {
        self.send(&Request::Run(code.to_owned())).await?;
        loop {
            match self.next().await? {
                Reply::Ended { printed, end } => return Ok((printed, end)),
                Reply::Literals(literals) => calls.begin(literals),
                Reply::Calls(waiting) => {
                    let answers = calls.make(waiting).await.map_err(Stopped::Call)?;
                    self.send(&Request::Answers(answers)).await?;
                }
                Reply::Script(_) | Reply::Linked(_) | Reply::Types(_) => return Err(unexpected()),
            }
        }
    }

    /// Repeats code that ran in another process, with the answers that its calls had there.
    async fn repeat(&mut self, replayed: Vec<Ran>, calls: &mut SessionCalls<'_>) -> Result<(), Stopped> {
        for Ran { code, answers, labels } in replayed {
            self.send(&Request::Run(code)).await?;
            let mut answers = answers.into_iter();
            loop {
                match self.next().await? {
                    Reply::Literals(literals) => calls.begin_earlier(literals, labels),
                    Reply::Calls(waiting) => {
                        let other =
                            || Stopped::Process("the code before it, which ran again, made other calls".to_owned());
                        let answers = answers.next().ok_or_else(other)?;
                        calls.repeat(&waiting, &answers);
                        self.send(&Request::Answers(answers)).await?;
                    }
                    _ => break,
                }
            }
        }
        Ok(())
    }

    async fn send(&mut self, request: &Request) -> Result<(), Stopped> {
        self.0.send(request).await.map_err(Stopped::Process)
    }

    async fn next(&mut self) -> Result<Reply, Stopped> {
        self.0.next().await.map_err(Stopped::Process)
    }
}

fn unexpected() -> Stopped {
    Stopped::Process("its process wrote what nothing asked for".to_owned())
}

/// Returns the text for the model about code that ended.
fn shown(printed: &str, end: End, made: &[Made]) -> Result<Value, BoxError> {
    let printed = clipped_to(printed, MAX_SHOWN);
    match end {
        End::Value(value) if printed.is_empty() => Ok(json!({ "value": value })),
        End::Value(value) => Ok(json!({ "value": value, "printed": printed })),
        End::Refused(faults) => Err(ScriptError::new(format!("the code was refused before it ran:\n{faults}")).into()),
        End::Failed(text) => {
            let printed = if printed.is_empty() { String::new() } else { format!("\nprinted:\n{printed}") };
            Err(ScriptError::new(format!("{text}{}{printed}", listed(made))).into())
        }
        End::Raised(_) => Err("the interpreter process ran a script".into()),
    }
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
