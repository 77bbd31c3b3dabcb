//! The keys of the front matter, put into a spec.

use std::time::Duration;

use llm_do_providers::{Settings, is_model_name};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::value::Key;
use super::yaml::Entry;
use super::{Fault, server_side};
use crate::base::usage::{Limits, seconds};
use crate::declare::worker_spec::{OutputMode, WorkerSpec};

pub(super) const KEYS: [&str; 16] = [
    "name",
    "description",
    "model",
    "compatible_models",
    "tools",
    "toolsets",
    "server_side_tools",
    "hints",
    "settings",
    "output",
    "max_turns",
    "retries",
    "limits",
    "timeout",
    "input_schema",
    "output_schema",
];
const SETTINGS: [&str; 13] = [
    "temperature",
    "top_p",
    "max_tokens",
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "thinking",
    "parallel_tool_calls",
    "cache_prompt",
    "service_tier",
    "timeout",
    "extra_body",
];
const LIMITS: [&str; 10] = [
    "requests",
    "tool_calls",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "total_tokens",
    "cost",
    "allow_unpriced",
    "wall_time",
];
const MODES: [OutputMode; 4] = [OutputMode::Auto, OutputMode::Native, OutputMode::Tool, OutputMode::Prompted];

#[derive(Deserialize)]
#[serde(transparent)]
struct Time(#[serde(with = "seconds")] Option<Duration>);

/// Reads the keys; what is at fault is noted and left out.
pub(super) fn read(entries: Vec<Entry>, instructions: String, faults: &mut Vec<Fault>) -> WorkerSpec {
    let mut spec = WorkerSpec::new(String::new(), instructions);
    for Entry { line, name, value } in entries {
        fill(&mut spec, &mut Key { name: &name, line, faults }, value);
    }
    spec
}

fn fill(spec: &mut WorkerSpec, key: &mut Key<'_>, value: Value) {
    match key.name {
        "name" => spec.name = key.text(value).unwrap_or_default(),
        "description" => spec.description = key.text(value).unwrap_or_default(),
        "model" => spec.model = model(value, key),
        "compatible_models" => spec.compatible_models = key.some_texts(value).unwrap_or_default(),
        "tools" | "toolsets" => toolsets(spec, key, value),
        "server_side_tools" => spec.server_side_tools = server_side::read(value, key),
        "hints" => spec.hints = key.some_texts(value).unwrap_or_default(),
        "settings" => spec.settings = settings(value, key).unwrap_or_default(),
        "output" => spec.mode = output(value, key).unwrap_or_default(),
        "max_turns" => spec.max_turns = key.count(&value).unwrap_or(spec.max_turns),
        "retries" => spec.retries = key.count(&value).unwrap_or(spec.retries),
        "limits" => spec.limits = limits(value, key),
        "timeout" => spec.timeout = timeout(value, key),
        "input_schema" => spec.input_schema = key.schema(value),
        "output_schema" => spec.output_schema = key.schema(value),
        "entry" => drop(key.fault::<()>("a worker file does not say `entry`: whoever runs it chooses the entry")),
        "schema_in_ref" => drop(key.fault::<()>("`schema_in_ref` is no longer known: give an `input_schema`")),
        "input_model_ref" => drop(key.fault::<()>(
            "`input_model_ref` is not supported in files that are read at run time: give an `input_schema`",
        )),
        _ => key.unknown("", &KEYS),
    }
}

fn model(value: Value, key: &mut Key<'_>) -> Option<String> {
    let name = key.text(value)?;
    if is_model_name(&name) {
        return Some(name);
    }
    key.fault(format!("`{name}` is not a model's name; write `provider:model`, such as `openai:gpt-5`"))
}

/// Adds names of tools and toolsets, which share one namespace; of a path, as a file for the macro has it, the last part.
fn toolsets(spec: &mut WorkerSpec, key: &mut Key<'_>, value: Value) {
    for text in key.texts(value).unwrap_or_default() {
        let name = text.rsplit("::").next().unwrap_or(&text).to_owned();
        if spec.toolsets.contains(&name) {
            key.fault::<()>(format!("`{name}` is declared twice; name it once in `tools` and `toolsets`"));
        } else {
            spec.toolsets.push(name);
        }
    }
}

fn settings(value: Value, key: &mut Key<'_>) -> Option<Settings> {
    let mut settings = Settings::new();
    for (name, value) in key.map(value)? {
        let mut key = key.inner(&name);
        match name.as_str() {
            "temperature" => settings.temperature = key.number(&value),
            "top_p" => settings.top_p = key.number(&value),
            "max_tokens" => settings.max_tokens = key.count(&value),
            "seed" => settings.seed = key.count(&value),
            "stop" => settings.stop = key.some_texts(value).unwrap_or_default(),
            known if SETTINGS.contains(&known) => match serde_json::from_value::<Settings>(json!({ known: value })) {
                Ok(setting) => settings = setting.over(&settings),
                Err(error) => drop(key.fault::<()>(format!("`{known}`: {error}"))),
            },
            _ => key.unknown(" of `settings`", &SETTINGS),
        }
    }
    Some(settings)
}

fn output(value: Value, key: &mut Key<'_>) -> Option<OutputMode> {
    let word = key.text(value)?;
    let mode = MODES.into_iter().find(|mode| mode.word() == word);
    mode.or_else(|| key.fault(format!("unknown output mode `{word}`; expected `auto`, `native`, `tool` or `prompted`")))
}

fn limits(value: Value, key: &mut Key<'_>) -> Option<Limits> {
    let mut limits = Map::new();
    for (name, value) in key.map(value)? {
        let mut key = key.inner(&name);
        let alone = Map::from_iter([(name.clone(), value)]);
        match serde_json::from_value::<Limits>(Value::Object(alone.clone())) {
            _ if !LIMITS.contains(&name.as_str()) => key.unknown(" of `limits`", &LIMITS),
            Err(error) => drop(key.fault::<()>(format!("`{name}`: {error}"))),
            Ok(_) => limits.extend(alone),
        }
    }
    serde_json::from_value(Value::Object(limits)).ok()
}

fn timeout(value: Value, key: &mut Key<'_>) -> Option<Duration> {
    match serde_json::from_value(value) {
        Ok(Time(Some(time))) if time.is_zero() => key.fault("a timeout of 0 lets no call end: leave it out for none"),
        Ok(Time(Some(time))) => Some(time),
        Ok(Time(None)) => key.fault("`timeout` takes a time such as `1m 30s`, or a number of seconds, not nothing"),
        Err(error) => key.fault(format!("`timeout`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use llm_do_providers::Money;

    use super::*;

    #[test]
    fn the_keys_of_limits_and_settings_are_all_of_theirs() {
        let limits = Limits::new().requests(1).tool_calls(1).input_tokens(1).output_tokens(1).cached_tokens(1);
        let limits = limits.reasoning_tokens(1).total_tokens(1).cost(Money::from_cents(1)).allow_unpriced(true);
        let written = serde_json::to_value(limits.wall_time(Duration::from_secs(1))).unwrap();
        assert_eq!(written.as_object().unwrap().keys().collect::<Vec<_>>(), LIMITS);
        let written = serde_json::to_value(Settings::new()).unwrap();
        assert_eq!(written.as_object().unwrap().keys().collect::<Vec<_>>(), SETTINGS);
    }
}
