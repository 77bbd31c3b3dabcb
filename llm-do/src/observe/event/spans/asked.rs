//! Which call that a model asked for is the one that started: events do not say, and a wrong id is worse than none.

use llm_do_providers::{ResponsePart, ToolCall};
use serde_json::Value;

use crate::observe::event::EventPart;

/// The calls of a model's last answer that are not made yet.
#[derive(Default)]
pub(super) struct Asked(Vec<ToolCall>);

impl Asked {
    pub(super) fn new(parts: &[EventPart]) -> Self {
        let call = |part: &EventPart| match part.whole()? {
            ResponsePart::ToolCall(call) => Some(call.clone()),
            _ => None,
        };
        Self(parts.iter().filter_map(call).collect())
    }

    /// Takes the id of the call of the tool registered as `name` with these decoded arguments, if there is no doubt.
    pub(super) fn find(&mut self, name: &str, arguments: &Value) -> Option<String> {
        let mut named = self.named(name);
        if named.len() > 1 {
            named.retain(|place| fits(&self.0[*place], arguments));
            let same = |place: &usize| self.0[*place].arguments == self.0[named[0]].arguments;
            if !named.iter().all(same) {
                return None;
            }
        }
        Some(self.0.remove(*named.first()?).id)
    }

    /// Forgets the calls by a name, one of which was refused: which one, is not known.
    pub(super) fn forget(&mut self, name: &str) {
        let named = self.named(name);
        let mut place = 0..;
        self.0.retain(|_| place.next().is_none_or(|place| !named.contains(&place)));
    }

    /// Returns the places of the calls of a tool: a model may know it by its registered name, or with a prefix.
    fn named(&self, name: &str) -> Vec<usize> {
        let places = |is: fn(&str, &str) -> bool| {
            let calls = self.0.iter().enumerate().filter(|(_, call)| is(&call.name, name));
            calls.map(|(place, _)| place).collect::<Vec<_>>()
        };
        let exact = places(|shown, name| shown == name);
        if exact.is_empty() { places(|shown, name| shown.ends_with(name)) } else { exact }
    }
}

/// Returns whether all that was given is among the decoded arguments, which have the defaults as well.
fn fits(call: &ToolCall, decoded: &Value) -> bool {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(given)) => given.iter().all(|(key, value)| decoded.get(key) == Some(value)),
        _ => call.arguments.trim().is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use llm_do_providers::{ResponsePart, ToolCall};
    use serde_json::json;

    use super::Asked;

    fn asked(calls: &[(&str, &str, &str)]) -> Asked {
        let part = |&(id, name, arguments): &(&str, &str, &str)| {
            ResponsePart::ToolCall(ToolCall::new(id, name, arguments)).into()
        };
        Asked::new(&calls.iter().map(part).collect::<Vec<_>>())
    }

    #[test]
    fn the_only_call_of_a_tool_is_the_one_whatever_its_arguments_became() {
        let mut calls = asked(&[("a", "fs_read", r#"{"times": "1"}"#), ("b", "write", "{}")]);
        assert_eq!(calls.find("read", &json!({"times": 1})).as_deref(), Some("a"));
        assert_eq!(calls.find("read", &json!({"times": 1})), None);
        assert_eq!(calls.find("write", &json!({})).as_deref(), Some("b"));
    }

    #[test]
    fn calls_of_one_tool_are_told_apart_by_their_arguments() {
        let mut calls = asked(&[("a", "read", r#"{"path": "x"}"#), ("b", "read", r#"{"path": "y"}"#)]);
        assert_eq!(calls.find("read", &json!({"path": "y", "lines": 3})).as_deref(), Some("b"));
        assert_eq!(calls.find("read", &json!({"path": "x", "lines": 3})).as_deref(), Some("a"));
    }

    #[test]
    fn equal_calls_are_taken_in_turn_and_doubtful_ones_not_at_all() {
        let mut calls = asked(&[("a", "read", "{}"), ("b", "read", "{}")]);
        assert_eq!(calls.find("read", &json!({})).as_deref(), Some("a"));
        assert_eq!(calls.find("read", &json!({})).as_deref(), Some("b"));
        let mut calls = asked(&[("a", "read", "{}"), ("b", "read", r#"{"lines": 3}"#)]);
        assert_eq!(calls.find("read", &json!({"lines": 3})), None);
    }

    #[test]
    fn after_a_refusal_the_calls_of_that_name_have_no_ids() {
        let mut calls = asked(&[("a", "read", "{}"), ("b", "write", "{}"), ("c", "read", "{}")]);
        calls.forget("read");
        assert_eq!(calls.find("read", &json!({})), None);
        assert_eq!(calls.find("write", &json!({})).as_deref(), Some("b"));
    }
}
