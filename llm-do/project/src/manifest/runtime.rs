//! The key `runtime` of a `project.json`: the settings of a run.

use llm_do_core::plane::approval::{ApprovalMode, Policy, WorkerRule};
use llm_do_worker_file::{Content, Located, Node, unknown_key};

use super::{DOCUMENTATION, ManifestReader};
use crate::report::shown;

const RUNTIME_KEYS: [&str; 8] = [
    "approval_mode",
    "auth_mode",
    "max_depth",
    "end_on_denial",
    "return_permission_errors",
    "agent_calls_require_approval",
    "agent_attachments_require_approval",
    "agent_approval_overrides",
];
const MODES: [(&str, ApprovalMode); 3] = [
    ("prompt", ApprovalMode::Prompt),
    ("approve_all", ApprovalMode::ApproveAll),
    ("reject_all", ApprovalMode::RejectAll),
];
const RULE_KEYS: [&str; 2] = ["calls_require_approval", "attachments_require_approval"];

/// The key `runtime`.
#[derive(Debug, Default)]
pub(in super::super) struct RuntimeKeys {
    pub(in super::super) mode: Option<Located<ApprovalMode>>,
    pub(in super::super) max_depth: Option<u32>,
    /// Whether a denied call ends the run.
    pub(in super::super) end_on_denial: Option<bool>,
    pub(in super::super) rules: Policy,
}

impl ManifestReader<'_> {
    pub(super) fn runtime(&mut self, node: Node) {
        let Some(entries) = self.reader("runtime").map(node) else { return };
        let mut rule = WorkerRule::new();
        // The key of earlier versions, with the opposite meaning.
        let mut returns_denials = None;
        for (key, node) in entries {
            let name = format!("runtime.{}", key.name);
            let flag = |reading: &mut Self| reading.reader(&name).flag(&node);
            match key.name.as_str() {
                "approval_mode" => self.manifest.runtime.mode = self.mode(node),
                "auth_mode" => self.auth_mode(&node),
                "max_depth" => self.max_depth(&node),
                "end_on_denial" => self.manifest.runtime.end_on_denial = flag(self),
                "return_permission_errors" => returns_denials = flag(self),
                "agent_calls_require_approval" => rule = flag(self).map_or(rule, |asks| rule.calls(asks)),
                "agent_attachments_require_approval" => rule = flag(self).map_or(rule, |asks| rule.attachments(asks)),
                "agent_approval_overrides" => self.overrides(node),
                "model" => {
                    let message = "unsupported key `model` in `runtime`: set `model` in the worker files, or the variable `LLM_DO_MODEL`";
                    self.fault(key.place, message);
                }
                _ => self.faults.push(unknown_key(&key, " in `runtime`", &RUNTIME_KEYS, DOCUMENTATION)),
            }
        }
        let runtime = &mut self.manifest.runtime;
        runtime.end_on_denial = runtime.end_on_denial.or(returns_denials.map(|returned: bool| !returned));
        let rules = std::mem::take(&mut runtime.rules);
        runtime.rules = rules.workers(rule);
    }

    fn mode(&mut self, node: Node) -> Option<Located<ApprovalMode>> {
        let word = self.reader("runtime.approval_mode").string(node)?;
        let found = MODES.into_iter().find(|(name, _)| *name == word.value);
        if found.is_none() {
            let message = format!(
                "`runtime.approval_mode`: expected `prompt`, `approve_all` or `reject_all`, found `{}`",
                word.value
            );
            self.fault(word.place, message);
        }
        found.map(|(_, mode)| Located { place: word.place, value: mode })
    }

    fn auth_mode(&mut self, node: &Node) {
        let Some(word) = self.reader("runtime.auth_mode").string(node.clone()) else { return };
        if word.value != "oauth_off" {
            let message =
                format!("`runtime.auth_mode`: expected `oauth_off`, found `{}`: models use API keys", word.value);
            self.fault(word.place, message);
        }
    }

    fn max_depth(&mut self, node: &Node) {
        let depth: Option<u32> = self.reader("runtime.max_depth").count(node, u32::MAX);
        if depth == Some(0) {
            return self.fault(node.place, "`runtime.max_depth` must be at least 1");
        }
        self.manifest.runtime.max_depth = depth;
    }

    fn overrides(&mut self, node: Node) {
        let Some(workers) = self.reader("runtime.agent_approval_overrides").map(node) else { return };
        for (worker, node) in workers {
            let name = format!("runtime.agent_approval_overrides.{}", worker.name);
            let Some(entries) = self.reader(&name).map(node) else { continue };
            let mut rule = WorkerRule::new();
            for (key, node) in entries {
                // `null` inherits.
                let flag = match node.content {
                    Content::Null => None,
                    _ => self.reader(&format!("{name}.{}", key.name)).flag(&node),
                };
                match key.name.as_str() {
                    "calls_require_approval" => rule = flag.map_or(rule, |asks| rule.calls(asks)),
                    "attachments_require_approval" => rule = flag.map_or(rule, |asks| rule.attachments(asks)),
                    _ => self.faults.push(unknown_key(&key, &format!(" in `{name}`"), &RULE_KEYS, DOCUMENTATION)),
                }
            }
            let rules = std::mem::take(&mut self.manifest.runtime.rules);
            let mut rules = rules.worker(worker.name.as_str(), rule);
            rules.place(&worker.name, format!("{}:{}", shown(self.path).display(), worker.place.line));
            self.manifest.runtime.rules = rules;
        }
    }
}
