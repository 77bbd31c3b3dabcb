//! The demands of a dataset: it may be from an untrusted project, and its judges call models with the keys of the user.

use std::path::{Path, PathBuf};

use llm_do_core::base::open_file::folder_or_current;
use llm_do_eval::Dataset;
use llm_do_project::{Demand, Digest, Digests, Kind};
use llm_do_providers::is_registered_by_program;

use crate::agreed::Agreement;
use crate::trust::Subject;

/// The maximum number of votes of a judge without a question.
const MAX_VOTES: u32 = 5;

/// Returns the demands of the dataset at `path`; `project` is the project of the command.
pub(super) fn of_dataset(
    dataset: &Dataset,
    path: &Path,
    project: Option<&Path>,
    is_own: impl Fn(&str) -> bool,
) -> Subject {
    let mut demands = Vec::new();
    for judge in dataset.judge_costs(is_own) {
        if let Some(model) = judge.model.as_deref().filter(|model| !is_registered_by_program(model)) {
            let text = format!("a judge asks the model `{model}`, with your key of its provider");
            demands.push(Demand::new(Kind::Model, judge.place.clone(), text));
        }
        if judge.votes > MAX_VOTES {
            let text = format!(
                "a judge asks its model {} times about each result, and not at most {MAX_VOTES} times",
                judge.votes
            );
            demands.push(Demand::new(Kind::Limit, judge.place, text));
        }
    }
    demands.sort_by_key(|demand| demand.kind);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Of the parsed dataset rather than the file, which may have changed since.
    let digests = Digests::from([(name, Digest::new(dataset.to_yaml().as_bytes()))]);
    let agreement = Agreement::new(path, &root(path, project), &demands, digests);
    Subject { name: path.display().to_string(), demands, agreement }
}

/// Returns the folder to which the dataset belongs: the project's, or its own.
fn root(path: &Path, project: Option<&Path>) -> PathBuf {
    let folder = |path: &Path| if path.is_file() { path.parent().unwrap_or(path).to_owned() } else { path.to_owned() };
    let real = |path: PathBuf| folder_or_current(&path).canonicalize();
    let own = real(folder(path)).unwrap_or_else(|_| path.to_owned());
    let project = real(folder(project.unwrap_or(Path::new(".")))).ok();
    project.filter(|project| own.starts_with(project)).unwrap_or(own)
}
