//! Reads lines from the terminal, and reports its width.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use self::other::{Keyboard, Withdrawal, width};
#[cfg(unix)]
pub(super) use self::unix::{Keyboard, Withdrawal, width};
