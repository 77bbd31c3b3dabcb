//! Runs a compiled script on a separate thread, step by step: it waits for each call that it makes.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use monty::{FunctionCall, MontyRun, ResolveFutures, RunProgress};
use monty_types::{MontyException, MontyObject, PrintWriter, ResourceTracker};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::calls::{Call, CallAnswer, Disposition, MadeCalls, RawCall, refusal};
use super::limits::{self, STACK};
use super::names::Callees;
use super::printer::Printer;
use super::values::{to_json, to_python};

/// A step of a script.
#[derive(Debug)]
pub(super) enum Step {
    /// The script printed a line.
    Printed(String),
    /// The script makes these calls, and waits for all of their answers.
    Calls(Vec<Call>),
    /// The script has ended, with its result or an exception.
    Ended(Result<Value, Ending>),
}

/// Why a script ended without a result.
#[derive(Debug)]
pub(super) enum Ending {
    Exception(MontyException),
    /// The script broke a rule.
    Fault(String),
}

/// A handle to a running script.
pub(super) struct Running {
    pub(super) steps: UnboundedReceiver<Step>,
    pub(super) answers: Sender<Vec<CallAnswer>>,
}

/// Starts a script; dropping the handle ends it.
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
        let calls = MadeCalls::new(callees, is_async);
        let mut interpreter = Interpreter { steps: steps.clone(), answers: given, printer, calls };
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
    answers: Receiver<Vec<CallAnswer>>,
    printer: Printer,
    calls: MadeCalls,
}

/// The next action of the interpreter; `None` if its call has ended.
type Next = Option<Result<RunProgress, MontyException>>;

impl Interpreter {
    /// Runs the script to its end; `None` if its call has ended.
    fn run(&mut self, program: MontyRun, inputs: Vec<MontyObject>) -> Option<Result<Value, Ending>> {
        let tracker = ResourceTracker::new(limits::of_interpreter());
        let mut progress = program.start(inputs, tracker, PrintWriter::Callback(&mut self.printer));
        loop {
            progress = match progress {
                Err(exception) => return Some(Err(Ending::Exception(exception))),
                Ok(RunProgress::Complete(value)) => {
                    let result = self.calls.check_awaited().and_then(|()| to_json(value, "the result"));
                    return Some(result.map_err(Ending::Fault));
                }
                Ok(RunProgress::FunctionCall(call)) => self.call(call)?,
                Ok(RunProgress::ResolveFutures(waiting)) => self.resolve(waiting)?,
                Ok(RunProgress::OsCall(call)) => call.resume(refusal(), PrintWriter::Callback(&mut self.printer)),
                Ok(RunProgress::NameLookup(lookup)) => {
                    let found = self.calls.look_up(&lookup.name, lookup.object_id());
                    lookup.resume(found, PrintWriter::Callback(&mut self.printer))
                }
            }
        }
    }

    /// Makes a call, or queues it until the script awaits it.
    fn call(&mut self, mut call: FunctionCall) -> Next {
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
            Disposition::Abort(why) => {
                return Some(call.abort(why, PrintWriter::Callback(&mut self.printer)));
            }
        };
        Some(call.resume(result, PrintWriter::Callback(&mut self.printer)))
    }

    /// Makes the calls that the script awaits, and returns all answers in the order of the calls, so that a replay has
    /// the same order.
    fn resolve(&mut self, futures: ResolveFutures) -> Next {
        let (ids, calls) = self.calls.awaited(futures.pending_call_ids());
        let answers = self.ask(calls)?;
        let results = ids.into_iter().zip(answers.into_iter().map(Into::into)).collect();
        Some(futures.resume(results, PrintWriter::Callback(&mut self.printer)))
    }

    /// Waits for the answers to calls; `None` if its call has ended.
    fn ask(&mut self, calls: Vec<Call>) -> Option<Vec<CallAnswer>> {
        self.steps.send(Step::Calls(calls)).ok()?;
        let answers = self.answers.recv().ok()?;
        self.printer.begin();
        Some(answers)
    }
}
