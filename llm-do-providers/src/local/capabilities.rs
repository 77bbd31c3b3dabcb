//! Detects what a chat template supports.
//!
//! Templates are programs without a description of their roles, tools or tool call format. So each is rendered with
//! small test conversations when its model is loaded, and the output is examined.

use serde_json::{Map, Value, json};

use super::template::{RenderInput, Template};
use crate::error::ProviderError;

/// Words of the test conversations.
const PROBE: &str = "Zeta";
const TOOL: &str = "probe_tool";

/// The features of a chat template.
#[derive(Debug, PartialEq)]
pub(super) struct TemplateCapabilities {
    /// Whether it has a `system` role.
    pub(super) system_role: bool,
    /// Whether its output depends on `enable_thinking`.
    pub(super) thinking_switch: bool,
    /// The format of tool calls, if it supports tools, calls and results.
    pub(super) tool_calls: Option<ToolCallFormat>,
}

/// The text format of a tool call: a JSON object with two keys between a prefix and a suffix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToolCallFormat {
    pub(super) prefix: String,
    pub(super) name_key: String,
    pub(super) arguments_key: String,
    pub(super) suffix: String,
    /// The text between two calls, if an answer may have several.
    pub(super) separator: Option<String>,
}

impl ToolCallFormat {
    /// Returns the format for templates without tool support.
    pub(super) fn fallback() -> Self {
        Self {
            prefix: String::new(),
            name_key: "tool".to_owned(),
            arguments_key: "arguments".to_owned(),
            suffix: String::new(),
            separator: None,
        }
    }
}

impl TemplateCapabilities {
    /// Probes `template`.
    ///
    /// # Errors
    ///
    /// Returns an error if rendering a single user message fails.
    pub(super) fn detect(template: &Template) -> Result<Self, ProviderError> {
        let user = [message("user", PROBE)];
        let chat = RenderInput { messages: &user, add_generation_prompt: true, ..RenderInput::default() };
        template.render(chat)?;
        let with_thinking = |enabled| template.try_render(RenderInput { thinking: Some(enabled), ..chat }).ok();
        let with_system = [message("system", TOOL), message("user", PROBE)];
        let with_system = template.try_render(RenderInput { messages: &with_system, ..chat });
        Ok(Self {
            system_role: with_system.is_ok_and(|text| text.contains(TOOL)),
            thinking_switch: with_thinking(true) != with_thinking(false),
            tool_calls: call_format(template),
        })
    }
}

/// Returns the format of tool calls, if `template` renders tools, calls and results.
fn call_format(template: &Template) -> Option<ToolCallFormat> {
    let parameters = json!({"type": "object", "properties": {"count": {"type": "integer"}}});
    let tools =
        [json!({"type": "function", "function": {"name": TOOL, "description": PROBE, "parameters": parameters}})];
    let render = |messages: &[Value]| {
        template.try_render(RenderInput { messages, tools: &tools, ..RenderInput::default() }).ok()
    };
    let call = |count: u32| {
        let function = json!({"name": TOOL, "arguments": {"count": count}});
        json!({"id": "call00001", "type": "function", "function": function})
    };
    let question = message("user", "?");
    let calling = json!({"role": "assistant", "content": "", "tool_calls": [call(7)]});
    let calling_twice = json!({"role": "assistant", "content": "", "tool_calls": [call(7), call(8)]});
    let result = json!({"role": "tool", "name": TOOL, "tool_call_id": "call00001", "content": PROBE.repeat(2)});
    let with_tools = render(std::slice::from_ref(&question))?;
    let with_result = render(&[question.clone(), calling.clone(), result])?;
    if !with_tools.contains(TOOL) || !with_result.contains(&PROBE.repeat(2)) {
        return None;
    }
    let with_call = render(&[question.clone(), calling])?;
    let with_two_calls = render(&[question.clone(), calling_twice]);
    let with_text = render(&[question, message("assistant", PROBE)])?;
    let call_text = between(&with_call, &with_text)?;
    let separator = with_two_calls.and_then(|both| separator(call_text, between(&both, &with_text)?));
    Some(ToolCallFormat { separator, ..format_of(call_text, &json!({"count": 7}))? })
}

/// Returns the text between two calls: `call` is the one with count 7, `calls` is it followed by the one with count
/// 8.
fn separator(call: &str, calls: &str) -> Option<String> {
    let separator = calls.strip_prefix(call)?.strip_suffix(&call.replace('7', "8"))?;
    Some(separator.to_owned()).filter(|separator| !separator.is_empty())
}

fn message(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// Returns the middle part of `text`, without the prefix and suffix it shares with `other`.
fn between<'a>(text: &'a str, other: &str) -> Option<&'a str> {
    let same = |(one, other): &(char, char)| one == other;
    let start: usize = text.chars().zip(other.chars()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    let (text, other) = (&text[start..], &other[start..]);
    let end: usize = text.chars().rev().zip(other.chars().rev()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    text.get(..text.len() - end)
}

/// Returns the format of `call`, whose arguments are `arguments`.
fn format_of(call: &str, arguments: &Value) -> Option<ToolCallFormat> {
    let (start, end) = (call.find('{')?, call.rfind('}')? + 1);
    let fields: Map<String, Value> = serde_json::from_str(call.get(start..end)?).ok()?;
    let key = |wanted: &Value| fields.iter().find(|(_, value)| *value == wanted).map(|(key, _)| key.clone());
    let format = ToolCallFormat {
        prefix: call[..start].to_owned(),
        name_key: key(&json!(TOOL))?,
        arguments_key: key(arguments)?,
        suffix: call[end..].to_owned(),
        separator: None,
    };
    (fields.len() == 2).then_some(format)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolCallFormat, between, format_of, separator};

    #[test]
    fn a_call_is_the_text_between_the_shared_prefix_and_suffix() {
        let called = "<|im_start|>assistant\n<tool_call>\n{}\n</tool_call><|im_end|>\n";
        assert_eq!(between(called, "<|im_start|>assistant\nZ<|im_end|>\n"), Some("<tool_call>\n{}\n</tool_call>"));
        assert_eq!(between("ab", "ab"), Some(""));
    }

    #[test]
    fn the_format_of_a_call_has_the_keys_that_the_template_uses() {
        let call = "[CALL]{\"name\": \"probe_tool\", \"parameters\": {\"a\": 1}};";
        let expected = ToolCallFormat {
            prefix: "[CALL]".into(),
            name_key: "name".into(),
            arguments_key: "parameters".into(),
            suffix: ";".into(),
            separator: None,
        };
        assert_eq!(format_of(call, &json!({"a": 1})), Some(expected));
    }

    #[test]
    fn the_separator_is_the_text_between_two_calls() {
        assert_eq!(separator("<7>", "<7>\n<8>"), Some("\n".to_owned()));
        assert_eq!(separator("[<7>]", "[<7>, <8>]"), None);
        assert_eq!(separator("<7>", "<7>"), None);
    }

    #[test]
    fn a_call_with_an_id_or_without_json_has_no_supported_format() {
        assert_eq!(format_of(r#"{"name": "probe_tool", "arguments": {"a": 1}, "id": "1"}"#, &json!({"a": 1})), None);
        assert_eq!(format_of("probe_tool(a=1)", &json!({"a": 1})), None);
    }
}
