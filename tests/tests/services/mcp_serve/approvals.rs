//! A call that needs approval is asked of the client's user, and does not run otherwise.

use std::time::Duration;

use llm_do::approval::{ApprovalMode, Policy, Rule};
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::mcp::HttpOptions;
use rmcp::model::{CallToolResponse, ElicitResult, ElicitationAction, InputRequiredResult};

use super::*;

fn allow() -> Value {
    json!({ "action": "accept", "content": { "decision": "allow" } })
}

/// Makes a call that asks, and returns what it asks.
async fn ask(client: &Connected, request: CallToolRequestParams) -> InputRequiredResult {
    match client.call_tool_once(request).await.unwrap() {
        CallToolResponse::InputRequired(input) => input,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_user_of_the_client_approves_a_call_in_each_era() {
    for era in ERAS {
        let user = User::accepting(json!({ "decision": "allow" }));
        let client = connect(serving(|builder| builder), era, user.clone()).await;
        let result = client.call_tool(call("delete", json!({ "path": "old.txt" }))).await.unwrap();
        assert_eq!((text(&result), result.is_error), ("deleted old.txt".to_owned(), Some(false)), "{era:?}");
        let asked = user.asked();
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert!(asked[0].contains("delete") && asked[0].contains("\"old.txt\""), "{asked:?}");
    }
}

#[tokio::test]
async fn only_an_explicit_decision_to_allow_runs_a_call() {
    let answers = [
        ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "decision": "deny" })),
        ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "decision": "yes" })),
        ElicitResult::new(ElicitationAction::Accept),
        ElicitResult::new(ElicitationAction::Decline).with_content(json!({ "decision": "allow" })),
        ElicitResult::new(ElicitationAction::Cancel).with_content(json!({ "decision": "allow" })),
    ];
    for (era, answer) in ERAS.into_iter().flat_map(|era| answers.clone().map(|answer| (era, answer))) {
        let client = connect(serving(|builder| builder), era, User::answering(answer.clone())).await;
        let result = client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap();
        assert_eq!(result.is_error, Some(true), "{era:?} {answer:?}");
        assert!(text(&result).contains("call to `delete` denied"), "{}", text(&result));
    }
}

#[tokio::test]
async fn the_reason_of_a_denial_is_that_of_the_user() {
    let answers = [
        json!({ "decision": "deny", "reason": " not this file " }),
        json!({ "decision": "stop", "reason": "not this file" }),
    ];
    for (era, answer) in ERAS.into_iter().flat_map(|era| answers.clone().map(|answer| (era, answer))) {
        let client = connect(serving(|builder| builder), era, User::accepting(answer.clone())).await;
        let result = client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap();
        assert_eq!(result.is_error, Some(true), "{era:?} {answer}");
        assert!(text(&result).ends_with("call to `delete` denied: not this file"), "{}", text(&result));
    }
}

#[tokio::test]
async fn a_client_without_forms_gets_a_denial_with_what_the_operator_can_do() {
    for era in ERAS {
        let client = connect(serving(|builder| builder), era, User::default()).await;
        let result = client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert!(text(&result).contains("--approve-all"), "{}", text(&result));
    }
}

#[tokio::test]
async fn calls_below_a_call_are_asked_too() {
    for era in ERAS {
        let user = User::accepting(json!({ "decision": "allow" }));
        let service = serving(|builder| builder.policy(Policy::new().tool("clean", Rule::PreApproved)));
        let client = connect(service, era, user.clone()).await;
        let result = client.call_tool(call("clean", json!({ "paths": ["a", "b"] }))).await.unwrap();
        assert_eq!(result.structured_content.is_some(), era == Era::Rounds, "only an object is structured before");
        assert_eq!(text(&result), r#"["deleted a","deleted b"]"#);
        assert_eq!(user.asked().len(), 2);
        assert!(user.asked()[1].contains("called by: clean"), "{}", user.asked()[1]);
        assert!(user.asked()[1].contains("the client's call: clean(paths=[\"a\",\"b\"])"), "{}", user.asked()[1]);
        assert!(user.asked()[1].contains("path: in the client's call"), "{}", user.asked()[1]);
    }
}

#[tokio::test]
async fn rules_and_modes_of_the_runtime_decide_first() {
    let user = User::accepting(json!({ "decision": "allow" }));
    let blocked = serving(|builder| builder.policy(Policy::new().tool("delete", Rule::blocked("never"))));
    let client = connect(blocked, Era::Rounds, user.clone()).await;
    let result = client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap();
    assert!(text(&result).contains("never"), "{}", text(&result));

    let open = serving(|builder| builder.approval_mode(ApprovalMode::ApproveAll));
    let client = connect(open, Era::Rounds, User::default()).await;
    let result = client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap();
    assert_eq!((text(&result), user.asked().len()), ("deleted a".to_owned(), 0));
}

#[tokio::test]
async fn the_user_of_the_client_answers_what_became_of_a_call_that_may_have_happened() {
    let answers = [
        (json!({ "decision": "happened", "result": "gone" }), false, "gone"),
        (json!({ "decision": "run" }), false, "deleted a"),
        (json!({ "decision": "stop", "reason": "look first" }), true, "look first"),
        (json!({ "decision": "allow" }), true, "the outcome of `delete` is unknown"),
    ];
    for (era, (answer, is_error, expected)) in ERAS.into_iter().flat_map(|era| answers.clone().map(|case| (era, case)))
    {
        let journal = MemoryJournal::new();
        let user = User::accepting(json!({ "decision": "allow" }));
        let client = connect(serving(|builder| builder.journal(journal.clone())), era, user).await;
        client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap();
        let begun = journal.records().iter().position(|record| record.kind == StepKind::Begun).unwrap();
        // As if the process had died then.
        let died = || MemoryJournal::from_records(journal.records().into_iter().take(begun + 1));
        let user = User::accepting(answer.clone());
        let client = connect(serving(|builder| builder.journal(died())), era, user.clone()).await;
        let result = client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap();
        assert_eq!(result.is_error, Some(is_error), "{era:?} {answer} {result:?}");
        assert!(text(&result).contains(expected), "{era:?} {answer}: {}", text(&result));
        let asked = user.asked();
        assert!(asked.len() == 1 && asked[0].contains("What became of it?"), "{asked:?}");
        // A client without forms.
        let client = connect(serving(|builder| builder.journal(died())), era, User::default()).await;
        let result = client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap();
        assert!(text(&result).contains("the outcome of `delete` is unknown"), "{}", text(&result));
    }
}

#[tokio::test]
async fn questions_are_answered_by_the_user_of_the_client_in_each_era() {
    for era in ERAS {
        let user = User::accepting(json!({ "answer": "Ann" }));
        let client = connect(serving(|builder| builder), era, user.clone()).await;
        assert_eq!(text(&client.call_tool(call("who", json!({}))).await.unwrap()), "You are Ann.");
        assert_eq!(user.asked(), ["Who are you?"]);
    }
}

#[tokio::test]
async fn the_state_of_a_round_is_worth_nothing_for_another_call() {
    let client = connect(serving(|builder| builder), Era::Rounds, User::accepting(json!({}))).await;
    let asked = ask(&client, call("delete", json!({ "path": "a" }))).await;
    let key = asked.input_requests.unwrap().into_keys().next().unwrap();
    let state = asked.request_state.unwrap();
    let answered = |request: CallToolRequestParams| {
        request.with_input_responses([(key.clone(), allow())].into()).with_request_state(state.clone())
    };
    for other in
        [call("delete", json!({ "path": "b" })), call("who", json!({})), call("add", json!({ "a": 1, "b": 2 }))]
    {
        let error = client.call_tool_once(answered(other)).await.unwrap_err().to_string();
        assert!(error.contains("invalid `requestState`"), "{error}");
    }
    let mut forged = answered(call("delete", json!({ "path": "a" })));
    forged.request_state = Some(format!("{state}x"));
    client.call_tool_once(forged).await.unwrap_err();
    let CallToolResponse::Complete(result) =
        client.call_tool_once(answered(call("delete", json!({ "path": "a" })))).await.unwrap()
    else {
        panic!("the call is finished")
    };
    assert_eq!(text(&result), "deleted a");
    let error = client.call_tool_once(answered(call("delete", json!({ "path": "a" })))).await.unwrap_err();
    assert!(error.to_string().contains("already been answered"), "{error}");
}

#[tokio::test]
async fn a_round_belongs_to_the_owner_of_its_token_also_after_it_was_refreshed() {
    let owner = |token: &str| ["ann-1", "ann-2", "bob-1"].contains(&token).then(|| token[..3].to_owned());
    let address = http::listen(serving(|builder| builder), HttpOptions::default().authenticate(owner)).await;
    let client = async |token| http::client(&address, token, Era::Rounds, User::accepting(json!({}))).await;
    let asked = ask(&client("ann-1").await, call("delete", json!({ "path": "a" }))).await;
    let key = asked.input_requests.unwrap().into_keys().next().unwrap();
    let request = call("delete", json!({ "path": "a" })).with_input_responses([(key, allow())].into());
    let request = request.with_request_state(asked.request_state.unwrap());
    let error = client("bob-1").await.call_tool_once(request.clone()).await.unwrap_err().to_string();
    assert!(error.contains("invalid `requestState`"), "{error}");
    let CallToolResponse::Complete(result) = client("ann-2").await.call_tool_once(request).await.unwrap() else {
        panic!("the call is finished")
    };
    assert_eq!(text(&result), "deleted a");
}

#[tokio::test]
async fn a_client_cannot_take_the_places_of_all_clients() {
    let options = HttpOptions::default().check_token(|token| ["a", "b"].contains(&token));
    let address = http::listen(serving(|builder| builder), options).await;
    let greedy = http::client(&address, "a", Era::Rounds, User::accepting(json!({}))).await;
    for _ in 0..250 {
        ask(&greedy, call("delete", json!({ "path": "a" }))).await;
    }
    let error = greedy.call_tool_once(call("delete", json!({ "path": "a" }))).await.unwrap_err().to_string();
    assert!(error.contains("250 calls of this client wait for its answers already"), "{error}");
    let other = http::client(&address, "b", Era::Rounds, User::accepting(json!({}))).await;
    ask(&other, call("delete", json!({ "path": "b" }))).await;
}

#[tokio::test]
async fn a_round_without_a_valid_answer_asks_again() {
    let client = connect(serving(|builder| builder), Era::Rounds, User::accepting(json!({}))).await;
    let asked = ask(&client, call("delete", json!({ "path": "a" }))).await;
    let key = asked.input_requests.unwrap().into_keys().next().unwrap();
    for responses in [json!({}), json!({ &key: 17 }), json!({ "other": allow() })] {
        let asked = ask(&client, call("delete", json!({ "path": "a" }))).await;
        let responses = responses.as_object().cloned().unwrap().into_iter().collect();
        let request = call("delete", json!({ "path": "a" })).with_input_responses(responses);
        let again = ask(&client, request.with_request_state(asked.request_state.unwrap())).await;
        assert_eq!(again.input_requests.unwrap().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_in_time_is_cancelled() {
    let service = serving(|builder| builder).answer_timeout(Duration::from_secs(60));
    let client = connect(service, Era::Rounds, User::accepting(json!({}))).await;
    let asked = ask(&client, call("delete", json!({ "path": "a" }))).await;
    tokio::time::sleep(Duration::from_secs(61)).await;
    let key = asked.input_requests.unwrap().into_keys().next().unwrap();
    let request = call("delete", json!({ "path": "a" })).with_input_responses([(key, allow())].into());
    let error = client.call_tool_once(request.with_request_state(asked.request_state.unwrap())).await.unwrap_err();
    assert!(error.to_string().contains("expired"), "{error}");
}

#[tokio::test]
async fn a_client_that_shows_a_form_and_never_answers_ends_the_call_as_undecided() {
    let service = serving(|builder| builder).answer_timeout(Duration::from_millis(300));
    let user = User { is_silent: true, ..User::accepting(json!({ "decision": "allow" })) };
    let client = connect(service, Era::Handshake, user.clone()).await;
    let result = client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap();
    assert_eq!((user.asked().len(), result.is_error), (1, Some(true)));
    assert!(text(&result).contains("the client gave no answer within 300ms"), "{}", text(&result));
}
