//! A cancellation token that is allocated on first use.

use std::sync::OnceLock;

use tokio_util::sync::CancellationToken;

/// The cancellation of one call; the token is created when a caller first waits for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation(OnceLock<CancellationToken>);

/// Waits for `body`, and cancels `token` once `trigger` is cancelled; `body` ends when it notices the token.
pub(crate) async fn cancelled_with<T>(
    trigger: &CancellationToken,
    token: &CancellationToken,
    body: impl Future<Output = T>,
) -> T {
    let cancelling = async {
        trigger.cancelled().await;
        token.cancel();
        std::future::pending().await
    };
    tokio::select! {
        biased;
        result = cancelling => result,
        result = body => result,
    }
}

impl Cancellation {
    /// Returns a cancellation that is triggered by `token`.
    pub(crate) fn from_token(token: CancellationToken) -> Self {
        Self(token.into())
    }

    /// Returns the token if it was created.
    pub(crate) fn get(&self) -> Option<&CancellationToken> {
        self.0.get()
    }

    /// Returns the token, created by `parent` if it does not exist yet; a call passes a child of its caller's token.
    pub(crate) fn token(&self, parent: impl FnOnce() -> CancellationToken) -> &CancellationToken {
        self.0.get_or_init(parent)
    }

    /// Cancels the token if it was created. Otherwise creates a cancelled one if `is_shared`, since it may still be
    /// requested.
    pub(crate) fn cancel(&self, is_shared: bool) {
        if let Some(token) = self.0.get() {
            token.cancel();
        } else if is_shared {
            self.0.get_or_init(CancellationToken::new).cancel();
        }
    }
}
