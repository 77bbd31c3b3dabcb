//! The interpreter process: it runs the code of one worker's call, and asks the application to make its calls.

use std::io::{BufRead, StdinLock, StdoutLock, Write, stdin, stdout};
use std::str::FromStr;

use monty::{MontyRepl, ReplFunctionCall, ReplProgress, ReplStartError};
use monty_types::{
    CompileOptions, ExcType, ExtFunctionResult, MontyException, MontyObject, NameLookupResult, PrintWriter,
    ResourceTracker,
};
use serde_json::Value;

use super::super::interpreter::{OUTSIDE, bind};
use super::super::large_stack::on_large_stack;
#[cfg(unix)]
use super::super::limits::MAX_PROCESS;
use super::super::limits::{self, MAX_CALLS, MAX_PRINTED, MAX_TIME};
use super::super::names::{Callees, ScriptCallee};
use super::super::stubs::Stubs;
use super::super::values::{to_json, to_python};
use super::check::{check, unsupported};
use super::protocol::{End, READY, Reply, Request, VARIABLE};

/// Runs code for the process that started this one, and then exits; returns if the process is not an interpreter.
///
/// A program with code-mode workers calls this first in `main`, unless it uses `llm_do::cli::main`, which does.
pub fn interpreter_process() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    limit_memory();
    // The other side sees that the process has ended.
    _ = on_large_stack(|| Process::start().map(Process::run));
    std::process::exit(0);
}

#[cfg(unix)]
fn limit_memory() {
    let limit = rustix::process::Rlimit { current: Some(MAX_PROCESS), maximum: Some(MAX_PROCESS) };
    // A system without this limit still has that of time.
    _ = rustix::process::setrlimit(rustix::process::Resource::As, limit);
}

#[cfg(not(unix))]
fn limit_memory() {}

struct Process {
    input: StdinLock<'static>,
    output: StdoutLock<'static>,
    callees: Callees,
    stubs: Stubs,
    /// Between two pieces of code.
    session: Option<MontyRepl>,
    /// The code that ran, for the checker.
    before: String,
    printed: String,
    made: usize,
}

type Progress = Result<ReplProgress, Box<ReplStartError>>;

impl Process {
    /// Reads the tools; `None` if the other side is gone.
    fn start() -> Option<Self> {
        let (mut input, mut output) = (stdin().lock(), stdout().lock());
        writeln!(output, "{READY}").and_then(|()| output.flush()).ok()?;
        let Request::Tools(tools) = read(&mut input)? else { return None };
        let callees = Callees::new(tools.into_iter().map(ScriptCallee::from).collect()).ok()?;
        let stubs = Stubs::of(&callees, false);
        let tracker = ResourceTracker::new(limits::of_interpreter());
        let session = Some(MontyRepl::new(super::check::FILE, tracker, CompileOptions::default()));
        Some(Self { input, output, callees, stubs, session, before: String::new(), printed: String::new(), made: 0 })
    }

    /// Runs code until the other side is gone.
    fn run(mut self) -> Option<()> {
        loop {
            let Request::Run(code) = read(&mut self.input)? else { return None };
            self.made = 0;
            let end = match check(&code, &self.before, &self.callees, &self.stubs) {
                Ok(program) => self.execute(&code, &program)?,
                Err(faults) => End::Refused(faults.join("\n")),
            };
            let printed = std::mem::take(&mut self.printed);
            self.reply(&Reply::Ended { printed, end })?;
        }
    }

    fn execute(&mut self, code: &str, program: &str) -> Option<End> {
        let mut session = self.session.take()?;
        session.tracker_mut().set_max_duration(MAX_TIME);
        let mut progress = session.feed_start(program, Vec::new(), self.out());
        loop {
            progress = match progress {
                Err(failed) => {
                    let ReplStartError { repl, error } = *failed;
                    self.session = Some(repl);
                    let is_unsupported =
                        matches!(error.exc_type(), ExcType::NotImplementedError | ExcType::SyntaxError);
                    if is_unsupported && self.made == 0 && !code.contains("NotImplementedError") {
                        return Some(End::Refused(unsupported(&error)));
                    }
                    self.keep(code);
                    return Some(End::Failed(described(&error)));
                }
                Ok(ReplProgress::Complete { repl, value }) => {
                    self.session = Some(repl);
                    self.keep(code);
                    return Some(to_json(value, "the last value").map_or_else(End::Failed, End::Value));
                }
                Ok(ReplProgress::FunctionCall(call)) => self.call(call)?,
                Ok(ReplProgress::NameLookup(lookup)) => {
                    let tool = self.callees.get(&lookup.name).filter(|_| lookup.object_id().is_none());
                    let found = tool.map(|tool| MontyObject::Function {
                        name: lookup.name.clone(),
                        docstring: Some(tool.description.clone()),
                    });
                    let found = found.map_or(NameLookupResult::Undefined, NameLookupResult::Value);
                    lookup.resume(found, self.out())
                }
                Ok(ReplProgress::OsCall(call)) => {
                    let refusal = MontyException::new(ExcType::PermissionError, Some(OUTSIDE.to_owned()));
                    call.resume(refusal, self.out())
                }
                Ok(ReplProgress::ResolveFutures(futures)) => {
                    let text = "tools are plain functions here: call them without `await`".to_owned();
                    self.session = Some(ReplProgress::ResolveFutures(futures).into_repl());
                    return Some(End::Failed(text));
                }
            }
        }
    }

    /// Notes code that ran, so that the checker knows its names.
    fn keep(&mut self, code: &str) {
        self.before.push_str(code);
        self.before.push('\n');
    }

    /// Makes a call, and returns what follows; `None` if the other side is gone.
    fn call(&mut self, mut call: ReplFunctionCall) -> Option<Progress> {
        let (arguments, named) = (std::mem::take(&mut call.args), std::mem::take(&mut call.kwargs));
        let Some(callee) = self.callees.get(&call.function_name) else {
            let unknown = ExtFunctionResult::NotFound(call.function_name.clone());
            return Some(call.resume(unknown, self.out()));
        };
        self.made += 1;
        if self.made > MAX_CALLS {
            let message = format!("the code made more than {MAX_CALLS} calls");
            return Some(call.abort(MontyException::runtime_error(message), self.out()));
        }
        let result = match bind(&call.function_name, callee, arguments, named) {
            Ok(arguments) => {
                let made = Reply::Call(callee.shown.clone(), arguments);
                self.reply(&made)?;
                match read(&mut self.input)? {
                    Request::Value(value) => to_python(value).into(),
                    Request::Exception(kind, text) => {
                        MontyException::new(ExcType::from_str(&kind).unwrap_or(ExcType::RuntimeError), Some(text))
                            .into()
                    }
                    Request::Tools(_) | Request::Run(_) => return None,
                }
            }
            Err(fault) => ExtFunctionResult::from(MontyException::new(ExcType::TypeError, Some(fault))),
        };
        Some(call.resume(result, self.out()))
    }

    fn out(&mut self) -> PrintWriter<'_> {
        PrintWriter::CollectString(&mut self.printed, Some(MAX_PRINTED))
    }

    fn reply(&mut self, reply: &Reply) -> Option<()> {
        let line = serde_json::to_string(reply).ok()?;
        writeln!(self.output, "{line}").and_then(|()| self.output.flush()).ok()
    }
}

fn read(input: &mut StdinLock<'static>) -> Option<Request> {
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
