//! A call whose result arrives in parts.

mod pieces;

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::future::BoxFuture;
use serde_json::Value;

pub(crate) use self::pieces::Form;
#[doc(hidden)]
pub use self::pieces::Pieces;
use self::pieces::Taken;
use crate::base::error::CallError;
use crate::base::partial_json::{PartialJson, Step};
use crate::declare::partial::Partial;
use crate::declare::schema::WRAPPER;

/// A running call of a worker, or of an entry that passes one on: first [`Partial`]s of its result, then the
/// [`result`](Self::result).
///
/// Each partial has all that has arrived: one that is not taken in time is left out. The call runs while this is polled, and is
/// cancelled if it is dropped. If the model has to answer again, the partials start again. They are not checked by the schema or by
/// guards; the result is.
#[must_use = "a call does not run until its stream or its result is awaited"]
pub struct CallStream<'a, T> {
    call: BoxFuture<'a, Result<T, CallError>>,
    result: Option<Result<T, CallError>>,
    pieces: Arc<Pieces>,
    reader: Reader,
}

impl<T> Unpin for CallStream<'_, T> {}

impl<'a, T> CallStream<'a, T> {
    pub(crate) fn new(call: BoxFuture<'a, Result<T, CallError>>, pieces: Arc<Pieces>) -> Self {
        Self { call, result: None, pieces, reader: Reader::default() }
    }

    /// Waits for more of the result; `None` once the call has finished.
    pub async fn next(&mut self) -> Option<Partial<T>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Waits for the result; partials that were not taken are dropped.
    ///
    /// # Errors
    ///
    /// Returns the error of the call.
    pub async fn result(mut self) -> Result<T, CallError> {
        match self.result.take() {
            Some(result) => result,
            None => self.call.as_mut().await,
        }
    }
}

impl<T> Stream for CallStream<'_, T> {
    type Item = Partial<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Partial<T>>> {
        let this = self.get_mut();
        // The call is polled first: it makes the pieces, unless its journal runs it on another task.
        if this.result.is_none()
            && let Poll::Ready(result) = this.call.as_mut().poll(cx)
        {
            this.result = Some(result);
        }
        if let Some(taken) = this.pieces.take(cx.waker()) {
            this.reader.read(taken);
            if let Some(partial) = this.reader.partial() {
                return Poll::Ready(Some(partial));
            }
        }
        if this.result.is_some() { Poll::Ready(None) } else { Poll::Pending }
    }
}

impl<T> fmt::Debug for CallStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallStream").field("has_ended", &self.result.is_some()).finish_non_exhaustive()
    }
}

/// Reads the result of a call that something else polls, while it arrives.
#[doc(hidden)]
#[cfg(feature = "serve")]
#[derive(Debug)]
pub struct PieceReader {
    pieces: Arc<Pieces>,
    reader: Reader,
}

#[cfg(feature = "serve")]
impl PieceReader {
    #[doc(hidden)]
    pub fn new(pieces: Arc<Pieces>) -> Self {
        Self { pieces, reader: Reader::default() }
    }

    /// Waits for more of the result, and returns all of it that has arrived.
    #[doc(hidden)]
    pub async fn next(&mut self) -> Partial<Value> {
        poll_fn(|cx| {
            while let Some(taken) = self.pieces.take(cx.waker()) {
                self.reader.read(taken);
                if let Some(partial) = self.reader.partial() {
                    return Poll::Ready(partial);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Reads the pieces of a result.
#[derive(Debug)]
enum Reader {
    Text(Arc<Value>),
    Json { json: PartialJson, is_wrapped: bool },
}

impl Default for Reader {
    fn default() -> Self {
        Self::Text(Arc::new(Value::String(String::new())))
    }
}

impl Reader {
    fn read(&mut self, taken: Taken) {
        let Taken { form, is_new, text } = taken;
        if is_new {
            *self = match form {
                Form::Text => Self::default(),
                Form::Json { is_wrapped } => Self::Json { json: PartialJson::default(), is_wrapped },
            };
        }
        match self {
            Self::Text(whole) => {
                if let Value::String(whole) = Arc::make_mut(whole) {
                    whole.push_str(&text);
                }
            }
            Self::Json { json, .. } => json.push(&text),
        }
    }

    /// Returns what has arrived, if anything has.
    fn partial<T>(&self) -> Option<Partial<T>> {
        match self {
            Self::Text(text) => Some(Partial::new(Arc::clone(text), Vec::new(), Some(Arc::default()))),
            Self::Json { json, is_wrapped } => {
                let root = Arc::clone(json.value()?);
                let path = if *is_wrapped { vec![Step::Key(WRAPPER.into())] } else { Vec::new() };
                Some(Partial::new(root, path, json.open_path().map(Into::into)))
            }
        }
    }
}
