//! Promises: questions of a run to a person, with the answer, which may be given later and in another process.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{JournalError, StepKind};

/// The future of an answer. Dropping it withdraws the question.
pub type PromiseFuture = BoxFuture<'static, Result<Value, JournalError>>;

/// The field of a request that shows where it came from: an answer does not depend on it.
pub(crate) const CONTEXT: &str = "context";

/// The question of a step to a person.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromiseSpec {
    /// The key of the step, which is the same whenever the run asks, in every process.
    pub key: Arc<str>,
    /// [`Approval`](StepKind::Approval) or [`Input`](StepKind::Input).
    pub kind: StepKind,
    /// The content that the person sees.
    pub request: Value,
    /// Whether the last answer under this key was invalid; it is discarded, and another answer is required.
    pub is_repeated: bool,
}

impl PromiseSpec {
    /// Creates a question that is asked for the first time.
    #[must_use]
    pub fn new(key: impl Into<Arc<str>>, kind: StepKind, request: Value) -> Self {
        Self { key: key.into(), kind, request, is_repeated: false }
    }

    /// Returns the digest of the content that the person sees, without the request's origins; an answer contains it.
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    #[must_use]
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

/// A stored question to a person. The answer is given under its id.
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
