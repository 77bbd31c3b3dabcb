//! Checks that all variants send the same requests and read the whole answer.

use std::sync::Arc;

use cost::compare::Variant as _;
use cost::http::{self, Pace, RecordedBodies};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::answers::{ANSWER_TOKENS, PROMPT_TOKENS, answer, streamed_text, whole_text};
use crate::client::{Session, Variant};

/// Makes one request; returns its body and its result.
async fn exchange(variant: Variant) -> (Value, (String, u64, u64)) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let recorded = RecordedBodies::default();
    let serving = tokio::spawn(http::serve(listener, answer, Pace::Immediate, Some(Arc::clone(&recorded))));
    let answered = Session::new(variant, &base_url).exchange().await;
    serving.abort();
    let body = recorded.lock().unwrap().pop().unwrap();
    (serde_json::from_slice(&body).unwrap(), answered)
}

#[tokio::test]
async fn llm_do_sends_the_same_request_as_its_baseline() {
    for variant in Variant::all().into_iter().filter(|variant| variant.is_ours) {
        let (ours, by_hand) = (exchange(variant).await.0, exchange(variant.baseline()).await.0);
        let differing = ours.as_object().unwrap().iter().filter(|(key, value)| by_hand[key.as_str()] != **value);
        assert_eq!(differing.collect::<Vec<_>>(), [], "{}", variant.name());
        assert_eq!(ours, by_hand, "{}", variant.name());
    }
}

#[tokio::test]
async fn every_variant_reads_the_whole_answer() {
    for variant in Variant::all() {
        let text = if variant.is_streamed { streamed_text() } else { whole_text() };
        assert_eq!(exchange(variant).await.1, (text, PROMPT_TOKENS, ANSWER_TOKENS), "{}", variant.name());
    }
}
