//! The file of a policy to which the user's permanent approvals are added.

use std::io;
use std::path::{Path, PathBuf};

use llm_do_core::base::open_file::folder_or_current;
use llm_do_core::plane::approval::{ApprovalRequest, Policy};
use llm_do_project::Project;
use serde_json::{Value, json};

use super::agreed::Agreement;
use super::out_folder::OutFolder;

/// The name of a new file.
const NAME: &str = "policy.json";

/// The file for new rules, unless the user chooses another.
#[derive(Clone, Debug)]
pub(super) struct RuleFile {
    path: PathBuf,
    /// Whether the policy is read from it.
    is_read: bool,
    /// The folder of the project, if the file belongs to a project.
    root: Option<PathBuf>,
    /// The agreement of the user to the project of the policy.
    agreement: Option<Box<Agreement>>,
}

impl Default for RuleFile {
    fn default() -> Self {
        Self { path: PathBuf::from(NAME), is_read: false, root: None, agreement: None }
    }
}

impl RuleFile {
    /// The file of `--policy`.
    pub(super) fn read(path: PathBuf) -> Self {
        Self { path, is_read: true, root: None, agreement: None }
    }

    /// The file with the policy of a project, or a new one in its folder.
    ///
    /// With an agreement, rules that are written there need no further question.
    pub(super) fn of_project(project: &Project, agreement: Option<Agreement>) -> Self {
        let path = project.policy_file().map_or_else(|| project.root().join(NAME), Path::to_owned);
        let root = Some(project.root().to_owned());
        Self { path, is_read: project.policy_file().is_some(), root, agreement: agreement.map(Box::new) }
    }

    pub(super) fn path(&self) -> &Path {
        self.path.strip_prefix(".").unwrap_or(&self.path)
    }

    /// Adds a rule to a file, which is created if it is missing; returns its place, and how it takes effect.
    pub(super) fn add(&self, path: &Path, rule: Value) -> io::Result<String> {
        let (folder, name) = OutFolder::of_file(path)?;
        self.check_inside(path)?;
        let before = folder.read(name)?.unwrap_or_else(|| "{}".to_owned());
        let mut policy: Value = serde_json::from_str(&before)?;
        let added: Policy = serde_json::from_value(json!({ "calls": [rule.clone()] }))?;
        let rules = policy.as_object_mut().ok_or_else(|| io::Error::other("the file is not a policy"))?;
        let calls = rules.entry("calls").or_insert_with(|| json!([]));
        calls.as_array_mut().ok_or_else(|| io::Error::other("`calls` of the policy is not a list"))?.push(rule);
        serde_json::from_value::<Policy>(policy.clone())?;
        let after = format!("{policy:#}\n");
        folder.replace(name, &after)?;
        let shown = path.display();
        let is_read = self.is_read && self.is_default(path);
        if let Some(agreement) = self.agreement.as_ref().filter(|_| is_read) {
            let demands = added.approved_in_advance().into_iter().map(|(_, calls)| calls).collect();
            // Ignored: the user will be asked about the rule again.
            let _ = agreement.keep_with(path, before.as_bytes(), after.as_bytes(), demands);
        }
        Ok(if is_read {
            format!("written to {shown}")
        } else {
            format!("written to {shown}; to use it, give --policy {shown}, or name it as `policy` in `project.json`")
        })
    }

    fn is_default(&self, path: &Path) -> bool {
        path == self.path || path == self.path()
    }

    /// Fails if the file of a project is outside its folder, since the user was shown the path relative to the folder.
    fn check_inside(&self, path: &Path) -> io::Result<()> {
        let Some(root) = self.root.as_deref().filter(|_| self.is_default(path)) else { return Ok(()) };
        let real = |path: &Path| folder_or_current(path).canonicalize();
        let folder = real(path.parent().unwrap_or(Path::new("")))?;
        if folder.starts_with(real(root)?) {
            return Ok(());
        }
        Err(io::Error::other(format!("its folder is {}, outside of the project", folder.display())))
    }
}

/// Returns the rule that approves equal calls; `None` if the rule would not describe the call completely.
pub(super) fn exact_rule(request: &ApprovalRequest) -> Option<Value> {
    let rule = || json!({ "tool": request.tool, "arguments": request.arguments, "rule": "pre_approved" });
    request.is_shown_in_full().then(rule)
}
