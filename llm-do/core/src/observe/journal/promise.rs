//! Promises: what a run asks a person, and the answer, which may be given later and in another process.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{JournalError, StepKind};

/// The future of an answer. Dropping it withdraws what was asked.
pub type PromiseFuture = BoxFuture<'static, Result<Value, JournalError>>;

/// The field of a request that shows where it came from: an answer does not depend on it.
pub(crate) const CONTEXT: &str = "context";

/// What a step asks a person.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromiseSpec {
    /// The key of the step that asks: the same each time the run asks it, in every process.
    pub key: Arc<str>,
    /// [`Approval`](StepKind::Approval) or [`Input`](StepKind::Input).
    pub kind: StepKind,
    /// What the person sees.
    pub request: Value,
    /// Whether the last answer under this key was invalid: it is dropped, and another one is needed.
    pub is_repeated: bool,
}

impl PromiseSpec {
    /// Creates what a step asks for the first time.
    #[must_use]
    pub fn new(key: impl Into<Arc<str>>, kind: StepKind, request: Value) -> Self {
        Self { key: key.into(), kind, request, is_repeated: false }
    }

    /// Returns the digest of what the person sees, which an answer names; without where the request came from.
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn digest(&self) -> String {
        use std::borrow::Cow;

        use base64::Engine as _;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        use sha2::{Digest, Sha256};

        let mut request = Cow::Borrowed(&self.request);
        if request.get(CONTEXT).is_some()
            && let Value::Object(fields) = request.to_mut()
        {
            fields.shift_remove(CONTEXT);
        }
        URL_SAFE_NO_PAD.encode(Sha256::digest(request.to_string().as_bytes()))
    }
}

/// A stored question to a person, with the answer once it is given under the id.
#[non_exhaustive]
pub struct Promise {
    /// The id under which the answer is given, in any process.
    pub id: Arc<str>,
    /// The answer.
    pub answer: PromiseFuture,
}

impl Promise {
    /// Creates a promise.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>, answer: PromiseFuture) -> Self {
        Self { id: id.into(), answer }
    }
}

impl fmt::Debug for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise").field("id", &self.id).finish_non_exhaustive()
    }
}
