//! The terminal sink.

use std::sync::mpsc::channel;

use llm_do::Runtime;
use llm_do::event::{Terminal, Verbosity};
use llm_do::testing::TestModel;

use super::{Hanging, Written, recorded, report, summarise, write_twelve};

/// Returns what a run writes.
async fn shown(verbosity: Verbosity) -> String {
    let written = Written::default();
    let sink = Terminal::new(written.clone(), verbosity);
    let (runtime, _recorder) = recorded(Runtime::builder().streaming(true).sink(sink));
    runtime.run(report {}).await.unwrap();
    runtime.flush().await;
    written.text()
}

#[tokio::test]
async fn the_quiet_terminal_shows_progress_and_nothing_else() {
    assert_eq!(shown(Verbosity::Quiet).await, "│ begun\n");
}

#[tokio::test]
async fn calls_are_shown_below_their_callers_and_many_lines_are_cut() {
    let text = shown(Verbosity::Calls).await;
    let begins = |start: &str| text.lines().any(|line| line.starts_with(start));
    assert!(begins("→ entry report"), "{text}");
    assert!(begins("  │ begun"), "{text}");
    assert!(begins("  → worker summarise {\"input\":\"all\"}"), "{text}");
    assert!(begins("    → tool write_twelve"), "{text}");
    assert!(begins("    ← write_twelve ("), "{text}");
    assert_eq!(text.lines().filter(|line| *line == "      │ line").count(), 10, "{text}");
    assert!(text.contains("\n        … (2 more lines)\n"), "{text}");
}

#[tokio::test]
async fn streamed_text_is_shown_immediately_and_once() {
    let model = TestModel::new().call_tools(false).text("hello");
    let show = |verbosity, model| async move {
        let written = Written::default();
        let sink = Terminal::new(written.clone(), verbosity);
        let runtime = Runtime::builder().force_model(model).streaming(true).sink(sink).build().unwrap();
        runtime.run(summarise { input: "all".into() }).await.unwrap();
        runtime.flush().await;
        written.text()
    };
    let (calls, stream) = (show(Verbosity::Calls, model.clone()).await, show(Verbosity::Stream, model).await);
    assert!(calls.contains("got \"hello\" (") && !calls.contains("│ hello"), "{calls}");
    assert!(stream.contains("\n  │ hello\n") && !stream.contains("got \"hello\""), "{stream}");
}

#[tokio::test]
async fn a_blocked_terminal_does_not_stop_a_run() {
    let (gate, hangs) = channel();
    let written = Written::default();
    let sink = Terminal::new(Hanging(hangs, written.clone()), Verbosity::Calls);
    let (runtime, _recorder) = recorded(Runtime::builder().sink(sink));
    runtime.run(write_twelve {}).await.unwrap();
    assert_eq!(written.text(), "");
    drop(gate);
    runtime.flush().await;
    assert!(written.text().starts_with("→ tool write_twelve"), "{}", written.text());
}
