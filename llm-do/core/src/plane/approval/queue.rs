//! The queue of requests that wait for the approver: equal requests of one caller share an answer.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, WeakShared};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::memory::{ApprovalMemory, EqualCall, LastingApproval, RunScope};
use super::request::BatchTotal;
use super::review::{RefusedEdits, Review, ShowPreview};
use super::{Approval, ApprovalOverview, ApprovalRequest, Approver, RememberedApproval, Reviewer, SubmittedRequest};
use crate::base::mutex::IgnorePoison;
use crate::observe::event::{ApprovalScope, DecidedBy};

/// Calls with equal keys share a request: concurrent equal calls of one caller.
#[derive(Clone, PartialEq, Eq, Hash)]
struct QueueKey {
    run: u64,
    /// The calling call.
    caller: Option<u64>,
    has_begun: bool,
    /// The key of the request, if the call may have had its effect, since an answer is for one effect only.
    own: Option<Arc<str>>,
    call: EqualCall,
}

/// The approval queue of a session, or of a run with its own approver; clones share it.
#[derive(Clone)]
pub(super) struct ApprovalQueue {
    approver: Arc<dyn Approver>,
    /// The widest scope that the approver can give.
    widest: ApprovalScope,
    /// One permit for each request that the approver takes concurrently.
    permits: Arc<Semaphore>,
    session: Arc<ApprovalMemory>,
    /// The worker that decides before the approver is asked.
    reviewer: Option<Arc<Reviewer>>,
    open: Arc<Mutex<OpenRequests>>,
}

/// The unanswered requests.
#[derive(Default)]
struct OpenRequests {
    by_key: HashMap<QueueKey, OpenRequest>,
    /// The size of the current batch; a batch ends when no request is open.
    batch: Option<BatchTotal>,
    /// The number of requests so far, over all batches.
    count: u64,
}

/// An unanswered request.
struct OpenRequest {
    number: u64,
    request: Arc<ApprovalRequest>,
    announced: CancellationToken,
    refused: RefusedEdits,
    /// Shared by equal calls; cancelled once the last of them is dropped.
    approval: WeakShared<BoxFuture<'static, Approval>>,
}

impl ApprovalQueue {
    pub(super) fn new(approver: Arc<dyn Approver>, widest: ApprovalScope, reviewer: Option<Arc<Reviewer>>) -> Self {
        let concurrent = approver.max_concurrent().clamp(1, Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(concurrent));
        Self { approver, widest, permits, session: Arc::default(), reviewer, open: Arc::default() }
    }

    /// Returns the worker that decides before the approver is asked.
    pub(super) fn reviewer(&self) -> Option<&Arc<Reviewer>> {
        self.reviewer.as_ref()
    }

    /// Remembers a lasting approval.
    pub(super) fn remember(&self, approval: LastingApproval, run: &RunScope) {
        match approval.scope {
            ApprovalScope::Call => {}
            ApprovalScope::Caller | ApprovalScope::Run => run.remember(approval),
            ApprovalScope::Session => self.session.remember(approval),
        }
    }

    /// Returns the open requests of a run, and the approvals that hold for it.
    pub(super) fn overview(&self, run: &RunScope) -> ApprovalOverview {
        let open = lock(&self.open);
        let mut pending: Vec<_> = open.by_key.iter().filter(|(key, _)| key.run == run.number).collect();
        pending.sort_unstable_by_key(|(_, open)| open.number);
        let pending = pending.into_iter().filter_map(|(_, open)| open.join()).map(|open| open.request).collect();
        drop(open);
        let mut remembered = [self.session.approvals(), run.approvals()].concat();
        remembered.sort_by_cached_key(RememberedApproval::order);
        ApprovalOverview { pending, remembered }
    }

    /// Adds a request to the queue, unless memory or an equal open request answers it.
    pub(super) fn enqueue(
        &self,
        mut request: ApprovalRequest,
        run: &RunScope,
        preview: Option<ShowPreview>,
        review: Review,
    ) -> SubmittedRequest {
        let call = EqualCall::from_request(&request);
        let mut open = lock(&self.open);
        // Both happen under the lock, since an approval is remembered before its request is removed.
        // A call that may have had its effect needs a new answer.
        let is_remembered =
            || self.session.holds(&request, &call, &[ApprovalScope::Session]) || run.holds(&request, &call);
        if request.began.is_none() && !request.is_held() && is_remembered() {
            return SubmittedRequest::decided(request, Approval::approved(DecidedBy::Memory));
        }
        let own = request.key.clone().filter(|_| request.began.is_some());
        let (caller, has_begun) = (request.path_ids.last().copied(), request.has_begun);
        let key = QueueKey { run: run.number, caller, has_begun, own, call };
        if let Some(submitted) = open.by_key.get(&key).and_then(OpenRequest::join) {
            return submitted;
        }
        let number = open.assign_position(&mut request);
        let request = Arc::new(request);
        let closing = CloseOnDrop { queue: self.clone(), key: key.clone(), number };
        // Polled once here, so that requests receive their permits in the order of their positions.
        let mut acquire = Arc::clone(&self.permits).acquire_owned().boxed();
        let acquired = (&mut acquire).now_or_never();
        if review.journal.is_none() && !self.approver.lists_requests() {
            // Nothing stores or lists the request first. Announced now, so that events of concurrent calls are in the
            // order of their positions.
            review.announced.cancel();
        }
        let (announced, refused) = (review.announced.clone(), review.refused.subscribe());
        let (asked, run) = (Arc::clone(&request), run.clone());
        let approval = async move {
            // The semaphore is never closed; an error would only allow more concurrent requests.
            let _permit: Option<OwnedSemaphorePermit> = if let Some(permit) = acquired {
                permit.ok()
            } else {
                // The approver may take the request only after a long time.
                review.announced.cancel();
                acquire.await.ok()
            };
            let queue = &closing.queue;
            let mut approval = review.ask(&*queue.approver, &asked, preview).await;
            // Narrowed before it is recorded, since a process that resumes the run may not know which approver
            // answered.
            let widest = if asked.is_held() { ApprovalScope::Call } else { queue.widest };
            approval.scope = approval.scope.min(widest);
            if let Some(lasting) = LastingApproval::from_request(&asked, approval.scope) {
                // Remembered before the request is removed, so that no equal call asks again.
                queue.remember(lasting, &run);
            }
            drop(closing);
            approval
        };
        let approval = approval.boxed().shared();
        if let Some(weak) = approval.downgrade() {
            let (request, announced, refused) = (Arc::clone(&request), announced.clone(), refused.clone());
            open.by_key.insert(key, OpenRequest { number, request, announced, refused, approval: weak });
        }
        SubmittedRequest::pending(request, announced, refused, approval)
    }
}

impl OpenRequests {
    /// Sets the position of a request in its batch, and returns its number.
    fn assign_position(&mut self, request: &mut ApprovalRequest) -> u64 {
        self.count += 1;
        let batch = self.batch.get_or_insert_with(|| BatchTotal::new(0));
        request.position = batch.increment();
        request.total = batch.clone();
        self.count
    }

    /// Removes a request, unless a newer equal request has replaced it.
    fn remove(&mut self, key: &QueueKey, number: u64) {
        if self.by_key.get(key).is_some_and(|open| open.number == number) {
            self.by_key.remove(key);
        }
        if self.by_key.is_empty() {
            self.batch = None;
        }
    }
}

impl OpenRequest {
    /// Returns a handle to the same approval, unless all calls that waited for it are gone.
    fn join(&self) -> Option<SubmittedRequest> {
        let (request, announced, refused) = (Arc::clone(&self.request), self.announced.clone(), self.refused.clone());
        Some(SubmittedRequest::pending(request, announced, refused, self.approval.upgrade()?))
    }
}

/// Removes a request from the queue once it is answered, or once no call waits for it any more.
struct CloseOnDrop {
    queue: ApprovalQueue,
    key: QueueKey,
    number: u64,
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        lock(&self.queue.open).remove(&self.key, self.number);
    }
}

fn lock(open: &Mutex<OpenRequests>) -> MutexGuard<'_, OpenRequests> {
    open.lock().ignore_poison()
}

impl fmt::Debug for ApprovalQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalQueue").field("approver", &self.approver).finish_non_exhaustive()
    }
}
