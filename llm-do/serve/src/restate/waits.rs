//! The waits of a run in the engine: times, people, and calls that run as separate invocations.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use restate_sdk::context::{DurableFuture, DurableFuturesUnordered, RequestTarget};
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::TerminalError;
use restate_sdk::serde::Json;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::entry::ShownRequest;
use super::names::Names;

type Durable<'c> = Pin<Box<dyn DurableFuture<Output = Option<Value>> + Send + 'c>>;

/// The target of a wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum WaitId {
    Time(Arc<str>),
    Call(Arc<str>),
    /// A question; the id differs for each text, and after each invalid answer.
    Answer {
        key: Arc<str>,
        repeats: u32,
        digest: String,
    },
}

impl WaitId {
    pub(super) fn of_question(asked: &ShownRequest) -> Self {
        Self::Answer { key: Arc::clone(&asked.key), repeats: asked.repeats, digest: asked.digest.clone() }
    }

    fn key(&self) -> &Arc<str> {
        match self {
            Self::Time(key) | Self::Call(key) | Self::Answer { key, .. } => key,
        }
    }
}

/// The receiver of the result of a wait.
#[derive(Debug)]
pub(super) enum Waiter {
    Time(oneshot::Sender<()>),
    Answer(oneshot::Sender<Value>),
    /// `None` if the call has to run in this invocation.
    Call(oneshot::Sender<Option<Value>>),
}

impl Waiter {
    /// Sends the result. Errors are ignored here and below, since the waiting call may have been dropped.
    fn send(self, value: Option<Value>) {
        match self {
            Self::Time(sender) => drop(sender.send(())),
            Self::Answer(sender) => drop(sender.send(value.unwrap_or_default())),
            Self::Call(sender) => drop(sender.send(value)),
        }
    }
}

#[derive(Debug)]
struct Wait {
    state: WaitState,
    /// The id of the question in the inbox.
    question: Option<String>,
}

#[derive(Debug)]
enum WaitState {
    Open(Option<Waiter>),
    Over(Option<Value>),
}

/// The waits of one attempt of a run, by their ids.
pub(super) struct Waits<'c> {
    ctx: &'c ContextInternal,
    names: &'c Names,
    futures: DurableFuturesUnordered<Durable<'c>>,
    /// The waits, by the index of the future.
    started: Vec<Wait>,
    /// The newest wait for each id that is not forgotten.
    by_id: HashMap<WaitId, usize>,
}

impl<'c> Waits<'c> {
    pub(super) fn new(ctx: &'c ContextInternal, names: &'c Names) -> Self {
        Self { ctx, names, futures: DurableFuturesUnordered::new(), started: Vec::new(), by_id: HashMap::new() }
    }

    pub(super) fn has(&self, id: &WaitId) -> bool {
        self.by_id.contains_key(id)
    }

    /// Returns whether no wait is open.
    pub(super) fn is_empty(&self) -> bool {
        self.futures.is_empty()
    }

    pub(super) fn sleep(&mut self, key: Arc<str>, time: Duration) {
        let sleep = DurableFuture::map(self.ctx.sleep(time), |_| None);
        self.push(WaitId::Time(key), Box::pin(sleep), None);
    }

    /// Asks a person, by sending the question to the inbox.
    pub(super) fn ask(&mut self, run: &str, asked: &ShownRequest) {
        let (awakeable, answer) = self.ctx.awakeable::<Json<Value>>();
        let question = json!({ "id": &awakeable, "run": run, "asked": asked });
        drop(self.ctx.request::<_, ()>(self.names.inbox("ask"), Json(question)).send());
        let answer = DurableFuture::map(answer, |answer| Some(or_rejection(answer)));
        self.push(WaitId::of_question(asked), Box::pin(answer), Some(awakeable));
    }

    pub(super) fn call(&mut self, key: Arc<str>, target: RequestTarget, input: Value) {
        let call = self.ctx.request::<_, Json<Value>>(target, Json(input)).call();
        let call = DurableFuture::map(call, |value| value.ok().map(|Json(value)| value));
        self.push(WaitId::Call(key), Box::pin(call), None);
    }

    fn push(&mut self, id: WaitId, future: Durable<'c>, question: Option<String>) {
        self.futures.push(future);
        self.by_id.insert(id, self.started.len());
        self.started.push(Wait { state: WaitState::Open(None), question });
    }

    /// Sets the receiver of the result of a wait, which may have arrived already.
    pub(super) fn set_waiter(&mut self, id: &WaitId, waiter: Waiter) {
        let Some(&index) = self.by_id.get(id) else { return };
        match &mut self.started[index].state {
            WaitState::Over(value) => waiter.send(value.clone()),
            WaitState::Open(open) => *open = Some(waiter),
        }
    }

    /// Waits until the first wait has ended, and sends its result.
    ///
    /// # Errors
    ///
    /// Returns an error if the invocation was cancelled. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<(), TerminalError> {
        let Some((index, value)) = self.futures.next().await? else { return Ok(()) };
        let state = &mut self.started[index].state;
        if let WaitState::Open(Some(waiter)) = std::mem::replace(state, WaitState::Over(value.clone())) {
            waiter.send(value);
        }
        Ok(())
    }

    /// Returns the id of a question in the inbox.
    pub(super) fn question(&self, id: &WaitId) -> Option<&str> {
        self.started[*self.by_id.get(id)?].question.as_deref()
    }

    /// Returns the questions in the inbox that have no answer.
    pub(super) fn open_questions(&self) -> Vec<String> {
        let known = self.by_id.values().map(|&index| &self.started[index]);
        let open = known.filter(|wait| matches!(wait.state, WaitState::Open(_)));
        let mut open: Vec<_> = open.filter_map(|wait| wait.question.clone()).collect();
        // Sorted, since the order of a map differs in each process.
        open.sort_unstable();
        open
    }

    /// Forgets the waits with these keys, whose records are forgotten; a run that waits again starts a new wait.
    pub(super) fn forget(&mut self, keys: &[Arc<str>]) {
        self.by_id.retain(|id, _| !keys.contains(id.key()));
    }

    /// Removes questions from the inbox, and forgets them; a run that asks again needs a new question.
    pub(super) fn withdraw(&mut self, questions: &[String]) {
        for question in questions {
            let started = &self.started;
            self.by_id.retain(|_, &mut index| started[index].question.as_ref() != Some(question));
            drop(self.ctx.request::<_, ()>(self.names.inbox("withdraw"), Json(json!({ "id": question }))).send());
        }
    }
}

/// Returns an answer, or an invalid value if it was rejected without the inbox.
fn or_rejection(answer: Result<Json<Value>, TerminalError>) -> Value {
    answer.map_or_else(|error| json!({ "rejected": error.message() }), |Json(answer)| answer)
}
