//! What a chat template knows, found out by asking it.
//!
//! Templates are programs, and say nowhere which roles they have, whether they show tools, or how calls look. So each is
//! given some small conversations when its model is loaded, and what it makes of them is looked at.

use serde_json::{Map, Value, json};

use super::template::{Chat, Template};
use crate::error::ProviderError;

/// What a template is asked with.
const SAID: &str = "Zeta";
const TOOL: &str = "probe_tool";

/// What a template knows.
#[derive(Debug, PartialEq)]
pub(super) struct Dialect {
    /// Whether it has a role for instructions.
    pub(super) instructions: bool,
    /// Whether it lets one choose if the model thinks.
    pub(super) thinking: bool,
    /// How it writes calls, if it knows tools, their calls and their results.
    pub(super) calls: Option<CallForm>,
}

/// How a call is written: JSON with two keys, between two texts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallForm {
    pub(super) before: String,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) after: String,
    /// What stands between two calls, if an answer may have several.
    pub(super) between: Option<String>,
}

impl CallForm {
    /// Returns the form that calls have which we tell the model of ourselves.
    pub(super) fn ours() -> Self {
        Self {
            before: String::new(),
            name: "tool".to_owned(),
            arguments: "arguments".to_owned(),
            after: String::new(),
            between: None,
        }
    }
}

impl Dialect {
    /// Asks `template`.
    ///
    /// # Errors
    ///
    /// Returns an error if it fails with the simplest of conversations.
    pub(super) fn of(template: &Template) -> Result<Self, ProviderError> {
        let user = [message("user", SAID)];
        let chat = Chat { messages: &user, answering: true, ..Chat::default() };
        template.render(chat)?;
        let thinking = |wanted| template.written(Chat { thinking: Some(wanted), ..chat }).ok();
        let instructed = [message("system", TOOL), message("user", SAID)];
        let instructed = template.written(Chat { messages: &instructed, ..chat });
        Ok(Self {
            instructions: instructed.is_ok_and(|text| text.contains(TOOL)),
            thinking: thinking(true) != thinking(false),
            calls: call_form(template),
        })
    }
}

/// Returns how `template` writes calls, if it shows tools, calls and results.
fn call_form(template: &Template) -> Option<CallForm> {
    let parameters = json!({"type": "object", "properties": {"count": {"type": "integer"}}});
    let tools =
        [json!({"type": "function", "function": {"name": TOOL, "description": SAID, "parameters": parameters}})];
    let written = |messages: &[Value]| template.written(Chat { messages, tools: &tools, ..Chat::default() }).ok();
    let call = |count: u32| {
        let function = json!({"name": TOOL, "arguments": {"count": count}});
        json!({"id": "call00001", "type": "function", "function": function})
    };
    let asked = message("user", "?");
    let calling = json!({"role": "assistant", "content": "", "tool_calls": [call(7)]});
    let calling_twice = json!({"role": "assistant", "content": "", "tool_calls": [call(7), call(8)]});
    let result = json!({"role": "tool", "name": TOOL, "tool_call_id": "call00001", "content": SAID.repeat(2)});
    let shown = written(std::slice::from_ref(&asked))?;
    let answered = written(&[asked.clone(), calling.clone(), result])?;
    if !shown.contains(TOOL) || !answered.contains(&SAID.repeat(2)) {
        return None;
    }
    let called = written(&[asked.clone(), calling])?;
    let twice = written(&[asked.clone(), calling_twice]);
    let said = written(&[asked, message("assistant", SAID)])?;
    let called = between(&called, &said)?;
    let separator = twice.and_then(|twice| separator(called, between(&twice, &said)?));
    Some(CallForm { between: separator, ..form(called, &json!({"count": 7}))? })
}

/// Returns what stands in `calls`, of the counts 7 and 8, behind `call`, of the count 7, and before the other.
fn separator(call: &str, calls: &str) -> Option<String> {
    let separator = calls.strip_prefix(call)?.strip_suffix(&call.replace('7', "8"))?;
    Some(separator.to_owned()).filter(|separator| !separator.is_empty())
}

fn message(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// Returns what stands in `text` where `other` has something else.
fn between<'a>(text: &'a str, other: &str) -> Option<&'a str> {
    let same = |(one, other): &(char, char)| one == other;
    let start: usize = text.chars().zip(other.chars()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    let (text, other) = (&text[start..], &other[start..]);
    let end: usize = text.chars().rev().zip(other.chars().rev()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    text.get(..text.len() - end)
}

/// Returns the form of `call`, which has those arguments.
fn form(call: &str, arguments: &Value) -> Option<CallForm> {
    let (start, end) = (call.find('{')?, call.rfind('}')? + 1);
    let fields: Map<String, Value> = serde_json::from_str(call.get(start..end)?).ok()?;
    let key = |wanted: &Value| fields.iter().find(|(_, value)| *value == wanted).map(|(key, _)| key.clone());
    let form = CallForm {
        before: call[..start].to_owned(),
        name: key(&json!(TOOL))?,
        arguments: key(arguments)?,
        after: call[end..].to_owned(),
        between: None,
    };
    (fields.len() == 2).then_some(form)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CallForm, between, form, separator};

    #[test]
    fn a_call_is_found_between_what_all_answers_have() {
        let called = "<|im_start|>assistant\n<tool_call>\n{}\n</tool_call><|im_end|>\n";
        assert_eq!(between(called, "<|im_start|>assistant\nZ<|im_end|>\n"), Some("<tool_call>\n{}\n</tool_call>"));
        assert_eq!(between("ab", "ab"), Some(""));
    }

    #[test]
    fn the_form_of_a_call_is_told_by_its_keys() {
        let call = "[CALL]{\"name\": \"probe_tool\", \"parameters\": {\"a\": 1}};";
        let expected = CallForm {
            before: "[CALL]".into(),
            name: "name".into(),
            arguments: "parameters".into(),
            after: ";".into(),
            between: None,
        };
        assert_eq!(form(call, &json!({"a": 1})), Some(expected));
    }

    #[test]
    fn calls_are_told_apart_by_what_stands_between_them() {
        assert_eq!(separator("<7>", "<7>\n<8>"), Some("\n".to_owned()));
        assert_eq!(separator("[<7>]", "[<7>, <8>]"), None);
        assert_eq!(separator("<7>", "<7>"), None);
    }

    #[test]
    fn a_call_with_an_id_has_no_form_that_could_be_kept_to() {
        assert_eq!(form(r#"{"name": "probe_tool", "arguments": {"a": 1}, "id": "1"}"#, &json!({"a": 1})), None);
        assert_eq!(form("probe_tool(a=1)", &json!({"a": 1})), None);
    }
}
