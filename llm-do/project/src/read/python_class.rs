//! Workers whose arguments a Python class describes, which cannot be read.

use std::path::Path;

use llm_do_worker_file::Located;
use serde_json::Value;

use super::ProjectReader;

/// The arguments of a worker that takes a prompt.
const OF_A_PROMPT: [&str; 2] = ["input", "attachments"];

impl ProjectReader<'_> {
    /// Reports an omitted class: the worker takes a prompt instead.
    pub(super) fn unread_class(&mut self, path: &Path, worker: &str, class: Located<String>) {
        let Located { place, value: class } = class;
        let message = format!(
            "`input_model_ref` has no effect: the Python class `{class}` cannot be read, so the worker takes `input` and \
             `attachments`; write its fields as `input_schema`"
        );
        self.report.warning(path, place, message);
        self.unread_classes.push((worker.to_owned(), class));
    }

    /// Reports arguments of the entry that only the class would accept.
    pub(super) fn check_arguments(&mut self, entry: &Located<String>, arguments: Option<&Value>) {
        let Some((_, class)) = self.unread_classes.iter().find(|(worker, _)| *worker == entry.value) else { return };
        let given = arguments.and_then(Value::as_object).into_iter().flat_map(|given| given.keys());
        let fields: Vec<_> =
            given.filter(|name| !OF_A_PROMPT.contains(&name.as_str())).map(|name| format!("`{name}`")).collect();
        if !fields.is_empty() {
            let message = format!(
                "`entry.args`: {} of the Python class `{class}`, which cannot be read; write its fields as `input_schema` of `{}`",
                fields.join(", "),
                entry.value
            );
            self.report.fault(self.path, entry.place, message);
        }
    }
}
