//! The long results of a run, or of a chat, as a whole: models get their beginning and end, and read the rest.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex};

use crate::base::mutex::IgnorePoison;
use crate::observe::journal::digest_of_text;

/// How many bytes of results are in memory; further ones are in a file.
const MAX_IN_MEMORY: usize = 8 << 20;
/// How many bytes of results are in the file.
const MAX_IN_FILE: u64 = 1 << 30;

/// Results by their digests, each kept once.
#[derive(Debug, Default)]
pub(crate) struct KeptResults(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    places: BTreeMap<String, Place>,
    in_memory: usize,
    /// Made for the first result that does not fit into memory.
    file: Option<File>,
}

/// Where a result is.
#[derive(Clone, Debug)]
enum Place {
    Memory(Arc<str>),
    File {
        start: u64,
        bytes: usize,
    },
    /// Nowhere, since the file could not be written.
    Lost(Arc<str>),
}

impl KeptResults {
    /// Keeps a result; returns its handle.
    pub(crate) fn keep(&self, text: &str) -> String {
        let handle = digest_of_text(text);
        let mut kept = self.0.lock().ignore_poison();
        let is_kept = kept.places.contains_key(&handle);
        if !is_kept {
            let place = kept.place(text);
            kept.places.insert(handle.clone(), place);
        }
        handle
    }

    /// Returns a result.
    ///
    /// # Errors
    ///
    /// Returns what to do if the handle is unknown, or if the result cannot be read.
    pub(crate) fn get(&self, handle: &str) -> Result<Arc<str>, String> {
        let mut kept = self.0.lock().ignore_poison();
        let unread = |fault: &str| format!("the result `{handle}` could not be kept: {fault}; call its tool again");
        match kept.places.get(handle).cloned() {
            Some(Place::Memory(text)) => Ok(text),
            Some(Place::File { start, bytes }) => kept.read(start, bytes).map_err(|error| unread(&error.to_string())),
            Some(Place::Lost(fault)) => Err(unread(&fault)),
            None => Err(format!(
                "no result `{handle}` is kept here: a handle is in the result that was shortened; if that is of an earlier session, \
                 call its tool again"
            )),
        }
    }
}

impl Kept {
    /// Puts a text into memory, or else into the file.
    fn place(&mut self, text: &str) -> Place {
        if self.in_memory + text.len() <= MAX_IN_MEMORY {
            self.in_memory += text.len();
            return Place::Memory(text.into());
        }
        match self.write(text) {
            Ok(start) => Place::File { start, bytes: text.len() },
            Err(error) => Place::Lost(error.to_string().into()),
        }
    }

    /// Appends a text to the file; returns where it begins.
    fn write(&mut self, text: &str) -> io::Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(unnamed_file()?),
        };
        let start = file.seek(SeekFrom::End(0))?;
        if start + u64::try_from(text.len()).unwrap_or(u64::MAX >> 1) > MAX_IN_FILE {
            return Err(io::Error::other(format!("a run keeps at most {} MiB of long results", MAX_IN_FILE >> 20)));
        }
        file.write_all(text.as_bytes())?;
        Ok(start)
    }

    fn read(&mut self, start: u64, bytes: usize) -> io::Result<Arc<str>> {
        let file = self.file.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        file.seek(SeekFrom::Start(start))?;
        let mut text = vec![0; bytes];
        file.read_exact(&mut text)?;
        String::from_utf8(text).map(Arc::from).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// Creates a file that only this process can read, and that is gone once it is closed.
fn unnamed_file() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("llm-do-results-{}", uuid::Uuid::now_v7()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    #[cfg(windows)]
    {
        /// Deletes the file once its last handle is closed.
        const DELETE_ON_CLOSE: u32 = 0x0400_0000;
        std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, DELETE_ON_CLOSE);
    }
    let file = options.open(&path)?;
    #[cfg(unix)]
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::{KeptResults, MAX_IN_MEMORY};

    #[test]
    fn results_beyond_the_memory_are_read_from_a_file() {
        let kept = KeptResults::default();
        let texts: Vec<_> = ["a", "é", "c"].into_iter().map(|text| text.repeat(MAX_IN_MEMORY / 3 * 2)).collect();
        let handles: Vec<_> = texts.iter().map(|text| kept.keep(text)).collect();
        for (text, handle) in texts.iter().zip(&handles) {
            assert!(*kept.get(handle).unwrap() == **text, "{handle}");
        }
        assert_eq!(kept.keep(&texts[1]), handles[1]);
        assert_eq!(kept.0.lock().unwrap().in_memory, texts[0].len());
    }

    #[test]
    fn an_unknown_handle_is_an_error_with_what_to_do() {
        let fault = KeptResults::default().get("ab").unwrap_err();
        assert!(fault.starts_with("no result `ab` is kept here") && fault.ends_with("call its tool again"), "{fault}");
    }
}
