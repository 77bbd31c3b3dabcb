//! Workers that take the arguments of another item: `input_model_ref` in a worker file.

use llm_do_worker_file::did_you_mean;
use serde_json::Value;

use super::{Contents, Registered, Registry};
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::definition::linked_items;

impl Contents {
    /// Gives each worker that takes the arguments of another item their schema; returns a fault for each item that cannot be used.
    pub(super) fn resolve_inputs(&mut self) -> Vec<String> {
        let of_worker = |(spec, _): &(WorkerSpec, _)| spec.input_of.as_deref().map(|name| self.input_of(name));
        let inputs: Vec<_> = self.workers.iter().map(of_worker).collect();
        let mut faults = Vec::new();
        for ((spec, origin), input) in self.workers.iter_mut().zip(inputs) {
            let Some(input) = input else { continue };
            spec.input_of = None;
            match input {
                Ok(schema) => spec.input_schema = schema,
                Err(fault) => {
                    faults.push(format!("the worker `{}` ({origin}): `input_model_ref`: {fault}", spec.name()));
                }
            }
        }
        faults
    }

    /// Returns the schema of the arguments of an item, linked or added; `None` for a prompt.
    fn input_of(&self, name: &str) -> Result<Option<Value>, String> {
        // The item need not be part of the session, since only its schema is used.
        if let Some(def) = linked_items().find(|def| def.name == name) {
            return Ok(schema_of(&Registered::from_definition(def)));
        }
        if let Some((tool, _)) = self.tools.iter().find(|(tool, _)| tool.name == name) {
            return Ok(Some(tool.parameters.clone()));
        }
        let Some((spec, _)) = self.workers.iter().find(|(spec, _)| spec.name == name) else {
            let added = self.workers.iter().map(|(spec, _)| spec.name.as_str());
            let added = added.chain(self.tools.iter().map(|(tool, _)| tool.name.as_str()));
            let hint = did_you_mean(name, added.chain(linked_items().map(|def| def.name)));
            return Err(format!("unknown tool, worker or entry `{name}`{hint}"));
        };
        match &spec.input_of {
            Some(other) => Err(format!("`{name}` takes the arguments of `{other}` itself; name that item")),
            None => Ok(spec.input_schema.clone()),
        }
    }
}

impl Registry {
    /// Returns the worker with the schema of a registered item, if it takes the arguments of one; `None` for any other
    /// worker.
    pub(super) fn with_input(&self, spec: &WorkerSpec, faults: &mut Vec<String>) -> Option<WorkerSpec> {
        let name = spec.input_of.as_deref()?;
        let mut resolved = WorkerSpec { input_of: None, ..spec.clone() };
        match self.get(name) {
            Some(item) => resolved.input_schema = schema_of(item),
            None => faults.push(format!("`input_model_ref`: unknown item `{name}`: {}", self.hint(name, None))),
        }
        Some(resolved)
    }
}

/// Returns the schema of the arguments of an item; `None` for a prompt.
fn schema_of(item: &Registered) -> Option<Value> {
    (!item.takes_prompt()).then(|| item.parameters().clone())
}
