//! Limits of time that hold while every thread for blocking code is taken.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::async_trait;
use llm_do::event::{Delivery, Event, EventSink};
use llm_do::prelude::*;

/// Longer than any limit here; then a thread that is still waited for is let go, so that a test fails and does not hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether something happened.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Block the thread for as long as the test lasts.
#[tool(effect = read_only, timeout = "50ms")]
fn block(ended: State<Flag>, gate: State<Mutex<std::sync::mpsc::Receiver<()>>>) {
    let _ = gate.lock().unwrap().recv_timeout(PATIENCE);
    ended.set();
}

/// Note that it ran.
#[tool(effect = destructive, timeout = "50ms")]
fn note(ran: State<Flag>) {
    ran.set();
}

/// Say hello.
#[tool(effect = read_only, inline)]
fn greet() -> String {
    "hello".to_owned()
}

#[derive(Debug)]
struct Endless;

#[async_trait]
impl EventSink for Endless {
    fn emit(&self, _: &Arc<Event>) {}

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }

    async fn flush(&self) {
        pending::<()>().await;
    }
}

/// A runtime of tokio with one thread for blocking code, which is taken until the sender is dropped.
fn taken(timers: bool) -> (tokio::runtime::Runtime, Sender<()>, Flag) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    if timers {
        builder.enable_time();
    }
    let tokio = builder.max_blocking_threads(1).build().unwrap();
    let (gate, gated) = channel::<()>();
    let late = Flag::default();
    let passed = late.clone();
    tokio.spawn_blocking(move || {
        if gated.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            passed.set();
        }
    });
    (tokio, gate, late)
}

#[test]
fn a_tool_that_blocks_past_its_timeout_does_not_keep_block_on() {
    let ended = Flag::default();
    let (gate, gated) = channel::<()>();
    let runtime = Runtime::builder().state(ended.clone()).state(Mutex::new(gated)).build().unwrap();
    assert!(runtime.block_on(block {}).unwrap_err().is_timeout());
    assert!(!ended.is_set(), "it waited for the blocked thread");
    drop(gate);
}

#[test]
fn a_root_call_waits_for_sinks_no_longer_than_it_says_when_no_thread_is_free() {
    for timers in [false, true] {
        let (tokio, gate, late) = taken(timers);
        let (_, gated) = channel::<()>();
        let builder = Runtime::builder().state(Flag::default()).state(Mutex::new(gated));
        let runtime = builder.sink(Endless).build().unwrap();
        assert_eq!(tokio.block_on(runtime.run(greet {})).unwrap(), "hello");
        assert!(!late.is_set(), "it waited for a free thread");
        drop(gate);
    }
}

#[test]
fn a_tool_that_timed_out_before_a_thread_was_free_never_runs() {
    let (tokio, gate, _) = taken(true);
    let ran = Flag::default();
    let (_, gated) = channel::<()>();
    let runtime = Runtime::builder().state(ran.clone()).state(Mutex::new(gated)).build().unwrap();
    assert!(tokio.block_on(runtime.run(note {})).unwrap_err().is_timeout());
    drop(gate);
    // The one thread takes what it was given in order.
    tokio.block_on(tokio.spawn_blocking(|| ())).unwrap();
    assert!(!ran.is_set());
}
