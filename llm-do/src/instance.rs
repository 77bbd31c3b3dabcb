//! Instances of stateful toolsets: opened for one call, closed once, on every way out of it.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::error::BoxError;
use crate::rare::Rare;

/// The closing of an instance, under way.
pub(crate) type Close = BoxFuture<'static, Result<(), BoxError>>;

/// An instance, held by the call that opened it and by the calls of its tools.
pub(crate) struct Slot<T: Send + 'static> {
    /// Empty once it is closed, which only the last holder does.
    value: Option<T>,
    close: fn(T) -> Close,
}

impl<T: Send + 'static> Slot<T> {
    pub(crate) fn value(&self) -> &T {
        let Some(value) = &self.value else { unreachable!("an instance is taken out of its slot by the last holder") };
        value
    }
}

impl<T: Send + 'static> Drop for Slot<T> {
    /// Closes what nobody closed: the call was dropped, or outlived by a tool on its thread.
    fn drop(&mut self) {
        if let (Some(value), Ok(runtime)) = (self.value.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn((self.close)(value));
        }
    }
}

/// A [`Slot`] of any type.
trait AnySlot: Send + Sync {
    /// Closes the instance, unless a tool still uses it: then that tool's end does.
    fn close(self: Arc<Self>) -> Close;

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<T: Send + Sync + 'static> AnySlot for Slot<T> {
    fn close(self: Arc<Self>) -> Close {
        let last = Arc::into_inner(self);
        match last.and_then(|mut slot| Some((slot.close)(slot.value.take()?))) {
            Some(close) => close,
            None => ready(Ok(())).boxed(),
        }
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
    pub(crate) fn new<T: Send + Sync + 'static>(value: T, close: fn(T) -> Close) -> Self {
        Self { key: TypeId::of::<T>(), slot: Arc::new(Slot { value: Some(value), close }) }
    }

    /// Returns the instance, if it is one of `T`.
    pub(crate) fn slot<T: Send + Sync + 'static>(self) -> Option<Arc<Slot<T>>> {
        self.slot.into_any().downcast().ok()
    }
}

/// The instances of one call; nothing, for the many that have none.
#[derive(Default)]
pub(crate) struct Instances(Rare<Held>);

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

    /// Closes all, last opened first, and returns the first error.
    pub(crate) async fn close(&self) -> Result<(), BoxError> {
        let Some(held) = self.0.get().map(|mut held| std::mem::take(&mut *held)) else { return Ok(()) };
        let Held { declared, receiver } = held;
        let mut result = Ok(());
        for opened in declared.into_iter().chain(receiver).rev() {
            let closed = std::panic::AssertUnwindSafe(opened.slot.close()).catch_unwind().await;
            result = result.and(closed.unwrap_or_else(|_| Err("it panicked".into())));
        }
        result
    }
}

impl fmt::Debug for Instances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let declared = self.0.get().map_or(0, |held| held.declared.len());
        f.debug_struct("Instances").field("declared", &declared).finish_non_exhaustive()
    }
}
