//! Holds back what is shown of a run while a question is open.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Lets what is shown of a run pass, unless a question is open.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How many questions are open, or not yet cleared away.
    questions: usize,
    /// How many threads are showing something.
    showing: usize,
    /// What is to be shown once the gate opens, from threads that must not wait for that.
    held_back: Vec<String>,
}

impl Gate {
    /// Waits until no question is open, and shows something.
    pub(super) fn show(&self, show: impl FnOnce()) {
        let _showing = self.begin(self.wait_while(|state| state.questions > 0));
        show();
    }

    /// Shows a text now, or once no question is open.
    pub(super) fn write(&self, text: String, write: impl FnOnce(&str)) {
        let mut state = self.lock();
        if state.questions > 0 {
            state.held_back.push(text);
        } else {
            let _showing = self.begin(state);
            write(&text);
        }
    }

    fn begin(&self, mut state: MutexGuard<'_, State>) -> Showing<'_> {
        state.showing += 1;
        Showing(self)
    }

    /// Closes the gate until what is returned is dropped.
    #[must_use]
    pub(super) fn close(&self) -> Closed {
        self.lock().questions += 1;
        Closed(self.clone())
    }

    /// Waits until nothing is being shown any more.
    pub(super) fn wait_until_quiet(&self) {
        drop(self.wait_while(|state| state.showing > 0));
    }

    fn wait_while(&self, condition: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.0.changed.wait_while(self.lock(), |state| condition(state));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something is being shown until this is dropped, by a panic too.
struct Showing<'a>(&'a Gate);

impl Drop for Showing<'_> {
    fn drop(&mut self) {
        self.0.lock().showing -= 1;
        self.0.0.changed.notify_all();
    }
}

/// A closed gate, which opens when this is dropped.
#[derive(Debug)]
pub(super) struct Closed(Gate);

impl Drop for Closed {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.questions -= 1;
        if state.questions > 0 {
            return;
        }
        for text in std::mem::take(&mut state.held_back) {
            // Nobody is there to read it if standard error is gone.
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
    fn what_is_shown_waits_for_the_gate_to_open() {
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
    fn a_question_that_is_cleared_away_late_does_not_open_the_gate_to_the_next() {
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
    fn a_thread_that_must_not_wait_leaves_its_text_behind() {
        let gate = Gate::default();
        let closed = gate.close();
        gate.write("\n".to_owned(), |_| panic!("a question is open"));
        drop(closed);
        let mut written = String::new();
        gate.write("now".to_owned(), |text| written = text.to_owned());
        assert_eq!(written, "now");
    }

    #[test]
    fn a_question_waits_for_what_is_being_shown() {
        let gate = Gate::default();
        let ((begins, running), (end, ended)) = (channel(), channel());
        let thread = spawn({
            let gate = gate.clone();
            move || {
                gate.show(|| {
                    begins.send(()).unwrap();
                    ended.recv().unwrap();
                });
            }
        });
        running.recv().unwrap();
        let _closed = gate.close();
        end.send(()).unwrap();
        gate.wait_until_quiet();
        thread.join().unwrap();
    }
}
