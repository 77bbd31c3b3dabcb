//! A call ends with its client.

use std::time::Duration;

use tokio::sync::mpsc;

use super::*;

/// Tells a test when a call starts, and when it ends.
pub(super) struct Ends(mpsc::UnboundedSender<&'static str>);

impl Default for Ends {
    fn default() -> Self {
        Self(mpsc::unbounded_channel().0)
    }
}

impl Ends {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<&'static str>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }
}

/// Sends a text when it is dropped.
pub(super) struct OnDrop(mpsc::UnboundedSender<&'static str>);

impl OnDrop {
    pub(super) fn of(ends: &Ends) -> Self {
        Self(ends.0.clone())
    }
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _ = self.0.send("ended");
    }
}

/// Wait for ever.
#[tool(effect = read_only)]
async fn wait_for_ever(ends: State<Ends>) -> String {
    let _ = ends.0.send("started");
    let _end = OnDrop::of(&ends);
    std::future::pending().await
}

#[tokio::test]
async fn a_client_that_disconnects_cancels_its_calls() {
    for era in ERAS {
        let (ends, mut receiver) = Ends::new();
        let client = connect(serving(|builder| builder.state(ends)), era, User::default()).await;
        let peer = client.peer().clone();
        let calling = tokio::spawn(async move { peer.call_tool(call("wait_for_ever", json!({}))).await });
        assert_eq!(receiver.recv().await, Some("started"));
        client.cancel().await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(10), receiver.recv()).await;
        assert_eq!(ended.expect("the call ends"), Some("ended"), "{era:?}");
        calling.abort();
    }
}

#[tokio::test]
async fn a_request_that_its_client_cancels_is_cancelled() {
    let (ends, mut receiver) = Ends::new();
    let client = connect(serving(|builder| builder.state(ends)), Era::Rounds, User::default()).await;
    let peer = client.peer().clone();
    // Dropping the request sends the cancellation.
    let calling = tokio::spawn(async move { peer.call_tool_once(call("wait_for_ever", json!({}))).await });
    assert_eq!(receiver.recv().await, Some("started"));
    calling.abort();
    let ended = tokio::time::timeout(Duration::from_secs(10), receiver.recv()).await;
    assert_eq!(ended.expect("the call ends"), Some("ended"));
}
