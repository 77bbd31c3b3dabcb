//! The options of the gate that a candidate passes.

use clap::Args;
use llm_do_core::app::harden::Gate;

#[derive(Args, Debug)]
pub(crate) struct GateOptions {
    /// The share of answers that must agree, from 0 to 1: the lower confidence bound must reach it. Default: 0.95.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) agreement: Option<f64>,
    /// The confidence of that bound, from 0 to 1. Default: 0.95.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) confidence: Option<f64>,
    /// The least share of cases that must be answered, from 0 to 1; a candidate may abstain in the rest. Default: 0.3.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) coverage: Option<f64>,
}

impl GateOptions {
    /// Returns the gate. An option that is not given has its default.
    pub(crate) fn gate(&self) -> Gate {
        let gate = self.agreement.map_or(Gate::new(), |share| Gate::new().agreement(share));
        let gate = self.confidence.map_or(gate, |share| gate.confidence(share));
        self.coverage.map_or(gate, |share| gate.coverage(share))
    }

    /// Returns the gate, if one of its options is given.
    #[cfg(feature = "eval")]
    pub(crate) fn given(&self) -> Option<Gate> {
        let is_given = self.agreement.or(self.confidence).or(self.coverage).is_some();
        is_given.then(|| self.gate())
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("expected a number between 0 and 1, such as 0.95".to_owned()),
    }
}
