//! The agreements of the user, by project, in a file outside of all projects.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use llm_do_project::{Demand, Digest, Digests, Project, digest_key};
use serde::{Deserialize, Serialize};

use super::state;

/// The file with all agreements.
const FILE: &str = "agreed.json";

/// The subject of an agreement: the demands of the files in a folder, and these files.
#[derive(Clone, Debug, Default)]
pub(super) struct Agreement {
    /// The folder, the manifest or the worker file that was opened, without symbolic links.
    opened: PathBuf,
    /// The folder of the files.
    root: PathBuf,
    kept: StoredAgreement,
}

/// A stored agreement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct StoredAgreement {
    demands: BTreeSet<String>,
    files: Digests,
}

/// All agreements, by the opened path.
type Answers = BTreeMap<PathBuf, StoredAgreement>;

/// The relation of an agreement to the stored one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AgreementState {
    No,
    /// The user agreed to other files or demands; these files differ.
    Changed(Vec<String>),
    Yes,
}

impl Agreement {
    pub(super) fn of_project(project: &Project, demands: &[Demand]) -> Self {
        Self::new(project.opened(), project.root(), demands, project.digests().clone())
    }

    pub(super) fn new(opened: &Path, root: &Path, demands: &[Demand], files: Digests) -> Self {
        let demands = demands.iter().map(|demand| demand.text.clone()).collect();
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self { opened: canonical(opened), root: canonical(root), kept: StoredAgreement { demands, files } }
    }

    /// Returns the agreement with only these demands.
    pub(super) fn with_demands(&self, demands: &[Demand]) -> Self {
        Self::new(&self.opened, &self.root, demands, self.kept.files.clone())
    }

    /// Returns whether the user agreed to it before.
    pub(super) fn known(&self) -> AgreementState {
        let answers = self.file().and_then(|file| read(&file)).unwrap_or_default();
        let Some(kept) = answers.get(&self.opened) else { return AgreementState::No };
        if kept.files == self.kept.files && self.kept.demands.is_subset(&kept.demands) {
            return AgreementState::Yes;
        }
        let names: BTreeSet<_> = kept.files.keys().chain(self.kept.files.keys()).collect();
        let differs = |name: &&&String| kept.files.get(**name) != self.kept.files.get(**name);
        AgreementState::Changed(names.iter().filter(differs).map(|name| (*name).clone()).collect())
    }

    /// Stores the agreement.
    pub(super) fn keep(&self) -> io::Result<()> {
        let file = self.file()?;
        let mut answers = match read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Answers::new(),
            answers => answers?,
        };
        answers.insert(self.opened.clone(), self.kept.clone());
        state::replace(&file, &serde_json::to_string_pretty(&answers)?)
    }

    /// Stores that the user wrote a demand into one of the files, if it is otherwise unchanged.
    pub(super) fn keep_with(&self, file: &Path, before: &[u8], after: &[u8], demands: Vec<String>) -> io::Result<()> {
        let file = file.canonicalize()?;
        let name = file.strip_prefix(&self.root).map_err(io::Error::other)?;
        let name = digest_key(name);
        // Read again, since the user may have added rules meanwhile.
        let latest = self.file().and_then(|file| read(&file)).ok().and_then(|mut answers| answers.remove(&self.opened));
        let before = Some(Digest::new(before));
        let is_unchanged = |kept: &StoredAgreement| kept.files.get(&name) == before.as_ref();
        let found = latest.into_iter().chain([self.kept.clone()]).find(is_unchanged);
        let mut kept = found.ok_or_else(|| io::Error::other("the file changed meanwhile"))?;
        kept.files.insert(name, Digest::new(after));
        kept.demands.extend(demands);
        Self { kept, ..self.clone() }.keep()
    }

    /// Returns the file with all agreements; an error for a file in the project, which may contain forged agreements.
    fn file(&self) -> io::Result<PathBuf> {
        state::outside_of(&self.root, FILE)
    }
}

fn read(file: &Path) -> io::Result<Answers> {
    let at_file = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
    let text = std::fs::read_to_string(file).map_err(at_file)?;
    serde_json::from_str(&text).map_err(|error| at_file(error.into()))
}
