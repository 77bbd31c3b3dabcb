//! `project.json`.

use std::path::{Path, PathBuf};

use llm_do_worker_file::{Content, Fault, Key, Located, Node, Place, Reader, unknown_key};
use serde_json::Value;

use super::json;
use super::policy;
use super::report::shown;
use crate::declare::worker_file::json as value_of;
use crate::plane::approval::{ApprovalMode, Policy, WorkerRule};

/// Where the keys are documented.
const DOCUMENTATION: &str = "see the documentation of `llm_do::project`";
const KEYS: [&str; 8] =
    ["version", "entry", "runtime", "policy", "agent_files", "python_files", "allow_cli_input", "generated_agents_dir"];
const RUNTIME_KEYS: [&str; 7] = [
    "approval_mode",
    "auth_mode",
    "max_depth",
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

/// A `project.json`.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) entry: Option<EntryKey>,
    pub(super) runtime: RuntimeKeys,
    /// The policy in the file.
    pub(super) policy: Option<Policy>,
    /// The file with the policy.
    pub(super) policy_file: Option<Located<String>>,
    /// The worker files; `None` for those that are found by convention.
    pub(super) worker_files: Option<Vec<Located<String>>>,
    pub(super) takes_input: Option<bool>,
    pub(super) store: Option<PathBuf>,
}

/// The key `entry`.
#[derive(Debug)]
pub(super) struct EntryKey {
    pub(super) name: Located<String>,
    /// Whether it is named as a function, which may be linked, and not as an agent.
    pub(super) is_function: bool,
    pub(super) arguments: Option<Value>,
}

/// The key `runtime`.
#[derive(Debug, Default)]
pub(super) struct RuntimeKeys {
    pub(super) mode: Option<Located<ApprovalMode>>,
    pub(super) max_depth: Option<u32>,
    pub(super) return_permission_errors: Option<bool>,
    pub(super) rules: Policy,
}

/// Reads the text of a `project.json`.
pub(super) fn read(path: &Path, text: &str) -> Result<Manifest, Vec<Fault>> {
    let mut reading = Reading { path, manifest: Manifest::default(), faults: Vec::new() };
    if let Some(root) = json::read(text, &mut reading.faults) {
        reading.root(root);
    }
    if reading.faults.is_empty() { Ok(reading.manifest) } else { Err(reading.faults) }
}

struct Reading<'a> {
    path: &'a Path,
    manifest: Manifest,
    faults: Vec<Fault>,
}

impl Reading<'_> {
    fn reader<'a>(&'a mut self, key: &'a str) -> Reader<'a> {
        Reader { key, faults: &mut self.faults }
    }

    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(Fault::new(place, message));
    }

    fn root(&mut self, root: Node) {
        let place = root.place;
        let Content::Map(entries) = root.content else {
            return self.fault(place, format!("expected a map of keys, found {}", root.content.kind()));
        };
        let has = |name: &str| entries.iter().any(|(key, _)| key.name == name);
        let missing = ["version", "entry"].into_iter().filter(|key| !has(key)).map(str::to_owned).collect::<Vec<_>>();
        for key in missing {
            let example = if key == "version" { "\"version\": 1" } else { "\"entry\": { \"agent\": \"main\" }" };
            self.fault(place, format!("missing `{key}`: add one, such as `{example}`"));
        }
        for (key, node) in entries {
            self.key(&key, node);
        }
    }

    fn key(&mut self, key: &Key, node: Node) {
        match key.name.as_str() {
            "version" => self.version(&node),
            "entry" => self.entry(node),
            "runtime" => self.runtime(node),
            "policy" => self.policy(node),
            "agent_files" => {
                self.manifest.worker_files = self.reader("agent_files").strings(node).map(|list| list.value);
            }
            "python_files" => self.python_files(node),
            "allow_cli_input" => self.manifest.takes_input = self.reader("allow_cli_input").flag(&node),
            "generated_agents_dir" => self.store(node),
            _ => self.faults.push(unknown_key(key, "", &KEYS, DOCUMENTATION)),
        }
    }

    fn version(&mut self, node: &Node) {
        let version: Option<u64> = self.reader("version").count(node, u64::MAX);
        if let Some(version) = version.filter(|version| *version != 1) {
            self.fault(node.place, format!("unsupported `version` {version}: only version 1 is supported"));
        }
    }

    fn entry(&mut self, node: Node) {
        let place = node.place;
        let Some(entries) = self.reader("entry").map(node) else { return };
        let (mut agent, mut function, mut arguments) = (None, None, None);
        let named = entries.iter().filter(|(key, _)| ["agent", "function"].contains(&key.name.as_str())).count();
        if named != 1 {
            self.fault(place, "`entry` must have either `agent` or `function`");
        }
        for (key, node) in entries {
            match key.name.as_str() {
                "agent" => agent = self.reader("entry.agent").string(node),
                "function" => function = self.reader("entry.function").string(node),
                "args" => arguments = self.reader("entry.args").map(node.clone()).map(|_| value_of(node)),
                _ => self.faults.push(unknown_key(&key, " in `entry`", &["agent", "function", "args"], DOCUMENTATION)),
            }
        }
        let (name, is_function) = match (agent, function) {
            (Some(name), None) => (name, false),
            (None, Some(name)) => (name, true),
            // Reported above.
            _ => return,
        };
        if is_function && name.value.contains(".py") {
            let message = format!(
                "`entry.function`: `{}` is a Python function, which cannot run here; name a linked entry or tool, or a worker as `agent`",
                name.value
            );
            return self.fault(name.place, message);
        }
        self.manifest.entry = Some(EntryKey { name, is_function, arguments });
    }

    fn runtime(&mut self, node: Node) {
        let Some(entries) = self.reader("runtime").map(node) else { return };
        let mut rule = WorkerRule::new();
        for (key, node) in entries {
            let name = format!("runtime.{}", key.name);
            let flag = |reading: &mut Self| reading.reader(&name).flag(&node);
            match key.name.as_str() {
                "approval_mode" => self.manifest.runtime.mode = self.mode(node),
                "auth_mode" => self.auth_mode(&node),
                "max_depth" => self.max_depth(&node),
                "return_permission_errors" => self.manifest.runtime.return_permission_errors = flag(self),
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
        let rules = std::mem::take(&mut self.manifest.runtime.rules);
        self.manifest.runtime.rules = rules.workers(rule);
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

    fn policy(&mut self, node: Node) {
        match node.content {
            Content::String(_) => self.manifest.policy_file = self.reader("policy").string(node),
            Content::Map(_) => self.manifest.policy = policy::from_node(&node, self.path, "policy", &mut self.faults),
            _ => drop(self.reader("policy").wrong::<()>("a map of rules, or the path of a file with one", &node)),
        }
    }

    fn python_files(&mut self, node: Node) {
        let Some(files) = self.reader("python_files").strings(node) else { return };
        for file in files.value {
            let message = format!(
                "`python_files`: `{}` cannot run here; write its functions as Rust tools, and link them",
                file.value
            );
            self.fault(file.place, message);
        }
    }

    fn store(&mut self, node: Node) {
        if node.content != Content::Null {
            let path = self.reader("generated_agents_dir").string(node);
            self.manifest.store = path.map(|path| expanded(Path::new(&path.value)));
        }
    }
}

/// Replaces a leading `~` by the user's home folder.
pub(in crate::app) fn expanded(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}
