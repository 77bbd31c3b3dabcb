//! What is compared is the same: requests, and so answers.

use std::sync::Arc;

use cost::compare::Way as _;
use cost::http::{self, Pace, Seen};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::answers::{ANSWER_TOKENS, PROMPT_TOKENS, answer, streamed_text, whole_text};
use crate::client::{Session, Way};

/// Makes one exchange; returns the body of its request and what came of it.
async fn made(way: Way) -> (Value, (String, u64, u64)) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let seen = Seen::default();
    let serving = tokio::spawn(http::serve(listener, answer, Pace::AtOnce, Some(Arc::clone(&seen))));
    let answered = Session::new(way, &base_url).exchange().await;
    serving.abort();
    let body = seen.lock().unwrap().pop().unwrap();
    (serde_json::from_slice(&body).unwrap(), answered)
}

#[tokio::test]
async fn both_sides_send_the_same() {
    for way in Way::all().into_iter().filter(|way| way.is_ours) {
        let (ours, by_hand) = (made(way).await.0, made(way.opponent()).await.0);
        let differing = ours.as_object().unwrap().iter().filter(|(key, value)| by_hand[key.as_str()] != **value);
        assert_eq!(differing.collect::<Vec<_>>(), [], "{}", way.name());
        assert_eq!(ours, by_hand, "{}", way.name());
    }
}

#[tokio::test]
async fn every_way_reads_the_whole_answer() {
    for way in Way::all() {
        let text = if way.is_streamed { streamed_text() } else { whole_text() };
        assert_eq!(made(way).await.1, (text, PROMPT_TOKENS, ANSWER_TOKENS), "{}", way.name());
    }
}
