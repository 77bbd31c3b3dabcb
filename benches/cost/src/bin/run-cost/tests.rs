//! What is compared is the same: requests, and so answers.

use std::sync::Arc;

use cost::http::{self, Pace, Seen};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::answers::answer;
use crate::client::{Session, Way};

/// Returns the bodies of the requests that one run makes.
async fn sent(way: Way) -> Vec<Value> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let seen = Seen::default();
    let serving = tokio::spawn(http::serve(listener, answer, Pace::AtOnce, Some(Arc::clone(&seen))));
    Session::new(way, &base_url).run().await;
    serving.abort();
    let bodies: Vec<Vec<u8>> = std::mem::take(&mut *seen.lock().unwrap());
    bodies.iter().map(|body| serde_json::from_slice(body).unwrap()).collect()
}

#[tokio::test]
async fn both_sides_send_the_same() {
    for (ours, by_hand) in [(Way::Ours, Way::ByHand), (Way::OursStreamed, Way::ByHandStreamed)] {
        let (ours, by_hand) = (sent(ours).await, sent(by_hand).await);
        assert_eq!(ours.len(), 6);
        assert_eq!(ours, by_hand);
    }
}

#[tokio::test]
async fn every_way_calls_the_tool_five_times() {
    for way in [Way::OursAsync, Way::OursOffThread] {
        let sent = sent(way).await;
        let results = sent[5]["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
        assert!(results.map(|result| &result["content"]).eq(["42"; 5].iter()), "{way:?}");
    }
}
