//! The file of a policy to which the user's permanent approvals are added.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{state, trust};
use crate::app::project::Project;
use crate::plane::approval::{ApprovalRequest, Policy};

/// The name of a new file.
const NAME: &str = "policy.json";

/// Where rules are written, unless the user chooses another file.
#[derive(Clone, Debug)]
pub(super) struct RuleFile {
    path: PathBuf,
    /// Whether the policy is read from it.
    is_read: bool,
    /// The folder of the project whose policy it is.
    project: Option<PathBuf>,
}

impl Default for RuleFile {
    fn default() -> Self {
        Self { path: PathBuf::from(NAME), is_read: false, project: None }
    }
}

impl RuleFile {
    /// The file of `--policy`.
    pub(super) fn read(path: PathBuf) -> Self {
        Self { path, is_read: true, project: None }
    }

    /// The file with the policy of a project, or a new one in its folder.
    pub(super) fn of_project(project: &Project) -> Self {
        let path = project.policy_file().map_or_else(|| project.root().join(NAME), Path::to_owned);
        Self { path, is_read: project.policy_file().is_some(), project: Some(project.root().to_owned()) }
    }

    pub(super) fn path(&self) -> &Path {
        self.path.strip_prefix(".").unwrap_or(&self.path)
    }

    /// Adds a rule to a file, which is created if it is missing; returns where it is, and how it takes effect.
    pub(super) fn add(&self, path: &Path, rule: Value) -> io::Result<String> {
        let mut policy: Value = match fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => json!({}),
            Err(error) => return Err(error),
        };
        let added: Policy = serde_json::from_value(json!({ "calls": [rule.clone()] }))?;
        let rules = policy.as_object_mut().ok_or_else(|| io::Error::other("the file is not a policy"))?;
        let calls = rules.entry("calls").or_insert_with(|| json!([]));
        calls.as_array_mut().ok_or_else(|| io::Error::other("`calls` of the policy is not a list"))?.push(rule);
        serde_json::from_value::<Policy>(policy.clone())?;
        state::replace(path, &format!("{policy:#}\n"))?;
        let shown = path.display();
        let is_read = self.is_read && (path == self.path || path == self.path());
        if let Some(project) = self.project.as_deref().filter(|_| is_read) {
            // Ignored: the user is asked about the rule once more.
            let _ = trust::agree(project, added.approved_in_advance().into_iter().map(|(_, calls)| calls));
        }
        Ok(if is_read {
            format!("written to {shown}")
        } else {
            format!("written to {shown}; to use it, give --policy {shown}, or name it as `policy` in `project.json`")
        })
    }
}

/// Returns the rule that approves calls equal to this one; `None` if the rule would not show all of the call.
pub(super) fn exact_rule(request: &ApprovalRequest) -> Option<Value> {
    let rule = || json!({ "tool": request.tool, "arguments": request.arguments, "rule": "pre_approved" });
    request.is_shown_in_full().then(rule)
}
