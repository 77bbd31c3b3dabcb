//! Figures grow: what comes later includes what came before, and a zero at the end replaces nothing.

use llm_do_providers::Usage;
use serde_json::{Value, json};

use super::{WIRES, Wire, ask, check, stream};
use crate::server::Reply;

#[tokio::test]
async fn a_zero_at_the_end_replaces_no_figure() {
    let cases: [(Wire, Value); 8] = [
        (
            Wire::Chat,
            json!({"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0, "prompt_tokens_details": null}}),
        ),
        (Wire::Chat, json!({"choices": [], "usage": {}})),
        (Wire::Chat, json!({"choices": [], "usage": "none"})),
        (
            Wire::Anthropic,
            json!({"type": "message_delta", "delta": {}, "usage": {"input_tokens": 0, "output_tokens": 0}}),
        ),
        (Wire::Anthropic, json!({"type": "message_delta", "delta": {}, "usage": {}})),
        (Wire::Gemini, json!({"usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0}})),
        (Wire::Gemini, json!({"usageMetadata": {}})),
        (Wire::Gemini, json!({"usageMetadata": {"promptTokenCount": 3}})),
    ];
    for (wire, last) in cases {
        let mut events = wire.events();
        let place = if wire == Wire::Anthropic { events.len() - 1 } else { events.len() };
        events.insert(place, last.clone());
        check(wire, &ask(wire, stream(events.iter().map(super::line)), true).await.unwrap(), &last.to_string());
    }
}

#[tokio::test]
async fn a_figure_may_be_a_text_and_details_may_be_anything() {
    for wire in WIRES {
        let (key, figures) = match wire {
            Wire::Chat => (
                "usage",
                json!({"prompt_tokens": "3", "completion_tokens": "4", "prompt_tokens_details": "none", "completion_tokens_details": null}),
            ),
            Wire::Responses => (
                "usage",
                json!({"input_tokens": "3", "output_tokens": 4.0, "input_tokens_details": null, "output_tokens_details": []}),
            ),
            Wire::Anthropic => (
                "usage",
                json!({"input_tokens": "3", "output_tokens": "4", "output_tokens_details": 7, "server_tool_use": null}),
            ),
            Wire::Gemini => (
                "usageMetadata",
                json!({"promptTokenCount": "3", "candidatesTokenCount": "4", "promptTokensDetails": null}),
            ),
        };
        let mut whole = wire.whole();
        whole[key] = figures;
        check(wire, &ask(wire, Reply::json(200, &whole), false).await.unwrap(), "whole");
        check(wire, &ask(wire, Reply::json(200, &whole), true).await.unwrap(), "JSON for a stream");
    }
}

#[tokio::test]
async fn the_figures_in_a_choice_count() {
    let mut events = Wire::Chat.events();
    events.pop();
    events.last_mut().unwrap()["choices"][0]["usage"] =
        json!({"prompt_tokens": 3, "completion_tokens": 4, "cached_tokens": 2});
    let response = ask(Wire::Chat, stream(events.iter().map(super::line)), true).await.unwrap();
    check(Wire::Chat, &response, "in a choice");
    assert_eq!(response.usage.cached_tokens, 2);
}

#[tokio::test]
async fn figures_in_several_pieces_are_put_together() {
    let mut events = Wire::Gemini.events();
    events[0]["usageMetadata"] = json!({"promptTokenCount": 3, "thoughtsTokenCount": 5, "cachedContentTokenCount": 2});
    let response = ask(Wire::Gemini, stream(events.iter().map(super::line)), true).await.unwrap();
    let expected = (3, 9, 5, 2);
    let Usage { input_tokens, output_tokens, reasoning_tokens, cached_tokens, .. } = response.usage;
    assert_eq!((input_tokens, output_tokens, reasoning_tokens, cached_tokens), expected);
}

#[tokio::test]
async fn a_failed_answer_of_responses_keeps_its_figures() {
    let failed = json!({"status": "failed", "error": {"code": "server_error", "message": "x"}, "usage": {"input_tokens": 3, "output_tokens": 4}});
    let event = json!({"type": "response.failed", "response": failed});
    for (reply, is_streamed) in [(Reply::json(200, &failed), false), (stream([super::line(&event)]), true)] {
        let error = ask(Wire::Responses, reply, is_streamed).await.unwrap_err();
        assert_eq!(error.partial_response().unwrap().usage, Usage::of_request(3, 4));
    }
}
