//! Batches of a provider: requests are collected, submitted together, looked at until they end, and handed their answers.

mod collecting;
mod fault;
mod open;
mod shared;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use self::collecting::{Collecting, Entry};
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::fault::failed;
pub(crate) use self::fault::{cancelled, expired, no_api};
use self::fault::{too_large, without_answer};
use self::open::OpenBatch;
pub(crate) use self::shared::shared;
use crate::batched::{self, BatchAnswer, BatchPace, BatchProgress, BatchTicket, OnProgress, OpenRequest, stopped};
use crate::error::{ErrorKind, ProviderError};
use crate::http;
use crate::retry::RetryState;

/// How many submissions and cancellations are repeated after a failure that may be temporary.
const RETRIES: u32 = 4;
/// How many looks in a row may fail: with the longest delay, more than four hours.
const MAX_FAILED_LOOKS: u32 = 50;

/// The batch API of an account.
#[async_trait]
pub(crate) trait BatchApi: Send + Sync + 'static {
    /// The name of the provider, for errors.
    fn provider(&self) -> &'static str;

    fn limits(&self) -> BatchLimits;

    /// Submits requests, and returns the id of their batch.
    async fn submit(&self, requests: &[BatchLine]) -> Result<String, ProviderError>;

    /// Looks at a batch. If it has ended, passes each answer on, with the id of its request.
    async fn look(&self, batch: &str, deliver: Deliver<'_>) -> Result<Look, ProviderError>;

    async fn cancel(&self, batch: &str) -> Result<(), ProviderError>;
}

/// Receives the answers of a batch.
pub(crate) type Deliver<'a> = &'a mut (dyn FnMut(&str, BatchAnswer) + Send);

/// A request of a batch.
#[derive(Clone, Debug)]
pub(crate) struct BatchLine {
    /// The id, of 1 to 64 letters, digits and hyphens, which all providers accept.
    pub(crate) id: String,
    /// The body, in JSON without line breaks.
    pub(crate) body: Bytes,
}

/// What a provider accepts in one batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchLimits {
    pub(crate) requests: usize,
    /// The size of all requests, in bytes.
    pub(crate) bytes: usize,
    /// After this time, a batch expires.
    pub(crate) within: Duration,
}

/// The state of a batch.
#[derive(Debug)]
pub(crate) enum Look {
    Running {
        ended: u64,
        requests: u64,
    },
    /// It has ended. Requests without an answer have failed, for this reason if there is one.
    Ended(Option<ProviderError>),
}

/// Collects the requests of an account, and waits for their answers.
pub(crate) struct Batcher {
    api: Box<dyn BatchApi>,
    pace: BatchPace,
    collecting: Mutex<Collecting>,
    /// The batches whose answers are waited for, or were given up in part.
    open: Mutex<HashMap<String, Arc<OpenBatch>>>,
}

impl Batcher {
    pub(crate) fn new(api: Box<dyn BatchApi>, pace: BatchPace) -> Self {
        Self { api, pace, collecting: Mutex::default(), open: Mutex::default() }
    }

    /// Returns a future that submits a request together with further ones.
    pub(crate) fn submit(self: &Arc<Self>, body: Bytes) -> BoxFuture<'static, Result<BatchTicket, ProviderError>> {
        let batcher = Arc::clone(self);
        Box::pin(async move {
            let line = BatchLine { id: request_id(), body: one_line(body) };
            let limits = batcher.api.limits();
            if line.size() > limits.bytes {
                return Err(too_large(batcher.api.provider(), limits.bytes));
            }
            let (submitted, ticket) = oneshot::channel();
            batcher.collect(Entry { line, submitted });
            ticket.await.unwrap_or_else(|_| Err(stopped(batcher.api.provider())))
        })
    }

    /// Returns the request of a ticket, which may be from another process.
    pub(crate) fn submitted(self: &Arc<Self>, ticket: BatchTicket) -> Result<Box<dyn OpenRequest>, ProviderError> {
        if ticket.provider != self.api.provider() || !is_id(&ticket.batch) {
            return Err(fault::other_provider(self.api.provider(), &ticket));
        }
        let batch = self.batch(&ticket.batch, ticket.requests, true);
        Ok(Box::new(OpenTicket { batcher: Arc::clone(self), batch, ticket }))
    }

    /// Adds a request to the batch that is collected, which is submitted when it is full or its time is over.
    fn collect(self: &Arc<Self>, entry: Entry) {
        let limits = self.api.limits();
        let mut full = Vec::new();
        let begun = {
            let mut collecting = lock(&self.collecting);
            if !collecting.fits(&entry, limits) {
                full.push(collecting.take());
            }
            let begun = collecting.add(entry);
            if collecting.is_full(limits) {
                full.push(collecting.take());
            }
            begun
        };
        for entries in full {
            tokio::spawn(Arc::clone(self).submit_all(entries));
        }
        if let Some(number) = begun {
            tokio::spawn(Arc::clone(self).submit_later(number));
        }
    }

    async fn submit_later(self: Arc<Self>, number: u64) {
        sleep(self.pace.collect).await;
        let entries = lock(&self.collecting).take_if(number);
        self.submit_all(entries).await;
    }

    /// Submits requests, except those that are no longer wanted, and hands out their tickets.
    async fn submit_all(self: Arc<Self>, mut entries: Vec<Entry>) {
        entries.retain(|entry| !entry.submitted.is_closed());
        if entries.is_empty() {
            return;
        }
        let (lines, waiting): (Vec<_>, Vec<_>) = entries.into_iter().map(|entry| (entry.line, entry.submitted)).unzip();
        let submitted = self.repeat(|| self.api.submit(&lines)).await;
        let batch = match submitted {
            Ok(batch) => batch,
            Err(error) => {
                for waiting in waiting {
                    drop(waiting.send(Err(error.copy())));
                }
                return;
            }
        };
        let requests = lines.len() as u64;
        let open = self.batch(&batch, requests, false);
        let provider = self.api.provider();
        for (line, waiting) in lines.into_iter().zip(waiting) {
            let ticket =
                BatchTicket { provider: provider.to_owned(), batch: batch.clone(), request: line.id.clone(), requests };
            // Without its ticket, no one can wait for the answer.
            if waiting.send(Ok(ticket)).is_err() {
                self.give_up(&open, &line.id);
            }
        }
    }

    /// Repeats a call that failed before it reached the provider, or that the provider refused for the moment.
    ///
    /// A call whose connection broke is not repeated: the provider may have done it.
    async fn repeat<'a, T>(
        &self,
        call: impl Fn() -> BoxFuture<'a, Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        let mut tries = RetryState::new(RETRIES);
        loop {
            match call().await {
                Ok(value) => return Ok(value),
                Err(error) if http::may_have_arrived(&error) => return Err(error),
                Err(error) => sleep(tries.after(error, chance())?.wait).await,
            }
        }
    }

    /// Returns the batch with this id, which is new or of another process.
    fn batch(&self, id: &str, requests: u64, is_of_ticket: bool) -> Arc<OpenBatch> {
        let mut open = lock(&self.open);
        let (within, ended) = (self.api.limits().within, 0);
        let progress = BatchProgress { batch: id.to_owned(), ended, requests, within };
        let new = || Arc::new(OpenBatch::new(progress, is_of_ticket));
        Arc::clone(open.entry(id.to_owned()).or_insert_with(new))
    }

    fn give_up(self: &Arc<Self>, batch: &Arc<OpenBatch>, request: &str) {
        if !batch.give_up(request) {
            return;
        }
        lock(&self.open).remove(&batch.id);
        let (batcher, id) = (Arc::clone(self), batch.id.clone());
        batched::spawn_cancellation(async move {
            // If it fails, the batch ends by itself.
            drop(batcher.repeat(|| batcher.api.cancel(&id)).await);
        });
    }

    /// Looks at a batch until it has ended, or no answer is waited for.
    async fn watch(self: Arc<Self>, batch: Arc<OpenBatch>) {
        let mut delay = if batch.is_of_ticket { self.pace.collect } else { self.pace.first_look() };
        let (begun, within, mut failed) = (Instant::now(), self.api.limits().within, 0);
        loop {
            sleep(delay.mul_f64(0.5 + 0.5 * chance())).await;
            let Some(waited_for) = batch.waited_for() else { return };
            let mut deliver = |request: &str, answer: BatchAnswer| batch.deliver(request, answer);
            match self.api.look(&batch.id, &mut deliver).await {
                Ok(Look::Running { .. }) if begun.elapsed() > within * 2 => {
                    batch.deliver_error(&waited_for, &expired(self.api.provider()));
                }
                Ok(Look::Running { ended, requests }) => {
                    failed = 0;
                    batch.report(ended, requests);
                }
                Ok(Look::Ended(reason)) => {
                    let reason = reason.unwrap_or_else(|| without_answer(self.api.provider()));
                    batch.deliver_error(&waited_for, &reason);
                    lock(&self.open).remove(&batch.id);
                }
                Err(error) => {
                    failed += 1;
                    if failed > MAX_FAILED_LOOKS || !(error.is_transient() || error.is_timeout()) {
                        batch.fail(&waited_for, &error);
                    }
                }
            }
            delay = (delay * 2).clamp(self.pace.first_look(), self.pace.longest_look);
        }
    }
}

impl BatchLine {
    /// Returns the size of the request in a batch, with what surrounds it.
    fn size(&self) -> usize {
        const AROUND: usize = 256;
        self.body.len() + AROUND
    }
}

/// The request of a ticket.
struct OpenTicket {
    batcher: Arc<Batcher>,
    batch: Arc<OpenBatch>,
    ticket: BatchTicket,
}

impl OpenRequest for OpenTicket {
    fn wait<'a>(&'a self, progress: OnProgress<'a>) -> BoxFuture<'a, Result<BatchAnswer, ProviderError>> {
        Box::pin(async move {
            let (answer, mut reports) = self.batch.wait_for(&self.ticket.request);
            if self.batch.begin_watch() {
                tokio::spawn(Arc::clone(&self.batcher).watch(Arc::clone(&self.batch)));
            }
            let reporting = async {
                while reports.changed().await.is_ok() {
                    progress(&reports.borrow_and_update());
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                biased;
                answer = answer => answer.unwrap_or_else(|_| Err(stopped(self.batcher.api.provider()))),
                () = reporting => unreachable!("it never ends"),
            }
        })
    }

    fn give_up(&self) {
        self.batcher.give_up(&self.batch, &self.ticket.request);
    }
}

/// Returns a body without line breaks; in JSON, they are only between values.
fn one_line(body: Bytes) -> Bytes {
    if !body.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return body;
    }
    body.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

/// Whether a text can be part of a path as an id of the provider.
pub(crate) fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=256).contains(&text.len()) && text.bytes().all(is_plain) && !text.starts_with('.')
}

/// Reads the id of what a provider created.
pub(crate) fn id(provider: &str, value: &Value) -> Result<String, ProviderError> {
    let id = value.as_str().filter(|id| is_id(id)).map(str::to_owned);
    id.ok_or_else(|| {
        let text = "the answer of the batch API has no valid id; check the base URL";
        ProviderError::new(provider, ErrorKind::Protocol, text)
    })
}

/// Returns a random id: each `RandomState` of std has other keys.
fn request_id() -> String {
    let random = || RandomState::new().hash_one(());
    format!("llm-do-{:016x}{:016x}", random(), random())
}

/// Returns a random number from 0 to 1, for the jitter of a delay.
pub(crate) fn chance() -> f64 {
    let bits = RandomState::new().hash_one(()).to_be_bytes();
    f64::from(u32::from_be_bytes([bits[0], bits[1], bits[2], bits[3]])) / f64::from(u32::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
