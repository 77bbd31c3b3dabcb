//! The worker's turns as a state machine: no I/O, so that it runs live, streamed, from a record and in tests alike.

use std::collections::BTreeMap;

use llm_do_providers::{FinishReason, Message, Response, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::output::{Output, TOOL};

/// What a worker may use up before it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Requests in one call.
    pub(crate) max_turns: u32,
    /// How often in a row the output, or one tool, may fail and be tried again.
    pub(crate) retries: u32,
}

/// The state of a worker's call between two effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Turns {
    messages: Vec<Message>,
    phase: Phase,
    turn: u32,
    limits: Limits,
    /// Failures in a row: of the output under its tool's name, of each tool under its own.
    failures: BTreeMap<String, u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Phase {
    Request,
    Call(Vec<ToolCall>),
    Done(Value),
    Failed(String),
}

/// What is to be done next.
#[derive(Debug, PartialEq)]
pub(crate) enum Step<'a> {
    /// Ask the model, with these messages; then [`Turns::answered`].
    Request(&'a [Message]),
    /// Make these calls; then [`Turns::called`].
    Call(&'a [ToolCall]),
    /// Nothing: this is the output.
    Done(&'a Value),
    /// Nothing: this is why there is no output.
    Failed(&'a str),
}

impl Turns {
    /// Begins with `prompt`.
    pub(crate) fn new(prompt: Message, limits: Limits) -> Self {
        Self { messages: vec![prompt], phase: Phase::Request, turn: 0, limits, failures: BTreeMap::new() }
    }

    /// Says what is to be done next.
    pub(crate) fn step(&self) -> Step<'_> {
        match &self.phase {
            Phase::Request => Step::Request(&self.messages),
            Phase::Call(calls) => Step::Call(calls),
            Phase::Done(value) => Step::Done(value),
            Phase::Failed(message) => Step::Failed(message),
        }
    }

    /// Returns how many answers there were.
    pub(crate) fn turn(&self) -> u32 {
        self.turn
    }

    /// Takes the model's answer; returns what was wrong with it, if it is asked again for that.
    pub(crate) fn answered(&mut self, response: Response, output: &Output) -> Option<String> {
        self.turn += 1;
        let (text, cut_off) = (response.text(), response.finish == FinishReason::Length);
        let calls: Vec<ToolCall> = response.tool_calls().cloned().collect();
        self.messages.push(Message::Assistant { parts: response.parts });
        if cut_off {
            let reason = "the answer was cut off at the limit on output tokens; answer more briefly";
            return self.refuse(&calls, reason.to_owned());
        }
        match calls.iter().find(|call| call.name == TOOL && output.tool().is_some()) {
            Some(result) => self.finish(output.read_json(&result.arguments), &calls),
            None if calls.is_empty() => self.finish(output.read_text(&text), &calls),
            None => {
                self.phase = Phase::Call(calls);
                None
            }
        }
    }

    /// Takes the results of the calls of [`Step::Call`].
    pub(crate) fn called(&mut self, results: Vec<ToolResult>) {
        let spent = results.iter().find_map(|result| self.count(result));
        self.messages.push(Message::Tool { results });
        self.next(spent);
    }

    /// Ends with an output, or asks again.
    ///
    /// Other calls of the same answer are not made: the model has said that it is done.
    fn finish(&mut self, output: Result<Value, String>, calls: &[ToolCall]) -> Option<String> {
        match output {
            Ok(value) => {
                self.answer_calls(calls, "the result is accepted", false);
                self.phase = Phase::Done(value);
                None
            }
            Err(reason) => self.refuse(calls, reason),
        }
    }

    /// Tells the model what is wrong with its answer, as long as its budget lasts.
    fn refuse(&mut self, calls: &[ToolCall], reason: String) -> Option<String> {
        let spent = self.fail(TOOL, &reason);
        if calls.is_empty() {
            self.messages.push(Message::user(format!("{reason}. Try again.")));
        } else {
            self.answer_calls(calls, &reason, true);
        }
        self.next(spent);
        matches!(self.phase, Phase::Request).then_some(reason)
    }

    /// Answers each of `calls`, so that the history stays one that a provider accepts.
    fn answer_calls(&mut self, calls: &[ToolCall], content: &str, is_error: bool) {
        if calls.is_empty() {
            return;
        }
        let answer = |call: &ToolCall| ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: content.to_owned(),
            is_error,
        };
        self.messages.push(Message::Tool { results: calls.iter().map(answer).collect() });
    }

    fn count(&mut self, result: &ToolResult) -> Option<String> {
        if result.is_error {
            return self.fail(&result.name, &result.content);
        }
        self.failures.remove(&result.name);
        None
    }

    /// Counts one failure of `what`; returns why to give up, if that was one too many.
    fn fail(&mut self, what: &str, reason: &str) -> Option<String> {
        let failures = self.failures.entry(what.to_owned()).or_default();
        *failures += 1;
        let times = *failures;
        (times > self.limits.retries).then(|| match what {
            TOOL => format!("no valid result in {times} tries; the last: {reason}"),
            tool => format!("`{tool}` failed {times} times in a row; the last: {reason}"),
        })
    }

    fn next(&mut self, spent: Option<String>) {
        let limit = self.limits.max_turns;
        self.phase = match spent {
            Some(message) => Phase::Failed(message),
            None if self.turn >= limit => {
                Phase::Failed(format!("no result after {limit} requests; raise `max_turns` if the task needs more"))
            }
            None => Phase::Request,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use llm_do_providers::{Profile, ResponsePart, Usage};
    use serde_json::json;

    use super::*;
    use crate::schema::OutputShape;

    fn output() -> Output {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        Output::new(&Arc::new(OutputShape::new(schema)), |_| Ok(()), Profile::NONE, true)
    }

    fn answer(name: &str, arguments: &str) -> Response {
        let call = ToolCall { id: name.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() };
        Response::new("m", vec![ResponsePart::ToolCall(call)], Usage::default())
    }

    fn result(call: &ToolCall, is_error: bool) -> ToolResult {
        ToolResult { call_id: call.id.clone(), name: call.name.clone(), content: "c".to_owned(), is_error }
    }

    /// Runs the answers in turn, with `between` applied to the state at every step; returns all states but the first.
    fn states(answers: &[Response], between: impl Fn(Turns) -> Turns) -> Vec<Turns> {
        let mut turns = Turns::new(Message::user("go"), Limits { max_turns: 9, retries: 1 });
        let mut answers = answers.iter().cloned();
        let mut states = Vec::new();
        loop {
            turns = between(turns);
            match turns.step() {
                Step::Request(_) => drop(turns.answered(answers.next().unwrap(), &output())),
                Step::Call(calls) => turns.called(calls.iter().map(|call| result(call, call.id == "bad")).collect()),
                Step::Done(_) | Step::Failed(_) => return states,
            }
            states.push(turns.clone());
        }
    }

    #[test]
    fn a_call_goes_on_from_its_written_state_as_if_it_had_never_stopped() {
        let answers = [
            answer("good", "{}"),
            answer(TOOL, r#"{"n":"one"}"#),
            answer("bad", "{}"),
            answer("good", "{}"),
            answer(TOOL, r#"{"n":1}"#),
        ];
        let written = |turns| serde_json::from_str(&serde_json::to_string(&turns).unwrap()).unwrap();
        let states = [states(&answers, |turns| turns), states(&answers, written)];
        assert_eq!(states[0], states[1]);
        assert_eq!(states[0].last().unwrap().step(), Step::Done(&json!({ "n": 1 })));
    }

    #[test]
    fn calls_of_an_answer_that_was_cut_off_are_never_made() {
        let mut turns = Turns::new(Message::user("go"), Limits { max_turns: 9, retries: 1 });
        let reason = turns.answered(answer("good", "{\"path\":\"/").with_finish(FinishReason::Length), &output());
        assert!(reason.unwrap().contains("cut off"));
        assert!(matches!(turns.step(), Step::Request(messages) if matches!(messages[2], Message::Tool { .. })));
    }
}
