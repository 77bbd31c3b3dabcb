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
use super::shown::{MAX_SHOWN, clipped_to};
use crate::base::error::{BoxError, CallError};
use crate::plane::context::CallContext;

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
        ctx.origin_notes().set_model_code();
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
        let mut calls = SessionCalls { ctx, read_only: &self.read_only, made: Vec::new(), answers: Vec::new() };
        let ended = match running.repeat(replayed).await {
            Ok(()) => running.run(code, &mut calls).await,
            Err(stopped) => Err(stopped),
        };
        let SessionCalls { made, answers, .. } = calls;
        match ended {
            Ok((printed, end)) => {
                *process = Some(running);
                printed.lines().for_each(|line| ctx.progress(line));
                keep_for_journal(ctx, code, answers, &end)?;
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

/// Removes and returns the code of earlier calls of the worker whose results a journal replayed; this process has not
/// run it.
fn replayed_code(ctx: &CallContext) -> Vec<Ran> {
    let replayed = ctx.caller().and_then(|worker| worker.frame().extras()?.code.replayed.get());
    let replayed = replayed.map(|mut replayed| std::mem::take(&mut *replayed)).unwrap_or_default();
    replayed.iter().filter_map(|ran| serde_json::from_str(ran).ok()).collect()
}

/// Stores code that ran, with the answers to its calls, for the journal's record of the call.
fn keep_for_journal(ctx: &CallContext, code: &str, answers: Vec<Vec<CallAnswer>>, end: &End) -> Result<(), BoxError> {
    if ctx.journal().is_none() || matches!(end, End::Refused(_)) {
        return Ok(());
    }
    let ran = serde_json::to_string(&Ran { code: code.to_owned(), answers })?;
    // Set only once, since a call runs one piece of code.
    _ = ctx.frame().extras_or_default().effects.ran_code.set(ran);
    Ok(())
}

/// A call that code made, as shown to its model.
struct Made {
    call: String,
    result: String,
}

/// Makes the calls of one piece of code.
struct SessionCalls<'a> {
    ctx: &'a CallContext,
    read_only: &'a BTreeSet<Arc<str>>,
    made: Vec<Made>,
    answers: Vec<Vec<CallAnswer>>,
}

impl SessionCalls<'_> {
    /// Makes calls that the code waits for together. An error that ends the run is returned.
    async fn make(&mut self, calls: Vec<(Arc<str>, Value)>) -> Result<Vec<CallAnswer>, CallError> {
        let call = |(shown, arguments)| {
            let is_read_only = self.read_only.contains(&shown);
            Call { shown, arguments, is_read_only }
        };
        let calls: Vec<_> = calls.into_iter().map(call).collect();
        let texts: Vec<_> = calls
            .iter()
            .map(|Call { shown, arguments, .. }| format!("{shown}({})", clipped(&arguments.to_string())))
            .collect();
        let mut raised = Vec::new();
        let answers = calls::make(self.ctx, calls, &mut raised).await?;
        // The code is from the model, so it does not continue either.
        if let Some(stopped) = raised.into_iter().find(CallError::is_stopped) {
            return Err(stopped);
        }
        for (call, answer) in texts.into_iter().zip(&answers) {
            let result = match answer {
                CallAnswer::Value(value) => value.to_string(),
                CallAnswer::Exception(kind, text) => format!("{kind}: {text}"),
            };
            self.made.push(Made { call, result: clipped(&result) });
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
                Reply::Calls(waiting) => {
                    let answers = calls.make(waiting).await.map_err(Stopped::Call)?;
                    self.send(&Request::Answers(answers)).await?;
                }
                Reply::Script(_) | Reply::Linked(_) | Reply::Types(_) => return Err(unexpected()),
            }
        }
    }

    /// Repeats code that ran in another process, with the answers that its calls had there.
    async fn repeat(&mut self, replayed: Vec<Ran>) -> Result<(), Stopped> {
        for Ran { code, answers } in replayed {
            self.send(&Request::Run(code)).await?;
            let mut answers = answers.into_iter();
            while let Reply::Calls(_) = self.next().await? {
                let other = || Stopped::Process("the code before it, which ran again, made other calls".to_owned());
                self.send(&Request::Answers(answers.next().ok_or_else(other)?)).await?;
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
