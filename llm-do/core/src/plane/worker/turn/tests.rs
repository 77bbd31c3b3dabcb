//! The turns of a worker, step by step.

use llm_do_providers::{Profile, ResponsePart, Usage};
use serde_json::json;

use super::*;
use crate::declare::schema::OutputShape;
use crate::declare::worker_spec::OutputMode;

fn output() -> Output {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let shape = Arc::new(OutputShape::new(&schema));
    Output::new(OutputMode::Auto, &shape, Ok, Profile::BASIC, true).unwrap()
}

fn answer(name: &str, arguments: &str) -> Response {
    let call = ToolCall::new(name, name, arguments);
    Response::new("m", vec![ResponsePart::ToolCall(call)], Usage::default())
}

fn call_result(call: &ToolCall) -> CallResult {
    let is_bad = call.id == "bad";
    let result = ToolResult::new(call, "c").with_error(is_bad);
    let fault = is_bad.then(|| CallFault { text: "c".to_owned(), is_invalid: false });
    CallResult { result, fault, refusal: None, loaded: Vec::new() }
}

/// Runs the answers in order, with `between` applied to the state at each step; returns all states but the first.
fn states(answers: &[Response], between: impl Fn(Turns) -> Turns) -> Vec<Turns> {
    let mut turns = Turns::new(vec![Message::user("go")], 0, Limits { max_turns: 9, retries: 1 });
    let mut answers = answers.iter().cloned();
    let mut states = Vec::new();
    loop {
        turns = between(turns);
        match turns.step() {
            Step::Request(_) => drop(turns.handle_response(answers.next().unwrap(), &output())),
            Step::Call(calls) => turns.handle_results(calls.iter().map(call_result).collect()),
            Step::Done(_) | Step::Failed(_) => return states,
        }
        states.push(turns.clone());
    }
}

#[test]
fn a_call_resumes_from_its_serialized_state() {
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
fn calls_of_a_truncated_answer_are_not_made() {
    let mut turns = Turns::new(vec![Message::user("go")], 0, Limits { max_turns: 9, retries: 1 });
    let reason = turns.handle_response(answer("good", "{\"path\":\"/").with_finish(FinishReason::Length), &output());
    assert!(reason.unwrap().contains("cut off"));
    assert!(matches!(turns.step(), Step::Request(messages) if matches!(messages[2], Message::Tool { .. })));
}

#[test]
fn a_call_with_incomplete_arguments_is_not_made_after_an_unknown_finish_reason() {
    for arguments in ["", " ", "{}", "null", "{\"path\":\"/", "{\"path\""] {
        let mut turns = Turns::new(vec![Message::user("go")], 0, Limits { max_turns: 9, retries: 1 });
        let reason = turns.handle_response(answer("good", arguments).with_finish(FinishReason::Other), &output());
        assert!(reason.unwrap().contains("the arguments of `good` may be incomplete"), "{arguments:?}");
        assert!(
            matches!(turns.step(), Step::Request(messages) if matches!(messages[2], Message::Tool { .. })),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_call_is_made_if_its_arguments_are_complete_or_the_finish_reason_is_known() {
    let known = [FinishReason::Stop, FinishReason::ToolCalls].map(|finish| (finish, ""));
    for (finish, arguments) in known.into_iter().chain([(FinishReason::Other, "{\"path\":\"/\"}")]) {
        let mut turns = Turns::new(vec![Message::user("go")], 0, Limits { max_turns: 9, retries: 1 });
        let reason = turns.handle_response(answer("good", arguments).with_finish(finish), &output());
        assert_eq!(reason, None, "{finish:?}");
        assert!(matches!(turns.step(), Step::Call(calls) if calls[0].name == "good"), "{finish:?}");
    }
}

#[test]
fn an_interrupted_answer_is_continued_if_its_message_was_lost() {
    let interrupted = |parts| Response::new("m", parts, Usage::default()).with_finish(FinishReason::Interrupted);
    let new = || Turns::new(vec![Message::user("go")], 0, Limits { max_turns: 9, retries: 1 });
    let mut turns = new();
    let text = ResponsePart::Text { text: "Half".to_owned() };
    assert_eq!(turns.handle_response(interrupted(vec![text]), &output()), None);
    turns.join(&[], false);
    assert!(matches!(turns.step(), Step::Request(messages) if messages[2] == Message::user(CONTINUE)));

    let mut turns = new();
    assert_eq!(turns.handle_response(interrupted(Vec::new()), &output()), None);
    turns.join(&[], false);
    assert!(matches!(turns.step(), Step::Request(messages) if messages.len() == 1), "nothing had arrived");
}
