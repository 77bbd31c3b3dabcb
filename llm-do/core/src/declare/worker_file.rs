//! Worker files: workers in YAML and Markdown, read and written at run time.
//!
//! The macros read them with the same crate.

mod spec;
mod write;

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use llm_do_worker_file::{
    Content, Context, Fault, Key, Located, MAX_SIZE, McpServerItem, Node, Place, Reading, Skills, too_large,
};
use serde_json::{Map, Value};

use crate::base::error::fault_list;
use crate::base::open_file::read_only;
use crate::declare::worker_spec::WorkerSpec;

/// The file name extensions of worker files.
#[doc(hidden)]
pub const EXTENSIONS: [&str; 2] = ["worker", "agent"];

/// The tools and toolsets that a worker file names, or the keys of a tool file, each with its line.
#[doc(hidden)]
pub type ToolLines = Vec<(String, usize)>;

/// The line of a tool that no line names, such as the tools of a subagent without `tools`.
#[doc(hidden)]
pub const IMPLIED: usize = 0;

/// A worker file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct LoadedFile {
    path: PathBuf,
    tools: ToolLines,
    /// The tools that it removes, if the file has the format of another program.
    foreign: Option<Vec<String>>,
}

impl LoadedFile {
    #[doc(hidden)]
    #[must_use]
    pub fn new(path: PathBuf, tools: ToolLines) -> Self {
        Self { path, tools, foreign: None }
    }

    /// Marks a file in the format of another program, whose faults do not end the project; `without` are the tools that
    /// it removes.
    #[doc(hidden)]
    #[must_use]
    pub fn foreign(self, without: Vec<String>) -> Self {
        Self { foreign: Some(without), ..self }
    }

    /// Returns the tools that a file in the format of another program removes; `None` for a file of this program.
    pub(crate) fn taken_away(&self) -> Option<&[String]> {
        self.foreign.as_deref()
    }

    /// Returns the place where the file names a tool or toolset, or has a key.
    #[doc(hidden)]
    #[must_use]
    pub fn place_of(&self, tool: &str) -> String {
        match self.tools.iter().find(|(name, _)| name == tool) {
            Some((_, line)) if *line != IMPLIED => format!("{self}:{line}"),
            _ => self.to_string(),
        }
    }

    /// Returns whether it has a tool without naming it.
    #[doc(hidden)]
    #[must_use]
    pub fn is_implied(&self, tool: &str) -> bool {
        self.tools.iter().any(|(name, line)| name == tool && *line == IMPLIED)
    }
}

impl fmt::Display for LoadedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

/// All faults of one or more worker files.
///
/// `Debug` prints the same text as `Display`, since a test that fails with `?` prints it.
pub struct WorkerFileError {
    faults: Vec<String>,
}

impl WorkerFileError {
    /// Returns the faults, each with its file and line: `agents/editor.worker:3: ..`. A fault may have more lines with details.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

fault_list!(WorkerFileError, "worker files");

impl WorkerSpec {
    /// Reads a worker file; its format is described under [`worker`](macro@llm_do_macros::worker#a-worker-file-at-run-time).
    ///
    /// This needs the feature `worker-files`; without it, each file has a fault that names the feature.
    ///
    /// # Errors
    ///
    /// Returns every fault of the file, with its line.
    pub fn from_worker_file(path: impl AsRef<Path>) -> Result<Self, WorkerFileError> {
        let path = path.as_ref();
        open(path).map(|read| read.spec).map_err(|faults| WorkerFileError { faults })
    }

    /// Returns the worker as the text of a worker file.
    ///
    /// Reading the text returns an equal spec if the model, if any, has the form `provider:model`, with these exceptions:
    /// white space around the instructions and a blank description are dropped, line ends in the instructions become `\n`,
    /// and a type passed to [`output`](Self::output) is reduced to its schema.
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

/// Parses the text of a worker file.
impl FromStr for WorkerSpec {
    type Err = WorkerFileError;

    fn from_str(text: &str) -> Result<Self, WorkerFileError> {
        read(text).map(|read| read.spec).map_err(|faults| {
            let faults = faults.iter().map(|fault| format!("line {}: {}", fault.place.line, fault.message)).collect();
            WorkerFileError { faults }
        })
    }
}

/// Reads every worker file directly inside the folders, sorted by name; returns all faults of all files.
///
/// A missing folder is a fault, except for the `store`, which is created with its first file.
pub(crate) fn read_dirs(
    dirs: &[PathBuf],
    store: Option<&Path>,
) -> Result<Vec<(WorkerSpec, LoadedFile)>, WorkerFileError> {
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
                Ok(ReadWorker { spec, tools, .. }) => workers.push((spec, LoadedFile::new(path, tools))),
                Err(found) => faults.extend(found),
            }
        }
    }
    if faults.is_empty() { Ok(workers) } else { Err(WorkerFileError { faults }) }
}

/// Returns the absolute path of a folder that may be missing; links in the existing part of the path are resolved.
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
        let has_extension = path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known));
        if has_extension && !path.is_dir() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn open(path: &Path) -> Result<ReadWorker, Vec<String>> {
    let text = text_of(path).map_err(|error| vec![format!("{}: cannot be read: {error}", path.display())])?;
    read(&text).map_err(|faults| faults.iter().map(|fault| fault.in_file(path.display())).collect())
}

/// Returns the text of a file, or an error if it exceeds the maximum size of a worker file.
#[doc(hidden)]
pub fn text_of(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    read_only(path)?.take(MAX_SIZE as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_SIZE {
        return Err(io::Error::other(too_large()));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not valid UTF-8"))
}

/// A worker file that was read.
#[doc(hidden)]
#[derive(Debug)]
pub struct ReadWorker {
    #[doc(hidden)]
    pub spec: WorkerSpec,
    /// The tools that it names.
    #[doc(hidden)]
    pub tools: ToolLines,
    #[doc(hidden)]
    pub skills: Option<Skills>,
    #[doc(hidden)]
    pub context: Option<Located<Context>>,
    #[doc(hidden)]
    pub servers: Vec<McpServerItem>,
    /// The Python class for its arguments, which cannot be read.
    #[doc(hidden)]
    pub unread_class: Option<Located<String>>,
}

/// Parses a worker file that does not belong to a project. The faults are sorted by position.
fn read(text: &str) -> Result<ReadWorker, Vec<Fault>> {
    let mut reading = llm_do_worker_file::read(text);
    reading.faults.extend(reading.file.keys.outside_project());
    checked(reading)
}

/// Returns the worker that a file describes, or its faults, sorted by position.
#[doc(hidden)]
pub fn checked(reading: Reading) -> Result<ReadWorker, Vec<Fault>> {
    let Reading { file, mut faults } = reading;
    faults.extend(file.missing());
    faults.sort_by_key(|fault| fault.place);
    if !faults.is_empty() {
        return Err(faults);
    }
    let keys = file.keys.given.clone();
    let read = spec::from_file(file);
    let faults: Vec<_> = read.spec.faults().into_iter().map(|message| at_key(message, &keys)).collect();
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

/// Returns a fault at the position of the key that its message begins with: schemas are checked here, not by the reader.
fn at_key(message: String, keys: &[Key]) -> Fault {
    let key = keys.iter().find(|key| message.starts_with(&format!("`{}`", key.name)));
    Fault::new(key.map_or(Place::line(1), |key| key.place), message)
}

/// Converts a YAML value to JSON.
#[doc(hidden)]
pub fn json(node: Node) -> Value {
    match node.content {
        Content::Invalid | Content::Null => Value::Null,
        Content::Flag(flag) => Value::Bool(flag),
        Content::Whole(whole) => {
            u64::try_from(whole).map(Value::from).or_else(|_| i64::try_from(whole).map(Value::from)).unwrap_or_default()
        }
        Content::Number(number) => Value::from(number),
        Content::String(text) => Value::String(text),
        Content::List(items) => items.into_iter().map(json).collect(),
        Content::Map(entries) => {
            Value::Object(entries.into_iter().map(|(key, value)| (key.name, json(value))).collect::<Map<_, _>>())
        }
    }
}

#[cfg(test)]
mod tests;
