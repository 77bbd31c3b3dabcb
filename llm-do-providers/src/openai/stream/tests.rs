//! A stream of chat completions, cut into pieces.

use super::Answer;
use crate::exchange::tests::{any_split, read_at_once};
use crate::model::StreamEvent;
use crate::openai::server::ELSEWHERE;

/// Line ends of all kinds, a comment, characters of several bytes, and data in two lines.
const STREAM: &str = "\u{feff}: hello\n\n\
    data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße, 世界 🦀\"}}]}\r\n\r\n\
    event: message\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\r\n\
    data: \"function\":{\"name\":\"add\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}\r\n\r\n\
    data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]}}]}\n\n\
    data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n\
    data: [DONE]\n\n";

#[test]
fn the_stream_has_four_events() {
    let (events, error) = read_at_once(Answer::new(&ELSEWHERE, "m".into(), 0), STREAM.as_bytes());
    assert!(error.is_none());
    let [StreamEvent::Text(_), StreamEvent::ToolCall { .. }, StreamEvent::ToolCall { .. }, StreamEvent::Done(response)] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(response.text(), "Grüße, 世界 🦀");
    assert_eq!(response.tool_calls().next().unwrap().arguments, "{\"a\":1}");
    assert_eq!(response.usage.output_tokens, 2);
}

any_split!(STREAM.as_bytes(), Answer::new(&ELSEWHERE, "m".into(), 0));

/// Thoughts with details that are put together.
mod details {
    use super::super::Answer;
    use crate::exchange::tests::any_split;
    use crate::openai::server::Server;

    const STREAM: &str = ": OPENROUTER PROCESSING\n\n\
        data: {\"choices\":[{\"delta\":{\"reasoning\":\"Grüße\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\
        \"text\":\"Grüße\",\"index\":0},{\"type\":\"reasoning.encrypted\",\"data\":\"gA==\",\"index\":1}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\", 🦀\",\"index\":0}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"signature\":\"s\",\"index\":0}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"content\":\"4\"},\"finish_reason\":\"stop\"}]}\n\n\
        data: [DONE]\n\n";

    any_split!(STREAM.as_bytes(), Answer::new(Server::OpenRouter.dialect(), "m".into(), 0));
}

/// Thoughts within the content.
mod chunks {
    use super::super::Answer;
    use crate::exchange::tests::any_split;
    use crate::openai::server::Server;

    const STREAM: &str = "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":\
        [{\"type\":\"text\",\"text\":\"Grüße\"}]}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\", 🦀\"},\
        {\"type\":\"reference\",\"reference_ids\":[1]}],\"closed\":true}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"4\"}]},\"finish_reason\":\"stop\"}]}\n\n\
        data: [DONE]\n\n";

    any_split!(STREAM.as_bytes(), Answer::new(Server::Mistral.dialect(), "m".into(), 0));
}
