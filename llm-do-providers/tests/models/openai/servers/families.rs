//! OpenAI's own models, by <https://developers.openai.com/api/docs/guides/reasoning>.

use super::*;

const OPENAI: Server = Server::OpenAi;

async fn asked(name: &str, settings: Settings, tools: bool) -> Value {
    let (messages, add) = ([Message::user("hi")], [add()]);
    let mut body = sent(OPENAI, name, Request::new(&messages, &settings).tools(if tools { &add } else { &[] })).await;
    let fields = body.as_object_mut().unwrap();
    fields.retain(|name, _| !["model", "messages", "tools"].contains(&name.as_str()));
    body
}

#[tokio::test]
async fn models_without_reasoning_get_no_reasoning_settings() {
    let body = json!({
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "seed": 7, "stop": ["x"], "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "parallel_tool_calls": false, "service_tier": "flex"
    });
    assert_eq!(asked("gpt-4.1-mini", everything().thinking(ThinkingLevel::High), true).await, body);
}

#[tokio::test]
async fn reasoning_models_get_no_sampling_and_the_newer_token_limit() {
    let body = json!({"max_completion_tokens": 9, "seed": 7, "reasoning_effort": "minimal", "service_tier": "flex"});
    assert_eq!(asked("gpt-5-mini", everything().thinking(ThinkingLevel::Minimal), false).await, body);
    let body = json!({"max_completion_tokens": 9, "seed": 7, "service_tier": "flex"});
    assert_eq!(asked("o3", everything(), false).await, body);
}

#[tokio::test]
async fn search_models_get_no_sampling_settings() {
    let body = json!({"max_tokens": 9, "seed": 7, "stop": ["x"], "service_tier": "flex"});
    for name in ["gpt-4o-search-preview", "gpt-4o-mini-search-preview-2025-03-11"] {
        assert_eq!(asked(name, everything(), false).await, body, "{name}");
    }
}

#[tokio::test]
async fn the_o_series_gets_no_parallel_tool_calls_setting() {
    let one = || Settings::new().parallel_tool_calls(false);
    for name in ["o1", "o3-mini", "o3-2025-04-16", "openai/o4-mini"] {
        assert_eq!(asked(name, one(), true).await, json!({}), "{name}");
    }
    for name in ["gpt-5", "gpt-4.1", "our-model"] {
        assert_eq!(asked(name, one(), true).await, json!({"parallel_tool_calls": false}), "{name}");
    }
}

#[tokio::test]
async fn a_thinking_level_is_sent_as_the_nearest_supported_effort() {
    for (name, words) in [
        ("gpt-5-pro", ["high", "high", "high", "high", "high", "high"]),
        ("gpt-5.4-pro", ["medium", "medium", "medium", "medium", "high", "medium"]),
        ("gpt-5.2-codex", ["low", "low", "low", "medium", "high", "medium"]),
        ("gpt-5.3-codex", ["none", "low", "low", "medium", "high", "medium"]),
        ("gpt-6.2-sol", ["low", "low", "low", "medium", "high", "medium"]),
    ] {
        assert_eq!(efforts(OPENAI, name).await, words, "{name}");
    }
    assert_eq!(asked("gpt-5.2-codex", Settings::new().temperature(0.5), true).await, json!({}));
}

#[tokio::test]
async fn with_reasoning_off_sampling_settings_are_sent() {
    let samples = async |name, settings: Settings| asked(name, settings, false).await.get("temperature").is_some();
    let hot = || Settings::new().temperature(0.5);
    assert!(samples("gpt-5.2", hot()).await, "it thinks only if asked");
    assert!(!samples("gpt-5.2", hot().thinking(ThinkingLevel::Low)).await);
    assert!(!samples("gpt-5.6-sol", hot()).await, "it thinks unless asked not to");
    assert!(samples("gpt-5.6-sol", hot().thinking(ThinkingLevel::Off)).await);
    assert!(samples("gpt-5.3-codex", hot().thinking(ThinkingLevel::Off)).await);
    assert!(!samples("gpt-6.1-sol", hot().thinking(ThinkingLevel::Off)).await, "it always thinks");
}

#[tokio::test]
async fn models_with_exclusive_reasoning_do_not_reason_with_tools() {
    let high = || Settings::new().thinking(ThinkingLevel::High);
    for name in ["gpt-5.4", "gpt-5.6-luna", "openai/gpt-6-sol", "gpt-6.1-terra"] {
        assert_eq!(asked(name, high(), true).await["reasoning_effort"], "none", "{name}");
        assert_eq!(asked(name, high(), false).await["reasoning_effort"], "high", "{name}");
    }
    assert_eq!(asked("gpt-5.6", Settings::new(), true).await, json!({"reasoning_effort": "none"}));
    assert_eq!(asked("gpt-5.2", high(), true).await["reasoning_effort"], "high");
}

#[tokio::test]
async fn unsupported_tools_are_rejected_with_an_alternative() {
    let key = llm_do_providers::ApiKey::new("sk-1").unwrap();
    let (messages, settings, tools) = ([Message::user("hi")], Settings::new(), [add()]);
    for name in ["gpt-6-astra", "gpt-6.1-sol", "gpt-6.2-sol"] {
        let model = OpenAiModel::builder(name).api_key(key.clone()).build().unwrap();
        let error = model.request(Request::new(&messages, &settings).tools(&tools)).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (ErrorKind::InvalidRequest, None));
        assert!(error.to_string().contains(&format!("use `openai-responses:{name}`")), "{error}");
        // An intermediary server may support it.
        assert_eq!(asked(name, Settings::new(), true).await, json!({}));
    }
}

#[tokio::test]
async fn models_before_gpt_4o_do_not_support_schemas() {
    for (name, native) in [("gpt-4-turbo", false), ("gpt-4o-mini", true), ("o3", true), ("gpt-5-mini", true)] {
        assert_eq!(
            OpenAiModel::builder(name).base_url("http://127.0.0.1:1").build().unwrap().profile().native_output,
            native
        );
    }
}
