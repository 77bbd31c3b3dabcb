//! Mutexes: one that is allocated lazily, and locking without poisoning.

use std::sync::{LockResult, Mutex, MutexGuard, OnceLock};

/// A mutex that is allocated on first use; until then it takes two words and no heap memory.
#[derive(Debug, Default)]
pub(crate) struct LazyMutex<T>(OnceLock<Box<Mutex<T>>>);

impl<T: Default> LazyMutex<T> {
    /// Locks the value if it was allocated before.
    pub(crate) fn get(&self) -> Option<MutexGuard<'_, T>> {
        self.0.get().map(|mutex| mutex.lock().ignore_poison())
    }

    /// Locks the value, and allocates the default first if the mutex is empty.
    pub(crate) fn get_or_default(&self) -> MutexGuard<'_, T> {
        self.0.get_or_init(Box::default).lock().ignore_poison()
    }
}

/// Returns the guard of a mutex even if a thread panicked while it held the lock.
///
/// Use it where each critical section leaves the value consistent at every point where it may panic.
pub trait IgnorePoison {
    /// The guard of the lock.
    type Guard;

    /// Returns the guard, poisoned or not.
    fn ignore_poison(self) -> Self::Guard;
}

impl<G> IgnorePoison for LockResult<G> {
    type Guard = G;

    fn ignore_poison(self) -> G {
        self.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::{IgnorePoison, LazyMutex};

    #[test]
    fn a_lazy_mutex_is_empty_until_its_first_use() {
        let mutex = LazyMutex::<Vec<u8>>::default();
        assert!(mutex.get().is_none());
        mutex.get_or_default().push(1);
        assert_eq!(*mutex.get().unwrap(), [1]);
    }

    #[test]
    fn a_poisoned_mutex_is_locked_like_any_other() {
        let mutex = Mutex::new(1);
        let panicked = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let _guard = mutex.lock().unwrap();
                panic!("while the lock is held");
            });
            thread.join().is_err()
        });
        assert!(panicked && mutex.is_poisoned());
        assert_eq!(*mutex.lock().ignore_poison(), 1);
    }
}
