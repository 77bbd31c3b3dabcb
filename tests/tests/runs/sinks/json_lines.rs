//! JSON Lines, written in the background.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::channel;

use llm_do::Runtime;
use llm_do::event::JsonLines;
use serde_json::Value;

use super::{Hanging, Written, recorded, repeat};

/// Returns the place of each line.
fn lines(text: &str) -> Vec<u64> {
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_finished_log_is_complete_and_in_order_even_if_written_late() {
    let (gate, hangs) = channel();
    let written = Written::default();
    let log = Arc::new(JsonLines::new(Hanging(hangs, written.clone())));
    let (runtime, recorder) = recorded(Runtime::builder().shared_sink(log.clone()));
    runtime.run(repeat { times: 2000 }).await.unwrap();
    assert_eq!(written.text(), "");
    drop(gate);
    log.finish().unwrap();
    let expected: Vec<u64> = (0..recorder.events().len() as u64).collect();
    assert!(expected.len() > 6000, "{}", expected.len());
    assert_eq!(lines(&written.text()), expected);
}

#[tokio::test]
async fn a_log_is_complete_once_its_runtime_is_dropped() {
    let written = Written::default();
    let log = JsonLines::new(io::BufWriter::new(written.clone()));
    let (runtime, recorder) = recorded(Runtime::builder().sink(log));
    runtime.run(repeat { times: 100 }).await.unwrap();
    drop(runtime);
    assert_eq!(lines(&written.text()).len(), recorder.events().len());
}

#[tokio::test]
async fn finish_returns_the_first_error_and_the_run_continues() {
    struct Full(u32);
    impl Write for Full {
        fn write(&mut self, _buffer: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            Err(io::Error::other(format!("the disk is full for the {}. time", self.0)))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let log = Arc::new(JsonLines::new(Full(0)));
    let (runtime, _recorder) = recorded(Runtime::builder().shared_sink(log.clone()));
    assert_eq!(runtime.run(repeat { times: 3 }).await.unwrap(), 3);
    assert_eq!(log.finish().unwrap_err().to_string(), "the disk is full for the 1. time");
}

#[tokio::test]
async fn finish_returns_an_error_after_a_panic_of_the_writer() {
    struct Panics;
    impl Write for Panics {
        fn write(&mut self, _buffer: &[u8]) -> io::Result<usize> {
            panic!("no disk")
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let log = Arc::new(JsonLines::new(Panics));
    let (runtime, _recorder) = recorded(Runtime::builder().shared_sink(log.clone()));
    assert_eq!(runtime.run(repeat { times: 3 }).await.unwrap(), 3);
    assert!(log.finish().unwrap_err().to_string().contains("panicked"));
}
