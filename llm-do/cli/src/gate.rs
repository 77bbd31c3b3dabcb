//! Holds back output of a run while a question is open.

use llm_do_core::base::mutex::IgnorePoison;

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Lets output of a run through, unless a question is open.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate(Arc<SharedGate>);

#[derive(Debug, Default)]
struct SharedGate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    /// The number of questions that are open or not yet dropped.
    questions: usize,
    /// The number of threads that are writing output.
    writing: usize,
    /// Texts to write when the gate opens, from threads that must not block.
    held_back: Vec<String>,
}

impl Gate {
    /// Waits until no question is open, then calls `show`.
    pub(super) fn show(&self, show: impl FnOnce()) {
        let _writing = self.begin(self.wait_while(|state| state.questions > 0));
        show();
    }

    /// Writes a text now, or holds it back until no question is open.
    pub(super) fn write(&self, text: String, write: impl FnOnce(&str)) {
        let mut state = self.lock();
        if state.questions > 0 {
            state.held_back.push(text);
        } else {
            let _writing = self.begin(state);
            write(&text);
        }
    }

    fn begin(&self, mut state: MutexGuard<'_, GateState>) -> Writing<'_> {
        state.writing += 1;
        Writing(self)
    }

    /// Closes the gate until the returned guard is dropped.
    #[must_use]
    pub(super) fn close(&self) -> ClosedGate {
        self.lock().questions += 1;
        ClosedGate(self.clone())
    }

    /// Waits until no output is being written.
    pub(super) fn wait_until_idle(&self) {
        drop(self.wait_while(|state| state.writing > 0));
    }

    fn wait_while(&self, condition: impl Fn(&GateState) -> bool) -> MutexGuard<'_, GateState> {
        let waited = self.0.changed.wait_while(self.lock(), |state| condition(state));
        waited.ignore_poison()
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.0.state.lock().ignore_poison()
    }
}

/// Counts as output in progress until dropped, also on a panic.
struct Writing<'a>(&'a Gate);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.lock().writing -= 1;
        self.0.0.changed.notify_all();
    }
}

/// A guard that keeps the gate closed until dropped.
#[derive(Debug)]
pub(super) struct ClosedGate(Gate);

impl Drop for ClosedGate {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.questions -= 1;
        if state.questions > 0 {
            return;
        }
        for text in std::mem::take(&mut state.held_back) {
            // Ignored: standard error may be closed.
            let _ = io::stderr().write_all(text.as_bytes());
        }
        drop(state);
        self.0.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{TryRecvError, channel};
    use std::thread::{spawn, yield_now};

    use super::Gate;

    #[test]
    fn output_waits_until_the_gate_opens() {
        let gate = Gate::default();
        let closed = gate.close();
        let (shown, showing) = channel();
        let thread = spawn({
            let gate = gate.clone();
            move || gate.show(|| shown.send(()).unwrap())
        });
        yield_now();
        assert_eq!(showing.try_recv(), Err(TryRecvError::Empty));
        drop(closed);
        showing.recv().unwrap();
        thread.join().unwrap();
    }

    #[test]
    fn the_gate_stays_closed_until_the_last_question_is_dropped() {
        let gate = Gate::default();
        let (first, second) = (gate.close(), gate.close());
        drop(first);
        gate.write("\n".to_owned(), |_| panic!("a question is open"));
        drop(second);
        let mut is_written = false;
        gate.write(String::new(), |_| is_written = true);
        assert!(is_written);
    }

    #[test]
    fn a_text_is_held_back_without_blocking_its_thread() {
        let gate = Gate::default();
        let closed = gate.close();
        gate.write("\n".to_owned(), |_| panic!("a question is open"));
        drop(closed);
        let mut written = String::new();
        gate.write("now".to_owned(), |text| written = text.to_owned());
        assert_eq!(written, "now");
    }

    #[test]
    fn a_question_waits_for_output_in_progress() {
        let gate = Gate::default();
        let ((started, running), (finish, finished)) = (channel(), channel());
        let thread = spawn({
            let gate = gate.clone();
            move || {
                gate.show(|| {
                    started.send(()).unwrap();
                    finished.recv().unwrap();
                });
            }
        });
        running.recv().unwrap();
        let _closed = gate.close();
        finish.send(()).unwrap();
        gate.wait_until_idle();
        thread.join().unwrap();
    }
}
