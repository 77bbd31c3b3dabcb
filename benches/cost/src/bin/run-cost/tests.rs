//! Checks that all variants send the same requests.

use std::sync::Arc;

use cost::http::{self, Pace, RecordedBodies};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::answers::answer;
use crate::client::{Session, Variant};

/// Returns the bodies of the requests of one run.
async fn sent(variant: Variant) -> Vec<Value> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let recorded = RecordedBodies::default();
    let serving = tokio::spawn(http::serve(listener, answer, Pace::Immediate, Some(Arc::clone(&recorded))));
    Session::new(variant, &base_url).run().await;
    serving.abort();
    let bodies: Vec<Vec<u8>> = std::mem::take(&mut *recorded.lock().unwrap());
    bodies.iter().map(|body| serde_json::from_slice(body).unwrap()).collect()
}

#[tokio::test]
async fn llm_do_sends_the_same_requests_as_its_baseline() {
    let pairs = [
        (Variant::Ours, Variant::ByHand),
        (Variant::OursStreamed, Variant::ByHandStreamed),
        (Variant::OursContent, Variant::ByHand),
    ];
    for (ours, by_hand) in pairs {
        let (ours, by_hand) = (sent(ours).await, sent(by_hand).await);
        assert_eq!(ours.len(), 6);
        assert_eq!(ours, by_hand);
    }
}

#[tokio::test]
async fn every_variant_calls_the_tool_five_times() {
    for variant in [Variant::OursAsync, Variant::OursOffThread] {
        let sent = sent(variant).await;
        let results = sent[5]["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
        assert!(results.map(|result| &result["content"]).eq(["42"; 5].iter()), "{variant:?}");
    }
}
