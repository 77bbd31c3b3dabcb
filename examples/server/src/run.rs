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

/// What is known of a run.
#[derive(Debug)]
pub(crate) struct UserRun {
    pub(crate) user: String,
    pub(crate) handle: RunHandle,
    /// Until somebody streams them.
    pub(crate) events: Option<EventReceiver>,
    pub(crate) progress: Arc<Progress>,
}

/// What changes while a run goes on.
#[derive(Debug, Default)]
pub(crate) struct Progress(Mutex<State>);

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Calls that wait for approval, by number.
    pub(crate) pending: BTreeMap<u64, PendingApproval>,
    asked: u64,
    /// Once it has ended.
    pub(crate) result: Option<Result<String, CallError>>,
}

impl Progress {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, question: PendingApproval) {
        let mut state = self.lock();
        state.asked += 1;
        let number = state.asked;
        state.pending.insert(number, question);
    }

    fn end(&self, result: Result<String, CallError>) {
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
    let of_run = Arc::clone(&progress);
    tokio::spawn(async move {
        let mut run = pin!(start.into_future());
        let result = loop {
            tokio::select! {
                result = &mut run => break result,
                Some(question) = inbox.next() => of_run.ask(question),
            }
        };
        of_run.end(result);
    });
    Some((id, UserRun { user: user.name.clone(), handle, events: Some(events), progress }))
}
