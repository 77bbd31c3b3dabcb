//! The interpreter process: it runs the code of one worker's call, and asks the application to make its calls.

use std::io::{BufRead, StdinLock, StdoutLock, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use monty::{MontyRepl, ReplFunctionCall, ReplProgress, ReplResolveFutures, ReplStartError};
use monty_types::{CompileOptions, ExcType, MontyException, PrintWriter, ResourceTracker};
use serde_json::Value;

use super::super::calls::{Call, CallAnswer, Disposition, MadeCalls, RawCall, refusal};
use super::super::checker::in_process;
use super::super::large_stack::on_large_stack;
#[cfg(unix)]
use super::super::limits::MAX_PROCESS;
use super::super::limits::{self, MAX_PRINTED, MAX_TIME};
use super::super::names::{Callees, ScriptCallee};
use super::super::values::to_json;
use super::check::{Before, Checked, check, unsupported};
use super::protocol::{End, READY, Reply, Request, ToolData, VARIABLE};
use super::script_child;
use super::shown::bounded;

/// Whether this program can run as an interpreter.
static IS_PREPARED: AtomicBool = AtomicBool::new(false);

/// Runs code for the process that started this one, and then exits; returns if the process is not an interpreter.
///
/// A program with code-mode workers calls this first in `main`, unless it uses `llm_do::cli::main`, which does.
pub fn interpreter_process() {
    if std::env::var_os(VARIABLE).is_none() {
        IS_PREPARED.store(true, Ordering::Relaxed);
        return;
    }
    limit_memory();
    // The parent process detects that this process has ended.
    _ = on_large_stack(serve);
    std::process::exit(0);
}

/// Returns whether this program can be started as an interpreter.
pub(super) fn is_prepared() -> bool {
    IS_PREPARED.load(Ordering::Relaxed)
}

/// Reads the requests of the parent process, until it has ended.
fn serve() -> Option<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    writeln!(output, "{READY}").and_then(|()| output.flush()).ok()?;
    match read(&mut input)? {
        Request::Tools(tools) => Process::new(input, output, tools)?.run(),
        Request::Types { text, module } => check_types(input, output, text, module),
        Request::Script { function, text } => script_child::run(input, output, &function, &text),
        _ => None,
    }
}

/// Checks the types of scripts, until the parent process has ended.
fn check_types(
    mut input: StdinLock<'static>,
    mut output: StdoutLock<'static>,
    mut text: String,
    mut module: String,
) -> Option<()> {
    loop {
        write(&mut output, &Reply::Types(in_process(&text, &module)))?;
        let Request::Types { text: next, module: with } = read(&mut input)? else { return None };
        (text, module) = (next, with);
    }
}

#[cfg(unix)]
fn limit_memory() {
    let limit = rustix::process::Rlimit { current: Some(MAX_PROCESS), maximum: Some(MAX_PROCESS) };
    // A system without this limit still has the time limit.
    _ = rustix::process::setrlimit(rustix::process::Resource::As, limit);
}

#[cfg(not(unix))]
fn limit_memory() {}

struct Process {
    input: StdinLock<'static>,
    output: StdoutLock<'static>,
    callees: Arc<Callees>,
    /// `None` while code runs.
    session: Option<MontyRepl>,
    before: Before,
    printed: String,
    /// The calls of the running code.
    calls: MadeCalls,
}

type Progress = Result<ReplProgress, Box<ReplStartError>>;

impl Process {
    /// Begins with the tools of the code; `None` if two tools have the same name.
    fn new(input: StdinLock<'static>, output: StdoutLock<'static>, tools: Vec<ToolData>) -> Option<Self> {
        let callees = Arc::new(Callees::new(tools.into_iter().map(ScriptCallee::from).collect()).ok()?);
        let tracker = ResourceTracker::new(limits::of_interpreter());
        let session = Some(MontyRepl::new(super::check::FILE, tracker, CompileOptions::default()));
        let calls = MadeCalls::new(Arc::clone(&callees), false);
        Some(Self { input, output, callees, session, before: Before::default(), printed: String::new(), calls })
    }

    /// Runs code, until the parent process has ended.
    fn run(mut self) -> Option<()> {
        loop {
            let Request::Run(code) = read(&mut self.input)? else { return None };
            let end = match check(&code, &self.before, &self.callees) {
                Ok(mut checked) => {
                    self.reply(&Reply::Literals(std::mem::take(&mut checked.literals)))?;
                    self.execute(&code, &checked)?
                }
                Err(faults) => End::Refused(faults.join("\n")),
            };
            let printed = std::mem::take(&mut self.printed);
            self.reply(&Reply::Ended { printed, end })?;
        }
    }

    fn execute(&mut self, code: &str, checked: &Checked) -> Option<End> {
        let mut session = self.session.take()?;
        self.calls = MadeCalls::new(Arc::clone(&self.callees), checked.is_async);
        session.tracker_mut().set_max_duration(MAX_TIME);
        let mut progress = session.feed_start(&checked.program, Vec::new(), self.out());
        loop {
            progress = match progress {
                Err(failed) => return Some(self.failed(code, checked, *failed)),
                Ok(ReplProgress::Complete { repl, value }) => {
                    self.session = Some(repl);
                    self.before.add(code, checked.is_async, false);
                    let result = self.calls.check_awaited().and_then(|()| to_json(value, "the last value"));
                    return Some(result.map_or_else(End::Failed, |value| End::Value(bounded(value))));
                }
                Ok(ReplProgress::FunctionCall(call)) => self.call(call)?,
                Ok(ReplProgress::ResolveFutures(futures)) => self.resolve(futures)?,
                Ok(ReplProgress::OsCall(call)) => call.resume(refusal(), self.out()),
                Ok(ReplProgress::NameLookup(lookup)) => {
                    let found = self.calls.look_up(&lookup.name, lookup.object_id());
                    lookup.resume(found, self.out())
                }
            }
        }
    }

    /// Returns the end of code that raised an exception.
    fn failed(&mut self, code: &str, checked: &Checked, failed: ReplStartError) -> End {
        let ReplStartError { repl, error } = failed;
        self.session = Some(repl);
        let is_unsupported = matches!(error.exc_type(), ExcType::NotImplementedError | ExcType::SyntaxError);
        if is_unsupported && self.calls.is_empty() && !code.contains("NotImplementedError") {
            return End::Refused(unsupported(&error));
        }
        self.before.add(code, checked.is_async, true);
        End::Failed(described(&error))
    }

    /// Makes a call, or queues it until the code awaits it; `None` if the parent process has ended.
    fn call(&mut self, mut call: ReplFunctionCall) -> Option<Progress> {
        let raw = RawCall {
            function: std::mem::take(&mut call.function_name),
            object: call.object_id,
            id: call.call_id,
            positional: std::mem::take(&mut call.args),
            keywords: std::mem::take(&mut call.kwargs),
        };
        let result = match self.calls.add(raw) {
            Disposition::Make(made) => self.ask(vec![made])?.into_iter().next()?.into(),
            Disposition::Continue(result) => result,
            Disposition::Abort(why) => return Some(call.abort(why, self.out())),
        };
        Some(call.resume(result, self.out()))
    }

    /// Makes the calls that the code awaits; `None` if the parent process has ended.
    fn resolve(&mut self, futures: ReplResolveFutures) -> Option<Progress> {
        let (ids, calls) = self.calls.awaited(futures.pending_call_ids());
        let answers = self.ask(calls)?;
        let results = ids.into_iter().zip(answers.into_iter().map(Into::into)).collect();
        Some(futures.resume(results, self.out()))
    }

    /// Waits for the answers to calls; `None` if the parent process has ended.
    fn ask(&mut self, calls: Vec<Call>) -> Option<Vec<CallAnswer>> {
        let calls = calls.into_iter().map(|call| (call.shown, call.arguments)).collect();
        self.reply(&Reply::Calls(calls))?;
        match read(&mut self.input)? {
            Request::Answers(answers) => Some(answers),
            _ => None,
        }
    }

    fn out(&mut self) -> PrintWriter<'_> {
        PrintWriter::CollectString(&mut self.printed, Some(MAX_PRINTED))
    }

    fn reply(&mut self, reply: &Reply) -> Option<()> {
        write(&mut self.output, reply)
    }
}

/// Writes a reply; `None` if the parent process has ended.
pub(super) fn write(output: &mut StdoutLock<'static>, reply: &Reply) -> Option<()> {
    let line = serde_json::to_string(reply).ok()?;
    writeln!(output, "{line}").and_then(|()| output.flush()).ok()
}

/// Reads a request; `None` if the parent process has ended.
pub(super) fn read(input: &mut StdinLock<'static>) -> Option<Request> {
    let mut line = String::new();
    input.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
    let value: Value = serde_json::from_str(&line).ok()?;
    serde_json::from_value(value).ok()
}

/// Describes an exception with its line.
fn described(exception: &MontyException) -> String {
    let kind = exception.exc_type();
    let place = exception.traceback().first().map(|frame| format!(" (line {})", frame.start.line));
    format!("{kind}: {}{}", exception.message().unwrap_or_default(), place.unwrap_or_default())
}
