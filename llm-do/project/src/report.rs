//! The faults and warnings of a project's files, each with its file and line.

use std::fmt::Display;
use std::path::Path;
use std::rc::Rc;

use llm_do_core::plane::registry::{LeftOut, why_left_out};
use llm_do_worker_file::{Fault, Key, Place, did_you_mean};

use super::folder::{Folder, Texts};

/// The faults and warnings found while a project is read.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) faults: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// The folder of the project, which contains all of its files; `None` for a file of the user.
    pub(super) folder: Option<Rc<Folder>>,
    /// The faulty items that the project omits.
    pub(super) left_out: Vec<LeftOut>,
    /// The faults of the current item, if it belongs to another program.
    foreign: Option<Vec<String>>,
    /// The size of the faults and warnings of files, in bytes.
    size: usize,
    /// The number of own and of foreign servers.
    servers: [usize; 2],
}

/// The maximum number of faults of one omitted item.
const MAX_FOREIGN: usize = 20;
/// The maximum number of faults with a suggestion, since each compares all names.
const MAX_SUGGESTIONS: usize = 100;
/// The maximum size of all faults and warnings, in bytes.
const MAX_SIZE: usize = 64 << 20;
/// The maximum number of names in one list.
const MAX_NAMES: usize = 20;

impl Report {
    /// Reads an item of another program: its faults are warnings, and it is omitted if it has any.
    ///
    /// # Errors
    ///
    /// Returns the first fault.
    pub(super) fn foreign<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Result<T, String> {
        self.foreign = Some(Vec::new());
        let value = read(self);
        let faults = self.foreign.take().unwrap_or_default();
        let more = faults.len().saturating_sub(MAX_FOREIGN);
        let Some(first) = faults.first().cloned() else { return Ok(value) };
        faults.into_iter().take(MAX_FOREIGN).for_each(|text| self.add(text, |report| &mut report.warnings));
        if more > 0 {
            self.warnings.push(format!("{more} more faults of the same kind: {first}"));
        }
        Err(first)
    }

    /// Omits an item of another program that has one of these names, with a warning.
    pub(super) fn leave_out(&mut self, names: impl IntoIterator<Item = String>, reason: String) {
        self.left_out.push(LeftOut { names: names.into_iter().collect(), reason, is_fault: true });
    }

    /// Omits an item that its file disables; returns `None`.
    pub(super) fn switch_off<T>(&mut self, names: impl IntoIterator<Item = String>, place: impl Display) -> Option<T> {
        let reason = format!("{place}: it is disabled");
        self.left_out.push(LeftOut { names: names.into_iter().collect(), reason, is_fault: false });
        None
    }

    /// Omits a file that defines an item a second time; the name refers to the first.
    pub(super) fn leave_out_duplicate(&mut self, path: &Path, message: String) {
        if let Err(reason) = self.foreign(|report| report.fault(path, Place::line(1), message)) {
            self.leave_out([], reason);
        }
    }

    /// Returns the reason that the item with this name was omitted, as the end of a message.
    pub(super) fn why_left_out(&self, name: &str) -> Option<String> {
        why_left_out(&self.left_out, name)
    }

    /// Adds the faults of a file.
    pub(super) fn faults(&mut self, path: &Path, faults: impl IntoIterator<Item = Fault>) {
        let mut faults: Vec<_> = faults.into_iter().collect();
        faults.sort_by_key(|fault| fault.place);
        for fault in faults {
            self.fail(format_args!("{}:{}", shown(path).display(), fault.place.line), fault.message);
        }
    }

    /// Adds the fault of a file at a place.
    pub(super) fn fault(&mut self, path: &Path, place: Place, message: impl Into<String>) {
        self.faults(path, [Fault::new(place, message)]);
    }

    /// Adds a fault. If the current item belongs to another program, it is a reason to omit the item.
    pub(super) fn fail(&mut self, place: impl Display, message: impl Display) {
        match &mut self.foreign {
            Some(faults) => faults.push(format!("{place}: left out: {message}")),
            None => self.add(format!("{place}: {message}"), |report| &mut report.faults),
        }
    }

    /// Adds a warning about a file.
    pub(super) fn warning(&mut self, path: &Path, place: Place, message: impl Into<String>) {
        let text = Fault::new(place, message).in_file(shown(path).display());
        self.add(text, |report| &mut report.warnings);
    }

    /// Adds a fault or a warning, within the total limit.
    fn add(&mut self, text: String, list: impl Fn(&mut Self) -> &mut Vec<String>) {
        let size = self.size + text.len();
        if size <= MAX_SIZE {
            list(self).push(text);
        } else if self.size <= MAX_SIZE {
            list(self).push(format!("more faults and warnings are left out: the limit is {MAX_SIZE} bytes"));
        }
        self.size = size;
    }

    /// Adds a warning about a key without effect: a key of other programs, or an unknown one.
    pub(super) fn ignored_key(&mut self, path: &Path, key: &Key, ignored: &[&str], known: &[&str]) {
        let name = key.name.as_str();
        let message = if ignored.contains(&name) {
            format!("`{name}` has no effect here")
        } else {
            format!("unknown key `{name}` has no effect here{}", did_you_mean(name, known.iter().copied()))
        };
        self.warning(path, key.place, message);
    }

    /// Returns the most similar known name, or the list of known names; empty without known names.
    pub(super) fn hint(&self, name: &str, known: &[&str], listed_as: &str) -> String {
        if known.is_empty() {
            return String::new();
        }
        let near = match self.faults.len() {
            ..MAX_SUGGESTIONS => did_you_mean(name, known.iter().copied()),
            _ => String::new(),
        };
        if !near.is_empty() {
            return near;
        }
        let shown: Vec<_> = known.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
        let more =
            if known.len() > MAX_NAMES { format!(" and {} more", known.len() - MAX_NAMES) } else { String::new() };
        format!("; {listed_as}{}{more}", shown.join(", "))
    }

    /// Adds a warning about a file whose extension differs from a known one only in case.
    pub(super) fn misspelled(&mut self, path: &Path, extensions: &[&str]) {
        let Some(extension) = path.extension().and_then(|end| end.to_str()) else { return };
        let near = extensions.iter().find(|known| known.eq_ignore_ascii_case(extension) && **known != extension);
        if let Some(known) = near {
            let message = format!("left out: the extension must be `{known}`, in lowercase");
            self.warnings.push(format!("{}: {message}", shown(path).display()));
        }
    }

    /// Adds a file that cannot be read.
    fn unreadable(&mut self, path: &Path, error: &std::io::Error) {
        self.fail(shown(path).display(), format_args!("cannot be read: {error}"));
    }

    /// Returns whether a path is inside the project's folder; otherwise it is omitted with a warning.
    pub(super) fn is_inside(&mut self, path: &Path) -> bool {
        let Some(Err(error)) = self.folder.as_ref().map(|folder| folder.inside(path)) else { return true };
        let text = if error.kind() == std::io::ErrorKind::Other {
            "it leads outside of the project's folder".to_owned()
        } else {
            error.to_string()
        };
        self.warnings.push(format!("{}: left out: {text}", shown(path).display()));
        false
    }

    /// Returns the text of a file, or reports an error. In a project, no path and no link may lead outside.
    pub(super) fn text_of(&mut self, path: &Path) -> Option<String> {
        self.read(path).map_err(|error| self.unreadable(path, &error)).ok()
    }

    /// Counts a text that is added to the instructions of a worker; returns whether the total is within the limit, or
    /// reports that it is not.
    pub(super) fn count_text(&mut self, path: &Path, size: usize) -> bool {
        let counted = self.folder.as_ref().map_or(Ok(()), |folder| folder.count_text(size, self.texts()));
        let is_counted = counted.is_ok();
        if let Err(error) = counted {
            self.fail(shown(path).display(), error);
        }
        is_counted
    }

    /// Opens a folder, or reports an error.
    pub(super) fn folder_at(&mut self, path: &Path) -> Option<cap_std::fs::Dir> {
        let opened = self.folder.as_ref()?.open_folder(path);
        opened.map_err(|error| self.unreadable(path, &error)).ok()
    }

    /// Returns the text of a file.
    pub(super) fn read(&self, path: &Path) -> std::io::Result<String> {
        match &self.folder {
            Some(folder) => folder.text_of(path, self.texts()),
            None => llm_do_core::declare::worker_file::text_of(path),
        }
    }

    /// Returns the text of a file that was learned, which may be longer than a worker file.
    #[cfg(feature = "learn")]
    pub(super) fn learned_text(&self, path: &Path) -> std::io::Result<String> {
        match &self.folder {
            Some(folder) => folder.text_up_to(path, self.texts(), llm_do_learn::MAX_FILE),
            None => llm_do_core::declare::worker_file::text_of(path),
        }
    }

    /// Returns whether a file of another program is being read.
    pub(super) fn is_external(&self) -> bool {
        self.foreign.is_some()
    }

    /// Counts a server; returns the number of servers of this kind so far.
    pub(super) fn count_server(&mut self) -> usize {
        let kind = self.texts() as usize;
        self.servers[kind] += 1;
        self.servers[kind]
    }

    fn texts(&self) -> Texts {
        if self.foreign.is_some() { Texts::Foreign } else { Texts::Own }
    }
}

/// Returns a path without the `./` of the current folder.
pub(super) fn shown(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}
