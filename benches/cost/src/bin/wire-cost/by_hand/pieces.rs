//! Reads answers, and the pieces of streamed answers.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::client::Wire;

/// A text with its finish reason and the numbers of prompt and answer tokens.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) finish: Option<String>,
    pub(crate) prompt_tokens: u64,
    pub(crate) answer_tokens: u64,
}

/// Reads a piece of a stream.
pub(crate) fn read(wire: Wire, json: &[u8]) -> Piece {
    match wire {
        Wire::Chat => parsed::<Chat>(json).into(),
        Wire::Responses => parsed::<ResponsesEvent>(json).into(),
        Wire::Anthropic => parsed::<AnthropicEvent>(json).into(),
        Wire::Gemini => parsed::<Gemini>(json).into(),
    }
}

/// Reads a whole answer.
pub(crate) fn read_whole(wire: Wire, json: &[u8]) -> Piece {
    match wire {
        Wire::Chat => parsed::<Chat>(json).into(),
        Wire::Responses => parsed::<Response>(json).into(),
        Wire::Anthropic => parsed::<Anthropic>(json).into(),
        Wire::Gemini => parsed::<Gemini>(json).into(),
    }
}

fn parsed<T: DeserializeOwned>(json: &[u8]) -> T {
    serde_json::from_slice(json).expect("the documented format")
}

#[derive(Deserialize)]
struct Chat {
    choices: Vec<Choice>,
    usage: Option<ChatUsage>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "message")]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
}

#[derive(Deserialize)]
struct ChatUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
}

impl From<Chat> for Piece {
    fn from(chat: Chat) -> Self {
        let choice = chat.choices.into_iter().next();
        let (text, finish) = choice.map_or((None, None), |choice| (choice.delta.content, choice.finish_reason));
        let text = text.unwrap_or_default();
        let (prompt_tokens, answer_tokens) =
            chat.usage.map_or((0, 0), |usage| (usage.prompt_tokens, usage.completion_tokens));
        Self { text, finish, prompt_tokens, answer_tokens }
    }
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum ResponsesEvent {
    #[serde(rename = "response.output_text.delta")]
    Delta { delta: String },
    #[serde(rename = "response.completed")]
    Completed { response: Response },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Response {
    status: String,
    output: Vec<Item>,
    usage: TokenUsage,
}

#[derive(Deserialize)]
struct Item {
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    text: String,
}

#[derive(Default, Deserialize)]
struct TokenUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

impl From<ResponsesEvent> for Piece {
    fn from(event: ResponsesEvent) -> Self {
        match event {
            ResponsesEvent::Delta { delta } => Self { text: delta, ..Self::default() },
            ResponsesEvent::Completed { response } => Self { text: String::new(), ..response.into() },
            ResponsesEvent::Other => Self::default(),
        }
    }
}

impl From<Response> for Piece {
    fn from(response: Response) -> Self {
        let text = response.output.into_iter().flat_map(|item| item.content).map(|block| block.text).collect();
        let TokenUsage { input_tokens: prompt_tokens, output_tokens: answer_tokens } = response.usage;
        Self { text, finish: Some(response.status), prompt_tokens, answer_tokens }
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AnthropicEvent {
    MessageStart {
        message: Anthropic,
    },
    ContentBlockDelta {
        delta: Block,
    },
    MessageDelta {
        delta: Stop,
        usage: TokenUsage,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Anthropic {
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: TokenUsage,
}

#[derive(Deserialize)]
struct Stop {
    stop_reason: Option<String>,
}

impl From<AnthropicEvent> for Piece {
    fn from(event: AnthropicEvent) -> Self {
        match event {
            AnthropicEvent::MessageStart { message } => message.into(),
            AnthropicEvent::ContentBlockDelta { delta } => Self { text: delta.text, ..Self::default() },
            AnthropicEvent::MessageDelta { delta, usage } => {
                let TokenUsage { input_tokens: prompt_tokens, output_tokens: answer_tokens } = usage;
                Self { text: String::new(), finish: delta.stop_reason, prompt_tokens, answer_tokens }
            }
            AnthropicEvent::Other => Self::default(),
        }
    }
}

impl From<Anthropic> for Piece {
    fn from(message: Anthropic) -> Self {
        let text = message.content.into_iter().map(|block| block.text).collect();
        let TokenUsage { input_tokens: prompt_tokens, output_tokens: answer_tokens } = message.usage;
        Self { text, finish: message.stop_reason, prompt_tokens, answer_tokens }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gemini {
    candidates: Vec<Candidate>,
    usage_metadata: GeminiUsage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Content,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    parts: Vec<Block>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiUsage {
    prompt_token_count: u64,
    candidates_token_count: u64,
}

impl From<Gemini> for Piece {
    fn from(answer: Gemini) -> Self {
        let candidate = answer.candidates.into_iter().next();
        let (parts, finish) =
            candidate.map_or((Vec::new(), None), |candidate| (candidate.content.parts, candidate.finish_reason));
        let GeminiUsage { prompt_token_count: prompt_tokens, candidates_token_count: answer_tokens } =
            answer.usage_metadata;
        Self { text: parts.into_iter().map(|part| part.text).collect(), finish, prompt_tokens, answer_tokens }
    }
}
