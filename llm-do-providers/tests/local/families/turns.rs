//! Text, streams, thinking, and the KV cache between turns.

use llm_do_providers::{
    FinishReason, Message, Model as _, Request, ResponsePart, Settings, StreamEvent, Thinking, ThinkingLevel,
    ToolChoice, ToolResult,
};

use crate::families::tiny::{Tiny, bytes};
use crate::families::{add, all, ask, at_most, events, llama, mistral, open, output, qwen, short};

#[tokio::test]
async fn every_family_streams_the_text_of_its_answer() {
    for (name, model) in all() {
        let (settings, messages) = (at_most(24), [Message::user("hello world")]);
        let events = events(&model, Request::new(&messages, &settings)).await;
        let Some(StreamEvent::Done(answer)) = events.last() else { panic!("{name}: {events:?}") };
        let pieces = events.iter().filter_map(|event| match event {
            StreamEvent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(pieces.collect::<String>(), answer.text(), "{name}");
        assert!(answer.usage.output_tokens <= 24, "{name}: {:?}", answer.usage);
        let again = ask(&model, "hello world", &settings).await.expect("the model answers");
        assert_eq!(again.text(), answer.text(), "{name}");
    }
}

#[tokio::test]
async fn every_family_follows_an_output_schema() {
    for (name, model) in all() {
        let (settings, messages, output) = (at_most(200), [Message::user("Who?")], output(&short()));
        for settings in [settings.clone(), settings.temperature(1.5).seed(3)] {
            let request = Request::new(&messages, &settings).output(Some(&output));
            let answer = model.request(request).await.expect("the model answers");
            assert_eq!(answer.finish, FinishReason::Stop, "{name}: {}", answer.text());
            let value = serde_json::from_str(&answer.text()).expect("the answer is JSON");
            jsonschema::validate(&short(), &value).unwrap_or_else(|error| panic!("{name}: {value}: {error}"));
        }
    }
}

#[tokio::test]
async fn a_further_turn_reuses_the_cached_tokens() {
    for (name, model) in all() {
        let settings = at_most(8);
        let mut messages = vec![Message::user("the hello")];
        let first = model.request(Request::new(&messages, &settings)).await.expect("the model answers");
        assert_eq!(first.usage.cached_tokens, 0, "{name}");
        messages.push(Message::Assistant { parts: vec![ResponsePart::Text { text: "or".into() }] });
        messages.push(Message::user("the world"));
        let second = model.request(Request::new(&messages, &settings)).await.expect("the model answers");
        // The prompt before the first answer, except the empty thinking block, which is not repeated.
        let begun = first.usage.input_tokens - if name.starts_with("qwen") { 6 } else { 0 };
        assert!(second.usage.cached_tokens >= begun, "{name}: {:?} after {:?}", second.usage, first.usage);
        assert!(second.usage.cached_tokens < second.usage.input_tokens, "{name}: {:?}", second.usage);
    }
}

#[tokio::test]
async fn a_call_stays_cached_when_its_result_follows() {
    let model = open(&llama());
    let (settings, tools) = (at_most(150), [add()]);
    let mut messages = vec![Message::user("hello")];
    let request = Request::new(&messages, &settings).tools(&tools).tool_choice(ToolChoice::Required);
    let first = model.request(request).await.expect("the model answers");
    let call = first.tool_calls().next().expect("a call is forced");
    let result = ToolResult::new(call, "3");
    messages.push(Message::Assistant { parts: first.parts.clone() });
    messages.push(Message::Tool { results: vec![result] });
    let second = model.request(Request::new(&messages, &settings).tools(&tools)).await.expect("the model answers");
    // The whole call except its end token, which was sampled but never evaluated.
    let known = first.usage.input_tokens + first.usage.output_tokens;
    assert!(second.usage.cached_tokens + 3 >= known, "{:?} after {:?}", second.usage, first.usage);
}

#[tokio::test]
async fn any_end_token_ends_an_answer() {
    // All tokens are equally likely, so the first is sampled, which the file does not declare as an end token.
    let marks = ["<|im_end|>", "<|end|>", "<|im_start|>"];
    let even = Tiny::of_bytes("llama", bytes(&marks, &[])).without_tensor("output_norm.weight").with_tensor(
        "output_norm.weight",
        &[32],
        vec![0.0; 32],
    );
    let answer = ask(&open(&even), "hello", &at_most(9)).await.expect("the model answers");
    assert_eq!((answer.finish, answer.usage.output_tokens, answer.text().as_str()), (FinishReason::Stop, 0, ""));
}

#[tokio::test]
async fn cached_tokens_do_not_change_an_answer() {
    let (remembering, fresh) = (open(&llama()), open(&llama()));
    let settings = at_most(30);
    let messages = |question| [Message::user("hello world"), Message::user(question)];
    for question in ["the or", "the oar", "hello"] {
        let request = |messages| Request::new(messages, &settings);
        remembering.request(request(&messages(question))).await.expect("the model answers");
    }
    let last = messages("the oar");
    let known = remembering.request(Request::new(&last, &settings)).await.expect("the model answers");
    let unknown = fresh.request(Request::new(&last, &settings)).await.expect("the model answers");
    assert!(known.usage.cached_tokens > 0 && unknown.usage.cached_tokens == 0);
    assert_eq!(known.text(), unknown.text());
}

#[tokio::test]
async fn a_model_thinks_on_request_within_its_budget() {
    let model = open(&qwen("qwen3"));
    let messages = [Message::user("hello")];
    let settings = at_most(60).thinking(ThinkingLevel::Tokens(9)).temperature(1.0).seed(5);
    let events = events(&model, Request::new(&messages, &settings)).await;
    let Some(StreamEvent::Done(answer)) = events.last() else { panic!("{events:?}") };
    assert!((1..=9).contains(&answer.usage.reasoning_tokens), "{:?}", answer.usage);
    let [ResponsePart::Thinking(thought), ResponsePart::Text { .. }] = answer.parts.as_slice() else {
        panic!("{:?}", answer.parts)
    };
    let streamed = events.iter().filter_map(|event| match event {
        StreamEvent::Thinking(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(streamed.collect::<String>().trim(), thought.text);
    for settings in [at_most(20), at_most(20).thinking(ThinkingLevel::Off)] {
        let answer = ask(&model, "hello", &settings).await.expect("the model answers");
        assert_eq!(answer.usage.reasoning_tokens, 0, "it thinks unasked");
    }
}

#[tokio::test]
async fn thinking_may_precede_an_answer_with_a_schema() {
    let model = open(&qwen("qwen3"));
    let (messages, output) = ([Message::user("hello")], output(&short()));
    let settings = at_most(200).thinking(ThinkingLevel::Tokens(6));
    let request = Request::new(&messages, &settings).output(Some(&output));
    let answer = model.request(request).await.expect("the model answers");
    assert!(answer.usage.reasoning_tokens > 0);
    let value = serde_json::from_str(&answer.text()).expect("the answer is JSON");
    jsonschema::validate(&short(), &value).expect("the answer follows its schema");
}

#[tokio::test]
async fn only_off_prevents_an_always_thinking_template_from_thinking() {
    // As in models distilled from DeepSeek's.
    let template = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n\
        {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}";
    let model = open(&qwen("qwen2").with_template(template));
    let thinking = ask(&model, "hello", &at_most(5)).await.expect("the model answers");
    assert_eq!(thinking.usage.reasoning_tokens, 5);
    let off = at_most(5).thinking(ThinkingLevel::Off);
    let answer = ask(&model, "hello", &off).await.expect("the model answers");
    assert_eq!(answer.usage.reasoning_tokens, 0);
}

#[tokio::test]
async fn own_thinking_is_sent_back_and_that_of_other_providers_is_not() {
    let template = super::templates::shown(super::templates::QWEN);
    let model = open(&qwen("qwen3").with_template(&template));
    let foreign = llm_do_providers::ProviderData::new("anthropic", serde_json::json!("signed"));
    let parts = vec![
        ResponsePart::Thinking(Thinking::new("mine")),
        ResponsePart::Thinking(Thinking::new("theirs").with_provider_data(foreign)),
        ResponsePart::Text { text: "spoken".into() },
    ];
    let messages = [Message::user("show me"), Message::Assistant { parts }];
    let settings = Settings::default();
    let error = model.request(Request::new(&messages, &settings)).await.expect_err("the template shows");
    assert!(error.to_string().contains("<think>\nmine\n</think>\n\nspoken<|im_end|>"), "{error}");
}

#[tokio::test]
async fn a_template_with_windows_line_endings_renders_the_same() {
    let text = "{% for message in messages %}\r\n{{ message.content }}\r\n{% endfor %}\r\n";
    let model = open(&qwen("qwen3").with_template(&super::templates::shown(text)));
    let error = ask(&model, "show me", &at_most(1)).await.expect_err("the template shows");
    assert!(error.to_string().contains(": show me\n; check the conversation"), "{error:?}");
}

#[tokio::test]
async fn without_a_system_role_the_first_message_has_the_instructions() {
    let model = open(&mistral().with_template(&super::templates::shown(super::templates::MISTRAL)));
    let (messages, settings) = ([Message::user("show me")], Settings::default());
    let request = Request::new(&messages, &settings).instructions(Some("Be brief."));
    let error = model.request(request).await.expect_err("the template shows");
    assert!(error.to_string().contains("<s>[INST] Be brief.\n\nshow me [/INST]"), "{error}");
}

#[tokio::test]
async fn dropping_a_request_stops_the_evaluation_of_its_prompt() {
    let model = open(&llama().with("llama.context_length", crate::families::tiny::Value::Count(30_000)));
    let (settings, messages) = (at_most(1), [Message::user("hello ".repeat(5000))]);
    let stream = model.stream(Request::new(&messages, &settings)).await.expect("the request is sound");
    drop(stream);
    let answer = ask(&model, "hello", &settings).await.expect("the model answers");
    // The cache holds more than the start of the short prompt only if the long one was not evaluated to its end.
    assert!(answer.usage.input_tokens < 100, "{:?}", answer.usage);
}
