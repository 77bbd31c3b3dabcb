//! Notes what calls read, for those who decide about later calls.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::Run;
use super::pipeline::{Call, CallResult};
use crate::base::error::chain;
use crate::base::json::Json;
use crate::base::mutex::IgnorePoison;
use crate::declare::tool::Effect;
use crate::observe::event::{Caller, ItemKind, Label, Labels};
use crate::plane::call_summary;
use crate::plane::context::CallContext;
use crate::plane::declared::Callee;
#[cfg(feature = "script")]
use crate::plane::origin::RepeatedCall;
use crate::plane::origin::{OriginNotes, ReadResult, Reading, is_bounded};
use crate::plane::registry::{Prepared, Registered};

/// By toolset: the join of what its tools got in a run, and may return again.
#[derive(Debug, Default)]
pub(super) struct KeptLabels(Mutex<BTreeMap<Arc<str>, Labels>>);

impl KeptLabels {
    fn add(&self, toolsets: Vec<Arc<str>>, labels: Labels) {
        let mut kept = self.0.lock().ignore_poison();
        for toolset in toolsets {
            let own = kept.entry(toolset).or_default();
            *own = own.join(labels);
        }
    }

    fn of(&self, toolsets: &[Arc<str>]) -> Labels {
        let kept = self.0.lock().ignore_poison();
        toolsets.iter().filter_map(|toolset| kept.get(toolset).copied()).fold(Labels::default(), Labels::join)
    }
}

/// Notes the user's own call as the request of its run.
#[inline]
pub(super) fn note_root(call: &Call<'_>, prepared: &Prepared) {
    let ctx = call.ctx;
    if ctx.frame().by != Caller::User || !ctx.tracks_origins() {
        return;
    }
    if let Ok(arguments) = prepared.arguments() {
        let label = call.run.root_label(&call.tool, arguments.value());
        ctx.note_root(Arc::clone(arguments.shared_value()), call.run.settings.gates_root, label);
        if call.tool.is_composite() {
            ctx.origin_notes().join(Labels::public(label));
        }
    }
}

/// What is noted of a call that starts.
pub(super) struct OpenReading {
    summary: Arc<str>,
    /// The labels of its tool, and of the arguments of a call that may return them.
    labels: Labels,
}

/// Begins to note a call, if its caller notes the result.
#[inline]
pub(super) fn begin(call: &mut Call<'_>, prepared: &Prepared) {
    let ctx = call.ctx;
    if ctx.frame().by == Caller::User || !ctx.tracks_origins() {
        return;
    }
    let arguments = prepared.arguments().map_or(&Value::Null, Json::value);
    let labels = if call.run.has_flow { labels(call, arguments) } else { Labels::default() };
    if call.run.has_flow && ctx.frame().pieces().is_some() {
        note_pieces(call, labels);
    }
    call.read = Some(OpenReading { summary: call_summary::listed(ctx.name(), arguments).into(), labels });
}

/// Notes that the caller gets parts of a result before the call has finished: what it makes of them is not found in what it has read.
fn note_pieces(call: &Call<'_>, labels: Labels) {
    let has_callees = call.tool.declared().is_none_or(|mut callees| callees.next().is_some());
    if let Some(caller) = call.ctx.caller().filter(|_| has_callees || !labels.is_default()) {
        caller.origin_notes().lose(call.run.approvals().unknown_labels());
    }
}

/// Returns whether a guard made the call, with the context of a caller that does not get the result.
fn is_of_guard(ctx: &CallContext) -> bool {
    ctx.frame().is_unguarded && !ctx.caller().is_some_and(|caller| caller.frame().is_unguarded)
}

/// Returns the labels of what a call returns, besides those of what it reads; a call that makes calls starts with those of its arguments.
fn labels(call: &Call<'_>, arguments: &Value) -> Labels {
    let (run, ctx, tool) = (call.run, call.ctx, &call.tool);
    let toolsets = run.id_toolsets(tool);
    let source = run.approvals().source_labels(tool).join(run.outermost().kept.of(&toolsets));
    let given = given_labels(call, arguments);
    if given.is_default() {
        return source;
    }
    if tool.is_composite() {
        ctx.origin_notes().join(given);
    }
    if tool.kind() == ItemKind::Tool && tool.effect() != Effect::ReadOnly && !tool.changes_by_steps_only() {
        // Its toolset may return it again, such as from a file.
        run.outermost().kept.add(toolsets, given);
    }
    source.join(given)
}

/// Returns the labels of what a call gets: its arguments, and the instructions of a worker that was made while the run runs.
fn given_labels(call: &Call<'_>, arguments: &Value) -> Labels {
    let (run, ctx, tool) = (call.run, call.ctx, &call.tool);
    let made = run.chat.created_workers.labels_of(tool);
    let made = made.map(|labels| labels.unwrap_or_else(|| run.approvals().unknown_labels())).unwrap_or_default();
    let has_read = |notes: &OriginNotes| !notes.labels().is_default() || !notes.readings_of_guards().is_empty();
    let is_worker = tool.kind() == ItemKind::Worker;
    if !(is_worker || ctx.caller_notes().is_some_and(has_read) || ctx.noted().is_some_and(has_read)) {
        return made;
    }
    let origins = ctx.origins(arguments, tool.parameters(), run.id_toolsets(tool));
    if is_worker {
        // Its model may write what its caller has written.
        origins.trusted().into_iter().for_each(|reading| ctx.origin_notes().add(reading));
    }
    if tool.is_composite() {
        // Its code may pass them on.
        origins.carried().into_iter().for_each(|reading| ctx.origin_notes().add(reading));
    }
    made.join(origins.labels()).join(instruction_labels(ctx, tool))
}

/// Notes the arguments of a call for another call with the same arguments, which has other callers.
pub(super) fn carry_over(call: &Call<'_>, arguments: &Value, to: &CallContext) {
    if !call.run.has_flow {
        return;
    }
    let origins = call.ctx.origins(arguments, call.tool.parameters(), Vec::new());
    origins.carried().into_iter().for_each(|reading| to.origin_notes().add(reading));
    to.origin_notes().join(origins.labels());
}

/// Returns the labels of the instructions of a worker that is defined for one call.
fn instruction_labels(ctx: &CallContext, tool: &Registered) -> Labels {
    let Some(plan) = tool.plan().filter(|_| tool.place.is_none()) else { return Labels::default() };
    let schema = json!({ "properties": { "instructions": {} } });
    let origins = ctx.origins(&json!({ "instructions": *plan.instructions }), &schema, Vec::new());
    origins.carried().into_iter().for_each(|reading| ctx.origin_notes().add(reading));
    origins.labels()
}

/// Notes for the caller, once, that it has read the result of a call, or its error; returns the labels of the result.
pub(super) fn finish(call: &mut Call<'_>, result: &CallResult) -> Labels {
    let Some(OpenReading { summary, labels }) = call.read.take() else { return Labels::default() };
    let (run, ctx, tool) = (call.run, call.ctx, &call.tool);
    let (content, has_files) = match result {
        Ok(returned) => (Cow::Borrowed(returned.value()), !returned.attachments.is_empty()),
        Err(error) => (Cow::Owned(chain(error).into()), false),
    };
    let own = ctx.noted().map(|notes| notes.returned().unwrap_or_else(|| notes.labels())).unwrap_or_default();
    let mut labels = labels.join(own);
    let schema = Some(tool).filter(|_| run.has_flow && result.is_ok() && !labels.is_default());
    let schema = schema.and_then(|tool| tool.known_output());
    if !has_files && is_bounded(&content, schema) {
        labels = labels.bounded();
    }
    let Some(caller) = ctx.caller() else { return labels };
    let through = ctx.noted().map(OriginNotes::through).unwrap_or_default().into();
    let (number, name) = (Some(ctx.frame().call), Arc::clone(&ctx.frame().name));
    let read = ReadResult::new(number, name, summary, through).labelled(labels);
    let mut reading = Reading::of_result(read, &content);
    if !labels.is_default() {
        reading = reading.with_schema(schema).with_ids(run.approvals().ids_of(tool));
    }
    match ctx.frame().in_background().filter(|background| background.is_of_model()) {
        // The model reads it later.
        Some(background) => background.add_reading(Arc::new(reading)),
        None if is_of_guard(ctx) => caller.origin_notes().add_of_guard(reading),
        None => caller.origin_notes().add(reading),
    }
    labels
}

impl Run {
    /// Returns the toolsets of a tool, to which ids belong; none if values have no labels.
    pub(super) fn id_toolsets(&self, tool: &Registered) -> Vec<Arc<str>> {
        if self.has_flow { self.approvals().id_toolsets(tool) } else { Vec::new() }
    }

    /// Notes again a call that the code of a model made in another process, with its result.
    #[cfg(feature = "script")]
    pub(super) fn note_repeated(&self, ctx: &CallContext, call: &RepeatedCall<'_>) {
        let name = Callee::Shown(call.shown).resolve(ctx.declared());
        let Some(tool) = name.and_then(|name| self.plane.registry.get(name)).filter(|_| self.has_flow) else { return };
        let toolsets = self.id_toolsets(tool);
        let (source, notes) = (self.approvals().source_labels(tool), ctx.origin_notes());
        let given = ctx.origins_of_code(call, tool.parameters(), toolsets).labels();
        // What a call below it has read is not known any more.
        let has_callees = tool.declared().is_none_or(|mut all| all.next().is_some());
        let is_alone = !has_callees && tool.plan().is_none_or(|plan| plan.server_side_tools.is_empty());
        let is_closed = !tool.is_composite() || tool.server().is_some() || is_alone;
        let labels = if is_closed { source.join(given) } else { call.worst };
        let schema = tool.known_output();
        let labels = if is_bounded(call.result, schema) { labels.bounded() } else { labels };
        let summary = call_summary::listed(tool.name(), call.arguments).into();
        let read = ReadResult::new(None, Arc::clone(&tool.name), summary, [].into()).labelled(labels);
        let reading = Reading::of_result(read, call.result).with_schema(schema).with_ids(self.approvals().ids_of(tool));
        notes.add(reading);
    }

    /// Returns the label of the root call's arguments.
    fn root_label(&self, tool: &Registered, arguments: &Value) -> Label {
        if !self.has_flow {
            return Label::Trusted;
        }
        let label = match self.settings.source {
            Some(label) => label,
            None if self.settings.gates_root => self.approvals().client_label(),
            None => Label::Trusted,
        };
        if is_bounded(arguments, Some(tool.parameters())) { label.min(Label::Bounded) } else { label }
    }

    /// Returns the labels of an earlier result in the conversation of a worker, or of its messages: history processors may have put what was
    /// read into a summary, and a worker's answer has no labels any more.
    pub(super) fn earlier_labels(&self, worker: &CallContext, shown: Option<&str>) -> Labels {
        if !self.has_flow {
            return Labels::default();
        }
        let approvals = self.approvals();
        let Some(shown) = shown else {
            // Code may have put what it read into the messages of a thread.
            let is_lost = !self.plane.config.processors.is_empty() || worker.frame().thread.is_some();
            return if is_lost { approvals.unknown_labels() } else { Labels::default() };
        };
        let name = Callee::Shown(shown).resolve(worker.declared());
        match name.and_then(|name| self.plane.registry.get(name)) {
            Some(tool) if tool.server().is_some() || !tool.is_composite() => approvals.source_labels(tool),
            _ => approvals.unknown_labels(),
        }
    }
}
