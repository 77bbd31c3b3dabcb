//! Tool calls in the format of each family.

use llm_do_providers::{
    FinishReason, Message, Model as _, Request, ResponsePart, Settings, StreamEvent, ToolCall, ToolChoice, ToolResult,
};

use super::templates::{LLAMA, MISTRAL, QWEN, QWEN_MARKS, QWEN_NAMED, shown};
use super::tiny::{Tiny, Value, bytes};
use crate::families::{add, all, at_most, events, llama, mistral, open, output, qwen, short};

/// A conversation with a tool call.
fn conversation_with_a_call() -> [Message; 3] {
    let call = ToolCall::new("call_1", "add", r#"{"a": 1, "b": 2}"#);
    let result = ToolResult::new(&call, "3");
    [
        Message::user("show me"),
        Message::Assistant { parts: vec![ResponsePart::ToolCall(call)] },
        Message::Tool { results: vec![result] },
    ]
}

#[tokio::test]
async fn a_forced_call_of_every_family_has_valid_arguments() {
    for (name, model) in all() {
        let (messages, tools) = ([Message::user("hello")], [add()]);
        for settings in [at_most(700), at_most(700).temperature(1.5).seed(1)] {
            let request = Request::new(&messages, &settings).tools(&tools).tool_choice(ToolChoice::Required);
            let events = events(&model, request).await;
            let Some(StreamEvent::Done(answer)) = events.last() else { panic!("{name}: {events:?}") };
            assert_eq!(answer.finish, FinishReason::ToolCalls, "{name}: {}", answer.text());
            for call in answer.tool_calls() {
                let arguments = serde_json::from_str(&call.arguments).expect("the arguments are JSON");
                jsonschema::validate(&tools[0].parameters, &arguments).expect("the arguments follow the schema");
            }
            let streamed = events.iter().filter(|event| matches!(event, StreamEvent::ToolCall { .. })).count();
            assert_eq!(streamed, answer.tool_calls().count(), "{name}");
            assert!(!events.iter().any(|event| matches!(event, StreamEvent::Text(_))), "{name}: a call is not text");
        }
    }
}

#[tokio::test]
async fn an_answer_that_starts_like_a_call_is_a_call() {
    // All tokens are equally likely: the first allowed one is sampled, which starts a call.
    let even =
        qwen("qwen3").without_tensor("output_norm.weight").with_tensor("output_norm.weight", &[32], vec![0.0; 32]);
    let (messages, tools, settings) = ([Message::user("hello")], [add()], at_most(700));
    let answer =
        open(&even).request(Request::new(&messages, &settings).tools(&tools)).await.expect("the model answers");
    let call = answer.tool_calls().next().expect("it calls");
    let arguments = serde_json::from_str(&call.arguments).expect("the arguments are JSON");
    jsonschema::validate(&tools[0].parameters, &arguments).expect("the arguments follow the schema");
}

#[tokio::test]
async fn an_answer_has_at_most_the_allowed_number_of_calls() {
    // All tokens are equally likely, and the end tokens have the highest ids: the model continues as long as allowed.
    let mut tokens = bytes(&[], &QWEN_NAMED);
    tokens.extend(bytes(&QWEN_MARKS, &[]).into_iter().take(2));
    let end = tokens.len() - 1;
    let tiny = Tiny::of_bytes("qwen3", tokens)
        .with("tokenizer.ggml.eos_token_id", Value::Count(u32::try_from(end).expect("it is small")))
        .with("tokenizer.ggml.bos_token_id", Value::Count(u32::try_from(end).expect("it is small")))
        .with_template(QWEN)
        .without_tensor("output_norm.weight")
        .with_tensor("output_norm.weight", &[32], vec![0.0; 32]);
    let (model, messages, tools) = (open(&tiny), [Message::user("hello")], [add()]);
    let settings = at_most(1000);
    let one = settings.clone().parallel_tool_calls(false);
    let required = (&settings, ToolChoice::Required, 8);
    for (settings, choice, count) in
        [required, (&one, ToolChoice::Required, 1), (&settings, ToolChoice::Tool("add"), 1)]
    {
        let request = Request::new(&messages, settings).tools(&tools).tool_choice(choice);
        let answer = model.request(request).await.expect("the model answers");
        assert_eq!(answer.tool_calls().count(), count, "{choice:?}: {answer:?}");
    }
}

#[tokio::test]
async fn an_answer_without_a_call_streams_its_text() {
    for (name, model) in all() {
        let (messages, tools) = ([Message::user("hello")], [add()]);
        for seed in 0..6 {
            let settings = at_most(40).temperature(2.0).seed(seed);
            let events = events(&model, Request::new(&messages, &settings).tools(&tools)).await;
            let Some(StreamEvent::Done(answer)) = events.last() else { panic!("{name}: {events:?}") };
            let text = events.iter().filter_map(|event| match event {
                StreamEvent::Text(text) => Some(text.as_str()),
                _ => None,
            });
            assert_eq!(text.collect::<String>(), answer.text(), "{name}");
        }
    }
}

#[tokio::test]
async fn with_tools_and_a_schema_the_answer_is_a_call_or_valid_json() {
    for (name, model) in all() {
        let (messages, tools, output) = ([Message::user("hello")], [add()], output(&short()));
        for seed in 0..4 {
            let settings = at_most(900).temperature(2.0).seed(seed);
            let request = Request::new(&messages, &settings).tools(&tools).output(Some(&output));
            let answer = model.request(request).await.expect("the model answers");
            if answer.tool_calls().count() == 0 {
                let value = serde_json::from_str(&answer.text()).expect("the answer is JSON");
                jsonschema::validate(&short(), &value).unwrap_or_else(|error| panic!("{name}: {value}: {error}"));
            }
        }
    }
}

#[tokio::test]
async fn a_template_with_tool_support_gets_tools_calls_and_results() {
    let (messages, tools, settings) = (conversation_with_a_call(), [add()], Settings::default());
    let request = Request::new(&messages, &settings).tools(&tools);
    let model = open(&qwen("qwen3").with_template(&shown(QWEN)));
    let error = model.request(request).await.expect_err("the template shows").to_string();
    let expected = [
        r#"{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object""#,
        "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}\n</tool_call><|im_end|>",
        "<tool_response>\n3\n</tool_response><|im_end|>",
    ];
    assert!(expected.iter().all(|text| error.contains(text)), "{error}");

    let model = open(&llama().with_template(&shown(LLAMA)));
    let error = model.request(request).await.expect_err("the template shows").to_string();
    let expected = [
        "{\n    \"type\": \"function\",\n    \"function\": {\n        \"name\": \"add\"",
        "\n\n{\"name\": \"add\", \"parameters\": {\"a\": 1, \"b\": 2}}<|eot_id|>",
        "<|start_header_id|>ipython<|end_header_id|>\n\n\"3\"<|eot_id|>",
    ];
    assert!(expected.iter().all(|text| error.contains(text)), "{error}");
}

/// A model with a separate template for conversations with tools.
fn of_two_templates(with_tools: &str) -> Tiny {
    let with_tools = Value::Text(with_tools.to_owned());
    qwen("qwen3").with_template(&shown(MISTRAL)).with("tokenizer.chat_template.tool_use", with_tools)
}

#[tokio::test]
async fn the_tool_template_is_used_for_requests_with_tools() {
    let (messages, tools, settings) = ([Message::user("show me")], [add()], at_most(1));
    let model = open(&of_two_templates(&shown(QWEN)));
    let request = Request::new(&messages, &settings);
    let error = model.request(request.tools(&tools)).await.expect_err("the template shows").to_string();
    assert!(error.contains("(`tokenizer.chat_template.tool_use`) failed"), "{error}");
    assert!(error.contains("Call with JSON between <tool_call> and </tool_call>"), "{error}");
    let error = model.request(request).await.expect_err("the template shows").to_string();
    assert!(error.contains("(`tokenizer.chat_template`) failed") && error.contains("[INST] show me"), "{error}");
    let none = request.tools(&tools).tool_choice(ToolChoice::None);
    let error = model.request(none).await.expect_err("the template shows").to_string();
    assert!(error.contains("[INST] show me"), "{error}");
}

#[tokio::test]
async fn a_tool_template_that_fails_or_ignores_tools_is_not_used() {
    let (messages, tools, settings) = ([Message::user("show me")], [add()], at_most(1));
    for with_tools in ["{% if %}", MISTRAL] {
        let model = open(&of_two_templates(with_tools));
        let error = model.request(Request::new(&messages, &settings).tools(&tools)).await;
        let error = error.expect_err("the template shows").to_string();
        assert!(error.contains("\nadd: Adds. Arguments: {"), "{error}");
    }
}

#[tokio::test]
async fn without_tool_support_the_instructions_describe_the_tools() {
    let (messages, tools, settings) = (conversation_with_a_call(), [add()], Settings::default());
    let model = open(&mistral().with_template(&shown(MISTRAL)));
    let request = Request::new(&messages, &settings).tools(&tools).tool_choice(ToolChoice::Required);
    let error = model.request(request).await.expect_err("the template shows").to_string();
    let expected = [
        "\nadd: Adds. Arguments: {\"a\": integer, \"b\": integer}\n",
        "[/INST]{\"tool\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}</s>[INST] Result of add: 3 [/INST]",
    ];
    assert!(expected.iter().all(|text| error.contains(text)), "{error}");
}

#[tokio::test]
async fn a_conversation_that_the_template_rejects_is_an_error_with_its_message() {
    let call = |id| ResponsePart::ToolCall(ToolCall::new(id, "add", "{}"));
    let messages = [Message::user("Add."), Message::Assistant { parts: vec![call("1"), call("2")] }];
    let settings = Settings::default();
    let error = open(&llama()).request(Request::new(&messages, &settings)).await.expect_err("there are two calls");
    assert!(error.to_string().contains("(`tokenizer.chat_template`) failed"), "{error}");
    assert!(error.to_string().contains("This model makes one call at a time."), "{error}");
}
