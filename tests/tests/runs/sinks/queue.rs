//! The queue in front of a sink.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use llm_do::event::{Delivery, Event, EventSink};
use llm_do::{Runtime, async_trait};

use super::{Gated, dropped, places, recorded, repeat};

#[tokio::test]
async fn a_run_finishes_while_a_sink_still_processes_its_first_event() {
    let (sink, gate) = Gated::new();
    let (runtime, recorder) = recorded(Runtime::builder().shared_sink(sink.clone()));
    assert_eq!(runtime.run(repeat { times: 200 }).await.unwrap(), 200);
    assert_eq!(sink.taken().len(), 0);
    drop(gate);
    runtime.flush().await;
    let all: Vec<u64> = recorder.events().iter().map(|event| event.seq).collect();
    assert!(all.len() > 600, "{}", all.len());
    assert_eq!(places(&sink.taken()), all);
}

#[tokio::test]
async fn a_full_queue_drops_events_and_reports_their_number() {
    let (sink, gate) = Gated::new();
    let (runtime, recorder) = recorded(Runtime::builder().sink_capacity(8).shared_sink(sink.clone()));
    runtime.run(repeat { times: 100 }).await.unwrap();
    drop(gate);
    runtime.flush().await;
    let taken = sink.taken();
    // 8 events waited, plus one if the sink received it before the queue was full.
    let kept = taken.len() - 1;
    assert!(kept == 8 || kept == 9, "{kept}");
    assert_eq!(dropped(&taken), [recorder.events().len() as u64 - kept as u64]);
    assert_eq!(places(&taken), (0..=kept as u64).collect::<Vec<_>>());

    runtime.run(repeat { times: 0 }).await.unwrap();
    runtime.flush().await;
    assert_eq!(dropped(&sink.taken()).len(), 1, "what comes later has room again");
    assert!(sink.taken().len() > taken.len());
}

#[tokio::test]
async fn flush_waits_for_a_sink_without_a_limit() {
    let (sink, gate) = Gated::new();
    let (runtime, recorder) = recorded(Runtime::builder().shared_sink(sink.clone()));
    runtime.run(repeat { times: 1 }).await.unwrap();
    let other = runtime.clone();
    let flushed = tokio::spawn(async move { other.flush().await });
    tokio::task::yield_now().await;
    assert!(!flushed.is_finished());
    drop(gate);
    flushed.await.unwrap();
    assert_eq!(sink.taken().len(), recorder.events().len());
}

#[tokio::test]
async fn a_finished_run_waits_only_for_sinks_that_are_awaited() {
    #[derive(Debug)]
    struct Flushed(AtomicU64, bool);
    #[async_trait]
    impl EventSink for Flushed {
        fn emit(&self, _event: &Arc<Event>) {}

        async fn flush(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn is_awaited(&self) -> bool {
            self.1
        }
    }
    for (is_awaited, expected) in [(true, [1, 2]), (false, [0, 1])] {
        let sink = Arc::new(Flushed(AtomicU64::new(0), is_awaited));
        let (runtime, _recorder) = recorded(Runtime::builder().shared_sink(sink.clone()));
        runtime.run(repeat { times: 1 }).await.unwrap();
        let by_run = sink.0.load(Ordering::Relaxed);
        runtime.flush().await;
        assert_eq!([by_run, sink.0.load(Ordering::Relaxed)], expected);
    }
}

#[tokio::test]
async fn a_sink_that_panics_is_not_called_again_and_the_run_continues() {
    #[derive(Debug, Default)]
    struct Panics(AtomicU64);
    impl EventSink for Panics {
        fn emit(&self, _event: &Arc<Event>) {
            assert_ne!(self.0.fetch_add(1, Ordering::Relaxed), 1, "the second event");
        }
    }
    let sink = Arc::new(Panics::default());
    let (runtime, _recorder) = recorded(Runtime::builder().shared_sink(sink.clone()));
    for _ in 0..2 {
        runtime.run(repeat { times: 5 }).await.unwrap();
        runtime.flush().await;
    }
    assert_eq!(sink.0.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_dropped_runtime_has_delivered_all_events() {
    let (sink, gate) = Gated::new();
    let (runtime, recorder) = recorded(Runtime::builder().shared_sink(sink.clone()));
    runtime.run(repeat { times: 10 }).await.unwrap();
    drop(gate);
    drop(runtime);
    assert_eq!(sink.taken().len(), recorder.events().len());
}

#[tokio::test]
async fn dropping_a_runtime_does_not_wait_forever_for_a_blocked_sink() {
    let (sink, gate) = Gated::new();
    let (runtime, _recorder) = recorded(Runtime::builder().shared_sink(sink.clone()));
    runtime.run(repeat { times: 1 }).await.unwrap();
    drop(runtime);
    assert_eq!(sink.taken().len(), 0);
    drop(gate);
}

#[test]
fn a_blocked_sink_does_not_need_tokio_timers() {
    let (sink, _gate) = Gated::new();
    let threads = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (runtime, _recorder) = recorded(Runtime::builder().shared_sink(sink.clone()));
    assert_eq!(threads.block_on(runtime.run(repeat { times: 3 })).unwrap(), 3);
    assert_eq!(sink.taken().len(), 0);
    // The thread is not joined here; another test covers that.
    std::mem::forget(runtime);
}

#[test]
fn a_blocked_sink_does_not_need_tokio() {
    let (sink, _gate) = Gated::new();
    let (runtime, _recorder) = recorded(Runtime::builder().shared_sink(sink));
    assert_eq!(runtime.run(repeat { times: 0 }).now_or_never().unwrap().unwrap(), 0);
    std::mem::forget(runtime);
}

/// Keeps the names of the threads that it is called on.
#[derive(Debug)]
struct Threads(Delivery, Mutex<Vec<Option<String>>>);

impl EventSink for Threads {
    fn emit(&self, _event: &Arc<Event>) {
        self.1.lock().unwrap().push(std::thread::current().name().map(str::to_owned));
    }

    fn delivery(&self) -> Delivery {
        self.0
    }
}

#[tokio::test]
async fn a_sink_is_called_on_a_named_thread_or_inline() {
    let queued = Arc::new(Threads(Delivery::Queued, Mutex::default()));
    let inline = Arc::new(Threads(Delivery::Inline, Mutex::default()));
    let (runtime, _recorder) = recorded(Runtime::builder().shared_sink(queued.clone()).shared_sink(inline.clone()));
    runtime.run(repeat { times: 1 }).await.unwrap();
    runtime.flush().await;
    let here = std::thread::current().name().map(str::to_owned);
    assert!(queued.1.lock().unwrap().iter().all(|name| name.as_deref() == Some("Threads")));
    assert!(inline.1.lock().unwrap().iter().all(|name| *name == here));
    assert!(!inline.1.lock().unwrap().is_empty() && !queued.1.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_closure_sink_may_mutate_its_captures() {
    let (tell, told) = std::sync::mpsc::channel();
    let mut count = 0;
    let builder = Runtime::builder().on_event(move |event| {
        count += 1;
        let _ = tell.send((count, event.seq));
    });
    let (runtime, recorder) = recorded(builder);
    runtime.run(repeat { times: 2 }).await.unwrap();
    drop(runtime);
    let told: Vec<(u64, u64)> = told.iter().collect();
    assert_eq!(told, (0..recorder.events().len() as u64).map(|seq| (seq + 1, seq)).collect::<Vec<_>>());
}
