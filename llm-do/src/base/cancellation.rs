//! Cancellation of a call that costs nothing until somebody asks for it.

use std::sync::OnceLock;

use tokio_util::sync::CancellationToken;

/// Whether a call is cancelled; a token is made for those that are asked to wait for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation(OnceLock<CancellationToken>);

impl Cancellation {
    /// Returns one that `token` cancels.
    pub(crate) fn of(token: CancellationToken) -> Self {
        Self(token.into())
    }

    /// Returns the token, if one was made.
    pub(crate) fn made(&self) -> Option<&CancellationToken> {
        self.0.get()
    }

    /// Returns the token; a call's is a child of its caller's.
    pub(crate) fn token(&self, parent: impl FnOnce() -> CancellationToken) -> &CancellationToken {
        self.0.get_or_init(parent)
    }

    /// Cancels whoever waits; where nobody does but `others` may yet ask, says so to them.
    pub(crate) fn cancel(&self, others: bool) {
        if let Some(token) = self.0.get() {
            token.cancel();
        } else if others {
            self.0.get_or_init(CancellationToken::new).cancel();
        }
    }
}
