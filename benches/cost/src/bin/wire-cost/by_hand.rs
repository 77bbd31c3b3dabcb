//! The same requests, hand-written with `reqwest` and `serde_json` for this use only.

mod bodies;
mod pieces;

use std::hint::black_box;
use std::time::Duration;

use cost::events;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use serde_json::Value;

use self::pieces::{Piece, read, read_whole};
use crate::client::{Variant, Wire};
use crate::question::MODEL;

/// The state that requests share.
#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    url: Url,
    headers: HeaderMap,
    variant: Variant,
    body: Value,
}

impl Session {
    /// Returns a session with the server at `base_url`; the HTTP client is configured as in llm-do.
    pub(crate) fn new(variant: Variant, base_url: &str) -> Self {
        let client = Client::builder()
            .user_agent("by-hand/0.1.0")
            .connect_timeout(Duration::from_secs(10))
            .redirect(redirect::Policy::none())
            .build()
            .expect("a client");
        let path = match (variant.wire, variant.is_streamed) {
            (Wire::Gemini, true) => format!("/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"),
            (Wire::Gemini, false) => format!("/v1beta/models/{MODEL}:generateContent"),
            (wire, _) => wire.path().to_owned(),
        };
        let url = Url::parse(&format!("{base_url}{path}")).expect("a valid URL");
        Self { client, url, headers: headers(variant.wire), variant, body: bodies::body(variant) }
    }

    /// Makes one request; returns the text and the numbers of prompt and answer tokens.
    pub(crate) async fn exchange(&self) -> (String, u64, u64) {
        let body = serde_json::to_vec(&self.body).expect("a request");
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let answer = request.send().await.and_then(reqwest::Response::error_for_status).expect("an answer");
        let piece = if self.variant.is_streamed {
            streamed(self.variant.wire, answer).await
        } else {
            read_whole(self.variant.wire, &answer.bytes().await.expect("a body"))
        };
        assert!(piece.finish.is_some(), "incomplete answer");
        (piece.text, piece.prompt_tokens, piece.answer_tokens)
    }
}

fn headers(wire: Wire) -> HeaderMap {
    let all = match wire {
        Wire::Chat | Wire::Responses => &[("authorization", "Bearer key")][..],
        Wire::Anthropic => &[("x-api-key", "key"), ("anthropic-version", "2023-06-01")],
        Wire::Gemini => &[("x-goog-api-key", "key")],
    };
    let all = all.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    all.chain([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]).collect()
}

async fn streamed(wire: Wire, answer: reqwest::Response) -> Piece {
    let mut whole = Piece::default();
    events::each(answer, |data| append(&mut whole, read(wire, data))).await;
    whole
}

/// Appends a piece, and passes its text to a consumer, here `black_box`.
fn append(whole: &mut Piece, piece: Piece) {
    whole.text.push_str(&piece.text);
    whole.finish = piece.finish.or(whole.finish.take());
    whole.prompt_tokens = whole.prompt_tokens.max(piece.prompt_tokens);
    whole.answer_tokens = whole.answer_tokens.max(piece.answer_tokens);
    drop(black_box(piece.text));
}
