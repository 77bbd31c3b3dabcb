//! Where questions wait for the approver: equal ones of one caller are one, others are asked in turn.

use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::memory::{EqualCall, LastingApproval, RunScope, SessionMemory};
use super::request::Total;
use super::{Answer, ApprovalRequest, Approver, Decision};
use crate::declare::nesting;
use crate::observe::event::{ApprovalScope, DecidedBy};

/// How often an approver may give arguments that do not fit, before one that never looks at the problem is stopped.
const MAX_EDITS: u32 = 10;

/// Checks the arguments that an approver gives, and returns them as they would run, defaults filled in.
pub(super) type Check = Box<dyn Fn(Value) -> BoxFuture<'static, Result<Value, String>> + Send + Sync>;

/// An answer on its way; it comes as long as one of those who wait for it does.
pub(super) type Coming = Shared<BoxFuture<'static, Answer>>;

/// The run, the calling call and what it calls: equal calls are one question only where one call makes them at once.
type Key = (u64, Option<u64>, EqualCall);

/// The questions of a session, or of a run that has an approver of its own; clones share them.
#[derive(Clone)]
pub(super) struct Desk {
    approver: Arc<dyn Approver>,
    /// The widest scope that its approver can give.
    widest: ApprovalScope,
    turns: Arc<Semaphore>,
    session: Arc<SessionMemory>,
    book: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    open: HashMap<Key, Open>,
    row: Option<Total>,
    /// How many questions there ever were.
    count: u64,
}

/// A question that is not answered yet.
struct Open {
    number: u64,
    request: Arc<ApprovalRequest>,
    coming: WeakShared<BoxFuture<'static, Answer>>,
}

/// What the desk makes of a call.
pub(super) enum Filed {
    /// An earlier answer covers it.
    Remembered(Box<ApprovalRequest>),
    /// The approver is asked, or has been already.
    Asked(Arc<ApprovalRequest>, Coming),
}

impl Desk {
    pub(super) fn new(approver: Arc<dyn Approver>, widest: ApprovalScope) -> Self {
        let at_once = approver.at_once().clamp(1, Semaphore::MAX_PERMITS);
        let turns = Arc::new(Semaphore::new(at_once));
        Self { approver, widest, turns, session: Arc::default(), book: Arc::default() }
    }

    /// Remembers a decision that was made elsewhere.
    pub(super) fn remember(&self, approval: LastingApproval, run: &RunScope) {
        remember(&self.session, run, approval);
    }

    /// Finds what is decided or asked already, or puts the question.
    pub(super) fn file(&self, mut request: ApprovalRequest, run: &RunScope, check: Check) -> Filed {
        let call = EqualCall::of(&request);
        let mut book = lock(&self.book);
        // With the book locked: an answer is remembered before its question leaves the book.
        if self.session.holds(&call) || run.holds(&request, &call) {
            return Filed::Remembered(Box::new(request));
        }
        let key = (run.number, request.path_ids.last().copied(), call);
        if let Some((request, coming)) = book.open.get(&key).and_then(Open::join) {
            return Filed::Asked(request, coming);
        }
        let number = book.enter(&mut request);
        let request = Arc::new(request);
        let (session, run) = (Arc::clone(&self.session), run.clone());
        let closing = Closing { book: Arc::clone(&self.book), session, run, key: key.clone(), number };
        // Polled once, so that it is in the queue from here on and the numbers are in its order.
        let mut turn = Arc::clone(&self.turns).acquire_owned().boxed();
        let taken = (&mut turn).now_or_never();
        let (approver, widest, asked) = (Arc::clone(&self.approver), self.widest, Arc::clone(&request));
        let coming = async move {
            // The semaphore is never closed; an error would only mean that questions may overlap.
            let _permit: Option<OwnedSemaphorePermit> = match taken {
                Some(permit) => permit.ok(),
                None => turn.await.ok(),
            };
            let mut answer = ask(&*approver, &asked, &check).await;
            // Before it is recorded: who resumes the run may not know whose answer it was.
            answer.scope = answer.scope.min(widest);
            closing.close(&asked, &answer);
            answer
        };
        let coming = coming.boxed().shared();
        if let Some(weak) = coming.downgrade() {
            book.open.insert(key, Open { number, request: Arc::clone(&request), coming: weak });
        }
        Filed::Asked(request, coming)
    }
}

impl Book {
    /// Gives the request its place in the row, and returns its number.
    fn enter(&mut self, request: &mut ApprovalRequest) -> u64 {
        self.count += 1;
        let row = self.row.get_or_insert_with(|| Total::of(0));
        request.position = row.add();
        request.total = row.clone();
        self.count
    }

    /// Takes a question out, unless another has come in its place.
    fn remove(&mut self, key: &Key, number: u64) {
        if self.open.get(key).is_some_and(|open| open.number == number) {
            self.open.remove(key);
        }
        if self.open.is_empty() {
            self.row = None;
        }
    }
}

impl Open {
    /// Waits for the same answer, if anybody still does.
    fn join(&self) -> Option<(Arc<ApprovalRequest>, Coming)> {
        Some((Arc::clone(&self.request), self.coming.upgrade()?))
    }
}

/// Takes the question out of the book once it is answered, or nobody waits for it any more.
struct Closing {
    book: Arc<Mutex<Book>>,
    session: Arc<SessionMemory>,
    run: RunScope,
    key: Key,
    number: u64,
}

impl Closing {
    /// Remembers what is to be remembered, before an equal call could ask again.
    fn close(self, request: &ApprovalRequest, answer: &Answer) {
        if let Some(approval) = LastingApproval::of(request, answer.scope) {
            remember(&self.session, &self.run, approval);
        }
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        lock(&self.book).remove(&self.key, self.number);
    }
}

/// Remembers that calls equal to an approved one are approved.
fn remember(session: &SessionMemory, run: &RunScope, LastingApproval { scope, call, path }: LastingApproval) {
    match scope {
        ApprovalScope::Call => {}
        ApprovalScope::Caller | ApprovalScope::Run => run.remember(path, call),
        ApprovalScope::Session => session.remember(call),
    }
}

/// Asks until the answer is one: arguments that do not fit are asked about again.
async fn ask(approver: &dyn Approver, request: &ApprovalRequest, check: &Check) -> Answer {
    let mut request = request.clone();
    for _ in 0..MAX_EDITS {
        // An approver that panics has not approved.
        let review = AssertUnwindSafe(async { approver.review(&request).await });
        let problem = match review.catch_unwind().await {
            Ok(Decision::Approved) => return Answer::approved(DecidedBy::Approver),
            Ok(Decision::ApprovedFor { scope }) => return Answer::approved_for(scope),
            Ok(Decision::Denied { reason }) => return Answer::denied(reason, DecidedBy::Approver),
            Ok(Decision::Undecided { reason }) => return Answer::denied(reason, DecidedBy::Policy),
            Ok(Decision::ApprovedWith { arguments }) => match checked(arguments, check).await {
                Ok(arguments) => {
                    // What was asked about is what would run, and that may be more than the arguments show.
                    let asked = request.given.as_ref().unwrap_or(&request.arguments);
                    return Answer::edited((arguments != *asked).then_some(arguments));
                }
                Err(problem) => problem,
            },
            Err(_) => return Answer::denied("the approver panicked", DecidedBy::Policy),
        };
        request.problem = Some(problem);
        // One that answers at once must let the run be cancelled.
        tokio::task::yield_now().await;
    }
    let reason = format!("the approver gave arguments {MAX_EDITS} times, and none of them would do");
    Answer::denied(reason, DecidedBy::Approver)
}

/// Returns the approver's own arguments as they would run.
async fn checked(arguments: Value, check: &Check) -> Result<Value, String> {
    check(nesting::shallow(arguments).map_err(|fault| fault.to_string())?).await
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("approver", &self.approver).finish_non_exhaustive()
    }
}
