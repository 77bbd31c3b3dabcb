//! Caches the JSON of messages and tools that models have sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::error::ProviderError;
use crate::message::Message;
use crate::model::ToolSpec;
use crate::sent_history::Outline;

/// The maximum number of models whose JSON is cached; a further model replaces the oldest.
const MAX_MODELS: usize = 4;

/// A value of a request.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Json<T> {
    New(T),
    /// The JSON that was written for an earlier request.
    Written(Arc<RawValue>),
}

/// The cached JSON of one conversation.
#[derive(Debug, Default)]
pub(super) struct WrittenJson(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    models: Vec<ModelJson>,
    /// The outline of the messages sent so far; shared with the request that is being written.
    outline: Arc<Outline>,
}

/// The cached JSON of one model.
#[derive(Debug)]
struct ModelJson {
    /// The name of the model; two models that were built separately never share the allocation.
    model: Arc<str>,
    messages: Vec<Option<MessageJson>>,
    tools: Vec<ToolJson>,
    /// The deferred tools that the messages' JSON depends on.
    deferred: Vec<ToolSpec>,
}

/// The JSON values of one message.
#[derive(Debug)]
struct MessageJson {
    form: bool,
    values: Box<[Arc<RawValue>]>,
}

#[derive(Debug)]
struct ToolJson {
    form: u8,
    /// Kept alive, so that the addresses of its parts are not reused.
    spec: ToolSpec,
    value: Arc<RawValue>,
}

/// Writes the messages and the tools of a request, from the cache if possible.
///
/// Without a transcript, nothing is cached.
#[derive(Debug, Default)]
pub(crate) struct JsonWriter<'a> {
    /// The last entry is that of the model that writes.
    kept: Option<MutexGuard<'a, Kept>>,
}

impl ModelJson {
    fn new(model: Arc<str>) -> Self {
        Self { model, messages: Vec::new(), tools: Vec::new(), deferred: Vec::new() }
    }
}

impl WrittenJson {
    /// Drops the JSON of all messages except the first `kept`.
    pub(super) fn truncate(&mut self, kept: usize) {
        let Kept { models, outline } = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for json in models {
            json.messages.truncate(kept);
        }
        Arc::make_mut(outline).truncate(kept);
    }

    pub(super) fn writer(&self, model: &Arc<str>) -> JsonWriter<'_> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let models = &mut kept.models;
        let json = match models.iter().position(|json| Arc::ptr_eq(&json.model, model)) {
            Some(place) => models.remove(place),
            None => ModelJson::new(Arc::clone(model)),
        };
        if models.len() >= MAX_MODELS {
            models.remove(0);
        }
        models.push(json);
        JsonWriter { kept: Some(kept) }
    }

    /// Returns the size of the JSON of all models, in bytes.
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        let models = &self.0.lock().unwrap().models;
        let messages = models.iter().flat_map(|json| json.messages.iter().flatten().flat_map(|json| &json.values));
        let tools = models.iter().flat_map(|json| json.tools.iter().map(|tool| &tool.value));
        messages.chain(tools).map(|value| value.get().len()).sum()
    }
}

impl JsonWriter<'_> {
    /// Returns the outline of `messages`; reads only those that were not sent before.
    pub(crate) fn outline(&mut self, messages: &[Message]) -> Arc<Outline> {
        let Some(kept) = &mut self.kept else { return Arc::new(Outline::from_messages(messages)) };
        if !kept.outline.has_read(messages.len()) {
            Arc::make_mut(&mut kept.outline).read(messages);
        }
        Arc::clone(&kept.outline)
    }

    /// Adds the JSON of the message at `place` to `values`; `form` distinguishes two forms of a message. Without a
    /// place, the JSON is not cached.
    ///
    /// # Errors
    ///
    /// Returns the error of `convert`.
    pub(crate) fn message<T: Serialize>(
        &mut self,
        place: impl Into<Option<usize>>,
        form: bool,
        values: &mut Vec<Json<T>>,
        convert: impl FnOnce() -> Result<Vec<T>, ProviderError>,
    ) -> Result<(), ProviderError> {
        let (Some(json), Some(place)) = (self.json(), place.into()) else {
            values.extend(convert()?.into_iter().map(Json::New));
            return Ok(());
        };
        let known = json.messages.get(place).and_then(Option::as_ref).filter(|known| known.form == form);
        if let Some(known) = known {
            values.extend(known.values.iter().map(Arc::clone).map(Json::Written));
            return Ok(());
        }
        let new = convert()?;
        // Writing the whole request reports this error.
        let Ok(written) = new.iter().map(write).collect::<serde_json::Result<Box<[_]>>>() else {
            values.extend(new.into_iter().map(Json::New));
            return Ok(());
        };
        values.extend(written.iter().map(Arc::clone).map(Json::Written));
        if json.messages.len() <= place {
            json.messages.resize_with(place + 1, || None);
        }
        json.messages[place] = Some(MessageJson { form, values: written });
        Ok(())
    }

    /// Sets the deferred tools on which the JSON of messages depends: if they change, all messages are written again.
    #[cfg_attr(not(feature = "openai"), allow(dead_code, reason = "the Responses API has such messages"))]
    pub(crate) fn set_deferred(&mut self, tools: &[ToolSpec]) {
        let Some(json) = self.json() else { return };
        let is_same = json.deferred.len() == tools.len() && json.deferred.iter().zip(tools).all(|(a, b)| is_same(a, b));
        if !is_same {
            json.messages.clear();
            json.deferred = tools.to_vec();
        }
    }

    /// Returns the JSON of the tool `spec`, which is at `place` among the tools of the request; `form` distinguishes
    /// forms of a tool.
    ///
    /// # Errors
    ///
    /// Returns the error of `convert`.
    pub(crate) fn tool<T: Serialize>(
        &mut self,
        place: usize,
        form: u8,
        spec: &ToolSpec,
        convert: impl FnOnce() -> Result<T, ProviderError>,
    ) -> Result<Json<T>, ProviderError> {
        let Some(json) = self.json() else { return convert().map(Json::New) };
        if let Some(known) = json.tools.get(place).filter(|known| known.form == form && is_same(&known.spec, spec)) {
            return Ok(Json::Written(Arc::clone(&known.value)));
        }
        let new = convert()?;
        let Ok(value) = write(&new) else { return Ok(Json::New(new)) };
        let tool = ToolJson { form, spec: spec.clone(), value: Arc::clone(&value) };
        // All tools after the first changed one have probably changed too.
        if place <= json.tools.len() {
            json.tools.truncate(place);
            json.tools.push(tool);
        }
        Ok(Json::Written(value))
    }

    fn json(&mut self) -> Option<&mut ModelJson> {
        self.kept.as_mut()?.models.last_mut()
    }
}

fn write(value: &impl Serialize) -> serde_json::Result<Arc<RawValue>> {
    to_raw_value(value).map(Arc::from)
}

/// Whether two tools share all allocations.
fn is_same(one: &ToolSpec, other: &ToolSpec) -> bool {
    Arc::ptr_eq(&one.name, &other.name)
        && Arc::ptr_eq(&one.description, &other.description)
        && Arc::ptr_eq(&one.parameters, &other.parameters)
}
