//! Chats on disk: one JSON file for each, in the user's folder for state.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use llm_do_core::session::runtime::ChatState;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{CommandError, note};
use crate::args::ChatOptions;
use crate::state;

/// The number of characters of an id.
const ID: usize = 8;
/// The version of the format; files without a version have the first.
const VERSION: u32 = 1;

/// A saved chat.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Saved {
    #[serde(default = "first_version")]
    version: u32,
    pub(super) id: String,
    /// The folder in which it was started.
    pub(super) folder: PathBuf,
    /// The worker or entry.
    pub(super) name: String,
    /// The first line of the first message.
    pub(super) title: String,
    pub(super) updated: Timestamp,
    pub(super) state: ChatState,
    /// Whether a file of the chat exists.
    #[serde(skip)]
    pub(super) is_stored: bool,
}

/// The folder of the chats.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    /// The current folder.
    here: PathBuf,
}

impl Store {
    /// Opens the given folder, or that of the user.
    pub(super) fn open(given: Option<&PathBuf>) -> Result<Self, CommandError> {
        let folder = given.cloned().or_else(|| state::path("chats")).ok_or_else(|| {
            let text = "the home folder is unknown; set `LLM_DO_CHATS` to a folder for chats";
            CommandError::Error(text.to_owned())
        })?;
        let here = std::env::current_dir().map_err(CommandError::from_error)?;
        Ok(Self { folder, here })
    }

    /// Returns a chat without messages.
    pub(super) fn new_chat(&self, name: &str) -> Saved {
        Saved {
            version: VERSION,
            id: new_id(),
            folder: self.here.clone(),
            name: name.to_owned(),
            title: String::new(),
            updated: Timestamp::now(),
            state: ChatState::new(),
            is_stored: false,
        }
    }

    /// Returns the chat that the options continue, if any.
    pub(super) fn chosen(&self, options: &ChatOptions) -> Result<Option<Saved>, CommandError> {
        let chosen = match &options.resume {
            Some(id) => self.by_id(id)?,
            None if options.continues || options.fork => self.latest()?,
            None => return Ok(None),
        };
        if options.fork {
            return Ok(Some(Saved { title: chosen.title, state: chosen.state, ..self.new_chat(&chosen.name) }));
        }
        Ok(Some(chosen))
    }

    fn by_id(&self, id: &str) -> Result<Saved, CommandError> {
        let mut found: Vec<_> = self.files()?.into_iter().filter(|(name, _)| name.starts_with(id)).collect();
        match (found.pop(), found.len()) {
            (Some((_, path)), 0) => read(&path).map_err(CommandError::Error),
            (Some(_), _) => Err(CommandError::Usage(format!("several chats begin with `{id}`: give more letters"))),
            (None, _) => Err(CommandError::Usage(format!("no chat `{id}`: `chat --resume` lists the chats"))),
        }
    }

    fn latest(&self) -> Result<Saved, CommandError> {
        let none = || CommandError::Usage("no chat began in this folder: start one without --continue".to_owned());
        self.here()?.into_iter().next().ok_or_else(none)
    }

    /// Returns the chats of this folder as lines, the latest first.
    pub(super) fn list(&self) -> Result<String, CommandError> {
        let lines: Vec<_> = self
            .here()?
            .into_iter()
            .map(|saved| {
                let time = saved.updated.strftime("%Y-%m-%d %H:%M");
                format!("{}  {time}  {}  {}", saved.id, saved.name, saved.title)
            })
            .collect();
        Ok(if lines.is_empty() { "no chat began in this folder".to_owned() } else { lines.join("\n") })
    }

    /// Returns the chats of this folder, the latest first.
    fn here(&self) -> Result<Vec<Saved>, CommandError> {
        let mut chats: Vec<_> = self.all()?.into_iter().filter(|saved| saved.folder == self.here).collect();
        chats.sort_by_key(|saved| std::cmp::Reverse(saved.updated));
        Ok(chats)
    }

    /// Returns all chats; an unreadable chat is omitted with a warning.
    fn all(&self) -> Result<Vec<Saved>, CommandError> {
        let mut chats = Vec::new();
        for (_, path) in self.files()? {
            match read(&path) {
                Ok(saved) => chats.push(saved),
                Err(error) => note(&format!("warning: {error}")),
            }
        }
        Ok(chats)
    }

    /// Returns the id and the path of each chat.
    fn files(&self) -> Result<Vec<(String, PathBuf)>, CommandError> {
        let fault = |error: io::Error| {
            CommandError::Error(format!("cannot read the chats in `{}`: {error}", self.folder.display()))
        };
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(fault)?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(fault)?.path();
            let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if path.extension().is_some_and(|end| end == "json") {
                files.push((id, path));
            }
        }
        Ok(files)
    }

    /// Writes a chat atomically; only the user may read it.
    ///
    /// If another program has continued the chat meanwhile, its file is not replaced, and this chat gets a new id.
    pub(super) fn save(&self, saved: &mut Saved) -> io::Result<()> {
        state::create_folder(&self.folder)?;
        let is_continued = || read(&self.path(&saved.id)).is_ok_and(|other| other.updated != saved.updated);
        if saved.is_stored && is_continued() {
            let id = new_id();
            note(&format!("chat {} was continued elsewhere: from here on, this one is chat {id}", saved.id));
            saved.id = id;
        }
        saved.updated = Timestamp::now();
        state::replace(&self.path(&saved.id), &serde_json::to_string(saved)?)?;
        saved.is_stored = true;
        Ok(())
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

/// Returns a new id: the last part of a UUID, which is random.
fn new_id() -> String {
    let id = Uuid::now_v7().simple().to_string();
    id[id.len() - ID..].to_owned()
}

fn first_version() -> u32 {
    1
}

/// The version of a file, whose format may be unknown.
#[derive(Deserialize)]
struct Versioned {
    #[serde(default = "first_version")]
    version: u32,
}

/// Reads a chat; an error names the file.
fn read(path: &Path) -> Result<Saved, String> {
    let unreadable = |error: &dyn std::fmt::Display| format!("cannot read the chat in {}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| unreadable(&error))?;
    let Versioned { version } = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    if version > VERSION {
        return Err(unreadable(&"a newer version of this program wrote it; update this program"));
    }
    let saved: Saved = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    Ok(Saved { is_stored: true, ..saved })
}
