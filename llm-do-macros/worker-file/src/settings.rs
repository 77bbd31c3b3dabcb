//! `settings`: the model settings of requests.

use std::time::Duration;

use crate::values::{DOCUMENTATION, Reader, unknown_key};
use crate::yaml::{Content, Key, Node};
use crate::{Fault, Located, did_you_mean};

/// The keys of `settings`.
pub const SETTINGS: [&str; 13] = [
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

/// The settings in a file. A key without a value counts as absent.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of `llm_do::Settings`")]
pub struct Settings {
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub max_tokens: Option<u32>,
    pub seed: Option<u64>,
    pub stop: Vec<String>,
    pub presence_penalty: Option<f64>,
    pub frequency_penalty: Option<f64>,
    pub thinking: Option<Thinking>,
    pub parallel_tool_calls: Option<bool>,
    pub cache_prompt: Option<bool>,
    pub service_tier: Option<String>,
    pub timeout: Option<Duration>,
    pub extra_body: Vec<(String, Node)>,
}

/// How much a model reasons before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are those of `llm_do::model::ThinkingLevel`")]
pub enum Thinking {
    Off,
    Minimal,
    Low,
    Medium,
    High,
    /// At most this many tokens.
    Tokens(u32),
}

const LEVELS: [(&str, Thinking); 5] = [
    ("off", Thinking::Off),
    ("minimal", Thinking::Minimal),
    ("low", Thinking::Low),
    ("medium", Thinking::Medium),
    ("high", Thinking::High),
];

/// Reads the settings; invalid ones are reported and omitted.
pub(crate) fn read(node: Node, reader: &mut Reader<'_>) -> Option<Settings> {
    let mut settings = Settings::default();
    for (key, node) in reader.map(node)? {
        if node.content != Content::Null || !SETTINGS.contains(&key.name.as_str()) {
            settings.set(&key, node, reader.faults);
        }
    }
    Some(settings)
}

impl Settings {
    fn set(&mut self, key: &Key, node: Node, faults: &mut Vec<Fault>) {
        let mut reader = Reader { key: &key.name, faults };
        match key.name.as_str() {
            "temperature" => self.temperature = reader.number(&node),
            "top_p" => self.top_p = reader.number(&node),
            "max_tokens" => self.max_tokens = reader.count(&node, u32::MAX),
            "seed" => self.seed = reader.count(&node, u64::MAX),
            "stop" => self.stop = reader.nonempty_strings_or_spaces(node).map(Located::values).unwrap_or_default(),
            "presence_penalty" => self.presence_penalty = reader.number(&node),
            "frequency_penalty" => self.frequency_penalty = reader.number(&node),
            "thinking" => self.thinking = thinking(&node, &mut reader),
            "parallel_tool_calls" => self.parallel_tool_calls = reader.flag(&node),
            "cache_prompt" => self.cache_prompt = reader.flag(&node),
            "service_tier" => self.service_tier = reader.string(node).map(|tier| tier.value),
            "timeout" => self.timeout = reader.duration(&node),
            "extra_body" => self.extra_body = extra_body(node, &mut reader),
            _ => faults.push(unknown_key(key, " in `settings`", &SETTINGS, DOCUMENTATION)),
        }
    }
}

fn thinking(node: &Node, reader: &mut Reader<'_>) -> Option<Thinking> {
    const EXPECTED: &str = "expected `off`, `minimal`, `low`, `medium` or `high`, or a number of tokens";
    match &node.content {
        Content::String(word) => {
            let level = LEVELS.into_iter().find(|(name, _)| name == word);
            level.map(|(_, level)| level).or_else(|| {
                let hint = did_you_mean(word, LEVELS.into_iter().map(|(name, _)| name));
                reader.fault(node.place, format!("unknown thinking level `{word}`{hint}\n{EXPECTED}"))
            })
        }
        Content::Whole(_) | Content::Number(_) => reader.count(node, u32::MAX).map(Thinking::Tokens),
        Content::Invalid => None,
        other => reader.invalid(node.place, format!("{EXPECTED}, found {}", other.kind())),
    }
}

fn extra_body(node: Node, reader: &mut Reader<'_>) -> Vec<(String, Node)> {
    let fields = reader.map(node).unwrap_or_default();
    fields.into_iter().map(|(key, value)| (key.name, value)).collect()
}
