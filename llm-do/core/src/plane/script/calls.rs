//! The calls of code: bound to the names of arguments, queued until they are awaited, and made as calls of the plane.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use monty_types::{ExcType, ExtFunctionResult, MontyException, MontyObject, MontyUuid, NameLookupResult};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::exception::{Raised, raised};
use super::limits::{MAX_ARGUMENTS, MAX_CALLS};
use super::names::{Callees, ScriptCallee};
use super::stubs::positions;
use super::values::{to_json, to_python};
use crate::base::error::CallError;
use crate::plane::context::CallContext;

/// The error of code that accesses the outside without a tool.
const OUTSIDE: &str = "scripts have no clock, files, environment or network; call a tool that has them";

/// A call that code makes.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) shown: Arc<str>,
    pub(super) arguments: Value,
    pub(super) is_read_only: bool,
}

/// The answer to a call.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallAnswer {
    Value(Value),
    Exception(ExcType, String),
}

impl From<CallAnswer> for ExtFunctionResult {
    fn from(answer: CallAnswer) -> Self {
        match answer {
            CallAnswer::Value(value) => to_python(value).into(),
            CallAnswer::Exception(kind, message) => MontyException::new(kind, Some(message)).into(),
        }
    }
}

/// The calls that running code has made, and those that it has not awaited yet.
#[derive(Debug)]
pub(super) struct MadeCalls {
    callees: Arc<Callees>,
    /// Whether the code awaits its calls.
    is_async: bool,
    made: usize,
    /// The calls in the order in which the code made them.
    waiting: Vec<(u32, Call)>,
}

/// A call as the interpreter reports it.
#[derive(Debug)]
pub(super) struct RawCall {
    pub(super) function: String,
    pub(super) object: Option<MontyUuid>,
    pub(super) id: u32,
    pub(super) positional: Vec<MontyObject>,
    pub(super) keywords: Vec<(MontyObject, MontyObject)>,
}

/// The next action after a call.
#[derive(Debug)]
pub(super) enum Disposition {
    /// The call is made now.
    Make(Call),
    /// The code continues with this result, such as a fault, or the future of a call.
    Continue(ExtFunctionResult),
    /// The code ends.
    Abort(MontyException),
}

impl MadeCalls {
    pub(super) fn new(callees: Arc<Callees>, is_async: bool) -> Self {
        Self { callees, is_async, made: 0, waiting: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.made == 0
    }

    /// Returns the meaning of a name that the code does not define.
    pub(super) fn look_up(&self, name: &str, object: Option<MontyUuid>) -> NameLookupResult {
        match self.callees.get(name).filter(|_| object.is_none()) {
            Some(tool) => NameLookupResult::Value(MontyObject::Function {
                name: name.to_owned(),
                docstring: Some(tool.description.clone()),
            }),
            None => NameLookupResult::Undefined,
        }
    }

    /// Adds a call, and decides how to continue.
    pub(super) fn add(&mut self, call: RawCall) -> Disposition {
        let RawCall { function, object, id, positional, keywords } = call;
        let Some(callee) = self.callees.get(&function).filter(|_| object.is_none()) else {
            return Disposition::Continue(ExtFunctionResult::NotFound(function));
        };
        self.made += 1;
        if self.made > MAX_CALLS {
            let message = format!("the script made more than {MAX_CALLS} calls");
            return Disposition::Abort(MontyException::runtime_error(message));
        }
        let bound =
            bind(&function, callee, positional, keywords).and_then(|arguments| check_size(&function, arguments));
        let call = match bound {
            Ok(arguments) => Call { shown: Arc::clone(&callee.shown), arguments, is_read_only: callee.is_read_only },
            Err(fault) => return Disposition::Continue(MontyException::new(ExcType::TypeError, Some(fault)).into()),
        };
        if !self.is_async {
            return Disposition::Make(call);
        }
        self.waiting.push((id, call));
        Disposition::Continue(ExtFunctionResult::Future(id))
    }

    /// Removes and returns the calls that the code awaits, with their ids.
    pub(super) fn awaited(&mut self, pending: &[u32]) -> (Vec<u32>, Vec<Call>) {
        let (awaited, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(id, _)| pending.contains(id));
        self.waiting = rest;
        awaited.into_iter().unzip()
    }

    /// Returns the fault of code that ends without having awaited all of its calls.
    pub(super) fn check_awaited(&self) -> Result<(), String> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = self.waiting.iter().map(|(_, call)| format!("`{}`", call.shown)).collect();
        Err(format!("the calls of {} were not awaited, so they did not run; write `await`", names.join(", ")))
    }
}

/// Returns the error for access to the outside without a tool.
pub(super) fn refusal() -> MontyException {
    MontyException::new(ExcType::PermissionError, Some(OUTSIDE.to_owned()))
}

/// Returns arguments of at most [`MAX_ARGUMENTS`] bytes.
fn check_size(function: &str, arguments: Value) -> Result<Value, String> {
    match arguments.to_string().len() {
        size if size > MAX_ARGUMENTS => {
            Err(format!("the arguments of {function}() have {size} bytes; the maximum is {MAX_ARGUMENTS}: pass less"))
        }
        _ => Ok(arguments),
    }
}

/// Builds the object of the arguments; positional arguments get the names of the stub.
fn bind(
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

/// Makes calls: adjacent read-only calls concurrently, all other calls one by one. Adds the errors that they raise in
/// the code to `errors`; returns an error that stops the code.
pub(super) async fn make(
    ctx: &CallContext,
    calls: Vec<Call>,
    errors: &mut Vec<CallError>,
) -> Result<Vec<CallAnswer>, CallError> {
    let mut answers = Vec::with_capacity(calls.len());
    let mut calls = calls.into_iter().peekable();
    while let Some(first) = calls.next() {
        let is_read_only = first.is_read_only;
        let mut group = vec![first];
        while let Some(next) = calls.next_if(|next| is_read_only && next.is_read_only) {
            group.push(next);
        }
        let calls = group.into_iter().map(|call| async move { ctx.call_tool(&call.shown, call.arguments).await });
        let calls: Vec<_> = calls.collect();
        let results: Vec<_> = stream::iter(calls).buffered(ctx.max_concurrent_calls()).collect().await;
        for result in results {
            answers.push(answer(result, errors)?);
        }
    }
    Ok(answers)
}

fn answer(result: Result<Value, CallError>, errors: &mut Vec<CallError>) -> Result<CallAnswer, CallError> {
    match result {
        Ok(value) => Ok(CallAnswer::Value(value)),
        Err(error) => match raised(&error) {
            Raised::Stop => Err(error),
            Raised::Exception(kind, message) => {
                errors.push(error);
                Ok(CallAnswer::Exception(kind, message))
            }
        },
    }
}
