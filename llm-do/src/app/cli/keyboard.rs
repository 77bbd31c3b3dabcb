//! What is typed at the terminal, a line at a time, and how wide the terminal is.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use self::other::{Keyboard, Withdrawal, width};
#[cfg(unix)]
pub(super) use self::unix::{Keyboard, Withdrawal, width};
