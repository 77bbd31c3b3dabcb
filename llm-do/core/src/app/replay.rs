//! Recorded runs against a change: how another policy would have decided, and where another model, prompt or tool first differs.

mod calls;
mod change;
mod policy;

use llm_do_providers::{PriceTable, Usage};
use serde::Deserialize;

pub(crate) use self::calls::{DecidedCall, decided_calls};
pub use self::change::{ChangeExample, ChangeReplay, ChangeReport, ReplayedChange};
pub use self::policy::{NowDecided, PolicyChange, PolicyExample, PolicyReplay, PolicyReport, RecordedDecision};
use crate::base::usage::Cost;
use crate::observe::journal::{Record, StepKind};

/// Returns the cost of the recorded requests.
fn cost<'r>(records: impl IntoIterator<Item = &'r Record>, prices: &PriceTable) -> Cost {
    let mut cost = Cost::default();
    for record in records.into_iter().filter(|record| record.kind == StepKind::Model) {
        let usage = Usage::deserialize(&record.value["usage"]).unwrap_or_default();
        cost += Cost::of_charge(prices.charge(&record.name, &usage));
    }
    cost
}
