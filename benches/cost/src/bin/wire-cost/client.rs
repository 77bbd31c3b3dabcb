//! The variants: each wire, streamed and not, hand-written and with llm-do.

use std::hint::black_box;
use std::sync::Arc;

use cost::compare;
use cost::figures::Figures;
use cost::http::Responder;
use cost::load::{self, Load};
use futures_util::StreamExt as _;
use llm_do::model::{
    AnthropicModel, ApiKey, GeminiModel, Message, OpenAiModel, OpenAiResponsesModel, Request, Response, StreamEvent,
    ToolSpec,
};
use llm_do::{Model, Settings};

use crate::answers::{self, ANSWER_TOKENS, PROMPT_TOKENS, streamed_text, whole_text};
use crate::by_hand;
use crate::question::{INSTRUCTIONS, MAX_TOKENS, MODEL, messages, specs};

/// The HTTP API of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

impl Wire {
    pub(crate) const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Gemini];

    fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// A part of the request path that identifies the wire.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Anthropic => "/v1/messages",
            Self::Gemini => "/v1beta/models/",
        }
    }
}

/// A variant of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) wire: Wire,
    pub(crate) is_streamed: bool,
    pub(crate) is_ours: bool,
}

impl compare::Variant for Variant {
    const MAX_RATIO: f64 = 1.3;
    const RESPONDER: Responder = answers::answer;

    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for is_streamed in [true, false] {
            for wire in Wire::ALL {
                all.extend([false, true].map(|is_ours| Self { wire, is_streamed, is_ours }));
            }
        }
        all
    }

    fn name(self) -> String {
        let shape = if self.is_streamed { "streamed" } else { "whole" };
        let side = if self.is_ours { "ours" } else { "by-hand" };
        format!("{}-{shape}-{side}", self.wire.name())
    }

    fn measure(self, base_url: &str, load: &Load) -> Figures {
        let (text, default_count) = if self.is_streamed { (streamed_text(), 400) } else { (whole_text(), 20_000) };
        let text: Arc<str> = text.into();
        load::measure(load, default_count, || {
            let session = Session::new(self, base_url);
            move || {
                let (session, text) = (session.clone(), Arc::clone(&text));
                async move {
                    let (answer, prompt_tokens, answer_tokens) = session.exchange().await;
                    let is_complete =
                        answer == *text && (prompt_tokens, answer_tokens) == (PROMPT_TOKENS, ANSWER_TOKENS);
                    assert!(is_complete, "unexpected answer");
                }
            }
        })
    }

    fn baseline(self) -> Self {
        Self { is_ours: false, ..self }
    }
}

/// A prepared variant.
#[derive(Clone, Debug)]
pub(crate) enum Session {
    ByHand(Arc<by_hand::Session>),
    Ours(Arc<Ours>),
}

impl Session {
    /// Returns a session with the server at `base_url`.
    pub(crate) fn new(variant: Variant, base_url: &str) -> Self {
        if variant.is_ours {
            Self::Ours(Arc::new(Ours::new(variant, base_url)))
        } else {
            Self::ByHand(Arc::new(by_hand::Session::new(variant, base_url)))
        }
    }

    /// Makes one request; returns the text and the numbers of prompt and answer tokens.
    pub(crate) async fn exchange(&self) -> (String, u64, u64) {
        match self {
            Self::ByHand(session) => session.exchange().await,
            Self::Ours(session) => session.exchange().await,
        }
    }
}

/// A model of llm-do with the parts of its request.
#[derive(Debug)]
pub(crate) struct Ours {
    model: Arc<dyn Model>,
    messages: Vec<Message>,
    tools: Vec<ToolSpec>,
    settings: Settings,
    is_streamed: bool,
}

impl Ours {
    fn new(variant: Variant, base_url: &str) -> Self {
        let settings = Settings::new().max_tokens(MAX_TOKENS);
        let (model, is_streamed) = (model(variant.wire, base_url), variant.is_streamed);
        Self { model, messages: messages(), tools: specs(), settings, is_streamed }
    }

    async fn exchange(&self) -> (String, u64, u64) {
        let request = Request::new(&self.messages, &self.settings).instructions(Some(INSTRUCTIONS)).tools(&self.tools);
        let response = if self.is_streamed {
            self.streamed(request).await
        } else {
            self.model.request(request).await.expect("an answer")
        };
        (response.text(), response.usage.input_tokens, response.usage.output_tokens)
    }

    async fn streamed(&self, request: Request<'_>) -> Response {
        let mut stream = self.model.stream(request).await.expect("a stream");
        while let Some(event) = stream.next().await {
            match event.expect("an event") {
                StreamEvent::Done(response) => return response,
                event => drop(black_box(event)),
            }
        }
        unreachable!("a stream ends with the answer")
    }
}

fn model(wire: Wire, base_url: &str) -> Arc<dyn Model> {
    let url = format!("{base_url}/v1");
    let key = || ApiKey::new("key").expect("a key");
    match wire {
        Wire::Chat => Arc::new(OpenAiModel::builder(MODEL).base_url(url).api_key(key()).build().expect("a model")),
        Wire::Responses => {
            Arc::new(OpenAiResponsesModel::builder(MODEL).base_url(url).api_key(key()).build().expect("a model"))
        }
        Wire::Anthropic => {
            Arc::new(AnthropicModel::builder(MODEL).base_url(base_url).api_key(key()).build().expect("a model"))
        }
        Wire::Gemini => {
            Arc::new(GeminiModel::builder(MODEL).base_url(base_url).api_key(key()).build().expect("a model"))
        }
    }
}
