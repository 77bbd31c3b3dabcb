//! What is wrong with the models of a session, found before a worker needs one.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use llm_do_providers::{PriceTable, check_model_name, unknown_model};

use super::{ModelChoice, SessionModel};
use crate::base::error::CallError;
use crate::observe::event::ItemKind;
use crate::plane::registry::{Registered, Registry, WorkerPlan};

/// What `check` reports of models, beside the [faults](ModelChoice::faults) that fail every build.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Entries that cannot run.
    pub(crate) faults: Vec<String>,
    /// What a run may never meet, or what may be right after all.
    pub(crate) warnings: Vec<String>,
}

impl ModelChoice {
    /// Lists the names of models that no linked provider takes: the session's, and that of each worker.
    ///
    /// A forced model runs every worker, so that no name is used.
    pub(crate) fn faults(&self, registry: &Registry) -> Vec<String> {
        let named = self.named_models(registry).into_iter();
        let judged = named.map(|(owner, name)| (owner, check_model_name(name)));
        judged.filter_map(|(owner, result)| Some(format!("{owner}: {}", result.err()?.message()))).collect()
    }

    /// Fails if a run of `root` may come to a worker without a model, by what the items on the way declare.
    pub(crate) fn check_run(&self, root: &Registered, registry: &Registry) -> Result<(), CallError> {
        let without = self.without_model(registry);
        if without.is_empty() {
            return Ok(());
        }
        let reached = registry.reachable(root).into_iter();
        let missing: Vec<_> = reached.filter_map(|item| Some((item.name(), without.get(item.name())?))).collect();
        let Some((worker, why)) = missing.first() else { return Ok(()) };
        let names: Vec<_> = missing.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = match missing[..] {
            [(worker, _)] if worker == root.name() => (*why).clone(),
            _ => format!("{why}; nothing ran, since `{}` may call {}", root.name(), names.join(", ")),
        };
        Err(CallError::NoModel { worker: (*worker).to_owned(), message })
    }

    /// Returns what `check` reports of models.
    pub(crate) fn findings(&self, registry: &Registry, prices: &PriceTable) -> Findings {
        let mut findings = self.missing(registry);
        let named = self.named_models(registry).into_iter();
        for (owner, name) in named.filter(|(_, name)| check_model_name(name).is_ok()) {
            let doubts = unknown_model(name, prices).into_iter().chain(self.build(name).err());
            findings.warnings.extend(doubts.map(|doubt| format!("{owner}: {doubt}")));
        }
        findings
    }

    /// Reports workers without a model: a fault of each entry that may call one, and else a warning.
    fn missing(&self, registry: &Registry) -> Findings {
        let (without, mut declared, mut findings) =
            (self.without_model(registry), BTreeSet::new(), Findings::default());
        if without.is_empty() {
            return findings;
        }
        for entry in registry.iter().filter(|item| item.kind() == ItemKind::Entry) {
            let reached = registry.reachable(entry).into_iter();
            for (worker, why) in reached.filter_map(|item| Some((item, without.get(item.name())?))) {
                declared.insert(worker.name());
                let (entry, worker) = (told(entry), told(worker));
                findings
                    .faults
                    .push(format!("the entry {entry} may call the worker {worker}, which has no model: {why}"));
            }
        }
        let undeclared = registry.iter().filter(|item| !declared.contains(item.name()));
        let missing = undeclared.filter_map(|item| Some((item, without.get(item.name())?)));
        findings.warnings.extend(missing.map(|(item, why)| format!("the worker {} has no model: {why}", told(item))));
        findings
    }

    /// Returns the registered workers that have no model, each with the reason.
    fn without_model(&self, registry: &Registry) -> &HashMap<Arc<str>, String> {
        self.without.get_or_init(|| match self.forced {
            Some(_) => HashMap::new(),
            None => workers(registry)
                .filter_map(|(item, plan)| Some((Arc::clone(&item.spec.name), self.named(plan).err()?)))
                .collect(),
        })
    }

    /// Lists the names of models that runs may use, each with who uses it.
    fn named_models<'a>(&'a self, registry: &'a Registry) -> Vec<(String, &'a str)> {
        if self.forced.is_some() {
            return Vec::new();
        }
        let session = self.session.iter().map(|SessionModel { name, set_by }| ((*set_by).to_owned(), name.as_str()));
        let own = workers(registry)
            .filter_map(|(item, plan)| Some((format!("the worker {}", told(item)), plan.model.as_deref()?)));
        session.chain(own).collect()
    }
}

fn workers(registry: &Registry) -> impl Iterator<Item = (&Registered, &WorkerPlan)> {
    registry.iter().filter_map(|item| Some((&**item, &**item.plan()?)))
}

/// Returns an item's name and place.
fn told(item: &Registered) -> String {
    format!("`{}` ({})", item.name(), item.location())
}
