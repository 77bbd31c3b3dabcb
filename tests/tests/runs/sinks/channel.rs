//! Events for async code.

use futures_util::StreamExt;
use llm_do::Runtime;
use llm_do::event::{EventKind, event_channel};

use super::{dropped, places, recorded, repeat};

#[tokio::test]
async fn events_are_received_in_order_until_the_channel_closes() {
    let (sink, mut events) = event_channel(1024);
    let (runtime, recorder) = recorded(Runtime::builder().sink(sink));
    let run = tokio::spawn(async move { runtime.run(repeat { times: 20 }).await });
    let first = events.recv().await.unwrap();
    assert_eq!(first.seq, 0);
    let rest: Vec<_> = events.collect().await;
    assert!(matches!(rest.last().unwrap().kind, EventKind::Usage { .. }));
    assert_eq!(places(&rest), (1..recorder.events().len() as u64).collect::<Vec<_>>());
    assert_eq!(run.await.unwrap().unwrap(), 20);
}

#[tokio::test]
async fn a_slow_receiver_gets_the_number_of_dropped_events() {
    let (sink, mut events) = event_channel(4);
    let (runtime, recorder) = recorded(Runtime::builder().sink(sink));
    runtime.run(repeat { times: 20 }).await.unwrap();
    let received: Vec<_> = std::iter::from_fn(|| events.try_recv()).collect();
    assert_eq!(places(&received), [0, 1, 2, 3, 4]);
    assert_eq!(dropped(&received), [recorder.events().len() as u64 - 4]);
}

#[tokio::test]
async fn a_dropped_receiver_does_not_stop_a_run() {
    let (sink, events) = event_channel(4);
    let (runtime, _recorder) = recorded(Runtime::builder().sink(sink));
    drop(events);
    assert_eq!(runtime.run(repeat { times: 20 }).await.unwrap(), 20);
}
