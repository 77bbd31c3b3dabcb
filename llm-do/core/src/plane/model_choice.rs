//! Selects the model that a worker runs on.

mod chosen_model;
mod findings;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use llm_do_providers::{CapabilityTable, Model, PriceTable};
use wildmatch::WildMatch;

pub(crate) use self::chosen_model::ChosenModel;
pub(crate) use self::findings::Findings;
use crate::base::error::{CallError, chain};
use crate::base::mutex::IgnorePoison;
use crate::plane::registry::WorkerPlan;

/// Advice for a worker without a model.
const SET_A_MODEL: &str = if cfg!(feature = "cli") {
    "set `LLM_DO_MODEL` or the option `--model` to `provider:model`, or `model` of the runtime or the worker"
} else {
    "set `LLM_DO_MODEL` to `provider:model`, or `model` of the runtime or the worker"
};

/// The models of a session; each is built once, when first used.
#[derive(Debug, Default)]
pub(crate) struct ModelChoice {
    /// Replaces the model of every worker.
    forced: Option<Arc<ChosenModel>>,
    /// The model of workers that declare none.
    session: Option<SessionModel>,
    /// Replaces the model of the session, once set.
    replacement: Mutex<Option<Arc<str>>>,
    /// The workers that use the session's model in place of the one that they declare.
    overridden: BTreeSet<String>,
    /// The capabilities for models that are built.
    capabilities: CapabilityTable,
    prices: Arc<PriceTable>,
    built: Mutex<HashMap<String, Arc<ChosenModel>>>,
    /// The registered workers that have no model, with the reason; computed once.
    without_model: OnceLock<HashMap<Arc<str>, String>>,
}

/// The model of workers that declare none.
#[derive(Clone, Debug)]
pub(crate) struct SessionModel {
    /// `provider:model`.
    pub(crate) name: String,
    /// The setting that named it, for errors.
    pub(crate) set_by: Cow<'static, str>,
}

impl ModelChoice {
    pub(crate) fn new(
        forced: Option<Arc<dyn Model>>,
        session: Option<SessionModel>,
        capabilities: CapabilityTable,
        prices: Arc<PriceTable>,
    ) -> Self {
        let forced = forced.map(|model| Arc::new(ChosenModel::new(model, &prices)));
        Self { forced, session, capabilities, prices, ..Self::default() }
    }

    /// Sets the workers that use the session's model in place of the one that they declare.
    pub(crate) fn overridden(self, overridden: BTreeSet<String>) -> Self {
        Self { overridden, ..self }
    }

    /// Returns the model of the worker `name`: its own, or else the session's.
    pub(crate) fn choose(&self, name: &str, worker: &WorkerPlan) -> Result<Arc<ChosenModel>, CallError> {
        if let Some(model) = &self.forced {
            return Ok(Arc::clone(model));
        }
        let no_model = |message| CallError::NoModel { worker: name.to_owned(), message };
        if let Some(model) = self.replacement().filter(|_| self.declared(name, worker).is_none()) {
            return self.build(&model).map_err(no_model);
        }
        let model = self.model_name(name, worker).map_err(no_model)?;
        self.build(model).map_err(no_model)
    }

    /// Replaces the model of workers that declare none, from now on.
    pub(crate) fn replace(&self, name: &str) -> Result<(), String> {
        self.build(name)?;
        *self.replacement.lock().ignore_poison() = Some(name.into());
        Ok(())
    }

    /// Returns the name of the model of workers that declare none.
    pub(crate) fn session_model(&self) -> Option<String> {
        let session = || self.session.as_ref().map(|model| model.name.clone());
        let forced = self.forced.as_ref().map(|model| model.name.to_string());
        forced.or_else(|| self.replacement().map(|name| name.to_string())).or_else(session)
    }

    pub(crate) fn replacement(&self) -> Option<Arc<str>> {
        self.replacement.lock().ignore_poison().clone()
    }

    /// Returns the model that a worker declares, unless the session's model replaces it.
    fn declared<'a>(&self, name: &str, worker: &'a WorkerPlan) -> Option<&'a str> {
        worker.model.as_deref().filter(|_| !self.overridden.contains(name))
    }

    fn model_name<'a>(&'a self, name: &str, worker: &'a WorkerPlan) -> Result<&'a str, String> {
        if let Some(model) = self.declared(name, worker) {
            return Ok(model);
        }
        let Some(SessionModel { name: model, .. }) = &self.session else {
            return Err(SET_A_MODEL.to_owned());
        };
        let globs = &worker.compatible_models;
        let matches = |glob: &Arc<str>| WildMatch::new_case_insensitive(glob.trim()).matches(model.trim());
        if globs.is_empty() || globs.iter().any(matches) {
            return Ok(model);
        }
        Err(format!("`{model}` matches none of its `compatible_models`: {}", globs.join(", ")))
    }

    fn build(&self, name: &str) -> Result<Arc<ChosenModel>, String> {
        let mut built = self.built.lock().ignore_poison();
        if let Some(model) = built.get(name) {
            return Ok(Arc::clone(model));
        }
        let model = llm_do_providers::model_with(name, &self.capabilities).map_err(|error| chain(&error))?;
        let model = Arc::new(ChosenModel::new(model, &self.prices));
        built.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::ModelChoice;
    use crate::declare::worker_spec::WorkerSpec;
    use crate::plane::registry::{Origin, Registered};

    #[test]
    fn without_any_model_the_error_explains_where_to_set_one() {
        let worker = Registered::from_spec(&WorkerSpec::new("poet", "Write."), Origin::Session);
        let error = ModelChoice::default().choose("poet", worker.plan().unwrap()).unwrap_err().to_string();
        let option = if cfg!(feature = "cli") { " or the option `--model`" } else { "" };
        let place = format!("`LLM_DO_MODEL`{option} to `provider:model`, or `model` of the runtime or the worker");
        assert_eq!(error, format!("no model for the worker `poet`: set {place}"));
    }
}
