//! The configuration files: their paths and their contents.

use std::io;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};
use llm_do_core::declare::worker_file::text_of;
use llm_do_project::Folder;
use llm_do_worker_file::{Content, Fault, Key, Node, Place, Reader, read_yaml, unknown_key};

use super::settings::{SETTINGS, Setting, Settings};
use super::source::{Given, Source};

/// The variable with the path of the user's file; if empty, the user has none.
pub(super) const VARIABLE: &str = "LLM_DO_CONFIG";
const NAME: &str = "config.yaml";
/// The reference to the documentation of the keys.
const DOCUMENTATION: &str = "see \"Configuration\" in the documentation of `llm_do::cli::main`";

/// A file with settings.
#[derive(Clone, Debug)]
pub(super) struct ConfigFile {
    pub(super) path: PathBuf,
    kind: Kind,
}

/// The owner of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    User,
    /// The user's file, named by the variable: it must exist.
    Named,
    Project,
}

impl ConfigFile {
    /// Returns the user's file, unless the variable is empty or the home folder is unknown.
    pub(super) fn of_user() -> Option<Self> {
        match std::env::var_os(VARIABLE) {
            Some(path) if path.is_empty() => None,
            Some(path) => Some(Self { path: path.into(), kind: Kind::Named }),
            None => {
                let base = choose_base_strategy().ok()?;
                Some(Self { path: base.config_dir().join("llm-do").join(NAME), kind: Kind::User })
            }
        }
    }

    /// Returns the file of the project in a folder, or of a file in it.
    pub(super) fn of_project(project: Option<&Path>) -> Self {
        let folder = match project {
            Some(path) if path.is_file() => path.parent().unwrap_or(path),
            Some(path) => path,
            None => Path::new(""),
        };
        Self { path: folder.join(".llm-do").join(NAME), kind: Kind::Project }
    }

    pub(super) fn kind(&self) -> &'static str {
        if self.kind == Kind::Project { "project" } else { "user" }
    }

    /// Reads the file into the settings, and returns its faults. A missing file is a fault only if it was named.
    pub(super) fn read_into(&self, settings: &mut Settings) -> Vec<String> {
        let text = match self.text() {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.kind != Kind::Named => return Vec::new(),
            Err(error) => return vec![format!("{}: cannot be read: {error}", self.path.display())],
        };
        let mut faults = Vec::new();
        if let Some(root) = read_yaml(&text, 1, &mut faults) {
            self.root(root, settings, &mut faults);
        }
        faults.sort_by_key(|fault| fault.place);
        faults.iter().map(|fault| fault.in_file(self.path.display())).collect()
    }

    /// Returns the text of the file; the file of a project must be in the project's folder.
    fn text(&self) -> io::Result<String> {
        if self.kind != Kind::Project {
            return text_of(&self.path);
        }
        let root = self.path.parent().and_then(Path::parent).unwrap_or(Path::new(""));
        Folder::open(root)?.text(&self.path)
    }

    fn root(&self, root: Node, settings: &mut Settings, faults: &mut Vec<Fault>) {
        let entries = match root.content {
            Content::Map(entries) => entries,
            Content::Null => Vec::new(),
            other => {
                let message = format!("expected a map of settings, found {}", other.kind());
                return faults.push(Fault::new(root.place, message));
            }
        };
        for (key, node) in entries {
            match SETTINGS.iter().find(|setting| setting.key == key.name) {
                None => faults.push(unknown_key(&key, "", &SETTINGS.map(|setting| setting.key), DOCUMENTATION)),
                Some(setting) if setting.is_of_user && self.kind == Kind::Project => {
                    faults.push(not_of_project(&key));
                }
                Some(setting) => self.value(setting, node, settings, faults),
            }
        }
    }

    fn value(&self, setting: &Setting, node: Node, settings: &mut Settings, faults: &mut Vec<Fault>) {
        let place = node.place;
        let Some(given) = given(setting.key, node, faults) else { return };
        let folder = self.path.parent().unwrap_or(Path::new(""));
        if let Err(message) = (setting.slot)(settings).parse(&given, folder, self.source(place)) {
            faults.push(Fault::new(place, format!("`{}`: {message}", setting.key)));
        }
    }

    fn source(&self, place: Place) -> Source {
        let path = self.path.clone();
        if self.kind == Kind::Project { Source::Project(path, place.line) } else { Source::User(path, place.line) }
    }
}

/// Returns the value of a key as text, or as a list of texts.
fn given(key: &str, node: Node, faults: &mut Vec<Fault>) -> Option<Given> {
    let mut reader = Reader { key, faults };
    match node.content {
        Content::Whole(number) => Some(Given::Text(number.to_string())),
        Content::Number(number) => Some(Given::Text(number.to_string())),
        Content::Flag(flag) => Some(Given::Text(flag.to_string())),
        Content::List(_) => {
            let list = reader.nonempty_strings(node)?;
            Some(Given::List(list.value.into_iter().map(|text| text.value).collect()))
        }
        _ => reader.string(node).map(|text| Given::Text(text.value)),
    }
}

fn not_of_project(key: &Key) -> Fault {
    let message = format!(
        "`{}` cannot be set in the file of a project, which may only make settings stricter: set it in the user's \
         file, or as a variable",
        key.name
    );
    Fault::new(key.place, message)
}
