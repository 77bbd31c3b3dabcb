//! The events of earlier attempts of a run. A resumed run reports some of them again, with different numbers of calls.

use std::collections::{HashMap, HashSet, VecDeque};

use llm_do_core::observe::event::{Event, EventKind};
use llm_do_core::observe::journal::digest;
use serde_json::{Value, json};

use crate::store::{Store, StoreError};

/// The fields that differ in an event that is reported again.
const CHANGING: [&str; 6] = ["time", "seq", "elapsed_ms", "replayed", "position", "total"];

/// The events of earlier attempts of a run, and which of them the current attempt has reported again.
#[derive(Debug, Default)]
pub(super) struct EarlierAttempts {
    /// The events that were not reported again, by digest.
    events: HashMap<String, usize>,
    /// Those of them that are decisions, by the number of their call, in order.
    decisions: HashMap<u64, VecDeque<String>>,
    /// The numbers of the calls that were not made again, in their order, by the number of the caller and their name.
    calls: HashMap<(Option<u64>, String), VecDeque<u64>>,
    /// The stored numbers of calls, by their numbers in this attempt. A call that is replayed as a whole makes no
    /// calls, so the next call has a lower number than before.
    numbers: HashMap<u64, u64>,
    next: u64,
}

impl EarlierAttempts {
    pub(super) async fn load(store: &Store, run: &str) -> Result<Self, StoreError> {
        let (mut earlier, mut known, mut last) = (Self::default(), HashSet::new(), 0);
        loop {
            let events = store.events(run, last).await?;
            let Some(end) = events.last() else { return Ok(earlier) };
            last = end.number;
            for event in &events {
                if let Ok(event) = serde_json::from_str(&event.event) {
                    earlier.add(event, &mut known);
                }
            }
        }
    }

    fn add(&mut self, event: Value, known: &mut HashSet<u64>) {
        if let (Some(number), Some(name)) = (event["call"].as_u64(), event["name"].as_str())
            && known.insert(number)
        {
            let call = (event["parent"].as_u64(), name.to_owned());
            self.calls.entry(call).or_default().push_back(number);
            self.next = self.next.max(number + 1);
        }
        let decided = event["call"].as_u64().filter(|_| event["kind"] == "approval_decided");
        let identity = identity(event);
        if let Some(number) = decided {
            self.decisions.entry(number).or_default().push_back(identity.clone());
        }
        *self.events.entry(identity).or_default() += 1;
    }

    /// Returns an event as JSON, unless an earlier attempt has reported it.
    pub(super) fn new_event(&mut self, event: &Event) -> Option<String> {
        let parent = event.parent.map(|parent| self.numbers.get(&parent).copied().unwrap_or(parent));
        let number = self.number(event, parent);
        let mut value = serde_json::to_value(event).ok()?;
        value["call"] = json!(number);
        value["parent"] = json!(parent);
        let mut identity = identity(value.clone());
        if let EventKind::ApprovalDecided { replayed, .. } = event.kind
            && let Some(earlier) = self.repeated_decision(number, &identity, replayed)
        {
            identity = earlier;
        }
        let Some(count) = self.events.get_mut(&identity) else { return Some(value.to_string()) };
        *count -= 1;
        if *count == 0 {
            self.events.remove(&identity);
        }
        None
    }

    /// Returns the earlier decision that this event repeats. If the journal has it, this is the next one of the call,
    /// whose rule may differ.
    fn repeated_decision(&mut self, call: u64, identity: &str, is_replayed: bool) -> Option<String> {
        let decisions = self.decisions.get_mut(&call)?;
        let is_repeated = decisions.front().is_some_and(|earlier| is_replayed || earlier == identity);
        if is_repeated { decisions.pop_front() } else { None }
    }

    /// Returns the stored number of the event's call, which is that of an earlier call if the call is repeated.
    fn number(&mut self, event: &Event, parent: Option<u64>) -> u64 {
        if let Some(number) = self.numbers.get(&event.call) {
            return *number;
        }
        let again = self.calls.get_mut(&(parent, event.name.to_string()));
        let number = again.and_then(VecDeque::pop_front).unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        self.numbers.insert(event.call, number);
        number
    }
}

/// Returns the digest of the fields that are equal when an event is reported again.
fn identity(mut event: Value) -> String {
    if let Value::Object(fields) = &mut event {
        for name in CHANGING {
            fields.shift_remove(name);
        }
    }
    digest(&event)
}
