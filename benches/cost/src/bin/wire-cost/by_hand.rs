//! The same exchanges on `reqwest` and `serde_json`, as somebody writes them who needs this one and no more.

mod bodies;
mod pieces;

use std::hint::black_box;
use std::time::Duration;

use cost::events;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use serde_json::Value;

use self::pieces::{Piece, read, read_whole};
use crate::client::{Way, Wire};
use crate::question::MODEL;

/// What the exchanges share.
#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    url: Url,
    headers: HeaderMap,
    way: Way,
    body: Value,
}

impl Session {
    /// A session that asks the server at `base_url`, over a client that is set up as that of llm-do.
    pub(crate) fn new(way: Way, base_url: &str) -> Self {
        let client = Client::builder()
            .user_agent("by-hand/0.1.0")
            .connect_timeout(Duration::from_secs(10))
            .redirect(redirect::Policy::none())
            .build()
            .expect("a client");
        let path = match (way.wire, way.is_streamed) {
            (Wire::Gemini, true) => format!("/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"),
            (Wire::Gemini, false) => format!("/v1beta/models/{MODEL}:generateContent"),
            (wire, _) => wire.path().to_owned(),
        };
        let url = Url::parse(&format!("{base_url}{path}")).expect("the address of a server");
        Self { client, url, headers: headers(way.wire), way, body: bodies::body(way) }
    }

    /// Makes one exchange; returns the text, and how many tokens were asked and answered.
    pub(crate) async fn exchange(&self) -> (String, u64, u64) {
        let body = serde_json::to_vec(&self.body).expect("a request");
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let answer = request.send().await.and_then(reqwest::Response::error_for_status).expect("an answer");
        let piece = if self.way.is_streamed {
            streamed(self.way.wire, answer).await
        } else {
            read_whole(self.way.wire, &answer.bytes().await.expect("a body"))
        };
        assert!(piece.finish.is_some(), "the answer broke off");
        (piece.text, piece.asked, piece.answered)
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
    events::each(answer, |data| grow(&mut whole, read(wire, data))).await;
    whole
}

/// Takes in a piece, and hands its text on.
fn grow(whole: &mut Piece, piece: Piece) {
    whole.text.push_str(&piece.text);
    whole.finish = piece.finish.or(whole.finish.take());
    whole.asked = whole.asked.max(piece.asked);
    whole.answered = whole.answered.max(piece.answered);
    drop(black_box(piece.text));
}
