//! Mistral, by <https://docs.mistral.ai/api/> and <https://docs.mistral.ai/capabilities/reasoning/>.

use super::*;

const MISTRAL: Server = Server::Mistral;
const NAME: &str = "mistral-medium-latest";

#[tokio::test]
async fn supported_settings_are_sent() {
    let body = json!({
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "random_seed": 7, "stop": ["x"], "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "parallel_tool_calls": false
    });
    assert_eq!(sent_with(MISTRAL, NAME, &everything()).await, body);
}

#[tokio::test]
async fn a_stream_has_no_options_and_usage_in_its_last_chunk() {
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7});
    let piece =
        json!({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "model_length"}], "usage": usage});
    let scripted = Scripted::scripted([Reply::stream().event(&piece.to_string()).event("[DONE]").end()]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::new());
    let response = answer(&model(MISTRAL, NAME, &scripted), Request::new(&messages, &settings), true).await.unwrap();
    assert_eq!((response.usage.input_tokens, response.usage.output_tokens), (3, 4));
    assert_eq!(response.finish, llm_do_providers::FinishReason::Length);
    let body = scripted.requests().remove(0).body;
    assert_eq!(body, json!({"model": NAME, "messages": [{"role": "user", "content": "hi"}], "stream": true}));
}

#[tokio::test]
async fn each_model_gets_thinking_in_its_own_form() {
    assert_eq!(efforts(MISTRAL, NAME).await, ["none", "none", "high", "high", "high", "high"]);
    assert_eq!(efforts(MISTRAL, "mistral-large-4-0").await, ["none", "low", "low", "medium", "high", "medium"]);
    assert_eq!(efforts(MISTRAL, "ministral-8b-latest").await, vec![Value::Null; 6]);
}

#[tokio::test]
async fn tool_choice_required_is_any() {
    let seen = choices(MISTRAL, NAME, &Settings::new()).await;
    assert_eq!(seen, [(both(), json!("any")), (both(), by_name()), (both(), json!("none"))]);
}

#[tokio::test]
async fn a_schema_is_strict_and_not_sent_with_tools() {
    let profile = model(MISTRAL, NAME, &Scripted::scripted([]).await).profile();
    assert_eq!((profile.native_output, profile.native_output_with_tools), (true, false));
    let form = format(MISTRAL, NAME).await;
    assert_eq!((&form["json_schema"]["name"], &form["json_schema"]["strict"]), (&json!("out"), &json!(true)));
}

fn thought(text: &str) -> Value {
    json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]})
}

#[tokio::test]
async fn thinking_is_sent_back_as_the_same_chunks() {
    let reference = json!({"type": "reference", "reference_ids": [1]});
    let signed = json!({"type": "thinking", "thinking": [{"type": "text", "text": "hm"}, reference], "signature": "s/+=", "closed": true});
    let content = json!([signed, thought("so"), {"type": "text", "text": "4"}]);
    let (first, back) = turned(MISTRAL, NAME, reply(&json!({"role": "assistant", "content": content})), false).await;
    assert_eq!((thoughts(&first).as_str(), first.text().as_str()), ("hmso", "4"));
    assert_eq!(back.to_string(), json!({"role": "assistant", "content": content}).to_string());
}

#[tokio::test]
async fn streamed_thinking_is_sent_back_as_one_chunk() {
    let mut last = thought("");
    last["signature"] = json!("s/+=");
    let stream = stream_of(
        [
            json!({"role": "assistant", "content": ""}),
            json!({"content": [thought("h")]}),
            json!({"content": [thought("m")]}),
            json!({"content": [last]}),
            json!({"content": [thought("so")]}),
            json!({"tool_calls": called("D681PevKs")}),
        ],
        "tool_calls",
    );
    let (first, back) = turned(MISTRAL, NAME, stream, true).await;
    assert_eq!(thoughts(&first), "hmso");
    let mut signed = thought("hm");
    signed["signature"] = json!("s/+=");
    let expected = json!({"role": "assistant", "content": [signed, thought("so")], "tool_calls": called("D681PevKs")});
    assert_eq!(back.to_string(), expected.to_string());
}

#[tokio::test]
async fn ids_of_other_servers_are_shortened_consistently() {
    let messages = sent_of_another(MISTRAL, NAME).await;
    let id = messages[1]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    assert_eq!(messages[1], json!({"role": "assistant", "tool_calls": called(id)}));
    assert_eq!(messages[2], json!({"role": "tool", "tool_call_id": id, "content": "3"}));
    assert_eq!(sent_of_another(MISTRAL, NAME).await, messages, "the same each time");
}

#[tokio::test]
async fn an_assistant_message_separates_results_from_a_user_message() {
    let (roles, sent) = roles(MISTRAL, NAME, &with_files_and_more()).await;
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(sent[3], json!({"role": "assistant", "content": "(no answer)"}));
    assert_eq!(sent[4], json!({"role": "user", "content": "go on"}));
}

#[tokio::test]
async fn an_empty_answer_is_sent_back_with_placeholder_text() {
    for content in [json!(""), json!(null), json!("\n"), json!([])] {
        let back = turned(MISTRAL, NAME, reply(&json!({"role": "assistant", "content": content})), false).await.1;
        assert_eq!(back, json!({"role": "assistant", "content": "(no answer)"}), "{content}");
    }
}

#[tokio::test]
async fn intermediary_servers_get_the_same_history_for_its_models() {
    for (server, name) in [
        (Server::OpenRouter, "mistralai/mistral-medium-3.1"),
        (Server::Vllm, "mistralai/Devstral-Small-2-24B-Instruct-2512"),
        (Server::OpenAi, "Ministral-8B"),
    ] {
        let (roles, sent) = roles(server, name, &with_files_and_more()).await;
        assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "user"], "{name}");
        assert_eq!(sent[2]["tool_call_id"].as_str().unwrap().len(), 9, "{name}");
    }
    let (roles, sent) = roles(Server::OpenRouter, "qwen/qwen3-max", &with_files_and_more()).await;
    assert_eq!(roles, ["user", "assistant", "tool", "user", "user"]);
    assert!(sent[2]["tool_call_id"].as_str().unwrap().starts_with("toolu_"));
}

#[tokio::test]
async fn files_have_vendor_parts_and_are_part_of_results() {
    assert_eq!(file(MISTRAL, NAME, image()).await.unwrap(), image_url());
    assert_eq!(file(MISTRAL, NAME, audio()).await.unwrap(), json!([{"type": "input_audio", "input_audio": "aGkh"}]));
    let document =
        json!([{"type": "document_url", "document_url": "data:application/pdf;base64,aGkh", "document_name": "a.pdf"}]);
    assert_eq!(file(MISTRAL, NAME, pdf()).await.unwrap(), document);

    let mut messages = of_another();
    let Some(Message::Tool { results }) = messages.last_mut() else { panic!("results") };
    *results = vec![results.remove(0).with_attachments([image()])];
    let sent = sent(MISTRAL, NAME, Request::new(&messages, &Settings::new())).await["messages"].take();
    let content = json!([{"type": "text", "text": "3"}, image_url()[0]]);
    assert_eq!((&sent[2]["content"], sent.get(3)), (&content, None));
}

#[tokio::test]
async fn errors_are_at_the_top_level() {
    let error = |message: Value, kind: &str, code: &str| json!({"object": "error", "message": message, "type": kind, "param": null, "code": code});
    let unknown = json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "secret"]}]});
    let unknown = error(unknown, "invalid_request_error", "3001");
    fails(MISTRAL, 422, &unknown, ErrorKind::InvalidRequest, "(invalid_request_error)").await;
    let busy = error(json!("Requests rate limit exceeded"), "rate_limited", "1300");
    fails(MISTRAL, 429, &busy, ErrorKind::RateLimited, "(rate_limited)").await;
    let long = "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length";
    let long = error(json!(long), "invalid_request_prompt", "3051");
    fails(MISTRAL, 400, &long, ErrorKind::ContextTooLong, "(invalid_request_prompt)").await;
}
