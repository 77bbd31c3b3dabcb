//! Checks the models of a session before a worker needs one.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use llm_do_providers::{check_model_name, unknown_model};

use super::{ModelChoice, SessionModel};
use crate::base::error::CallError;
use crate::observe::event::ItemKind;
use crate::plane::declared::Declared;
use crate::plane::registry::{Registered, Registry, WorkerPlan};

/// The most notes about one tool in a warning.
const MOST_NOTES: usize = 3;

/// The findings of `check` about models, besides the [faults](ModelChoice::faults) that fail every build.
#[derive(Debug, Default)]
pub struct Findings {
    /// Faults because of which an entry cannot run.
    pub faults: Vec<String>,
    /// Faults that a run may never reach, and names that may be valid although they are unknown.
    pub warnings: Vec<String>,
}

impl ModelChoice {
    /// Lists the invalid model names of the session and of each worker, which no linked provider accepts.
    ///
    /// Empty with a forced model, since no name is used then. A worker from another program's file fails when it is
    /// called.
    pub(crate) fn faults(&self, registry: &Registry) -> Vec<String> {
        invalid(self.named_models(registry).into_iter().filter(|named| !named.is_external)).collect()
    }

    /// Lists the invalid model names of workers from other programs' files.
    pub(crate) fn foreign_faults(&self, registry: &Registry) -> Vec<String> {
        invalid(self.named_models(registry).into_iter().filter(|named| named.is_external)).collect()
    }

    /// Fails if the declared toolsets of `root`, directly or through nested calls, lead to a worker without a model.
    pub(crate) fn check_run(&self, root: &Registered, registry: &Registry) -> Result<(), CallError> {
        let without = self.without_model(registry);
        if without.is_empty() || self.replacement().is_some() {
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

    /// Returns the findings of `check` about models.
    pub(crate) fn findings(&self, registry: &Registry) -> Findings {
        let mut findings = self.missing(registry);
        let named = self.named_models(registry).into_iter();
        for Named { owner, name, .. } in named.filter(|named| check_model_name(named.name).is_ok()) {
            let warnings = unknown_model(name, &self.prices).into_iter().chain(self.build(name).err());
            findings.warnings.extend(warnings.map(|warning| format!("{owner}: {warning}")));
        }
        findings.warnings.extend(self.weaker_tools(registry));
        findings
    }

    /// Reports the tools whose schemas are changed for a model, once for each model.
    fn weaker_tools(&self, registry: &Registry) -> Vec<String> {
        let (mut seen, mut warnings) = (BTreeSet::new(), Vec::new());
        for (worker, plan) in workers(registry) {
            let Ok(model) = self.choose(worker.name(), plan) else { continue };
            let specs = worker.declared.as_deref().map(Declared::specs);
            for spec in specs.into_iter().flat_map(|specs| specs.iter()) {
                if seen.insert((Arc::clone(&model.name), spec.name.to_string())) {
                    warnings.extend(weaker_tool(&model.name, &spec.name, model.tool_notes(spec)));
                }
            }
        }
        warnings
    }

    /// Reports workers without a model: as a fault of each entry that may call one, and otherwise as a warning.
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
                let (entry, worker) = (name_and_location(entry), name_and_location(worker));
                findings
                    .faults
                    .push(format!("the entry {entry} may call the worker {worker}, which has no model: {why}"));
            }
        }
        let undeclared = registry.iter().filter(|item| !declared.contains(item.name()));
        let missing = undeclared.filter_map(|item| Some((item, without.get(item.name())?)));
        findings
            .warnings
            .extend(missing.map(|(item, why)| format!("the worker {} has no model: {why}", name_and_location(item))));
        findings
    }

    /// Returns the registered workers that have no model, each with the reason.
    fn without_model(&self, registry: &Registry) -> &HashMap<Arc<str>, String> {
        self.without_model.get_or_init(|| match self.forced {
            Some(_) => HashMap::new(),
            None => workers(registry)
                .filter_map(|(item, plan)| Some((Arc::clone(&item.name), self.model_name(item.name(), plan).err()?)))
                .collect(),
        })
    }

    /// Lists the model names that runs may use.
    fn named_models<'a>(&'a self, registry: &'a Registry) -> Vec<Named<'a>> {
        if self.forced.is_some() {
            return Vec::new();
        }
        let session = self.session.iter().map(|SessionModel { name, set_by }| Named {
            owner: set_by.to_string(),
            name,
            is_external: false,
        });
        let own = workers(registry).filter_map(|(item, plan)| {
            let name = self.declared(item.name(), plan)?;
            Some(Named {
                owner: format!("the worker {}", name_and_location(item)),
                name,
                is_external: item.is_external(),
            })
        });
        session.chain(own).collect()
    }
}

/// The name of a model.
struct Named<'a> {
    /// The setting or worker that names it.
    owner: String,
    name: &'a str,
    /// Whether a file of another program names it.
    is_external: bool,
}

/// Returns a fault for each name that no linked provider accepts.
fn invalid<'a>(named: impl Iterator<Item = Named<'a>>) -> impl Iterator<Item = String> {
    named.filter_map(|Named { owner, name, .. }| Some(format!("{owner}: {}", check_model_name(name).err()?.message())))
}

fn workers(registry: &Registry) -> impl Iterator<Item = (&Registered, &WorkerPlan)> {
    registry.iter().filter_map(|item| Some((&**item, &**item.plan()?)))
}

/// Returns the warning for a tool that requests to a model omit, or whose schema is weaker there.
fn weaker_tool(model: &str, tool: &str, notes: Result<Vec<String>, String>) -> Option<String> {
    let notes = match notes {
        Ok(notes) if notes.is_empty() => return None,
        Ok(notes) => notes,
        Err(why) => return Some(format!("requests to `{model}` leave out the tool `{tool}`: {why}")),
    };
    let listed = notes[..notes.len().min(MOST_NOTES)].join("; ");
    let more = match notes.len().saturating_sub(MOST_NOTES) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Some(format!(
        "`{model}` gets a part of the schema of the tool `{tool}` in words, and arguments are validated afterwards: {listed}{more}"
    ))
}

/// Returns an item's name and location.
fn name_and_location(item: &Registered) -> String {
    format!("`{}` ({})", item.name(), item.location())
}
