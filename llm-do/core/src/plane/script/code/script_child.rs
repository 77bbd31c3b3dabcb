//! The interpreter process of a script that a model wrote: it reads and checks the script, and runs its calls.

use std::io::{StdinLock, StdoutLock};
use std::sync::Arc;

use serde_json::Value;

use super::super::calls::{Call, CallAnswer};
use super::super::checker::in_process;
use super::super::exception::Exception;
use super::super::interpreter::{self, Ending, Step};
use super::super::linked::check_size;
use super::super::names::{Callees, ScriptCallee};
use super::super::{LinkedScript, Script};
use super::child::{read, write};
use super::protocol::{End, Reply, Request, ScriptData, ToolData};

/// Reads a script, and runs its calls until the parent process has ended.
pub(super) fn run(input: StdinLock<'static>, output: StdoutLock<'static>, function: &str, text: &str) -> Option<()> {
    let mut process = ScriptChild { input, output };
    let script = match Script::read(&format!("{function}.py"), function, text) {
        Ok(script) => Arc::new(script),
        Err(faults) => return process.reply(&Reply::Script(Err(faults))),
    };
    process.reply(&Reply::Script(Ok(ScriptData::from(&*script))))?;
    let Request::Link(tools) = read(&mut process.input)? else { return None };
    let faults = faults(&script, tools.clone());
    process.reply(&Reply::Linked(faults))?;
    let callees = Arc::new(Callees::new(tools.into_iter().map(ScriptCallee::from).collect()).ok()?);
    loop {
        let Request::Call(arguments) = read(&mut process.input)? else { return None };
        process.call(&script, &callees, arguments)?;
    }
}

fn faults(script: &Arc<Script>, tools: Vec<ToolData>) -> Vec<String> {
    let tools = tools.into_iter().map(ScriptCallee::from).collect();
    LinkedScript::new(script, tools, &mut in_process).err().unwrap_or_default()
}

struct ScriptChild {
    input: StdinLock<'static>,
    output: StdoutLock<'static>,
}

impl ScriptChild {
    /// Runs the script for one call; `None` if the parent process has ended.
    fn call(&mut self, script: &Script, callees: &Arc<Callees>, arguments: Value) -> Option<()> {
        let running = interpreter::start(script.program(), vec![arguments], Arc::clone(callees), script.is_async);
        let mut running = match running {
            Ok(running) => running,
            Err(error) => return self.end(String::new(), End::Failed(error.to_string())),
        };
        let mut printed = String::new();
        while let Some(step) = running.steps.blocking_recv() {
            match step {
                Step::Printed(line) => printed.extend([&*line, "\n"]),
                Step::Calls(calls) => {
                    let answers = self.ask(calls)?;
                    // Without a receiver the script has ended, which the next step reports.
                    _ = running.answers.send(answers);
                }
                Step::Ended(ended) => return self.end(printed, end_of(ended)),
            }
        }
        self.end(printed, End::Failed("the interpreter of the script panicked".to_owned()))
    }

    fn ask(&mut self, calls: Vec<Call>) -> Option<Vec<CallAnswer>> {
        self.reply(&Reply::Calls(calls.into_iter().map(|call| (call.shown, call.arguments)).collect()))?;
        match read(&mut self.input)? {
            Request::Answers(answers) => Some(answers),
            _ => None,
        }
    }

    fn end(&mut self, printed: String, end: End) -> Option<()> {
        self.reply(&Reply::Ended { printed, end })
    }

    fn reply(&mut self, reply: &Reply) -> Option<()> {
        write(&mut self.output, reply)
    }
}

fn end_of(ended: Result<Value, Ending>) -> End {
    match ended {
        Ok(value) => check_size(&value).map_or_else(End::Failed, |()| End::Value(value)),
        Err(Ending::Fault(fault)) => End::Failed(fault),
        Err(Ending::Exception(exception)) => End::Raised(Exception::from(&exception)),
    }
}
