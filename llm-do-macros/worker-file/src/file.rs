//! A whole worker file.

use crate::keys::{self, Keys};
use crate::{Content, Fault, Located, Node, Place, bounds, front_matter, yaml};

/// A parsed worker file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerFile {
    /// The line `---` that opens the front matter; `None` if it contains no readable keys.
    pub front_matter: Option<Place>,
    /// The keys of the front matter.
    pub keys: Keys,
    /// The text below the front matter, without surrounding white space and with `\n` as line end.
    pub instructions: Option<Located<String>>,
}

/// The result of [`read`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The file without its invalid values.
    pub file: WorkerFile,
    /// All faults, in the order of the file.
    pub faults: Vec<Fault>,
}

impl From<Fault> for Reading {
    fn from(fault: Fault) -> Self {
        Self { file: WorkerFile::default(), faults: vec![fault] }
    }
}

/// Reads the text of a worker file.
///
/// The text may have [`MAX_SIZE`](crate::MAX_SIZE) bytes. Its YAML may nest 100 lists and maps, and hold 100,000 values and
/// 16 MiB of text once each alias is replaced by its target.
#[must_use]
pub fn read(text: &str) -> Reading {
    if text.len() > bounds::MAX_SIZE {
        return Fault::new(Place::line(1), bounds::too_large()).into();
    }
    let parts = match front_matter::split(text) {
        Ok(parts) => parts,
        Err(fault) => return fault.into(),
    };
    let mut faults = Vec::new();
    match yaml::read(parts.yaml, parts.yaml_line, &mut faults) {
        Some(root) => read_keys(root, Place::line(parts.yaml_line - 1), parts.instructions, faults),
        None => {
            Reading { file: WorkerFile { instructions: parts.instructions, ..WorkerFile::default() }, faults }.sorted()
        }
    }
}

/// Parses the keys of a worker from the map `root`, for formats that contain more; adds to the faults so far.
#[must_use]
pub fn read_keys(root: Node, place: Place, instructions: Option<Located<String>>, mut faults: Vec<Fault>) -> Reading {
    let has_keys = matches!(root.content, Content::Map(_) | Content::Null);
    let front_matter = has_keys.then_some(place);
    let keys = keys::read(root, &mut faults);
    Reading { file: WorkerFile { front_matter, keys, instructions }, faults }.sorted()
}

impl Reading {
    fn sorted(mut self) -> Self {
        self.faults.sort_by_key(|fault| fault.place);
        self
    }
}

impl WorkerFile {
    /// Returns faults for a missing name, and for a missing description and instructions.
    ///
    /// The attribute does not call this, since its function provides both.
    #[must_use]
    pub fn missing(&self) -> Vec<Fault> {
        let Some(place) = self.front_matter else { return Vec::new() };
        let mut faults = Vec::new();
        if self.keys.place_of("name").is_none() {
            faults.push(Fault::new(place, "missing `name`: add one, such as `name: reviewer`"));
        }
        if self.keys.place_of("description").is_none() && self.instructions.is_none() {
            let message = "missing instructions: write them below the front matter, or add a `description`";
            faults.push(Fault::new(place, message));
        }
        faults
    }
}
