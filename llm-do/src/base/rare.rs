//! What few calls have.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A mutex that is not made before something is put in: until then it takes two words, and no memory elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Rare<T>(OnceLock<Box<Mutex<T>>>);

impl<T: Default> Rare<T> {
    /// Returns what was put in, if anything was.
    pub(crate) fn get(&self) -> Option<MutexGuard<'_, T>> {
        self.0.get().map(|made| locked(made))
    }

    /// Returns what was put in, or else the default to put something in.
    pub(crate) fn get_or_default(&self) -> MutexGuard<'_, T> {
        locked(self.0.get_or_init(Box::default))
    }
}

fn locked<T>(made: &Mutex<T>) -> MutexGuard<'_, T> {
    made.lock().unwrap_or_else(PoisonError::into_inner)
}
