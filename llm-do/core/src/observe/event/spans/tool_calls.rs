//! Matches started calls to the tool calls of a model's answer, to record their ids: events do not have them.

use llm_do_providers::{ResponsePart, ToolCall};
use serde_json::Value;

use crate::observe::event::{EventPart, EventValue};

/// The tool calls in a model's last answer that have not started yet.
#[derive(Default)]
pub(super) struct PendingToolCalls(Vec<ToolCall>);

impl PendingToolCalls {
    pub(super) fn new(parts: &[EventPart]) -> Self {
        let call = |part: &EventPart| match part.whole()? {
            ResponsePart::ToolCall(call) => Some(call.clone()),
            _ => None,
        };
        Self(parts.iter().filter_map(call).collect())
    }

    /// Removes the call of the tool registered as `name` with these decoded arguments, and returns its id.
    ///
    /// Returns `None` if several different calls match: a wrong id is worse than none.
    pub(super) fn take(&mut self, name: &str, arguments: &EventValue) -> Option<String> {
        let mut named = self.named(name);
        if named.len() > 1 {
            let arguments = arguments.value();
            named.retain(|index| fits(&self.0[*index], &arguments));
            let same = |index: &usize| self.0[*index].arguments == self.0[named[0]].arguments;
            if !named.iter().all(same) {
                return None;
            }
        }
        Some(self.0.remove(*named.first()?).id)
    }

    /// Removes all calls of a tool after one was refused, since it is unknown which one.
    pub(super) fn remove_all(&mut self, name: &str) {
        let named = self.named(name);
        let mut index = 0..;
        self.0.retain(|_| index.next().is_none_or(|index| !named.contains(&index)));
    }

    /// Returns the indices of the calls of a tool, by its registered name, or by a name with a prefix before it.
    fn named(&self, name: &str) -> Vec<usize> {
        let indices = |is: fn(&str, &str) -> bool| {
            let calls = self.0.iter().enumerate().filter(|(_, call)| is(&call.name, name));
            calls.map(|(index, _)| index).collect::<Vec<_>>()
        };
        let exact = indices(|shown, name| shown == name);
        if exact.is_empty() { indices(|shown, name| shown.ends_with(name)) } else { exact }
    }
}

/// Returns whether the decoded arguments contain those that the model sent; they may contain defaults in addition.
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

    use super::PendingToolCalls;

    fn pending(calls: &[(&str, &str, &str)]) -> PendingToolCalls {
        let part = |&(id, name, arguments): &(&str, &str, &str)| {
            ResponsePart::ToolCall(ToolCall::new(id, name, arguments)).into()
        };
        PendingToolCalls::new(&calls.iter().map(part).collect::<Vec<_>>())
    }

    #[test]
    fn the_only_call_of_a_tool_matches_with_any_arguments() {
        let mut calls = pending(&[("a", "fs_read", r#"{"times": "1"}"#), ("b", "write", "{}")]);
        assert_eq!(calls.take("read", &json!({"times": 1}).into()).as_deref(), Some("a"));
        assert_eq!(calls.take("read", &json!({"times": 1}).into()), None);
        assert_eq!(calls.take("write", &json!({}).into()).as_deref(), Some("b"));
    }

    #[test]
    fn calls_of_one_tool_are_matched_by_their_arguments() {
        let mut calls = pending(&[("a", "read", r#"{"path": "x"}"#), ("b", "read", r#"{"path": "y"}"#)]);
        assert_eq!(calls.take("read", &json!({"path": "y", "lines": 3}).into()).as_deref(), Some("b"));
        assert_eq!(calls.take("read", &json!({"path": "x", "lines": 3}).into()).as_deref(), Some("a"));
    }

    #[test]
    fn equal_calls_match_in_order_and_ambiguous_ones_do_not_match() {
        let mut calls = pending(&[("a", "read", "{}"), ("b", "read", "{}")]);
        assert_eq!(calls.take("read", &json!({}).into()).as_deref(), Some("a"));
        assert_eq!(calls.take("read", &json!({}).into()).as_deref(), Some("b"));
        let mut calls = pending(&[("a", "read", "{}"), ("b", "read", r#"{"lines": 3}"#)]);
        assert_eq!(calls.take("read", &json!({"lines": 3}).into()), None);
    }

    #[test]
    fn after_a_refusal_no_call_of_that_name_matches() {
        let mut calls = pending(&[("a", "read", "{}"), ("b", "write", "{}"), ("c", "read", "{}")]);
        calls.remove_all("read");
        assert_eq!(calls.take("read", &json!({}).into()), None);
        assert_eq!(calls.take("write", &json!({}).into()).as_deref(), Some("b"));
    }
}
