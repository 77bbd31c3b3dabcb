//! A run of one user, and the task that drives it.

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llm_do::approval::{ApprovalInbox, PendingApproval};
use llm_do::event::{EventReceiver, event_channel};
use llm_do::runtime::RunHandle;
use llm_do::usage::Money;
use llm_do::{CallError, Limits, Runtime};

use crate::{User, assistant};

/// A run and its owner.
#[derive(Debug)]
pub(crate) struct UserRun {
    pub(crate) user: String,
    pub(crate) handle: RunHandle,
    /// The events, until a request streams them.
    pub(crate) events: Option<EventReceiver>,
    pub(crate) progress: Arc<Progress>,
}

/// The state of a run that changes while it runs.
#[derive(Debug, Default)]
pub(crate) struct Progress(Mutex<State>);

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Calls that wait for approval, by number.
    pub(crate) pending: BTreeMap<u64, PendingApproval>,
    /// The number of the latest approval request.
    last_number: u64,
    /// The result, once the run has finished.
    pub(crate) result: Option<Result<String, CallError>>,
}

impl Progress {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_pending(&self, pending: PendingApproval) {
        let mut state = self.lock();
        state.last_number += 1;
        let number = state.last_number;
        state.pending.insert(number, pending);
    }

    fn finish(&self, result: Result<String, CallError>) {
        let mut state = self.lock();
        state.pending.clear();
        state.result = Some(result);
    }
}

/// Starts a run for a user; returns its id and state.
pub(crate) fn start(runtime: &Runtime, user: &User, question: String) -> Option<(String, UserRun)> {
    let (sink, events) = event_channel(1024);
    let (approver, mut inbox) = ApprovalInbox::new();
    let start = runtime
        .start(assistant { input: question })
        .sink(sink)
        .approver(approver)
        .project_root(&user.folder)
        .limits(Limits::new().requests(20).cost(Money::from_cents(50)).allow_unpriced(true));
    // There is an id, since the runtime has no journal.
    let id = start.id()?.to_owned();
    let handle = start.handle();
    let progress: Arc<Progress> = Arc::default();
    let task_progress = Arc::clone(&progress);
    tokio::spawn(async move {
        let mut run = pin!(start.into_future());
        let result = loop {
            tokio::select! {
                result = &mut run => break result,
                Some(pending) = inbox.next() => task_progress.add_pending(pending),
            }
        };
        task_progress.finish(result);
    });
    Some((id, UserRun { user: user.name.clone(), handle, events: Some(events), progress }))
}
