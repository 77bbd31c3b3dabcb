//! Calls that wait for their client's next request, which contains the answers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do_core::base::mutex::IgnorePoison;
use rmcp::ErrorData;
use rmcp::model::{InputRequiredResult, InputResponses, RequestStateCodec, SealOptions};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use super::ask::Ask;
use super::client::Principal;
use super::open_call::OpenCall;

/// The maximum number of waiting calls; each holds a run.
const CAPACITY: usize = 1000;
/// The maximum number of waiting calls of one client with a token.
const CLIENT_CAPACITY: usize = 250;

/// The waiting calls, by the random id that is sealed in the state of their clients.
#[derive(Debug)]
pub(super) struct ParkedCalls {
    codec: RequestStateCodec,
    calls: Arc<Mutex<HashMap<Uuid, Parked>>>,
    expiry: Duration,
}

#[derive(Debug)]
struct Parked {
    call: OpenCall,
    asks: BTreeMap<String, Ask>,
    principal: Principal,
    /// Removes the call when its client has not answered in time.
    _expiry: AbortOnDropHandle<()>,
}

impl ParkedCalls {
    /// Creates the list. A call is cancelled if its client does not answer within `expiry`.
    pub(super) fn new(expiry: Duration) -> Self {
        // The states end with this process, which holds the runs.
        let key = [Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4()].map(Uuid::into_bytes).concat();
        Self { codec: RequestStateCodec::new_unchecked(key), calls: Arc::default(), expiry }
    }

    /// Keeps a call until its client answers; `binding` must equal that of the client's next request.
    pub(super) fn park(
        &self,
        call: OpenCall,
        asks: Vec<Ask>,
        principal: &Principal,
        binding: &[u8],
    ) -> Result<InputRequiredResult, ErrorData> {
        let id = Uuid::new_v4();
        let asks = keyed(asks);
        let requests = asks.iter().map(|(key, ask)| (key.clone(), ask.request())).collect();
        let mut calls = self.calls.lock().ignore_poison();
        if calls.len() >= CAPACITY {
            let text = format!("limit reached: {CAPACITY} calls wait for answers from clients; try again later");
            return Err(ErrorData::internal_error(text, None));
        }
        let own = || calls.values().filter(|parked| parked.principal == *principal).count();
        if *principal != Principal::Anonymous && own() >= CLIENT_CAPACITY {
            let text =
                format!("{CLIENT_CAPACITY} calls of this client wait for its answers already; answer them first");
            return Err(ErrorData::internal_error(text, None));
        }
        calls.insert(id, Parked { call, asks, principal: principal.clone(), _expiry: self.expire(id) });
        drop(calls);
        let options = SealOptions::new().associated_data(binding).ttl(self.expiry);
        let state = self.codec.seal_with(id.as_bytes(), &options);
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// Resumes the call of `state` with its client's answers. Questions without an answer are asked again.
    pub(super) fn resume(
        &self,
        state: &str,
        responses: Option<InputResponses>,
        binding: &[u8],
    ) -> Result<(OpenCall, Vec<Ask>), ErrorData> {
        let fault = |reason: &str| ErrorData::invalid_params(format!("invalid `requestState`: {reason}"), None);
        let id = self.codec.open_with(state, binding).map_err(|error| fault(&error.to_string()))?;
        let id = Uuid::from_slice(&id).map_err(|error| fault(&error.to_string()))?;
        let parked = self.calls.lock().ignore_poison().remove(&id);
        let Parked { call, mut asks, .. } =
            parked.ok_or_else(|| fault("the call has already been answered or has expired; call the tool again"))?;
        for (key, response) in responses.unwrap_or_default() {
            if let Some(ask) = asks.remove(&key).and_then(|ask| ask.respond(response)) {
                asks.insert(key, ask);
            }
        }
        Ok((call, asks.into_values().filter(Ask::is_open).collect()))
    }

    /// Drops a call, which cancels it, unless it is resumed in time.
    fn expire(&self, id: Uuid) -> AbortOnDropHandle<()> {
        let (calls, expiry) = (Arc::downgrade(&self.calls), self.expiry);
        AbortOnDropHandle::new(tokio::spawn(async move {
            tokio::time::sleep(expiry).await;
            let expired = calls.upgrade().and_then(|calls| calls.lock().ignore_poison().remove(&id));
            drop(expired);
        }))
    }
}

/// Returns each request with the key of its answer: its own name, or a unique number.
fn keyed(asks: Vec<Ask>) -> BTreeMap<String, Ask> {
    let mut keyed = BTreeMap::new();
    for ask in asks {
        let own = ask.name().map(str::to_owned).into_iter();
        let mut keys = own.chain((1_u64..).map(|number| format!("question_{number}")));
        if let Some(key) = keys.find(|key| !keyed.contains_key(key)) {
            keyed.insert(key, ask);
        }
    }
    keyed
}
