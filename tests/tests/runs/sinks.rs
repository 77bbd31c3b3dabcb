//! Sinks: they do not stop runs, and they learn how many events they missed.

mod channel;
mod json_lines;
mod queue;
mod spans;
mod terminal;

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use llm_do::approval::ApprovalMode;
use llm_do::event::{Event, EventKind, EventSink};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Recorder, TestModel};

/// Write lines.
#[tool(effect = read_only, inline)]
fn write_lines(lines: usize) -> String {
    vec!["line"; lines].join("\n")
}

/// Write twelve lines.
#[tool(effect = read_only, inline)]
fn write_twelve() -> String {
    write_lines(12)
}

/// Summarise.
#[worker(toolsets = [write_twelve])]
async fn summarise(input: String) -> String;

/// Calls a worker.
#[entry(toolsets = [summarise])]
async fn report(ctx: &CallContext<report>) -> Result<String> {
    ctx.progress("begun");
    Ok(ctx.call(summarise { input: "all".into() }).await?)
}

/// Calls a tool again and again.
#[entry(toolsets = [write_lines])]
async fn repeat(ctx: &CallContext<repeat>, times: usize) -> Result<usize> {
    for _ in 0..times {
        ctx.call(write_lines { lines: 1 }).await?;
    }
    Ok(times)
}

/// Returns a runtime that approves everything, and a recorder of its events.
fn recorded(builder: RuntimeBuilder) -> (Runtime, Recorder) {
    let recorder = Recorder::new();
    let builder = builder.force_model(TestModel::new()).approval_mode(ApprovalMode::ApproveAll);
    (builder.sink(recorder.clone()).build().unwrap(), recorder)
}

/// The events of a sink behind a gate, which opens when its [`Sender`] is dropped.
#[derive(Debug)]
struct Gated {
    gate: Mutex<Receiver<()>>,
    taken: Mutex<Vec<Arc<Event>>>,
}

impl Gated {
    fn new() -> (Arc<Self>, Sender<()>) {
        let (opens, gate) = channel();
        (Arc::new(Self { gate: Mutex::new(gate), taken: Mutex::default() }), opens)
    }

    fn taken(&self) -> Vec<Arc<Event>> {
        self.taken.lock().unwrap().clone()
    }
}

impl EventSink for Gated {
    fn emit(&self, event: &Arc<Event>) {
        let _ = self.gate.lock().unwrap().recv();
        self.taken.lock().unwrap().push(Arc::clone(event));
    }
}

/// A writer to memory; clones share it.
#[derive(Clone, Default)]
pub(super) struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    pub(super) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Written {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal that blocks until the gate opens.
struct Hanging(Receiver<()>, Written);

impl Write for Hanging {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        self.1.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn places(events: &[Arc<Event>]) -> Vec<u64> {
    events.iter().map(|event| event.seq).collect()
}

fn dropped(events: &[Arc<Event>]) -> Vec<u64> {
    let count = |event: &Arc<Event>| match event.kind {
        EventKind::Dropped { count } => Some(count),
        _ => None,
    };
    events.iter().filter_map(count).collect()
}
