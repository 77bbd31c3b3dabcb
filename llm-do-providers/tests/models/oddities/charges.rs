//! What an answer reports of charges beside its tokens, streamed and whole: uses of server-side tools, and the service tier.

use llm_do_providers::{Response, ServerSideTool, Settings, Usage};
use serde_json::{Value, json};

use super::{WIRES, Wire, ask, stream};
use crate::server::{Reply, Server};

/// Returns the answers to a whole and to a streamed request, of which `report` is a part.
async fn both(wire: Wire, report: &Value) -> [Usage; 2] {
    let mut whole = wire.whole();
    merge(&mut whole, report);
    let mut events = wire.events();
    match wire {
        Wire::Chat => events.iter_mut().for_each(|event| merge(event, report)),
        Wire::Responses => merge(&mut events.last_mut().unwrap()["response"], report),
        Wire::Anthropic => {
            let last = events.len() - 2;
            merge(&mut events[last], report);
        }
        Wire::Gemini => merge(events.last_mut().unwrap(), report),
    }
    let whole = ask(wire, Reply::json(200, &whole), false).await.unwrap();
    let streamed = ask(wire, stream(events.iter().map(super::line)), true).await.unwrap();
    [whole.usage, streamed.usage]
}

/// Adds the fields of `more`; of a list, its items at the end.
fn merge(value: &mut Value, more: &Value) {
    match (value, more) {
        (Value::Object(fields), Value::Object(more)) => {
            for (name, more) in more {
                merge(fields.entry(name).or_insert(Value::Null), more);
            }
        }
        (Value::Array(items), Value::Array(more)) => items.extend(more.iter().cloned()),
        (value, more) => *value = more.clone(),
    }
}

fn tiers(usage: &Usage) -> (u64, u64, u64) {
    (usage.flex_requests, usage.priority_requests, usage.other_tier_requests)
}

#[tokio::test]
async fn the_tier_that_processed_a_request_is_counted() {
    for wire in WIRES {
        let report = |tier: &str| match wire {
            Wire::Chat | Wire::Responses => json!({ "service_tier": tier }),
            Wire::Anthropic => json!({"usage": {"service_tier": tier}}),
            Wire::Gemini => json!({"usageMetadata": {"serviceTier": tier}}),
        };
        for (tier, expected) in
            [("flex", (1, 0, 0)), ("priority", (0, 1, 0)), ("scale", (0, 0, 1)), ("standard", (0, 0, 0))]
        {
            for usage in both(wire, &report(tier)).await {
                assert_eq!(tiers(&usage), expected, "{wire:?}: {tier}");
            }
        }
        // An empty name is as good as none.
        for usage in both(wire, &report("")).await {
            assert_eq!(tiers(&usage), (0, 0, 0), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn the_requested_tier_counts_if_the_answer_names_none_and_another_one_if_it_does() {
    for wire in WIRES {
        for (reported, expected) in [(None, (1, 0, 0)), (Some("default"), (0, 0, 0))] {
            let mut whole = wire.whole();
            if let Some(tier) = reported {
                match wire {
                    Wire::Chat | Wire::Responses => whole["service_tier"] = json!(tier),
                    Wire::Anthropic => whole["usage"]["service_tier"] = json!(tier),
                    Wire::Gemini => whole["usageMetadata"]["trafficType"] = json!("ON_DEMAND"),
                }
            }
            let response = with_settings(wire, &whole, &Settings::new().service_tier("flex"), &[]).await;
            assert_eq!(tiers(&response.usage), expected, "{wire:?}: {reported:?}");
        }
    }
}

async fn with_settings(wire: Wire, whole: &Value, settings: &Settings, tools: &[ServerSideTool]) -> Response {
    use llm_do_providers::{Message, Request};
    let server = Server::scripted([Reply::json(200, whole)]).await;
    let messages = [Message::user("hi")];
    let request = Request::new(&messages, settings).server_side_tools(tools);
    wire.model(&server).request(request).await.unwrap()
}

#[tokio::test]
async fn the_speed_and_the_region_of_claude_have_prices_of_their_own() {
    for report in [json!({"speed": "fast"}), json!({"inference_geo": "us"})] {
        for usage in both(Wire::Anthropic, &json!({ "usage": report })).await {
            assert_eq!(tiers(&usage), (0, 0, 1), "{report}");
        }
    }
    for report in [json!({"speed": "standard"}), json!({"inference_geo": "global"})] {
        for usage in both(Wire::Anthropic, &json!({ "usage": report })).await {
            assert_eq!(tiers(&usage), (0, 0, 0), "{report}");
        }
    }
}

#[tokio::test]
async fn searches_and_code_of_claude_are_counted_by_name() {
    let uses = json!({
        "web_search_requests": 2, "web_fetch_requests": 3, "code_execution_requests": 4, "tool_search_requests": 1,
        "new_tool_requests": 5
    });
    for usage in both(Wire::Anthropic, &json!({"usage": {"server_tool_use": uses}})).await {
        assert_eq!((usage.web_searches, usage.containers, usage.other_charged_tools), (2, 1, 5));
        assert_eq!(usage.server_side_tools, 15);
    }
    for usage in both(Wire::Anthropic, &json!({"usage": {"server_tool_use": {"web_search_requests": 0}}})).await {
        assert_eq!((usage.web_searches, usage.containers, usage.server_side_tools), (0, 0, 0));
    }
}

#[tokio::test]
async fn the_tools_of_responses_are_counted_by_their_items() {
    let output = json!([
        {"type": "web_search_call", "id": "w1", "status": "completed", "action": {"type": "search", "query": "a"}},
        {"type": "web_search_call", "id": "w2", "status": "completed", "action": {"type": "search", "query": "b"}},
        {"type": "web_search_call", "id": "w3", "status": "completed", "action": {"type": "open_page", "url": "https://a.b"}},
        {"type": "file_search_call", "id": "f1", "status": "completed", "queries": ["a"]},
        {"type": "code_interpreter_call", "id": "x1", "status": "completed", "code": "1", "container_id": "c1"},
        {"type": "code_interpreter_call", "id": "x2", "status": "completed", "code": "2", "container_id": "c1"},
        {"type": "image_generation_call", "id": "i1", "status": "completed"},
        {"type": "mcp_call", "id": "m1", "name": "n", "arguments": "{}"},
        {"type": "reasoning", "id": "r1", "summary": []}
    ]);
    for usage in both(Wire::Responses, &json!({ "output": output })).await {
        assert_eq!((usage.web_searches, usage.file_searches, usage.containers), (2, 1, 1));
        assert_eq!((usage.other_charged_tools, usage.server_side_tools), (1, 8));
    }
}

#[tokio::test]
async fn the_queries_of_gemini_are_its_searches() {
    let grounding = json!({"webSearchQueries": ["a", "b", "c"], "groundingChunks": []});
    let report = json!({"candidates": [{"groundingMetadata": grounding}]});
    let mut whole = Wire::Gemini.whole();
    whole["candidates"][0]["groundingMetadata"] = grounding;
    let usage = ask(Wire::Gemini, Reply::json(200, &whole), false).await.unwrap().usage;
    assert_eq!((usage.web_searches, usage.server_side_tools), (3, 1), "{report}");
    let mut events = Wire::Gemini.events();
    events.last_mut().unwrap()["candidates"][0]["groundingMetadata"] =
        whole["candidates"][0]["groundingMetadata"].clone();
    let usage = ask(Wire::Gemini, stream(events.iter().map(super::line)), true).await.unwrap().usage;
    assert_eq!((usage.web_searches, usage.server_side_tools), (3, 1));
}

#[tokio::test]
async fn a_search_model_of_chat_completions_searches_once_per_request() {
    let server = Server::scripted([Reply::json(200, &Wire::Chat.whole())]).await;
    let model = llm_do_providers::OpenAiModel::builder("gpt-4o-search-preview")
        .base_url(server.base_url())
        .api_key(llm_do_providers::ApiKey::new("k").unwrap())
        .profile(llm_do_providers::Profile::NATIVE_OUTPUT.with_server_side_tools(&[ServerSideTool::WEB_SEARCH]))
        .build()
        .unwrap();
    let messages = [llm_do_providers::Message::user("hi")];
    let settings = Settings::new();
    let tools = [ServerSideTool::WEB_SEARCH];
    let request = llm_do_providers::Request::new(&messages, &settings).server_side_tools(&tools);
    let usage = llm_do_providers::Model::request(&model, request).await.unwrap().usage;
    assert_eq!((usage.web_searches, usage.server_side_tools), (1, 1));
    assert_eq!(ask(Wire::Chat, Reply::json(200, &Wire::Chat.whole()), false).await.unwrap().usage.web_searches, 0);
}
