//! Effects of a call that must not be made twice.

use std::future::Future;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::CallContext;
use super::recorded::Recorded;
use super::{JournalMethod, StepOutcome};
use crate::base::error::{CallError, Failure, Result};
use crate::declare::nesting;
use crate::observe::journal::{Settlement, StepKind, StepSpec, begun_step};

/// The reason that the outcome of an interrupted call or effect is unknown.
pub(crate) const NO_RESULT: &str = "it was interrupted, or failed with its run, before its result was recorded";

/// The known state of an effect before this process makes it.
enum EffectState {
    /// It has not begun, or has not happened.
    Nothing,
    /// It has happened, with this result.
    Result(Value),
    /// It may have happened.
    Unknown(Failure),
}

impl<S> CallContext<S> {
    /// Runs an effect like [`effect`](Self::effect), but never twice: for an effect that cannot be undone, such as a
    /// payment.
    ///
    /// Before it runs, the journal records that it begins. If the process dies in it, or it fails together with the
    /// run, it may have happened: when the run is resumed, it does not run, and its outcome is unknown. A person
    /// settles it like the outcome of a call. The approver is not asked about it, unlike about a tool with an effect,
    /// so prefer a tool if a person can answer.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::OutcomeUnknown`] if it may have happened, and the errors of [`effect`](Self::effect).
    ///
    /// # Examples
    ///
    /// ```
    /// # use llm_do::prelude::*;
    /// /// Pays a bill.
    /// #[entry]
    /// async fn pay_bill(ctx: &CallContext, bill: u32) -> Result<u32> {
    ///     Ok(ctx.destructive_effect("pay", bill, async move { Ok(bill + 1) }).await?)
    /// }
    /// ```
    pub async fn destructive_effect<T>(
        &self,
        name: &str,
        input: impl Serialize,
        effect: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T, CallError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        if self.journal().is_none() {
            return self.effect(name, input, effect).await;
        }
        let tool = self.name().to_owned();
        let input = nesting::into_value(input)
            .map_err(|fault| CallError::invalid(&tool, fault.within(&format!("the input of the effect `{name}`"))))?;
        let (step, in_flight) = self.next_step(StepKind::Effect, name, input);
        self.record_denials().await?;
        let known = Box::pin(self.begin_effect(&step)).await?;
        let host = Arc::clone(&self.scope.host);
        let local = async move {
            match known {
                EffectState::Result(value) => Ok(Recorded::Value(value)),
                EffectState::Unknown(failure) => Ok(Recorded::Failure(failure)),
                EffectState::Nothing => match effect.await {
                    Ok(value) => Recorded::written(value, &tool),
                    Err(source) => Failure::from_error(CallError::failed(tool, source), &*host).map(Recorded::Failure),
                },
            }
        };
        let StepOutcome { value, .. } = Box::pin(self.recorded(JournalMethod::Step, step, local)).await?;
        match value {
            Recorded::Value(value) => serde_json::from_value(value).map_err(|error| self.undecodable_record(&error)),
            Recorded::Failure(failure) => {
                let error = failure.into_error(self.name(), self.error_types());
                in_flight.fail(&error);
                Err(error)
            }
        }
    }

    /// Records that an effect begins; returns its known state if it began before.
    async fn begin_effect(&self, step: &StepSpec) -> Result<EffectState, CallError> {
        let mut attempt = 0;
        loop {
            let now = self.clock_time();
            let record = async move { Ok(json!({ "began": now })) };
            let record = self.recorded(JournalMethod::Step, begun_step(step, attempt), record).await?;
            if !record.is_replayed {
                return Ok(EffectState::Nothing);
            }
            match self.settlement(step, attempt).await? {
                Some(Settlement::Result(result)) => return Ok(EffectState::Result(result)),
                Some(Settlement::NotDone) => attempt += 1,
                None => {
                    let began = serde_json::from_value(record.value["began"].clone()).unwrap_or(now);
                    let (of, reason) = (self.name().to_owned(), NO_RESULT.to_owned());
                    return Ok(EffectState::Unknown(Failure::OutcomeUnknown { of, began, reason, text: None }));
                }
            }
        }
    }

    /// Returns the settlement of an attempt of a call or an effect.
    pub(crate) async fn settlement(&self, step: &StepSpec, attempt: u32) -> Result<Option<Settlement>, CallError> {
        let settled = Settlement::step(step, attempt);
        if !self.journal().is_some_and(|journal| journal.is_recorded(&settled.key)) {
            return Ok(None);
        }
        let tool = self.name().to_owned();
        // Unreachable: records are never removed during a run.
        let missing = async { Err(CallError::Cancelled { tool }) };
        let StepOutcome { value, .. } = self.recorded(JournalMethod::Step, settled, missing).await?;
        Ok(Some(value))
    }
}
