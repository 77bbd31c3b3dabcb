//! Worker files: a worker in YAML and Markdown, read and written while the program runs.

mod bounds;
mod front_matter;
mod keys;
mod server_side;
mod value;
mod write;
mod yaml;

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::base::open_file::read_only;
use crate::declare::worker_spec::WorkerSpec;

/// How the names of worker files end.
const EXTENSIONS: [&str; 2] = ["worker", "agent"];

/// What is wrong with worker files: every fault, not only the first.
#[derive(Debug)]
pub struct WorkerFileError {
    faults: Vec<String>,
}

impl WorkerFileError {
    /// Returns the faults, one sentence each, with the file and the line: `agents/editor.worker:3: ..`.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

impl fmt::Display for WorkerFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker files have {} fault(s)", self.faults.len())?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl std::error::Error for WorkerFileError {}

/// What is wrong at a line.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    /// The line, from 1.
    line: usize,
    message: String,
}

impl Fault {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }

    fn at(&self, path: &Path) -> String {
        format!("{}:{}: {}", path.display(), self.line, self.message)
    }
}

impl WorkerSpec {
    /// Reads a worker file; [`worker`](macro@crate::worker#a-worker-file-at-run-time) says what is in one.
    ///
    /// # Errors
    ///
    /// Returns every fault of the file, with its line.
    pub fn from_worker_file(path: impl AsRef<Path>) -> Result<Self, WorkerFileError> {
        let path = path.as_ref();
        open(path).map_err(|faults| WorkerFileError { faults })
    }

    /// Writes the worker as a worker file, which reads back as the same if its model, where it has one, is `provider:model`.
    ///
    /// But for white space around its instructions, line ends other than `\n` in them, and a blank description; and a
    /// type that was given to [`output`](Self::output) is then its schema alone.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::worker::WorkerSpec;
    ///
    /// let spec = WorkerSpec::new("editor", "You are a careful editor.").toolsets(["read_file"]).max_turns(3);
    /// let text = spec.to_worker_file();
    /// assert_eq!(
    ///     text,
    ///     "---\nname: \"editor\"\ntoolsets: [\"read_file\"]\nmax_turns: 3\n---\n\nYou are a careful editor.\n",
    /// );
    /// assert_eq!(text.parse::<WorkerSpec>()?.to_worker_file(), text);
    /// # Ok::<_, llm_do::worker::WorkerFileError>(())
    /// ```
    #[must_use]
    pub fn to_worker_file(&self) -> String {
        write::text(self)
    }
}

/// Reads the text of a worker file.
impl FromStr for WorkerSpec {
    type Err = WorkerFileError;

    fn from_str(text: &str) -> Result<Self, WorkerFileError> {
        read(text).map_err(|faults| {
            let faults = faults.iter().map(|fault| format!("line {}: {}", fault.line, fault.message)).collect();
            WorkerFileError { faults }
        })
    }
}

/// Reads every worker file directly inside the folders, sorted by name; returns all faults of all of them.
///
/// A missing folder is a fault, but for the `store`, which is made with its first file.
pub(crate) fn read_dirs(dirs: &[PathBuf], store: Option<&Path>) -> Result<Vec<(WorkerSpec, PathBuf)>, WorkerFileError> {
    let (mut workers, mut faults) = (Vec::new(), Vec::new());
    for dir in dirs {
        let paths = files(dir).unwrap_or_else(|error| {
            let is_missing = error.kind() == io::ErrorKind::NotFound;
            if !(is_missing && store.is_some_and(|store| resolved(store) == resolved(dir))) {
                faults.push(format!("the folder of worker files `{}` cannot be read: {error}", dir.display()));
            }
            Vec::new()
        });
        for path in paths {
            match open(&path) {
                Ok(spec) => workers.push((spec, path)),
                Err(found) => faults.extend(found),
            }
        }
    }
    if faults.is_empty() { Ok(workers) } else { Err(WorkerFileError { faults }) }
}

/// Returns the absolute path of a folder that may be missing; links are followed as far as there is something.
fn resolved(dir: &Path) -> PathBuf {
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let found = absolute.ancestors().find_map(|above| Some((above.canonicalize().ok()?, above)));
    let below = |(found, above): (PathBuf, &Path)| absolute.strip_prefix(above).map(|rest| found.join(rest)).ok();
    found.and_then(below).unwrap_or_else(|| absolute.clone())
}

/// Lists the worker files of a folder.
fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let is_named_so = path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known));
        if is_named_so && !path.is_dir() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn open(path: &Path) -> Result<WorkerSpec, Vec<String>> {
    let text = text_of(path).map_err(|error| vec![format!("{}: not read: {error}", path.display())])?;
    read(&text).map_err(|faults| faults.iter().map(|fault| fault.at(path)).collect())
}

/// Returns the text of a file, unless it is larger than a worker file may be.
fn text_of(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    read_only(path)?.take(bounds::MAX_SIZE as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bounds::MAX_SIZE {
        return Err(io::Error::other(too_large()));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

fn too_large() -> String {
    format!("a worker file has at most {} bytes; make it smaller", bounds::MAX_SIZE)
}

/// Reads a worker file; the faults are sorted by line.
fn read(text: &str) -> Result<WorkerSpec, Vec<Fault>> {
    if text.len() > bounds::MAX_SIZE {
        return Err(vec![Fault::new(1, too_large())]);
    }
    let parts = front_matter::split(text).map_err(|fault| vec![fault])?;
    let entries = yaml::entries(parts.yaml, parts.yaml_line).map_err(|fault| vec![fault])?;
    let mut faults = Vec::new();
    let lines: Vec<_> = entries.iter().map(|entry| (entry.name.clone(), entry.line)).collect();
    let spec = keys::read(entries, parts.instructions, &mut faults);
    let line_of = |key: &str| lines.iter().find(|(name, _)| name == key).map(|(_, line)| *line);
    if line_of("name").is_none() {
        faults.push(Fault::new(parts.yaml_line - 1, "no `name`; a worker needs one, such as `name: reviewer`"));
    }
    if line_of("description").is_none() && spec.instructions.is_empty() {
        let message = "neither a `description` nor, below the front matter, instructions; a worker needs one of them";
        faults.push(Fault::new(parts.yaml_line - 1, message));
    }
    if faults.is_empty() {
        faults.extend(spec.faults().into_iter().map(|fault| {
            let line = lines.iter().find(|(name, _)| fault.starts_with(&format!("`{name}`"))).map(|(_, line)| *line);
            Fault::new(line.or_else(|| line_of("name")).unwrap_or(parts.yaml_line), fault)
        }));
    }
    faults.sort_by_key(|fault| fault.line);
    if faults.is_empty() { Ok(spec) } else { Err(faults) }
}

#[cfg(test)]
mod tests;
