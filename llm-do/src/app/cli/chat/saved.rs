//! Chats on disk: one JSON file for each, in the user's folder for state.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use uuid::Uuid;

use super::CommandError;
use crate::app::cli::args::ChatOptions;
use crate::session::runtime::ChatState;

/// The number of letters of an id.
const ID: usize = 8;

/// A chat, as it is saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) id: String,
    /// The folder in which it began.
    pub(super) folder: PathBuf,
    /// The worker or entry.
    pub(super) name: String,
    /// The first line of the first message.
    pub(super) title: String,
    pub(super) updated: Timestamp,
    pub(super) state: ChatState,
    /// Whether there is a file of it.
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
        let own = || {
            let base = choose_base_strategy().ok()?;
            Some(base.state_dir().unwrap_or_else(|| base.data_dir()).join("llm-do").join("chats"))
        };
        let folder = given.cloned().or_else(own).ok_or_else(|| {
            let text = "the home folder is unknown; set `LLM_DO_CHATS` to a folder for chats";
            CommandError::Error(text.to_owned())
        })?;
        let here = std::env::current_dir().map_err(CommandError::from_error)?;
        Ok(Self { folder, here })
    }

    /// Returns a chat without messages.
    pub(super) fn new_chat(&self, name: &str) -> Saved {
        let id = Uuid::now_v7().simple().to_string();
        Saved {
            // The last part is random.
            id: id[id.len() - ID..].to_owned(),
            folder: self.here.clone(),
            name: name.to_owned(),
            title: String::new(),
            updated: Timestamp::now(),
            state: ChatState::new(),
            is_stored: false,
        }
    }

    /// Returns the chat that the options continue, if they do.
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
        let mut found: Vec<_> = self.all()?.into_iter().filter(|saved| saved.id.starts_with(id)).collect();
        match (found.pop(), found.len()) {
            (Some(saved), 0) => Ok(saved),
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

    fn all(&self) -> Result<Vec<Saved>, CommandError> {
        let fault = |path: &PathBuf, error: io::Error| {
            CommandError::Error(format!("cannot read the chats in `{}`: {error}", path.display()))
        };
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| fault(&self.folder, error))?,
        };
        let mut chats = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| fault(&self.folder, error))?.path();
            if path.extension().is_some_and(|end| end == "json") {
                let text = fs::read_to_string(&path).map_err(|error| fault(&path, error))?;
                let read: Saved = serde_json::from_str(&text).map_err(|error| fault(&path, error.into()))?;
                chats.push(Saved { is_stored: true, ..read });
            }
        }
        Ok(chats)
    }

    /// Writes a chat completely or not at all; only the user may read it.
    pub(super) fn save(&self, saved: &mut Saved) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        #[cfg(unix)]
        fs::set_permissions(&self.folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        saved.updated = Timestamp::now();
        let mut file = NamedTempFile::new_in(&self.folder)?;
        file.write_all(serde_json::to_string(saved)?.as_bytes())?;
        file.persist(self.folder.join(format!("{}.json", saved.id))).map_err(|error| error.error)?;
        saved.is_stored = true;
        Ok(())
    }
}
