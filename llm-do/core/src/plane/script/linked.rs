//! A script with the tools that it may call, ready to run.

use std::sync::Arc;

use serde_json::{Value, json};

use super::checker::CheckTypes;
use super::exception::{Exception, ScriptError, ended};
use super::interpreter::{self, Ending, Step};
use super::limits::MAX_RESULT;
use super::names::{Callees, ScriptCallee};
use super::stubs::Stubs;
use super::{Script, calls, checker, nested_calls};
use crate::base::error::{BoxError, CallError};
use crate::declare::schema::CheckedSchema;
use crate::observe::journal::{StepKind, digest};
use crate::plane::context::{CallContext, JournalMethod};
use crate::plane::origin::WrittenCode;

/// The name of the step with the digest of a script.
const DIGEST: &str = "script";

/// A script that was checked against the tools that it may call.
#[derive(Debug)]
pub(crate) struct LinkedScript {
    script: Arc<Script>,
    callees: Arc<Callees>,
    output: CheckedSchema,
    digest: String,
}

impl LinkedScript {
    /// Checks a script against its tools; returns all faults. Needs a large stack.
    pub(crate) fn new(
        script: &Arc<Script>,
        tools: Vec<ScriptCallee>,
        check_types: &mut CheckTypes<'_>,
    ) -> Result<Self, Vec<String>> {
        let named = |faults: Vec<String>| -> Vec<String> {
            faults.into_iter().map(|fault| format!("{}: {fault}", script.file)).collect()
        };
        let callees = Callees::new(tools).map_err(named)?;
        let stubs = Stubs::new(&callees, script.is_async);
        let mut faults = checker::check(&script.file, &script.text, &stubs, &script.dict_classes, check_types);
        faults.extend(nested_calls::faults(&script.file, &script.text, &callees));
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            output: CheckedSchema::new(&script.output).untrusted(),
            // The version is included, since a replay must run in the same interpreter.
            digest: digest(&json!([script.text, monty_types::MONTY_VERSION])),
            callees: Arc::new(callees),
            script: Arc::clone(script),
        })
    }

    /// Runs the script as the call of `ctx`.
    pub(crate) async fn run(&self, ctx: &CallContext, arguments: Value) -> Result<Value, BoxError> {
        self.check_digest(ctx).await?;
        if ctx.has_flow() {
            ctx.origin_notes().set_code(WrittenCode::of_program(self.script.literals.iter().cloned()));
        }
        let program = self.script.program();
        let mut running =
            interpreter::start(program, vec![arguments], Arc::clone(&self.callees), self.script.is_async)?;
        // The errors that calls raised in the script; one may be the cause of its end.
        let mut made = Vec::new();
        while let Some(step) = running.steps.recv().await {
            match step {
                Step::Printed(line) => ctx.progress(line),
                Step::Calls(calls) => {
                    let answers = calls::make(ctx, calls, &mut made).await?;
                    // Without a receiver the script has ended, which the next step reports.
                    _ = running.answers.send(answers);
                }
                Step::Ended(Ok(value)) => return self.checked(value),
                Step::Ended(Err(Ending::Fault(fault))) => return Err(ScriptError::new(fault).into()),
                Step::Ended(Err(Ending::Exception(exception))) => {
                    return Err(ended(&Exception::from(&exception), made));
                }
            }
        }
        Err(ScriptError::new("the interpreter of the script panicked").into())
    }

    fn checked(&self, value: Value) -> Result<Value, BoxError> {
        check_size(&value).map_err(ScriptError::new)?;
        check_type(&self.output, &value).map_err(ScriptError::new)?;
        Ok(value)
    }

    /// Records the digest of the script; on a replay, it must be equal.
    async fn check_digest(&self, ctx: &CallContext) -> Result<(), CallError> {
        if ctx.journal().is_none() {
            return Ok(());
        }
        let own = self.digest.clone();
        let step = ctx.step(JournalMethod::Step, StepKind::Effect, DIGEST, || Value::Null, |_| async { Ok(own) });
        let recorded: String = step.await?.value;
        if recorded == self.digest {
            return Ok(());
        }
        let message = format!(
            "{} has changed since the run was recorded: its digest was {recorded}, and is now {}; restore the script, or start a \
             new run",
            self.script.file, self.digest
        );
        Err(CallError::Journal { tool: ctx.name().to_owned(), source: message.into() })
    }
}

/// Checks the size of a result.
pub(super) fn check_size(value: &Value) -> Result<(), String> {
    match value.to_string().len() {
        size if size > MAX_RESULT => {
            Err(format!("the result has {size} bytes; the maximum is {MAX_RESULT}: return less"))
        }
        _ => Ok(()),
    }
}

/// Checks a result against the type that the script declares.
pub(super) fn check_type(output: &CheckedSchema, value: &Value) -> Result<(), String> {
    let checked = output.check(value);
    checked.map_err(|fault| format!("the result does not have the type that the script declares: {fault}"))
}
