//! Models, their settings, prices and capabilities.

use std::sync::Arc;

use llm_do_providers::{CapabilityTable, Model, PriceTable, Settings};

use super::RuntimeBuilder;
use crate::plane::history_processor::{Compaction, HistoryProcessor};
use crate::plane::model_choice::{ModelChoice, SessionModel};

/// The environment variable with the model of workers that declare none.
const MODEL_VARIABLE: &str = "LLM_DO_MODEL";

impl RuntimeBuilder {
    /// Sets the model, `provider:model`, of workers that declare none. Default: the variable `LLM_DO_MODEL`.
    ///
    /// [`build`](Self::build) returns an error if no linked provider accepts the name.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(SessionModel { name: name.into(), set_by: "`model` of the runtime".into() });
        self
    }

    /// Sets the model of workers that declare none; `setting` is its name in errors.
    #[doc(hidden)]
    pub fn model_set_by(mut self, name: String, setting: String) -> Self {
        self.model = Some(SessionModel { name, set_by: setting.into() });
        self
    }

    /// Sets the workers that use the session's model in place of the one that they declare.
    #[doc(hidden)]
    pub fn override_models_of(mut self, workers: &[String]) -> Self {
        self.overridden.extend(workers.iter().cloned());
        self
    }

    /// Sets the model to use if neither the worker, [`model`](Self::model) nor `LLM_DO_MODEL` names one. Default:
    /// none.
    pub fn default_model(mut self, name: impl Into<String>) -> Self {
        self.default_model = Some(name.into());
        self
    }

    /// Runs **every** worker on `model`, regardless of its own `model`, for tests and offline use.
    pub fn force_model(mut self, model: impl Model + 'static) -> Self {
        self.forced_model = Some(Arc::new(model));
        self
    }

    /// Sets the default settings of all requests to models. Default: those of the provider.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.config.settings = settings;
        self
    }

    /// Changes the settings of requests.
    #[doc(hidden)]
    pub fn map_settings(mut self, change: impl FnOnce(Settings) -> Settings) -> Self {
        self.config.settings = change(std::mem::take(&mut self.config.settings));
        self
    }

    /// Sets whether models stream their answers. Default: false. Streaming splits the same events into smaller
    /// pieces.
    pub fn streaming(mut self, yes: bool) -> Self {
        self.config.streaming = yes;
        self
    }

    /// Sets the prices of models. Default: [`PriceTable::builtin`].
    pub fn prices(mut self, prices: PriceTable) -> Self {
        self.config.prices = Arc::new(prices);
        self
    }

    /// Sets the capabilities of models that are set by name; a model that is passed as a value has its own. Default:
    /// [`CapabilityTable::builtin`].
    pub fn capabilities(mut self, capabilities: CapabilityTable) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Adds a processor that may change the history before each request of a worker, after those added before.
    pub fn history_processor(mut self, processor: impl HistoryProcessor + 'static) -> Self {
        Arc::make_mut(&mut self.config.processors).push(Arc::new(processor));
        self
    }

    /// Sets how the histories of workers are kept within the windows of their models; `None` turns it off. Default:
    /// [`Compaction::at(0.8).keep(0.4)`](Compaction::at).
    ///
    /// The size of a request is estimated from what the provider counted for the last one, and what is new. Before a request that
    /// would be too large, the long results of the old part are shortened: the run keeps them whole, as it does
    /// [long results](Self::max_result). If that is too little, a worker summarizes the old part, without the messages that
    /// [stay](Compaction). Nothing happens while the window is
    /// not [known](llm_do_providers::Profile::window), with shares.
    ///
    /// If a provider refuses a request as too long all the same, also with an unknown window, the history is compacted to half its
    /// size, once, and the request is sent again.
    ///
    /// Each conversation is compacted on its own: that of each root worker of a chat, each thread, each call of many turns.
    pub fn compaction(mut self, compaction: impl Into<Option<Compaction>>) -> Self {
        self.config.compaction = compaction.into().map(Arc::new);
        self
    }

    /// Returns the choice of models: the builder's model, then the environment's, then the default.
    pub(crate) fn models(&self) -> ModelChoice {
        let set_by = |setting: &'static str| move |name| SessionModel { name, set_by: setting.into() };
        let variable = || std::env::var(MODEL_VARIABLE).ok().filter(|name| !name.trim().is_empty());
        let default = || self.default_model.clone().map(set_by("the default model"));
        let session = self.model.clone().or_else(|| variable().map(set_by("`LLM_DO_MODEL`"))).or_else(default);
        let prices = Arc::clone(&self.config.prices);
        ModelChoice::new(self.forced_model.clone(), session, self.capabilities.clone(), prices)
            .overridden(self.overridden.clone())
    }
}
