//! Instances of stateful toolsets: opened for one call, and closed once, however the call finishes.

mod close_tasks;

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use tokio::runtime::Handle;

pub(crate) use self::close_tasks::{CLOSE_TIMEOUT, CloseTasks};
use crate::base::error::BoxError;
use crate::base::mutex::LazyMutex;

/// A type, and the named instance of a toolset that a value of it belongs to, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TypeKey {
    pub(crate) ty: TypeId,
    pub(crate) instance: Option<&'static str>,
}

impl TypeKey {
    pub(crate) fn of<T: 'static>(instance: Option<&'static str>) -> Self {
        Self { ty: TypeId::of::<T>(), instance }
    }

    /// Returns the key of a value of a named instance.
    pub(crate) fn of_value<T: 'static>(_: &T, instance: &'static str) -> Self {
        Self::of::<T>(Some(instance))
    }
}

/// A running `close` of an instance.
pub(crate) type Close = BoxFuture<'static, Result<(), BoxError>>;

/// An instance, shared by the call that opened it and the calls of its tools.
pub(crate) struct Slot<T: Send + 'static> {
    /// `None` once it is closed; only the last holder closes it.
    value: Option<T>,
    close: fn(T) -> Close,
    closer: Closer,
}

/// Closes an instance when its last holder drops it.
#[derive(Clone)]
struct Closer {
    tasks: CloseTasks,
    /// The tokio runtime in which it was opened.
    tokio: Option<Handle>,
}

impl<T: Send + 'static> Slot<T> {
    pub(crate) fn value(&self) -> &T {
        let Some(value) = &self.value else { unreachable!("only the last holder takes the instance out of its slot") };
        value
    }
}

impl<T: Send + 'static> Drop for Slot<T> {
    /// Closes an instance that a tool still used on its thread after the call had finished.
    fn drop(&mut self) {
        let Some(value) = self.value.take().filter(|_| self.closer.tokio.is_some()) else { return };
        let Closer { tasks, tokio } = self.closer.clone();
        let close = self.close;
        let limited = tasks.clone();
        drop(
            tasks.run(
                tokio.as_ref(),
                async move { limited.with_timeout(async move { close(value).await }.boxed()).await },
            ),
        );
    }
}

/// A [`Slot`] of any type.
trait AnySlot: Send + Sync {
    /// Closes the instance, unless a tool still uses it; then it is closed when that tool finishes.
    fn close(self: Arc<Self>) -> Close;

    fn closer(&self) -> &Closer;

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<T: Send + Sync + 'static> AnySlot for Slot<T> {
    fn close(self: Arc<Self>) -> Close {
        let last = Arc::into_inner(self).and_then(|mut slot| Some((slot.close, slot.value.take()?)));
        match last {
            // Inside the future, so that a panic before its first await is caught too.
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
    key: TypeKey,
    slot: Arc<dyn AnySlot>,
}

impl Opened {
    /// Wraps `value`, which belongs to the named instance, if any; `tasks` closes it in the tokio runtime of this thread.
    pub(crate) fn new<T: Send + Sync + 'static>(
        value: T,
        instance: Option<&'static str>,
        close: fn(T) -> Close,
        tasks: CloseTasks,
    ) -> Self {
        let closer = Closer { tasks, tokio: Handle::try_current().ok() };
        Self { key: TypeKey::of::<T>(instance), slot: Arc::new(Slot { value: Some(value), close, closer }) }
    }

    /// Returns the instance, if its type is `T`.
    pub(crate) fn slot<T: Send + Sync + 'static>(self) -> Option<Arc<Slot<T>>> {
        self.slot.into_any().downcast().ok()
    }
}

/// The instances of one call; empty for most calls.
#[derive(Default)]
pub(crate) struct Instances(LazyMutex<CallInstances>);

#[derive(Default)]
struct CallInstances {
    /// Instances of the toolsets that the call declares, in the order in which they were opened.
    declared: Vec<Opened>,
    /// The instance whose method the call runs.
    receiver: Option<Opened>,
}

impl Instances {
    /// Adds an instance of a toolset that the call declares.
    pub(crate) fn push(&self, opened: Opened) {
        self.0.get_or_default().declared.push(opened);
    }

    /// Returns the instance of a toolset that the call declares.
    pub(crate) fn get(&self, key: TypeKey) -> Option<Opened> {
        self.0.get()?.declared.iter().find(|opened| opened.key == key).cloned()
    }

    /// Sets the instance whose method the call runs.
    pub(crate) fn set_receiver(&self, opened: Opened) {
        self.0.get_or_default().receiver = Some(opened);
    }

    /// Returns the instance whose method the call runs.
    pub(crate) fn receiver(&self) -> Option<Opened> {
        self.0.get()?.receiver.clone()
    }

    /// Closes all instances, the last opened first, and returns the first error. They are closed even if the future
    /// is dropped.
    pub(crate) async fn close(&self) -> Result<(), BoxError> {
        let closing = self.0.get().map(|mut held| held.take());
        match closing.and_then(close_all) {
            Some(closing) => closing.await,
            None => Ok(()),
        }
    }
}

impl CallInstances {
    fn take(&mut self) -> Vec<Opened> {
        std::mem::take(&mut self.declared).into_iter().chain(self.receiver.take()).collect()
    }
}

impl Drop for CallInstances {
    /// Closes the instances of a call that was dropped.
    fn drop(&mut self) {
        drop(close_all(self.take()));
    }
}

/// Starts to close instances, the last opened first; returns the future to wait for, if there are instances.
fn close_all(opened: Vec<Opened>) -> Option<Close> {
    let Closer { tasks, tokio } = opened.last()?.slot.closer().clone();
    let limited = tasks.clone();
    let close = async move {
        let mut result = Ok(());
        for opened in opened.into_iter().rev() {
            result = result.and(limited.with_timeout(opened.slot.close()).await);
        }
        result
    };
    Some(tasks.run(tokio.as_ref(), close))
}

impl fmt::Debug for Instances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let declared = self.0.get().map_or(0, |held| held.declared.len());
        f.debug_struct("Instances").field("declared", &declared).finish_non_exhaustive()
    }
}
