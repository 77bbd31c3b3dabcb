//! The worker's turns as a state machine: no I/O, so that it runs live, streamed, from a record and in tests alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use llm_do_providers::{Attachment, FinishReason, Message, Response, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::output::Output;
use crate::base::error::Fault;
use crate::declare::toolset::OUTPUT_TOOL;

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
    /// Shared with a request that is under way.
    messages: Arc<Vec<Message>>,
    phase: Phase,
    turn: u32,
    limits: Limits,
    /// How many of the messages the model was asked with before: what follows is new to it.
    asked: usize,
    /// Failures in a row: of the output under its tool's name, of each tool under its own.
    failures: BTreeMap<String, u32>,
    /// The files that the model made so far, which go with the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<Attachment>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Phase {
    Request,
    Call {
        calls: Vec<ToolCall>,
        /// The result that the same answer gave; it counts if the calls succeed.
        given: Option<Given>,
    },
    Done(Value),
    Failed(String),
}

/// A valid result, and the calls that gave it: the first of them counts, and each is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Given {
    calls: Vec<ToolCall>,
    value: Value,
}

/// What is to be done next.
#[derive(Debug, PartialEq)]
pub(crate) enum Step<'a> {
    /// Ask the model, with these messages; then [`Turns::answered`].
    Request(&'a Arc<Vec<Message>>),
    /// Make these calls; then [`Turns::called`].
    Call(&'a [ToolCall]),
    /// Nothing: this is the output.
    Done(&'a Value),
    /// Nothing: this is why there is no output.
    Failed(&'a str),
}

/// The outcome of one call of [`Step::Call`].
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) result: ToolResult,
    /// Why it failed, as operators read it: the model is told in the result.
    pub(crate) fault: Option<String>,
    /// Whether the call was not approved, or a guard refused it: no fault of the model's, so it spends no retry.
    pub(crate) is_denied: bool,
}

impl Turns {
    /// Begins with `messages`, of which the last is the prompt.
    pub(crate) fn new(messages: Vec<Message>, limits: Limits) -> Self {
        Self {
            messages: Arc::new(messages),
            phase: Phase::Request,
            turn: 0,
            limits,
            asked: 0,
            failures: BTreeMap::new(),
            files: Vec::new(),
        }
    }

    /// Says what is to be done next.
    pub(crate) fn step(&self) -> Step<'_> {
        match &self.phase {
            Phase::Request => Step::Request(&self.messages),
            Phase::Call { calls, .. } => Step::Call(calls),
            Phase::Done(value) => Step::Done(value),
            Phase::Failed(message) => Step::Failed(message),
        }
    }

    /// Returns the messages so far.
    pub(crate) fn messages(&self) -> &Arc<Vec<Message>> {
        &self.messages
    }

    /// Returns the messages, to be changed between two steps; each call must keep its result.
    pub(crate) fn messages_mut(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.messages)
    }

    fn push(&mut self, message: Message) {
        self.messages_mut().push(message);
    }

    /// Returns how many answers there were.
    pub(crate) fn turn(&self) -> u32 {
        self.turn
    }

    /// Returns those of `messages`, as the model is to be asked with, that it was not asked with before, without its own.
    pub(crate) fn new_of<'m>(&self, messages: &'m [Message]) -> &'m [Message] {
        messages.get(self.asked..).unwrap_or(messages)
    }

    /// Returns the files that the model made, without those in answers that were not accepted whatever they said.
    pub(crate) fn files(&self) -> &[Attachment] {
        &self.files
    }

    /// Takes what the user said to a tool meanwhile.
    pub(crate) fn heard(&mut self, said: &[String]) {
        if !said.is_empty() {
            self.push(Message::user(said.join("\n\n")));
        }
    }

    /// Takes the model's answer; returns what was wrong with it, if it is asked again for that.
    pub(crate) fn answered(&mut self, response: Response, output: &Output) -> Option<String> {
        let (text, finish) = (response.text(), response.finish);
        // Also those of an answer that is asked for again for what it says: nothing would make them a second time.
        self.files.extend(response.attachments().cloned());
        let calls = self.said(response);
        match finish {
            FinishReason::Length => {
                let reason = "the answer was cut off at the limit on output tokens; answer more briefly";
                self.refuse(&calls, &reason.into())
            }
            FinishReason::ContentFilter => {
                self.fail_with(&calls, "the model refused, or its provider's filter stopped the answer".to_owned());
                None
            }
            FinishReason::Stop | FinishReason::ToolCalls if !calls.is_empty() => self.make(calls, output),
            _ if calls.is_empty() => match output.read_text(&text, !self.files.is_empty()) {
                Ok(value) => self.done(value),
                Err(fault) => self.refuse(&calls, &fault),
            },
            _ => match calls.iter().find(|call| may_be_cut_off(call)) {
                Some(call) => {
                    let fault = Fault::from(incomplete(&call.name));
                    self.refuse(&calls, &fault)
                }
                None => self.make(calls, output),
            },
        }
    }

    /// Takes an answer that is not accepted, whatever it says; returns `reason` if the model is asked again.
    pub(crate) fn refused(&mut self, response: Response, reason: String) -> Option<String> {
        let calls = self.said(response);
        self.refuse(&calls, &reason.into())
    }

    /// Adds an answer to the history; returns its calls.
    fn said(&mut self, response: Response) -> Vec<ToolCall> {
        self.turn += 1;
        let calls = response.tool_calls().cloned().collect();
        self.push(Message::Assistant { parts: response.parts });
        self.asked = self.messages.len();
        calls
    }

    /// Goes on to the calls of an answer; one of the output tool gives the result, once the others are made.
    fn make(&mut self, calls: Vec<ToolCall>, output: &Output) -> Option<String> {
        let gives = |call: &ToolCall| call.name == OUTPUT_TOOL && output.tool().is_some();
        let Some(call) = calls.iter().find(|call| gives(call)).cloned() else {
            if self.turn >= self.limits.max_turns {
                self.fail_with(&calls, self.too_many_turns());
            } else {
                self.phase = Phase::Call { calls, given: None };
            }
            return None;
        };
        let value = match output.read_json(&call.arguments) {
            Ok(value) => value,
            Err(fault) => return self.refuse(&calls, &fault),
        };
        let (results, others): (Vec<_>, Vec<_>) = calls.into_iter().partition(gives);
        if others.is_empty() {
            self.answer(&results, "the result is accepted", false);
            return self.done(value);
        }
        self.phase = Phase::Call { calls: others, given: Some(Given { calls: results, value }) };
        None
    }

    /// Takes the results of the calls of [`Step::Call`].
    pub(crate) fn called(&mut self, called: Vec<Called>) {
        let given = match &mut self.phase {
            Phase::Call { given, .. } => given.take(),
            _ => None,
        };
        let failed = called.iter().any(|called| called.fault.is_some());
        let spent = self.count(&called);
        let mut results: Vec<_> = called.into_iter().map(|called| called.result).collect();
        match given {
            Some(Given { calls, value }) if !failed => {
                results.extend(results_of(&calls, "the result is accepted", false));
                self.phase = Phase::Done(value);
            }
            given => {
                let reason = "not accepted, since another call of the same answer failed; give the result again";
                let calls = given.map(|given| given.calls).unwrap_or_default();
                results.extend(results_of(&calls, reason, true));
                self.next(spent);
            }
        }
        self.push(Message::Tool { results });
    }

    fn done(&mut self, value: Value) -> Option<String> {
        self.phase = Phase::Done(value);
        None
    }

    /// Tells the model what is wrong with its answer, as long as its budget lasts.
    fn refuse(&mut self, calls: &[ToolCall], fault: &Fault) -> Option<String> {
        let spent = self.fail(OUTPUT_TOOL, &fault.to_string());
        let reason = fault.model_message().to_owned();
        if calls.is_empty() {
            self.push(Message::user(format!("{reason}. Try again.")));
        } else {
            self.answer(calls, &format!("not run: {reason}"), true);
        }
        self.next(spent);
        matches!(self.phase, Phase::Request).then_some(reason)
    }

    /// Ends without an output.
    fn fail_with(&mut self, calls: &[ToolCall], message: String) {
        self.answer(calls, &format!("not run: {message}"), true);
        self.phase = Phase::Failed(message);
    }

    /// Answers each of `calls`, so that the history stays one that a provider accepts.
    fn answer(&mut self, calls: &[ToolCall], content: &str, is_error: bool) {
        if !calls.is_empty() {
            self.push(Message::Tool { results: results_of(calls, content, is_error).collect() });
        }
    }

    /// Counts the failures of one turn, at most one for each tool: the model has only now been told of them.
    fn count(&mut self, called: &[Called]) -> Option<String> {
        let mut failed: BTreeMap<&str, &str> = BTreeMap::new();
        for Called { result, fault, .. } in called.iter().filter(|called| !called.is_denied) {
            failed.extend(fault.iter().map(|fault| (&*result.name, &**fault)));
        }
        for Called { result, .. } in called.iter().filter(|called| called.fault.is_none()) {
            failed.remove(result.name.as_str());
            self.failures.remove(&result.name);
        }
        let spent: Vec<_> = failed.into_iter().filter_map(|(tool, reason)| self.fail(tool, reason)).collect();
        spent.into_iter().next()
    }

    /// Counts one failure of `what`; returns why to give up, if that was one too many.
    fn fail(&mut self, what: &str, reason: &str) -> Option<String> {
        let failures = self.failures.entry(what.to_owned()).or_default();
        *failures += 1;
        let times = *failures;
        (times > self.limits.retries).then(|| match what {
            OUTPUT_TOOL => format!("no valid result in {times} tries; the last: {reason}"),
            tool => format!("`{tool}` failed {times} times in a row; the last: {reason}"),
        })
    }

    fn next(&mut self, spent: Option<String>) {
        self.phase = match spent {
            Some(message) => Phase::Failed(message),
            None if self.turn >= self.limits.max_turns => Phase::Failed(self.too_many_turns()),
            None => Phase::Request,
        };
    }

    fn too_many_turns(&self) -> String {
        format!("no result after {} requests; raise `max_turns` if the task needs more", self.limits.max_turns)
    }
}

/// Whether an answer that ended for an unknown reason may have ended before the arguments of `call` were complete.
///
/// Empty arguments count: some servers write `{}` where no arguments arrived, and defaults would stand in for them.
fn may_be_cut_off(call: &ToolCall) -> bool {
    match serde_json::from_str::<Value>(&call.arguments) {
        Ok(Value::Object(fields)) => fields.is_empty(),
        Ok(_) | Err(_) => true,
    }
}

fn incomplete(tool: &str) -> String {
    format!(
        "the answer ended for an unknown reason, and the arguments of `{tool}` may be incomplete; call it again with all \
         its arguments"
    )
}

/// Returns the same result for each of `calls`.
fn results_of(calls: &[ToolCall], content: &str, is_error: bool) -> impl Iterator<Item = ToolResult> {
    calls.iter().map(move |call| ToolResult::new(call, content).with_error(is_error))
}

#[cfg(test)]
mod tests {
    use llm_do_providers::{Profile, ResponsePart, Usage};
    use serde_json::json;

    use super::*;
    use crate::declare::schema::OutputShape;
    use crate::declare::worker_spec::OutputMode;

    fn output() -> Output {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let shape = Arc::new(OutputShape::new(schema));
        Output::new(OutputMode::Auto, &shape, Ok, Profile::NONE, true).unwrap()
    }

    fn answer(name: &str, arguments: &str) -> Response {
        let call = ToolCall::new(name, name, arguments);
        Response::new("m", vec![ResponsePart::ToolCall(call)], Usage::default())
    }

    fn called(call: &ToolCall) -> Called {
        let is_bad = call.id == "bad";
        let result = ToolResult::new(call, "c").with_error(is_bad);
        Called { result, fault: is_bad.then(|| "c".to_owned()), is_denied: false }
    }

    /// Runs the answers in turn, with `between` applied to the state at every step; returns all states but the first.
    fn states(answers: &[Response], between: impl Fn(Turns) -> Turns) -> Vec<Turns> {
        let mut turns = Turns::new(vec![Message::user("go")], Limits { max_turns: 9, retries: 1 });
        let mut answers = answers.iter().cloned();
        let mut states = Vec::new();
        loop {
            turns = between(turns);
            match turns.step() {
                Step::Request(_) => drop(turns.answered(answers.next().unwrap(), &output())),
                Step::Call(calls) => turns.called(calls.iter().map(called).collect()),
                Step::Done(_) | Step::Failed(_) => return states,
            }
            states.push(turns.clone());
        }
    }

    #[test]
    fn a_call_goes_on_from_its_written_state_as_if_it_had_never_stopped() {
        let answers = [
            answer("good", "{}"),
            answer(OUTPUT_TOOL, r#"{"n":"one"}"#),
            answer("bad", "{}"),
            answer("good", "{}"),
            answer(OUTPUT_TOOL, r#"{"n":1}"#),
        ];
        let written = |turns| serde_json::from_str(&serde_json::to_string(&turns).unwrap()).unwrap();
        let states = [states(&answers, |turns| turns), states(&answers, written)];
        assert_eq!(states[0], states[1]);
        assert_eq!(states[0].last().unwrap().step(), Step::Done(&json!({ "n": 1 })));
    }

    #[test]
    fn calls_of_an_answer_that_was_cut_off_are_never_made() {
        let mut turns = Turns::new(vec![Message::user("go")], Limits { max_turns: 9, retries: 1 });
        let reason = turns.answered(answer("good", "{\"path\":\"/").with_finish(FinishReason::Length), &output());
        assert!(reason.unwrap().contains("cut off"));
        assert!(matches!(turns.step(), Step::Request(messages) if matches!(messages[2], Message::Tool { .. })));
    }

    #[test]
    fn a_call_without_complete_arguments_is_not_made_when_the_answer_ended_in_an_unknown_way() {
        for arguments in ["", " ", "{}", "null", "{\"path\":\"/", "{\"path\""] {
            let mut turns = Turns::new(vec![Message::user("go")], Limits { max_turns: 9, retries: 1 });
            let reason = turns.answered(answer("good", arguments).with_finish(FinishReason::Other), &output());
            assert!(reason.unwrap().contains("the arguments of `good` may be incomplete"), "{arguments:?}");
            assert!(
                matches!(turns.step(), Step::Request(messages) if matches!(messages[2], Message::Tool { .. })),
                "{arguments:?}"
            );
        }
    }

    #[test]
    fn a_call_is_made_if_its_arguments_are_complete_or_the_answer_ended_in_a_known_way() {
        let known = [FinishReason::Stop, FinishReason::ToolCalls].map(|finish| (finish, ""));
        for (finish, arguments) in known.into_iter().chain([(FinishReason::Other, "{\"path\":\"/\"}")]) {
            let mut turns = Turns::new(vec![Message::user("go")], Limits { max_turns: 9, retries: 1 });
            let reason = turns.answered(answer("good", arguments).with_finish(finish), &output());
            assert_eq!(reason, None, "{finish:?}");
            assert!(matches!(turns.step(), Step::Call(calls) if calls[0].name == "good"), "{finish:?}");
        }
    }
}
