//! A script that a model wrote: a separate process reads, checks and runs it, within limits of time and memory.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::Value;
use tokio::sync::Mutex;

use super::super::calls::{self, Call, CallAnswer};
use super::super::exception::{ScriptError, ended};
use super::super::linked::check_type;
use super::super::names::ScriptCallee;
use super::process::Process;
use super::protocol::{End, Reply, Request, ScriptData, ToolData};
use crate::base::error::{BoxError, CallError};
use crate::declare::schema::CheckedSchema;
use crate::plane::context::CallContext;
use crate::plane::origin::WrittenCode;

/// The maximum number of times that a limit ends the process; then the script does not run any more.
const MAX_ENDS: u32 = 2;

/// A script that runs in a process, which is restarted after a limit ended it.
#[derive(Debug)]
pub(crate) struct ScriptProcess {
    program: Option<PathBuf>,
    function: String,
    text: String,
    output: CheckedSchema,
    /// The tools that it may call, once it is linked.
    tools: OnceLock<Vec<ToolData>>,
    state: Mutex<ScriptProcessState>,
}

#[derive(Debug, Default)]
struct ScriptProcessState {
    /// `None` while a call runs, and after the process was killed.
    process: Option<Process>,
    /// The number of times that a limit ended the process.
    ends: u32,
}

impl ScriptProcess {
    /// Checks that the interpreter can be started.
    pub(crate) async fn check(program: Option<&std::path::Path>) -> Result<(), BoxError> {
        Process::start(program).await.map(drop)
    }

    /// Reads the function with this name; returns its faults, which may include an exceeded limit.
    pub(crate) async fn read(
        program: Option<PathBuf>,
        function: &str,
        text: &str,
    ) -> Result<(Self, ScriptData), Vec<String>> {
        let fault = |why: String| vec![format!("{function}.py: the script cannot be read: {why}")];
        let mut process = Process::start(program.as_deref()).await.map_err(|error| fault(error.to_string()))?;
        let script = read(&mut process, function, text).await.map_err(fault)??;
        let read = Self {
            program,
            function: function.to_owned(),
            text: text.to_owned(),
            output: CheckedSchema::new(&script.output).untrusted(),
            tools: OnceLock::new(),
            state: Mutex::new(ScriptProcessState { process: Some(process), ends: 0 }),
        };
        Ok((read, script))
    }

    /// Checks the script against the tools that it may call; returns its faults. This is done once, before its calls.
    pub(crate) async fn link(&self, tools: &[ScriptCallee]) -> Vec<String> {
        let tools = self.tools.get_or_init(|| tools.iter().map(ToolData::from).collect());
        let mut state = self.state.lock().await;
        let Some(mut process) = state.process.take() else { return Vec::new() };
        match link(&mut process, tools).await {
            Ok(faults) => {
                state.process = Some(process);
                faults
            }
            Err(why) => vec![format!("{}.py: the script cannot be checked: {why}", self.function)],
        }
    }

    /// Runs the script as the call of `ctx`.
    pub(crate) async fn run(&self, ctx: &CallContext, arguments: Value) -> Result<Value, BoxError> {
        // Calls run one at a time, in order.
        let mut state = self.state.lock().await;
        if state.ends >= MAX_ENDS {
            let text = format!("the script did not run, since it was ended {MAX_ENDS} times before");
            return Err(ScriptError::new(text).into());
        }
        let mut process = match state.process.take() {
            Some(process) => process,
            None => self.start().await?,
        };
        if ctx.has_flow() {
            // A model wrote it, perhaps from what anyone wrote.
            ctx.origin_notes().set_code(WrittenCode::of_model());
        }
        let mut made = Vec::new();
        match call(&mut process, ctx, arguments, &mut made).await {
            Ok((printed, end)) => {
                state.process = Some(process);
                printed.lines().for_each(|line| ctx.progress(line));
                self.result(end, made)
            }
            Err(Stopped::Call(error)) => Err(error.into()),
            Err(Stopped::Process(why)) => {
                state.ends += 1;
                Err(ScriptError::new(format!("the script was ended: {why}")).into())
            }
        }
    }

    /// Starts the process again.
    async fn start(&self) -> Result<Process, BoxError> {
        let mut process = Process::start(self.program.as_deref()).await?;
        let script = read(&mut process, &self.function, &self.text).await?;
        script.map_err(|faults| faults.join("\n"))?;
        link(&mut process, self.tools.get().map(Vec::as_slice).unwrap_or_default()).await?;
        Ok(process)
    }

    fn result(&self, end: End, made: Vec<CallError>) -> Result<Value, BoxError> {
        match end {
            End::Value(value) => {
                check_type(&self.output, &value).map_err(ScriptError::new)?;
                Ok(value)
            }
            End::Raised(exception) => Err(ended(&exception, made)),
            End::Failed(text) | End::Refused(text) => Err(ScriptError::new(text).into()),
        }
    }
}

/// The reason why a script cannot continue.
enum Stopped {
    /// The error of a call ends the run.
    Call(CallError),
    Process(String),
}

const UNEXPECTED: &str = "its process wrote what nothing asked for";

async fn read(process: &mut Process, function: &str, text: &str) -> Result<Result<ScriptData, Vec<String>>, String> {
    process.send(&Request::Script { function: function.to_owned(), text: text.to_owned() }).await?;
    match process.next().await? {
        Reply::Script(script) => Ok(script),
        _ => Err(UNEXPECTED.to_owned()),
    }
}

async fn link(process: &mut Process, tools: &[ToolData]) -> Result<Vec<String>, String> {
    process.send(&Request::Link(tools.to_vec())).await?;
    match process.next().await? {
        Reply::Linked(faults) => Ok(faults),
        _ => Err(UNEXPECTED.to_owned()),
    }
}

/// Runs one call to its end, and makes the calls of the script; adds the errors that they raise to `made`.
async fn call(
    process: &mut Process,
    ctx: &CallContext,
    arguments: Value,
    made: &mut Vec<CallError>,
) -> Result<(String, End), Stopped> {
    process.send(&Request::Call(arguments)).await.map_err(Stopped::Process)?;
    loop {
        match process.next().await.map_err(Stopped::Process)? {
            Reply::Ended { printed, end } => return Ok((printed, end)),
            Reply::Calls(waiting) => {
                let answers = answers(ctx, waiting, made).await.map_err(Stopped::Call)?;
                process.send(&Request::Answers(answers)).await.map_err(Stopped::Process)?;
            }
            Reply::Literals(_) | Reply::Script(_) | Reply::Linked(_) | Reply::Types(_) => {
                return Err(Stopped::Process(UNEXPECTED.to_owned()));
            }
        }
    }
}

async fn answers(
    ctx: &CallContext,
    waiting: Vec<(std::sync::Arc<str>, Value)>,
    made: &mut Vec<CallError>,
) -> Result<Vec<CallAnswer>, CallError> {
    // All callees of the script are read-only.
    let call = |(shown, arguments)| Call { shown, arguments, is_read_only: true };
    calls::make(ctx, waiting.into_iter().map(call).collect(), made).await
}
