//! Renders the arguments of a worker as the prompt of its model.

use std::future::Future;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use serde_json::Value;

use super::{Decoded, decode};
use crate::base::error::{BoxError, CallError, Fault};
use crate::declare::argument::{self, Given};
use crate::declare::prompt::Prompt;
use crate::declare::schema::{CheckedSchema, follow};
use crate::declare::tool::Tool;
use crate::plane::context::CallContext;

/// A worker whose body renders its prompt; implemented by `#[worker]`.
#[doc(hidden)]
pub trait Renders: Tool {
    /// Starts to render the prompt.
    fn render(self, ctx: &CallContext) -> Rendering;
}

/// A prompt that is being rendered.
#[doc(hidden)]
pub struct Rendering(BoxFuture<'static, Result<Prompt, CallError>>);

#[doc(hidden)]
impl Rendering {
    /// Waits for the body of `worker`.
    pub fn of(worker: &'static str, body: impl Future<Output = Result<Prompt, BoxError>> + Send + 'static) -> Self {
        let fail = move |source| CallError::failed(worker, source);
        Self(body.map(move |prompt| prompt.map_err(fail)).boxed())
    }

    /// Fails without running anything.
    #[must_use]
    pub fn failed(error: CallError) -> Self {
        Self(ready(Err(error)).boxed())
    }

    pub(crate) async fn prompt(self) -> Result<Prompt, CallError> {
        self.0.await
    }
}

impl std::fmt::Debug for Rendering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rendering").finish_non_exhaustive()
    }
}

/// A worker with its arguments, ready to render its prompt.
pub(crate) type RenderPrompt = Box<dyn FnOnce(&CallContext) -> Rendering + Send>;

/// Decodes a worker's arguments, which have this schema, and encodes them again with defaults filled in.
pub(crate) type DecodeForPrompt = fn(Given, &CheckedSchema) -> Result<(RenderPrompt, Value), Fault>;

/// Decodes the arguments of a worker with a body.
pub(super) fn by_body<T: Renders>(given: Given, schema: &CheckedSchema) -> Result<(RenderPrompt, Value), Fault> {
    let order = given.order(schema);
    let Decoded { arguments, attached, .. } = decode::<T>(given.value)?;
    let written = ordered(argument::write(&arguments)?, order.as_ref(), schema);
    let render = move |ctx: &CallContext| {
        ctx.attach(attached);
        arguments.render(ctx)
    };
    Ok((Box::new(render), written))
}

/// Decodes the arguments of a worker without a body, whose prompt is its arguments.
pub(super) fn by_arguments<T: Tool>(given: Given, schema: &CheckedSchema) -> Result<(RenderPrompt, Value), Fault> {
    let order = given.order(schema);
    let written = ordered(argument::write(&decode::<T>(given.value)?.arguments)?, order.as_ref(), schema);
    let prompt = default_prompt(&written, argument::is_prompt::<T>())?;
    Ok((Box::new(move |_| Rendering(ready(Ok(prompt)).boxed())), written))
}

/// Accepts the arguments of a worker with an input schema instead of a Rust type.
pub(crate) fn by_json(given: Given, _: &CheckedSchema) -> Result<(RenderPrompt, Value), Fault> {
    let arguments = given.value;
    let prompt = default_prompt(&arguments, false)?;
    Ok((Box::new(move |_| Rendering(ready(Ok(prompt)).boxed())), arguments))
}

/// Accepts the arguments of a worker that takes a prompt.
pub(crate) fn by_prompt(given: Given, _: &CheckedSchema) -> Result<(RenderPrompt, Value), Fault> {
    let arguments = given.value;
    let prompt = default_prompt(&arguments, true)?;
    Ok((Box::new(move |_| Rendering(ready(Ok(prompt)).boxed())), arguments))
}

/// Returns arguments that were serialized again, in the order in which they were given, or else in their normal form.
fn ordered(written: Value, given: Option<&Value>, schema: &CheckedSchema) -> Value {
    let mut sorted = schema.canonical(written);
    if let Some(given) = given.filter(|_| schema.is_unordered()) {
        follow(&mut sorted, given, &schema.canonical(given.clone()));
    }
    sorted
}

/// Renders arguments: a [`Prompt`] or a single text named `input` is the prompt itself; all other arguments become
/// JSON.
fn default_prompt(arguments: &Value, is_prompt: bool) -> Result<Prompt, Fault> {
    if is_prompt {
        return serde_json::from_value(arguments.clone()).map_err(|error| Fault::reading(&error));
    }
    let text = match arguments {
        Value::Object(fields) if fields.is_empty() => String::new(),
        Value::Object(fields) if fields.len() == 1 => match fields.get("input") {
            Some(Value::String(text)) => text.clone(),
            _ => format!("{arguments:#}"),
        },
        other => format!("{other:#}"),
    };
    Ok(Prompt::new(text))
}
