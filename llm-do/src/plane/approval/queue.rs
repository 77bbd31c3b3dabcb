//! The queue of requests that wait for the approver: equal requests of one caller share an answer.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared, poll_immediate};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::memory::{EqualCall, LastingApproval, RunScope, SessionMemory};
use super::request::BatchTotal;
use super::{Answer, ApprovalOverview, ApprovalRequest, Approver, Decision, GivenDecision, RememberedApproval};
use crate::base::error::chain;
use crate::base::mutex::IgnorePoison;
use crate::declare::nesting;
use crate::observe::event::{ApprovalScope, DecidedBy};
use crate::observe::journal::{Journal, Promise};

/// How often an approver may give invalid arguments for one call; stops an approver that ignores the problem.
const MAX_EDITS: u32 = 10;

/// Why the arguments of a call cannot be edited whose steps are recorded.
const HAS_BEGUN: &str = "steps of this call are recorded with its original arguments; approve it unchanged, or deny it";

/// Validates the approver's arguments, and returns them as they would run, defaults filled in.
pub(super) type ValidateEdit = Box<dyn Fn(Value) -> BoxFuture<'static, Result<Value, String>> + Send + Sync>;

/// Returns the text that shows the approver what the call would do; nothing runs until it is polled.
pub(crate) type ShowPreview = BoxFuture<'static, String>;

/// What a review needs besides the request.
pub(super) struct Review {
    pub(super) preview: Option<ShowPreview>,
    pub(super) validate: ValidateEdit,
    /// Stores the request before the approver is asked.
    pub(super) journal: Option<Arc<dyn Journal>>,
}

/// A pending answer, shared by equal calls; cancelled once the last of them is dropped.
pub(super) type SharedAnswer = Shared<BoxFuture<'static, Answer>>;

/// Which calls share a request: concurrent equal calls of one call.
#[derive(Clone, PartialEq, Eq, Hash)]
struct QueueKey {
    run: u64,
    /// The calling call.
    caller: Option<u64>,
    has_begun: bool,
    /// The key of the request, if the call may have had its effect: each answer is for one effect.
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
    session: Arc<SessionMemory>,
    open: Arc<Mutex<OpenRequests>>,
}

/// The requests without an answer.
#[derive(Default)]
struct OpenRequests {
    by_key: HashMap<QueueKey, OpenRequest>,
    /// The size of the current batch; a batch ends when no request is open.
    batch: Option<BatchTotal>,
    /// The number of requests so far, over all batches.
    count: u64,
}

/// A request without an answer.
struct OpenRequest {
    number: u64,
    request: Arc<ApprovalRequest>,
    answer: WeakShared<BoxFuture<'static, Answer>>,
    /// Cancelled once the request can be found.
    announced: CancellationToken,
}

/// The result of adding a request to the queue.
pub(super) enum Enqueued {
    /// An approval in memory covers the call.
    Remembered(Box<ApprovalRequest>),
    /// The request, or an equal one, is in the queue; the token is cancelled once the request can be found where it is answered.
    Pending(Arc<ApprovalRequest>, SharedAnswer, CancellationToken),
}

impl ApprovalQueue {
    pub(super) fn new(approver: Arc<dyn Approver>, widest: ApprovalScope) -> Self {
        let concurrent = approver.max_concurrent().clamp(1, Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(concurrent));
        Self { approver, widest, permits, session: Arc::default(), open: Arc::default() }
    }

    /// Remembers an approval that was given in an earlier process.
    pub(super) fn remember(&self, approval: LastingApproval, run: &RunScope) {
        remember(&self.session, run, approval);
    }

    /// Returns the open requests of a run, and which approvals hold for it.
    pub(super) fn overview(&self, run: &RunScope) -> ApprovalOverview {
        let open = lock(&self.open);
        let mut pending: Vec<_> = open.by_key.iter().filter(|(key, _)| key.run == run.number).collect();
        pending.sort_unstable_by_key(|(_, open)| open.number);
        let pending = pending.into_iter().filter_map(|(_, open)| open.join()).map(|(request, ..)| request).collect();
        drop(open);
        let mut remembered = [self.session.approvals(), run.approvals()].concat();
        remembered.sort_by_cached_key(RememberedApproval::order);
        ApprovalOverview { pending, remembered }
    }

    /// Adds a request to the queue, unless memory or an equal open request answers it.
    pub(super) fn enqueue(&self, mut request: ApprovalRequest, run: &RunScope, review: Review) -> Enqueued {
        let call = EqualCall::of(&request);
        let mut open = lock(&self.open);
        // Under the lock: an approval is remembered before its request is removed.
        // A call that may have had its effect needs an answer of its own.
        if request.began.is_none() && (self.session.holds(&call) || run.holds(&request, &call)) {
            return Enqueued::Remembered(Box::new(request));
        }
        let own = request.key.clone().filter(|_| request.began.is_some());
        let (caller, has_begun) = (request.path_ids.last().copied(), request.has_begun);
        let key = QueueKey { run: run.number, caller, has_begun, own, call };
        if let Some((request, answer, announced)) = open.by_key.get(&key).and_then(OpenRequest::join) {
            return Enqueued::Pending(request, answer, announced);
        }
        let number = open.assign_position(&mut request);
        let request = Arc::new(request);
        let (session, run) = (Arc::clone(&self.session), run.clone());
        let closing = CloseOnDrop { open: Arc::clone(&self.open), session, run, key: key.clone(), number };
        // Polled once here, so that requests get their permits in the order of their positions.
        let mut acquire = Arc::clone(&self.permits).acquire_owned().boxed();
        let acquired = (&mut acquire).now_or_never();
        let (approver, widest, asked) = (Arc::clone(&self.approver), self.widest, Arc::clone(&request));
        let announced = CancellationToken::new();
        let announcement = announced.clone();
        let answer = async move {
            // The semaphore is never closed; an error would only allow more concurrent requests.
            let _permit: Option<OwnedSemaphorePermit> = if let Some(permit) = acquired {
                permit.ok()
            } else {
                // It may take long until the approver takes it.
                announcement.cancel();
                acquire.await.ok()
            };
            let mut answer = ask(&*approver, &asked, review, &announcement).await;
            // Narrowed before it is recorded: the process that resumes the run may not know which approver answered.
            answer.scope = answer.scope.min(widest);
            closing.close(&asked, &answer);
            answer
        };
        let answer = answer.boxed().shared();
        if let Some(weak) = answer.downgrade() {
            open.by_key.insert(
                key,
                OpenRequest { number, request: Arc::clone(&request), answer: weak, announced: announced.clone() },
            );
        }
        Enqueued::Pending(request, answer, announced)
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
    /// Returns a handle to the same answer, unless all calls that waited for it are gone.
    fn join(&self) -> Option<(Arc<ApprovalRequest>, SharedAnswer, CancellationToken)> {
        Some((Arc::clone(&self.request), self.answer.upgrade()?, self.announced.clone()))
    }
}

/// Removes a request from the queue once it is answered, or once no call waits for it any more.
struct CloseOnDrop {
    open: Arc<Mutex<OpenRequests>>,
    session: Arc<SessionMemory>,
    run: RunScope,
    key: QueueKey,
    number: u64,
}

impl CloseOnDrop {
    /// Remembers a lasting approval before the request is removed, so that no equal call asks again.
    fn close(self, request: &ApprovalRequest, answer: &Answer) {
        if let Some(approval) = LastingApproval::of(request, answer.scope) {
            remember(&self.session, &self.run, approval);
        }
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        lock(&self.open).remove(&self.key, self.number);
    }
}

/// Stores an approval in the memory of its scope.
fn remember(session: &SessionMemory, run: &RunScope, LastingApproval { scope, call, path }: LastingApproval) {
    match scope {
        ApprovalScope::Call => {}
        ApprovalScope::Caller | ApprovalScope::Run => run.remember(path, call),
        ApprovalScope::Session => session.remember(call),
    }
}

/// Asks for a decision; asks again while edited arguments are invalid.
async fn ask(
    approver: &dyn Approver,
    request: &ApprovalRequest,
    review: Review,
    announced: &CancellationToken,
) -> Answer {
    let Review { preview, validate, journal } = review;
    let mut request = request.clone();
    if let Some(preview) = preview {
        request.preview = Some(preview.await);
    }
    for edits in 0..MAX_EDITS {
        let is_repeated = edits > 0 || request.is_asked_again;
        // A panic denies the call.
        let review = AssertUnwindSafe(decide(approver, &mut request, journal.as_deref(), is_repeated, announced));
        let problem = match review.catch_unwind().await {
            Ok(Decision::Approved) => return Answer::approved(DecidedBy::Approver),
            Ok(Decision::ApprovedFor { scope }) => return Answer::approved_for(scope),
            Ok(Decision::Denied { reason }) => return Answer::denied(reason, DecidedBy::Approver),
            Ok(Decision::Undecided { reason }) => return Answer::denied(reason, DecidedBy::Policy),
            Ok(Decision::ApprovedWith { arguments }) => match validated(arguments, &validate).await {
                Ok(arguments) => {
                    // Compared with what would run, which may contain more than the displayed arguments.
                    let requested = request.given.as_ref().unwrap_or(&request.arguments);
                    let edited = (arguments != *requested).then_some(arguments);
                    if edited.is_none() || !request.has_begun {
                        return Answer::edited(edited);
                    }
                    HAS_BEGUN.to_owned()
                }
                Err(problem) => problem,
            },
            Err(_) => return Answer::denied("the approver panicked", DecidedBy::Policy),
        };
        request.problem = Some(problem);
        // Without this, an approver that never waits would block cancellation.
        tokio::task::yield_now().await;
    }
    let reason = format!("the approver's edited arguments were invalid {MAX_EDITS} times");
    Answer::denied(reason, DecidedBy::Approver)
}

/// Stores a request, and waits for the first decision: of the approver, or under the id of the promise.
async fn decide(
    approver: &dyn Approver,
    request: &mut ApprovalRequest,
    journal: Option<&dyn Journal>,
    is_repeated: bool,
    announced: &CancellationToken,
) -> Decision {
    let promise = match (journal, request.promise_spec(is_repeated)) {
        (Some(journal), Some(asked)) => journal.promise(asked).await,
        _ => Ok(None),
    };
    match promise {
        Ok(None) => reviewed(approver, request, announced).await,
        Ok(Some(Promise { id, answer, .. })) => {
            request.promise = Some(id);
            tokio::select! {
                biased;
                answer = answer => answer.map_or_else(|error| Decision::undecided(chain(&error)), GivenDecision::read),
                decision = reviewed(approver, request, announced) => decision,
            }
        }
        Err(error) => Decision::undecided(chain(&error)),
    }
}

/// Asks the approver, and announces the request: before, or once the approver has listed it.
async fn reviewed(approver: &dyn Approver, request: &ApprovalRequest, announced: &CancellationToken) -> Decision {
    if !approver.lists_requests() {
        announced.cancel();
        // The event about it comes first.
        yield_in_order().await;
        return approver.review(request).await;
    }
    let mut review = approver.review(request);
    let decided = poll_immediate(&mut review).await;
    announced.cancel();
    match decided {
        Some(decision) => decision,
        None => review.await,
    }
}

/// Yields once. After `yield_now` of tokio, the calls of one task would go on in the reverse order, and be asked about in that.
async fn yield_in_order() {
    let mut has_yielded = false;
    poll_fn(|cx| {
        if mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Returns the approver's own arguments as they would run.
async fn validated(arguments: Value, validate: &ValidateEdit) -> Result<Value, String> {
    validate(nesting::shallow(arguments).map_err(|fault| fault.to_string())?).await
}

fn lock(open: &Mutex<OpenRequests>) -> MutexGuard<'_, OpenRequests> {
    open.lock().ignore_poison()
}

impl fmt::Debug for ApprovalQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalQueue").field("approver", &self.approver).finish_non_exhaustive()
    }
}
