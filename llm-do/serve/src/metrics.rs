//! The metrics of a service, in the text format of Prometheus.

use std::fmt::Write;
use std::sync::Mutex;

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::base::usage::RunUsage;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::store::RunState;

/// The counters of this process; the gauges are read from the file.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Mutex<Registry>,
    runs: Family<StateLabel, Gauge>,
    waits: Gauge,
    pub(super) finished: Family<StateLabel, Counter>,
    pub(super) run_seconds: Histogram,
    pub(super) parked: Counter,
    pub(super) requests: Family<StatusLabel, Counter>,
    pub(super) dropped_events: Counter,
    model_requests: Counter,
    input_tokens: Counter,
    output_tokens: Counter,
    dollars: Counter<f64, std::sync::atomic::AtomicU64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StateLabel {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StatusLabel {
    pub(super) status: u16,
}

impl From<RunState> for StateLabel {
    fn from(state: RunState) -> Self {
        Self { state: state.as_str() }
    }
}

impl Metrics {
    pub(super) fn new() -> Self {
        let metrics = Self {
            registry: Mutex::new(Registry::with_prefix("llm_do")),
            runs: Family::default(),
            waits: Gauge::default(),
            finished: Family::default(),
            // 0.1 s to about 1 hour.
            run_seconds: Histogram::new(exponential_buckets(0.1, 3.0, 10)),
            parked: Counter::default(),
            requests: Family::default(),
            dropped_events: Counter::default(),
            model_requests: Counter::default(),
            input_tokens: Counter::default(),
            output_tokens: Counter::default(),
            dollars: Counter::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&self) {
        let mut registry = self.registry.lock().ignore_poison();
        registry.register("runs", "Runs in the database, by state", self.runs.clone());
        registry.register("waits", "Approvals and questions without an answer", self.waits.clone());
        registry.register("finished_runs", "Runs that ended in this process, by state", self.finished.clone());
        let text = "Time from the creation of a run to its end";
        registry.register_with_unit("run", text, Unit::Seconds, self.run_seconds.clone());
        registry.register("parked_runs", "How often a run was set aside to wait", self.parked.clone());
        registry.register("http_requests", "Requests to the service, by status", self.requests.clone());
        let text = "Events of runs that were not stored, since too many waited";
        registry.register("dropped_events", text, self.dropped_events.clone());
        registry.register("model_requests", "Requests to models of runs that ended", self.model_requests.clone());
        registry.register("input_tokens", "Input tokens of runs that ended", self.input_tokens.clone());
        registry.register("output_tokens", "Output tokens of runs that ended", self.output_tokens.clone());
        let text = "Known cost of runs that ended, in US dollars";
        registry.register("cost_dollars", text, self.dollars.clone());
    }

    /// Adds the usage of a run, without the part that was counted when it ended before.
    pub(super) fn used(&self, usage: &RunUsage, counted: &RunUsage) {
        let (model, known) = (&usage.model, &counted.model);
        self.model_requests.inc_by(model.requests.saturating_sub(known.requests));
        self.input_tokens.inc_by(model.input_tokens.saturating_sub(known.input_tokens));
        self.output_tokens.inc_by(model.output_tokens.saturating_sub(known.output_tokens));
        let cost = usage.cost.known.picodollars().saturating_sub(counted.cost.known.picodollars());
        // A metric needs no more than 53 bits.
        #[expect(clippy::cast_precision_loss, reason = "a graph has no use for 10⁻¹² dollars")]
        self.dollars.inc_by(cost as f64 / 1e12);
    }

    /// Returns all figures as text, with what the file contains.
    pub(super) fn text(&self, runs: &[(RunState, u64)], waits: u64) -> String {
        for state in RunState::ALL {
            let count = runs.iter().find(|(known, _)| *known == state).map_or(0, |(_, count)| *count);
            self.runs.get_or_create(&state.into()).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        self.waits.set(i64::try_from(waits).unwrap_or(i64::MAX));
        let mut text = String::new();
        if let Err(error) = encode(&mut text, &self.registry.lock().ignore_poison()) {
            let _ = writeln!(text, "# not all figures could be written: {error}");
        }
        text
    }
}
