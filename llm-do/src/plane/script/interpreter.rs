//! Runs a compiled script on a thread of its own, step by step: it waits for each call that it makes.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use monty::{FunctionCall, MontyRun, OsCall, ResolveFutures, RunProgress};
use monty_types::{
    ExcType, ExtFunctionResult, MontyException, MontyObject, NameLookupResult, PrintWriter, ResourceTracker,
};
use serde_json::{Map, Value};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::limits::{self, MAX_CALLS, STACK};
use super::names::{Callees, ScriptCallee};
use super::printer::Printer;
use super::stubs::positions;
use super::values::{to_json, to_python};

/// What a script reads that reaches the outside without a tool.
pub(super) const OUTSIDE: &str = "scripts have no clock, files, environment or network; call a tool that has them";

/// What a script does next.
#[derive(Debug)]
pub(super) enum Step {
    /// It printed a line.
    Printed(String),
    /// It makes these calls, and waits for all of their answers.
    Calls(Vec<Call>),
    /// It has ended: with its result, or with the exception that ended it.
    Ended(Result<Value, Ending>),
}

/// A call that a script makes.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) shown: Arc<str>,
    pub(super) arguments: Value,
    pub(super) is_read_only: bool,
}

/// The answer to a call.
#[derive(Debug)]
pub(super) enum Answer {
    Value(Value),
    Exception(ExcType, String),
}

/// Why a script ended without a result.
#[derive(Debug)]
pub(super) enum Ending {
    Exception(MontyException),
    /// It broke a rule of scripts.
    Fault(String),
}

/// The other side of a running script.
pub(super) struct Running {
    pub(super) steps: UnboundedReceiver<Step>,
    pub(super) answers: Sender<Vec<Answer>>,
}

/// Starts a script; it ends when its other side is dropped.
pub(super) fn start(
    program: MontyRun,
    inputs: Vec<Value>,
    callees: Arc<Callees>,
    is_async: bool,
) -> Result<Running, std::io::Error> {
    let (steps, received) = unbounded_channel();
    let (answers, given) = channel();
    let work = move || {
        let printer = Printer::new(steps.clone());
        let mut interpreter = Interpreter {
            steps: steps.clone(),
            answers: given,
            printer,
            callees,
            is_async,
            made: 0,
            waiting: Vec::new(),
        };
        let inputs = inputs.into_iter().map(to_python).collect();
        if let Some(result) = interpreter.run(program, inputs) {
            interpreter.printer.finish();
            // Without a receiver the call has ended.
            _ = steps.send(Step::Ended(result));
        }
    };
    thread::Builder::new().name("script".to_owned()).stack_size(STACK).spawn(work)?;
    Ok(Running { steps: received, answers })
}

struct Interpreter {
    steps: UnboundedSender<Step>,
    answers: Receiver<Vec<Answer>>,
    printer: Printer,
    callees: Arc<Callees>,
    is_async: bool,
    /// How many calls the script has made.
    made: usize,
    /// Calls whose results the script has not awaited yet, in the order in which it made them.
    waiting: Vec<(u32, Call)>,
}

/// What the interpreter does next; `None` if its call has ended.
type Next = Option<Result<RunProgress, MontyException>>;

impl Interpreter {
    /// Runs the script to its end; `None` if its call has ended.
    fn run(&mut self, program: MontyRun, inputs: Vec<MontyObject>) -> Option<Result<Value, Ending>> {
        let tracker = ResourceTracker::new(limits::of_interpreter());
        let mut progress = program.start(inputs, tracker, PrintWriter::Callback(&mut self.printer));
        loop {
            progress = match progress {
                Err(exception) => return Some(Err(Ending::Exception(exception))),
                Ok(RunProgress::Complete(_)) if !self.waiting.is_empty() => return Some(Err(self.not_awaited())),
                Ok(RunProgress::Complete(value)) => return Some(to_json(value, "the result").map_err(Ending::Fault)),
                Ok(RunProgress::FunctionCall(call)) => self.call(call)?,
                Ok(RunProgress::ResolveFutures(waiting)) => self.resolve(waiting)?,
                Ok(RunProgress::OsCall(call)) => self.refuse(call),
                Ok(RunProgress::NameLookup(lookup)) => {
                    let tool = self.callees.get(&lookup.name).filter(|_| lookup.object_id().is_none());
                    let found = tool.map(|tool| MontyObject::Function {
                        name: lookup.name.clone(),
                        docstring: Some(tool.description.clone()),
                    });
                    let found = found.map_or(NameLookupResult::Undefined, NameLookupResult::Value);
                    lookup.resume(found, PrintWriter::Callback(&mut self.printer))
                }
            }
        }
    }

    fn not_awaited(&self) -> Ending {
        let names: Vec<_> = self.waiting.iter().map(|(_, call)| format!("`{}`", call.shown)).collect();
        Ending::Fault(format!("the calls of {} were not awaited, so they did not run; write `await`", names.join(", ")))
    }

    /// Makes a call, or notes it until the script awaits it.
    fn call(&mut self, mut call: FunctionCall) -> Next {
        let (arguments, named) = (std::mem::take(&mut call.args), std::mem::take(&mut call.kwargs));
        let callee = self.callees.get(&call.function_name).filter(|_| call.object_id.is_none());
        let Some(callee) = callee else {
            let unknown = ExtFunctionResult::NotFound(call.function_name.clone());
            return Some(call.resume(unknown, PrintWriter::Callback(&mut self.printer)));
        };
        self.made += 1;
        if self.made > MAX_CALLS {
            let message = format!("the script made more than {MAX_CALLS} calls");
            return Some(call.abort(MontyException::runtime_error(message), PrintWriter::Callback(&mut self.printer)));
        }
        let made = match bind(&call.function_name, callee, arguments, named) {
            Ok(arguments) => Call { shown: Arc::clone(&callee.shown), arguments, is_read_only: callee.is_read_only },
            Err(fault) => {
                let fault = MontyException::new(ExcType::TypeError, Some(fault));
                return Some(call.resume(fault, PrintWriter::Callback(&mut self.printer)));
            }
        };
        if self.is_async {
            self.waiting.push((call.call_id, made));
            return Some(call.resume_pending(PrintWriter::Callback(&mut self.printer)));
        }
        let answer = self.ask(vec![made])?.into_iter().next()?;
        Some(call.resume(result(answer), PrintWriter::Callback(&mut self.printer)))
    }

    /// Makes the calls that the script awaits, and returns all answers in the order of the calls, so that a replay takes the same
    /// way.
    fn resolve(&mut self, futures: ResolveFutures) -> Next {
        let pending = futures.pending_call_ids().to_vec();
        let (awaited, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(id, _)| pending.contains(id));
        self.waiting = rest;
        let (ids, calls): (Vec<u32>, Vec<Call>) = awaited.into_iter().unzip();
        let answers = self.ask(calls)?;
        let results = ids.into_iter().zip(answers.into_iter().map(result)).collect();
        Some(futures.resume(results, PrintWriter::Callback(&mut self.printer)))
    }

    /// Waits for the answers to calls; `None` if its call has ended.
    fn ask(&mut self, calls: Vec<Call>) -> Option<Vec<Answer>> {
        self.steps.send(Step::Calls(calls)).ok()?;
        let answers = self.answers.recv().ok()?;
        self.printer.begin();
        Some(answers)
    }

    /// Refuses what reaches the outside without a tool.
    fn refuse(&mut self, call: OsCall) -> Result<RunProgress, MontyException> {
        let refusal = MontyException::new(ExcType::PermissionError, Some(OUTSIDE.to_owned()));
        call.resume(refusal, PrintWriter::Callback(&mut self.printer))
    }
}

fn result(answer: Answer) -> ExtFunctionResult {
    match answer {
        Answer::Value(value) => to_python(value).into(),
        Answer::Exception(kind, message) => MontyException::new(kind, Some(message)).into(),
    }
}

/// Makes one object of the arguments: positional ones have the names of the stub.
pub(super) fn bind(
    function: &str,
    callee: &ScriptCallee,
    positional: Vec<MontyObject>,
    keywords: Vec<(MontyObject, MontyObject)>,
) -> Result<Value, String> {
    let mut bound = Map::new();
    if !positional.is_empty() {
        let names = positions(&callee.parameters);
        if positional.len() > names.len() {
            return Err(format!("{function}() takes {} arguments, not {}", names.len(), positional.len()));
        }
        for (name, value) in names.into_iter().zip(positional) {
            bound.insert(name.to_owned(), to_json(value, &format!("the argument `{name}` of {function}()"))?);
        }
    }
    for (name, value) in keywords {
        let MontyObject::String(name) = name else {
            return Err(format!("{function}(): names of arguments are strings"));
        };
        let value = to_json(value, &format!("the argument `{name}` of {function}()"))?;
        if bound.insert(name.clone(), value).is_some() {
            return Err(format!("{function}() got the argument `{name}` twice"));
        }
    }
    Ok(Value::Object(bound))
}
