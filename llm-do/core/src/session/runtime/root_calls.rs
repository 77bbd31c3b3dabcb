//! Root calls of sources of tools in the runtime that owns them.

use std::future::IntoFuture;
use std::sync::{Arc, Weak};

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Runtime;
use crate::base::error::CallError;
use crate::plane::dispatch::Plane;
use crate::plane::tool_source::RootCalls;

/// A weak handle to a runtime: it owns its sources of tools, which refer to it.
#[derive(Debug)]
pub(super) struct WeakRuntime {
    plane: Weak<Plane>,
    cancellation: CancellationToken,
}

impl WeakRuntime {
    pub(super) fn new(runtime: &Runtime) -> Arc<Self> {
        Arc::new(Self { plane: Arc::downgrade(&runtime.plane), cancellation: runtime.cancellation.clone() })
    }
}

impl RootCalls for WeakRuntime {
    fn call(&self, tool: &str, arguments: Value) -> Option<BoxFuture<'static, Result<Value, CallError>>> {
        let plane = self.plane.upgrade()?;
        let runtime = Runtime { plane, cancellation: self.cancellation.clone(), warnings: Arc::default() };
        let start = runtime.start_named(tool, arguments).gated();
        Some(Box::pin(start.into_future()))
    }
}
