//! The calls that a connection is waiting for.
#![expect(deprecated, reason = "servers may ask for sampling until 2027")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::base::pauses::PausableTimer;
use rmcp::model::{CreateMessageRequestParams, ElicitRequestParams, ElicitResult, ElicitationAction, ProgressToken};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::call::CallEvent;
use super::sampling::{self, Sampled};

/// How long a server may continue a call that was cancelled, and send requests for it.
const LINGERING: Duration = Duration::from_secs(5 * 60);

/// The calls that a server may be working on.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<CallsInFlight>);

#[derive(Debug, Default)]
struct CallsInFlight {
    /// The calls in flight, by their progress tokens.
    waiting: HashMap<ProgressToken, CallInFlight>,
    /// When cancelled calls are forgotten. They do not end by an answer, since the server sends none.
    lingering: Vec<Instant>,
}

/// A call in flight.
#[derive(Clone, Debug)]
pub(super) struct CallInFlight {
    pub(super) events: mpsc::Sender<CallEvent>,
    /// The timeout of the call, which is paused while the user or a model is asked.
    pub(super) timer: Arc<PausableTimer>,
}

impl InFlight {
    /// Adds a call until the returned guard is dropped.
    pub(super) fn add(self: &Arc<Self>, token: ProgressToken, flight: CallInFlight) -> CallGuard {
        self.0.lock().ignore_poison().waiting.insert(token.clone(), flight);
        CallGuard { calls: Arc::clone(self), token }
    }

    pub(super) fn get(&self, token: &ProgressToken) -> Option<CallInFlight> {
        self.0.lock().ignore_poison().waiting.get(token).cloned()
    }

    /// Returns whether no call is in flight.
    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().ignore_poison().waiting.is_empty()
    }

    /// Returns the call, if the server cannot be working on a different one.
    pub(super) fn only(&self) -> Option<CallInFlight> {
        let mut calls = self.0.lock().ignore_poison();
        let now = Instant::now();
        calls.lingering.retain(|until| *until > now);
        let is_only = calls.lingering.is_empty() && calls.waiting.len() == 1;
        calls.waiting.values().next().filter(|_| is_only).cloned()
    }
}

/// Removes a call when dropped.
#[derive(Debug)]
pub(super) struct CallGuard {
    calls: Arc<InFlight>,
    token: ProgressToken,
}

impl CallGuard {
    /// Removes a cancelled call, on which the server may still be working.
    pub(super) fn cancelled(self) {
        self.calls.0.lock().ignore_poison().lingering.push(Instant::now() + LINGERING);
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.calls.0.lock().ignore_poison().waiting.remove(&self.token);
    }
}

impl CallInFlight {
    /// Asks the user in the run that made the call, and pauses its timeout.
    pub(super) async fn ask(&self, request: ElicitRequestParams) -> ElicitResult {
        let _paused = self.timer.pause();
        let (reply, answer) = oneshot::channel();
        let cancelled = || ElicitResult::new(ElicitationAction::Cancel);
        if self.events.send(CallEvent::Ask(Box::new(request), reply)).await.is_err() {
            return cancelled();
        }
        answer.await.unwrap_or_else(|_| cancelled())
    }

    /// Asks a model in the run that made the call, and pauses its timeout.
    pub(super) async fn sample(&self, request: CreateMessageRequestParams) -> Sampled {
        let _paused = self.timer.pause();
        let (reply, answer) = oneshot::channel();
        let cancelled = || Err(sampling::refused("the call was cancelled"));
        if self.events.send(CallEvent::Sample(Box::new(request), reply)).await.is_err() {
            return cancelled();
        }
        answer.await.unwrap_or_else(|_| cancelled())
    }
}
