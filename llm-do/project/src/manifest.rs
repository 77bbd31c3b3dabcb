//! `project.json`.

mod runtime;

use std::path::{Path, PathBuf};

use llm_do_core::declare::worker_file::json as value_of;
use llm_do_core::plane::approval::Policy;
use llm_do_worker_file::{Content, Fault, Key, Located, Node, Place, Reader, unknown_key};
use serde_json::Value;

use self::runtime::RuntimeKeys;
use super::json;
use super::policy;

/// The reference to the documentation of the keys.
const DOCUMENTATION: &str = "see the documentation of `llm_do::project`";
const KEYS: [&str; 9] = [
    "version",
    "entry",
    "runtime",
    "policy",
    "agent_files",
    "python_files",
    "allow_cli_input",
    "generated_agents_dir",
    "mcp",
];
/// A `project.json`.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) entry: Option<EntryKey>,
    pub(super) runtime: RuntimeKeys,
    /// The policy in the file.
    pub(super) policy: Option<Policy>,
    /// The file with the policy.
    pub(super) policy_file: Option<Located<String>>,
    /// The worker files; `None` if they are found by convention.
    pub(super) worker_files: Option<Vec<Located<String>>>,
    /// The scripts outside of the folders in which they are found by convention.
    pub(super) scripts: Vec<Located<String>>,
    pub(super) takes_input: Option<bool>,
    /// The names of the items that are offered to clients.
    pub(super) exposed: Vec<String>,
    pub(super) store: Option<PathBuf>,
}

/// The key `entry`.
#[derive(Debug)]
pub(super) struct EntryKey {
    pub(super) name: Located<String>,
    /// Whether it is named as a function, which may be linked, rather than as an agent.
    pub(super) is_function: bool,
    pub(super) arguments: Option<Value>,
}

/// Reads the text of a `project.json`.
pub(super) fn read(path: &Path, text: &str) -> Result<Manifest, Vec<Fault>> {
    let mut reading = ManifestReader { path, manifest: Manifest::default(), faults: Vec::new() };
    if let Some(root) = json::read(text, &mut reading.faults) {
        reading.root(root);
    }
    if reading.faults.is_empty() { Ok(reading.manifest) } else { Err(reading.faults) }
}

struct ManifestReader<'a> {
    path: &'a Path,
    manifest: Manifest,
    faults: Vec<Fault>,
}

impl ManifestReader<'_> {
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
            "python_files" => {
                let files = self.reader("python_files").strings(node).map(|list| list.value);
                self.manifest.scripts = files.unwrap_or_default();
            }
            "allow_cli_input" => self.manifest.takes_input = self.reader("allow_cli_input").flag(&node),
            "generated_agents_dir" => self.store(node),
            "mcp" => self.mcp(node),
            _ => self.faults.push(unknown_key(key, "", &KEYS, DOCUMENTATION)),
        }
    }

    fn mcp(&mut self, node: Node) {
        let Some(entries) = self.reader("mcp").map(node) else { return };
        for (key, node) in entries {
            if key.name == "expose" {
                let names = self.reader("mcp.expose").strings(node).map(|list| list.value).unwrap_or_default();
                self.manifest.exposed = names.into_iter().map(|name| name.value).collect();
            } else {
                self.faults.push(unknown_key(&key, " in `mcp`", &["expose"], DOCUMENTATION));
            }
        }
    }

    fn version(&mut self, node: &Node) {
        match node.content {
            Content::Whole(1) => {}
            Content::Whole(version) => {
                self.fault(node.place, format!("unsupported `version` {version}: only version 1 is supported"));
            }
            _ => drop(self.reader("version").wrong::<()>("1", node)),
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
        self.manifest.entry = Some(EntryKey { name, is_function, arguments });
    }

    fn policy(&mut self, node: Node) {
        match node.content {
            Content::String(_) => self.manifest.policy_file = self.reader("policy").string(node),
            Content::Map(_) => self.manifest.policy = policy::from_node(&node, self.path, "policy", &mut self.faults),
            _ => drop(self.reader("policy").wrong::<()>("a map of rules, or the path of a file with one", &node)),
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
#[doc(hidden)]
#[must_use]
pub fn expanded(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}
