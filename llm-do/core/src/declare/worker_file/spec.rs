//! Converts between the keys of a worker file and a `WorkerSpec`.

use std::time::Duration;

use llm_do_bounds::Guarantee;
use llm_do_providers::{Money, ServerSideTool, WebSearch};
use llm_do_worker_file::{self as file, Entry, InputModel, Located, WorkerFile, tool_name};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{ReadWorker, json as value_of};
use crate::base::usage::seconds;
use crate::declare::tool::Effect;
use crate::declare::worker_spec::{OutputMode, WorkerSpec};

/// The default confidence of a guarantee.
const CONFIDENCE: f64 = 0.95;

/// Converts a worker file that has no faults.
pub(super) fn from_file(file: WorkerFile) -> ReadWorker {
    let WorkerFile { keys, instructions, .. } = file;
    let tools = keys.tools().map(|tool| (tool_name(&tool.value).to_owned(), tool.place.line)).collect();
    let unread_class = keys.unread_class();
    let unread_class = unread_class.map(|Located { place, value }| Located { place, value: value.to_owned() });
    let mut spec = WorkerSpec::new("", instructions.map(|text| text.value).unwrap_or_default());
    let mut skills = None;
    let mut context = None;
    let mut servers = Vec::new();
    for Entry { name, place, value } in keys.entries {
        match value {
            file::Value::Skills(value) => skills = Some(value),
            file::Value::Context(value) => context = Some(Located { place, value }),
            file::Value::McpServers(value) => servers = value,
            value => set(&mut spec, name, value),
        }
    }
    ReadWorker { spec, tools, skills, context, servers, unread_class }
}

/// Sets a key of a file. [`keys`] is the inverse.
fn set(spec: &mut WorkerSpec, name: &str, value: file::Value) {
    match (name, value) {
        ("name", file::Value::Text(name)) => spec.name = name,
        ("description", file::Value::Text(text)) => spec.description = text,
        ("model", file::Value::Text(name)) => spec.model = Some(name),
        ("compatible_models", file::Value::Texts(globs)) => spec.compatible_models = texts(globs),
        // Tools and toolsets share one namespace.
        ("tools" | "toolsets", file::Value::Texts(names)) => {
            spec.toolsets.extend(names.iter().map(|tool| tool_name(&tool.value).to_owned()));
        }
        ("code", file::Value::Flag(code)) => spec.code = code,
        ("server_side_tools", file::Value::ServerSideTools(tools)) => {
            spec.server_side_tools = tools.into_iter().map(|tool| server_side_tool(tool.value)).collect();
        }
        ("effect", file::Value::Effect(word)) => spec.effect = effect(word),
        ("effect_reason", file::Value::Text(reason)) => spec.effect_reason = Some(reason),
        ("hints", file::Value::Texts(hints)) => spec.hints = texts(hints),
        ("settings", file::Value::Settings(settings)) => spec.settings = decoded(settings, in_seconds),
        ("output", file::Value::Output(mode)) => spec.mode = self::mode(mode),
        ("max_turns", file::Value::Count(turns)) => spec.max_turns = small(turns),
        ("retries", file::Value::Count(retries)) => spec.retries = small(retries),
        ("limits", file::Value::Limits(limits)) => spec.limits = Some(decoded(limits, in_words)),
        ("max_result", file::Value::Count(bytes)) => spec.max_result = Some(bytes),
        ("attachments", file::Value::Attachments(policy)) => spec.attachments = decoded(policy, in_words),
        ("background", file::Value::Flag(background)) => spec.background = background,
        ("timeout", file::Value::Duration(timeout)) => spec.timeout = Some(timeout),
        ("input_schema", file::Value::Json(schema)) => spec.input_schema = Some(value_of(schema)),
        ("input_model_ref", file::Value::InputModel(InputModel::Item(name))) => spec.input_of = Some(name),
        ("input_model_ref", file::Value::InputModel(InputModel::Python(_))) => {}
        ("output_schema", file::Value::Json(schema)) => spec.output_schema = Some(value_of(schema)),
        ("hybrid", file::Value::Text(tool)) => spec.hybrid = Some(tool),
        ("guarantee", file::Value::Guarantee(keys)) => spec.guarantee = guarantee(keys),
        ("shadow", file::Value::Shadow(keys)) => spec.shadow = shadow(keys),
        ("refine", file::Value::Refine(keys)) => spec.refine = refine(keys),
        (name, value) => unreachable!("the reader has no key `{name}` with the value {value:?}"),
    }
}

/// Returns the keys of a spec, without those that have the default value.
pub(super) fn keys(spec: &WorkerSpec) -> Vec<(&'static str, Value)> {
    let default = WorkerSpec::new("", "");
    let tools: Value = spec.server_side_tools.iter().map(written_tool).collect();
    let keys = [
        ("name", Some(json!(spec.name))),
        ("description", Some(json!(spec.description)).filter(|_| !spec.description.trim().is_empty())),
        ("model", spec.model.as_ref().map(|model| json!(model))),
        ("compatible_models", some(&spec.compatible_models)),
        ("toolsets", some(&spec.toolsets)),
        ("code", Some(json!(true)).filter(|_| spec.code)),
        ("server_side_tools", Some(tools).filter(|_| !spec.server_side_tools.is_empty())),
        ("effect", Some(json!(spec.effect)).filter(|_| spec.effect != Effect::Undeclared)),
        ("effect_reason", spec.effect_reason.as_ref().map(|reason| json!(reason))),
        ("hints", some(&spec.hints)),
        ("settings", settings(spec)),
        ("output", Some(json!(spec.mode.word())).filter(|_| spec.mode != OutputMode::Auto)),
        ("max_turns", Some(json!(spec.max_turns)).filter(|_| spec.max_turns != default.max_turns)),
        ("retries", Some(json!(spec.retries)).filter(|_| spec.retries != default.retries)),
        ("limits", spec.limits.as_ref().map(|limits| json!(limits))),
        ("max_result", spec.max_result.map(|bytes| json!(bytes))),
        ("attachments", Some(json!(spec.attachments)).filter(|_| spec.attachments != default.attachments)),
        ("background", Some(json!(true)).filter(|_| spec.background)),
        ("timeout", spec.timeout.map(in_words)),
        ("input_schema", spec.input_schema.clone()),
        ("input_model_ref", spec.input_of.as_ref().map(|name| json!(name))),
        ("output_schema", spec.output_schema.clone()),
        ("hybrid", spec.hybrid.as_ref().map(|tool| json!(tool))),
        ("guarantee", spec.guarantee.map(|guarantee| json!(guarantee))),
        ("shadow", spec.shadow.as_ref().map(|(tool, every)| json!({ "with": tool, "every": every }))),
        (
            "refine",
            spec.refine
                .as_ref()
                .map(|(evaluator, at_most, accept)| json!({ "with": evaluator, "at_most": at_most, "accept": accept })),
        ),
    ];
    keys.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// Converts the keys of a guarantee; `None` if a number has a fault.
fn guarantee(keys: Vec<Entry>) -> Option<Guarantee> {
    let (mut disagreement, mut confidence) = (None, CONFIDENCE);
    for Entry { name, value, .. } in keys {
        match (name, value) {
            ("disagreement", file::Value::Number(share)) => disagreement = Some(share),
            ("confidence", file::Value::Number(share)) => confidence = share,
            (name, value) => unreachable!("the reader has no key `{name}` of a guarantee with the value {value:?}"),
        }
    }
    Guarantee::new(disagreement?, confidence).ok()
}

/// Converts the keys of a shadow; `None` if its tool has a fault.
fn shadow(keys: Vec<Entry>) -> Option<(String, u64)> {
    let (mut with, mut every) = (None, 1);
    for Entry { value, .. } in keys {
        match value {
            file::Value::Text(tool) => with = Some(tool),
            file::Value::Count(count) => every = count,
            value => unreachable!("the reader has no such value of a shadow: {value:?}"),
        }
    }
    Some((with?, every))
}

/// Converts the keys of `refine`; `None` if its evaluator has a fault.
fn refine(keys: Vec<Entry>) -> Option<(String, u32, f64)> {
    let (mut with, mut at_most, mut accept) = (None, file::DEFAULT_RESULTS, 1.0);
    for Entry { value, .. } in keys {
        match value {
            file::Value::Text(evaluator) => with = Some(evaluator),
            file::Value::Count(count) => at_most = small(count),
            file::Value::Number(score) => accept = score,
            value => unreachable!("the reader has no such value of `refine`: {value:?}"),
        }
    }
    Some((with?, at_most, accept))
}

/// Returns a duration as limits are serialized.
fn in_words(time: Duration) -> Value {
    #[derive(Serialize)]
    #[serde(transparent)]
    struct Time(#[serde(with = "seconds")] Option<Duration>);
    json!(Time(Some(time)))
}

/// Returns a duration in the form in which settings are serialized. A number of seconds near `Duration::MAX` would be
/// rounded up beyond it.
fn in_seconds(time: Duration) -> Value {
    json!(time.min(Duration::from_secs(u64::MAX >> 1)).as_secs_f64())
}

fn some(texts: &[String]) -> Option<Value> {
    (!texts.is_empty()).then(|| json!(texts))
}

/// Returns an item of the list: the name of the tool, or a map if the tool has settings.
fn written_tool(tool: &ServerSideTool) -> Value {
    let ServerSideTool::WebSearch(search) = tool else { return json!(tool.name()) };
    let settings = [
        ("max_uses", search.max_uses.map(|uses| json!(uses))),
        ("allowed_domains", search.allowed_domains.as_ref().map(|domains| json!(domains))),
        ("blocked_domains", search.blocked_domains.as_ref().map(|domains| json!(domains))),
    ];
    let mut map = Map::from_iter([("tool_type".to_owned(), json!(tool.name()))]);
    map.extend(settings.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    if map.len() == 1 { json!(tool.name()) } else { Value::Object(map) }
}

/// Returns the settings that are set.
fn settings(spec: &WorkerSpec) -> Option<Value> {
    let mut settings = json!(spec.settings);
    let set = settings.as_object_mut()?;
    set.retain(|_, value| !value.is_null() && *value != json!([]) && *value != json!({}));
    (!set.is_empty()).then_some(settings)
}

fn texts(texts: Vec<Located<String>>) -> Vec<String> {
    texts.into_iter().map(|text| text.value).collect()
}

/// Converts a number that the reader has limited.
fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Decodes a word that the reader has checked.
fn effect(word: &str) -> Effect {
    serde_json::from_value(json!(word)).expect("the reader knows the words of effects")
}

fn mode(mode: file::OutputMode) -> OutputMode {
    match mode {
        file::OutputMode::Auto => OutputMode::Auto,
        file::OutputMode::Native => OutputMode::Native,
        file::OutputMode::Tool => OutputMode::Tool,
        file::OutputMode::Prompted => OutputMode::Prompted,
    }
}

fn server_side_tool(tool: file::ServerSideTool) -> ServerSideTool {
    match tool.kind {
        file::ServerSideKind::WebSearch => web_search(tool.settings).into(),
        file::ServerSideKind::WebFetch => ServerSideTool::WebFetch,
        file::ServerSideKind::CodeExecution => ServerSideTool::CodeExecution,
        file::ServerSideKind::ImageGeneration => ServerSideTool::ImageGeneration,
        file::ServerSideKind::ProgrammaticToolCalling => ServerSideTool::ProgrammaticToolCalling,
    }
}

fn web_search(settings: Vec<Entry>) -> WebSearch {
    let mut search = WebSearch::new();
    for Entry { name, value, .. } in settings {
        match (name, value) {
            ("max_uses", file::Value::Count(uses)) => search.max_uses = Some(small(uses)),
            ("allowed_domains", file::Value::Texts(domains)) => search.allowed_domains = Some(texts(domains)),
            ("blocked_domains", file::Value::Texts(domains)) => search.blocked_domains = Some(texts(domains)),
            (name, value) => unreachable!("the reader has no key `{name}` with the value {value:?}"),
        }
    }
    search
}

/// Decodes settings, limits or a policy: their fields have the names of the keys, which a test checks.
fn decoded<T: DeserializeOwned>(entries: Vec<Entry>, duration: fn(Duration) -> Value) -> T {
    let field = |Entry { name, value, .. }: Entry| {
        let value = match value {
            file::Value::Flag(flag) => json!(flag),
            file::Value::Count(count) => json!(count),
            file::Value::Number(number) => json!(number),
            file::Value::Text(text) => json!(text),
            file::Value::Texts(list) => json!(texts(list)),
            file::Value::Thinking(level) => json!(level),
            file::Value::Duration(time) => duration(time),
            file::Value::Amount(picodollars) => json!(Money::from_picodollars(picodollars)),
            file::Value::Json(node) => value_of(node),
            value => unreachable!("no setting or limit `{name}` has the value {value:?}"),
        };
        (name.to_owned(), value)
    };
    serde_json::from_value(Value::Object(entries.into_iter().map(field).collect())).expect("each key is a field")
}
