//! Instances of stateful toolsets: opened for one call, closed once, on every way out of it.

mod closings;

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use tokio::runtime::Handle;

pub(crate) use self::closings::{CLOSE_TIMEOUT, Closings};
use crate::base::error::BoxError;
use crate::base::mutex::LazyMutex;

/// The closing of an instance, under way.
pub(crate) type Close = BoxFuture<'static, Result<(), BoxError>>;

/// An instance, held by the call that opened it and by the calls of its tools.
pub(crate) struct Slot<T: Send + 'static> {
    /// Empty once it is closed, which only the last holder does.
    value: Option<T>,
    close: fn(T) -> Close,
    closer: Closer,
}

/// What closes an instance, wherever its last holder ends.
#[derive(Clone)]
struct Closer {
    closings: Closings,
    /// The runtime in which it was opened.
    tokio: Option<Handle>,
}

impl<T: Send + 'static> Slot<T> {
    pub(crate) fn value(&self) -> &T {
        let Some(value) = &self.value else { unreachable!("an instance is taken out of its slot by the last holder") };
        value
    }
}

impl<T: Send + 'static> Drop for Slot<T> {
    /// Closes what is not closed yet: a tool outlived the call on its thread.
    fn drop(&mut self) {
        let Some(value) = self.value.take().filter(|_| self.closer.tokio.is_some()) else { return };
        let Closer { closings, tokio } = self.closer.clone();
        let close = self.close;
        let limited = closings.clone();
        drop(
            closings
                .run(tokio.as_ref(), async move { limited.limited(async move { close(value).await }.boxed()).await }),
        );
    }
}

/// A [`Slot`] of any type.
trait AnySlot: Send + Sync {
    /// Closes the instance, unless a tool still uses it: then that tool's end does.
    fn close(self: Arc<Self>) -> Close;

    fn closer(&self) -> &Closer;

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<T: Send + Sync + 'static> AnySlot for Slot<T> {
    fn close(self: Arc<Self>) -> Close {
        let last = Arc::into_inner(self).and_then(|mut slot| Some((slot.close, slot.value.take()?)));
        match last {
            // In the future, so that what it does before its first wait may panic too.
            Some((close, value)) => async move { close(value).await }.boxed(),
            None => ready(Ok(())).boxed(),
        }
    }

    fn closer(&self) -> &Closer {
        &self.closer
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// An open instance.
#[derive(Clone)]
pub(crate) struct Opened {
    key: TypeId,
    slot: Arc<dyn AnySlot>,
}

impl Opened {
    /// Holds `value`, which `closings` sees closed in the tokio runtime of this thread.
    pub(crate) fn new<T: Send + Sync + 'static>(value: T, close: fn(T) -> Close, closings: Closings) -> Self {
        let closer = Closer { closings, tokio: Handle::try_current().ok() };
        Self { key: TypeId::of::<T>(), slot: Arc::new(Slot { value: Some(value), close, closer }) }
    }

    /// Returns the instance, if it is one of `T`.
    pub(crate) fn slot<T: Send + Sync + 'static>(self) -> Option<Arc<Slot<T>>> {
        self.slot.into_any().downcast().ok()
    }
}

/// The instances of one call; nothing, for the many that have none.
#[derive(Default)]
pub(crate) struct Instances(LazyMutex<Held>);

#[derive(Default)]
struct Held {
    /// Of the toolsets that the call declares, in the order in which they were opened.
    declared: Vec<Opened>,
    /// The one whose method the call runs.
    receiver: Option<Opened>,
}

impl Instances {
    /// Returns whether the call never had one.
    pub(crate) fn were_never_held(&self) -> bool {
        self.0.get().is_none()
    }

    /// Keeps an instance of a toolset that the call declares.
    pub(crate) fn push(&self, opened: Opened) {
        self.0.get_or_default().declared.push(opened);
    }

    /// Returns the instance of a toolset that the call declares.
    pub(crate) fn get(&self, key: TypeId) -> Option<Opened> {
        self.0.get()?.declared.iter().find(|opened| opened.key == key).cloned()
    }

    /// Sets the instance whose method the call runs.
    pub(crate) fn receive(&self, opened: Opened) {
        self.0.get_or_default().receiver = Some(opened);
    }

    /// Returns the instance whose method the call runs.
    pub(crate) fn receiver(&self) -> Option<Opened> {
        self.0.get()?.receiver.clone()
    }

    /// Closes all, last opened first, and returns the first error; dropped, it closes them all the same.
    pub(crate) async fn close(&self) -> Result<(), BoxError> {
        let closing = self.0.get().map(|mut held| held.take());
        match closing.and_then(close_all) {
            Some(closing) => closing.await,
            None => Ok(()),
        }
    }
}

impl Held {
    fn take(&mut self) -> Vec<Opened> {
        std::mem::take(&mut self.declared).into_iter().chain(self.receiver.take()).collect()
    }
}

impl Drop for Held {
    /// Closes what is not closed yet: the call was dropped.
    fn drop(&mut self) {
        drop(close_all(self.take()));
    }
}

/// Begins to close instances, last opened first; returns what to wait for, if there are any.
fn close_all(opened: Vec<Opened>) -> Option<Close> {
    let Closer { closings, tokio } = opened.last()?.slot.closer().clone();
    let limited = closings.clone();
    let close = async move {
        let mut result = Ok(());
        for opened in opened.into_iter().rev() {
            result = result.and(limited.limited(opened.slot.close()).await);
        }
        result
    };
    Some(closings.run(tokio.as_ref(), close))
}

impl fmt::Debug for Instances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let declared = self.0.get().map_or(0, |held| held.declared.len());
        f.debug_struct("Instances").field("declared", &declared).finish_non_exhaustive()
    }
}
