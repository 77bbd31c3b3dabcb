//! Text, its stream, thoughts, and what is remembered between turns.

use llm_do_providers::{
    FinishReason, Message, Model as _, Request, ResponsePart, Settings, StreamEvent, Thinking, ThinkingLevel,
    ToolChoice, ToolResult,
};

use crate::tiny::{Tiny, bytes};
use crate::{add, all, at_most, events, llama, mistral, open, output, qwen, say, short};

#[tokio::test]
async fn every_family_streams_the_text_that_it_answers() {
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
        let again = say(&model, "hello world", &settings).await.expect("the model answers");
        assert_eq!(again.text(), answer.text(), "{name}");
    }
}

#[tokio::test]
async fn every_family_answers_by_a_schema() {
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
async fn a_turn_is_read_from_where_the_last_one_left_off() {
    for (name, model) in all() {
        let settings = at_most(8);
        let mut messages = vec![Message::user("the hello")];
        let first = model.request(Request::new(&messages, &settings)).await.expect("the model answers");
        assert_eq!(first.usage.cached_tokens, 0, "{name}");
        messages.push(Message::Assistant { parts: vec![ResponsePart::Text { text: "or".into() }] });
        messages.push(Message::user("the world"));
        let second = model.request(Request::new(&messages, &settings)).await.expect("the model answers");
        // What stands before the first answer, but for the mark that there is no thought, which is not repeated.
        let begun = first.usage.input_tokens - if name.starts_with("qwen") { 6 } else { 0 };
        assert!(second.usage.cached_tokens >= begun, "{name}: {:?} after {:?}", second.usage, first.usage);
        assert!(second.usage.cached_tokens < second.usage.input_tokens, "{name}: {:?}", second.usage);
    }
}

#[tokio::test]
async fn a_call_that_was_made_is_not_read_again_with_its_result() {
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
    // All of the call but the end that was never read, for nothing came after it.
    let known = first.usage.input_tokens + first.usage.output_tokens;
    assert!(second.usage.cached_tokens + 3 >= known, "{:?} after {:?}", second.usage, first.usage);
}

#[tokio::test]
async fn any_of_several_tokens_ends_an_answer() {
    // All tokens are as likely, so that the first is chosen, which the file does not state.
    let marks = ["<|im_end|>", "<|end|>", "<|im_start|>"];
    let even = Tiny::of_bytes("llama", bytes(&marks, &[])).without_tensor("output_norm.weight").with_tensor(
        "output_norm.weight",
        &[32],
        vec![0.0; 32],
    );
    let answer = say(&open(&even), "hello", &at_most(9)).await.expect("the model answers");
    assert_eq!((answer.finish, answer.usage.output_tokens, answer.text().as_str()), (FinishReason::Stop, 0, ""));
}

#[tokio::test]
async fn what_is_remembered_changes_no_answer() {
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
async fn a_model_thinks_if_it_is_told_to_and_within_its_budget() {
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
        let answer = say(&model, "hello", &settings).await.expect("the model answers");
        assert_eq!(answer.usage.reasoning_tokens, 0, "it thinks unasked");
    }
}

#[tokio::test]
async fn a_thought_may_come_before_an_answer_by_a_schema() {
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
async fn a_model_that_always_thinks_is_kept_from_it_by_off_alone() {
    // As the models have it that learned from DeepSeek's.
    let template = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n\
        {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}";
    let model = open(&qwen("qwen2").with_template(template));
    let thinking = say(&model, "hello", &at_most(5)).await.expect("the model answers");
    assert_eq!(thinking.usage.reasoning_tokens, 5);
    let off = at_most(5).thinking(ThinkingLevel::Off);
    let answer = say(&model, "hello", &off).await.expect("the model answers");
    assert_eq!(answer.usage.reasoning_tokens, 0);
}

#[tokio::test]
async fn a_thought_goes_back_to_the_model_and_that_of_another_provider_does_not() {
    let template = super::templates::shown(super::templates::QWEN);
    let model = open(&qwen("qwen3").with_template(&template));
    let foreign = llm_do_providers::ProviderData::new("anthropic", serde_json::json!("signed"));
    let parts = vec![
        ResponsePart::Thinking(Thinking::new("mine")),
        ResponsePart::Thinking(Thinking::new("theirs").with_provider_data(foreign)),
        ResponsePart::Text { text: "said".into() },
    ];
    let messages = [Message::user("show me"), Message::Assistant { parts }];
    let settings = Settings::default();
    let error = model.request(Request::new(&messages, &settings)).await.expect_err("the template shows");
    assert!(error.to_string().contains("<think>\nmine\n</think>\n\nsaid<|im_end|>"), "{error}");
}

#[tokio::test]
async fn a_template_from_windows_writes_the_same() {
    let text = "{% for message in messages %}\r\n{{ message.content }}\r\n{% endfor %}\r\n";
    let model = open(&qwen("qwen3").with_template(&super::templates::shown(text)));
    let error = say(&model, "show me", &at_most(1)).await.expect_err("the template shows");
    assert!(error.to_string().contains(": show me\n; take another"), "{error:?}");
}

#[tokio::test]
async fn instructions_stand_in_the_first_message_where_there_is_no_role_for_them() {
    let model = open(&mistral().with_template(&super::templates::shown(super::templates::MISTRAL)));
    let (messages, settings) = ([Message::user("show me")], Settings::default());
    let request = Request::new(&messages, &settings).instructions(Some("Be brief."));
    let error = model.request(request).await.expect_err("the template shows");
    assert!(error.to_string().contains("<s>[INST] Be brief.\n\nshow me [/INST]"), "{error}");
}

#[tokio::test]
async fn dropping_a_request_stops_the_reading_of_its_prompt() {
    let model = open(&llama().with("llama.context_length", crate::tiny::Value::Count(30_000)));
    let (settings, messages) = (at_most(1), [Message::user("hello ".repeat(5000))]);
    let stream = model.stream(Request::new(&messages, &settings)).await.expect("the request is sound");
    drop(stream);
    let answer = say(&model, "hello", &settings).await.expect("the model answers");
    // Nobody read the long prompt to its end, or the short one would find its beginning and no more.
    assert!(answer.usage.input_tokens < 100, "{:?}", answer.usage);
}
