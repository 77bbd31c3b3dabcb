//! The files of a result: models made them, or tools attached them.

use std::fs::{File, create_dir_all};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use llm_do_providers::Attachment;

use super::Failure;

/// How many files of one name a folder may have.
const OF_ONE_NAME: usize = 1_000;

/// The longest name, in characters.
const LONGEST: usize = 100;

/// Writes the files into `folder`, under names that are free there; without a folder, says that they are not kept.
pub(super) fn keep(files: &[Attachment], folder: Option<&Path>) -> Result<(), Failure> {
    // Nobody is there to be told if standard error is gone.
    let mut told = io::stderr();
    let Some(folder) = folder else {
        for file in files {
            let (name, bytes) = (name(file), file.data().len());
            let _ = writeln!(told, "not kept: {name}, {bytes} bytes; give --files DIR to have the files of a result");
        }
        return Ok(());
    };
    let fault = |path: &Path, error| Failure::Error(format!("cannot write {}: {error}", path.display()));
    if !files.is_empty() {
        create_dir_all(folder).map_err(|error| fault(folder, error))?;
    }
    for file in files {
        let path = folder.join(name(file));
        let (path, mut free) = free(&path).map_err(|error| fault(&path, error))?;
        free.write_all(file.data()).map_err(|error| fault(&path, error))?;
        let _ = writeln!(told, "wrote {}", path.display());
    }
    Ok(())
}

/// Creates the file, or one with a number in its name: what is there stays.
fn free(path: &Path) -> io::Result<(PathBuf, File)> {
    for number in 1..=OF_ONE_NAME {
        let path = if number == 1 { path.to_owned() } else { numbered(path, number) };
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, ending) = (part(path.file_stem()), part(path.extension()));
    let dot = if ending.is_empty() { "" } else { "." };
    path.with_file_name(format!("{stem}-{number}{dot}{ending}"))
}

/// Returns a name that stays in its folder and is not hidden, whatever the file is called: models call files, too.
fn name(file: &Attachment) -> String {
    let last = file.name().and_then(|name| name.rsplit(['/', '\\']).next()).unwrap_or_default();
    let is_plain = |c: char| c.is_alphanumeric() || "._- ".contains(c);
    let plain: String = last.chars().map(|c| if is_plain(c) { c } else { '_' }).take(LONGEST).collect();
    match plain.trim_matches(['.', ' ']) {
        "" => format!("file.{}", ending(file.media_type())),
        name => name.to_owned(),
    }
}

/// Returns what files of a media type usually end with.
fn ending(media_type: &str) -> &str {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    match essence.split_once('/').map_or("", |(_, subtype)| subtype.split('+').next().unwrap_or_default()) {
        "plain" => "txt",
        "jpeg" => "jpg",
        "mpeg" => "mp3",
        subtype if !subtype.is_empty() && subtype.len() < 6 && subtype.chars().all(char::is_alphanumeric) => subtype,
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use llm_do_providers::Attachment;

    use super::name;

    fn named(file: &str) -> String {
        name(&Attachment::new("image/png", "").named(file))
    }

    #[test]
    fn a_name_stays_in_its_folder() {
        for (given, expected) in [
            ("a.png", "a.png"),
            ("../../a.png", "a.png"),
            ("C:\\a b.png", "a b.png"),
            (".bashrc", "bashrc"),
            ("a\u{1b}[2J\n.png", "a__2J_.png"),
            ("..", "file.png"),
            ("", "file.png"),
            ("pictures/", "file.png"),
        ] {
            assert_eq!(named(given), expected, "{given:?}");
        }
        assert_eq!(named(&"é".repeat(300)).chars().count(), 100);
    }

    #[test]
    fn a_file_without_a_name_ends_as_its_media_type_says() {
        for (media_type, expected) in [
            ("image/png", "file.png"),
            ("image/svg+xml", "file.svg"),
            ("image/JPEG; q=1", "file.JPEG"),
            ("image/jpeg", "file.jpg"),
            ("text/plain; charset=utf-8", "file.txt"),
            ("application/octet-stream", "file.bin"),
            ("../..", "file.bin"),
            ("", "file.bin"),
        ] {
            assert_eq!(name(&Attachment::new(media_type, "")), expected, "{media_type}");
        }
    }
}
