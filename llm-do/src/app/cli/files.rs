//! The files of a result: models made them, or tools attached them.

use std::fs::{File, create_dir_all};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use llm_do_providers::Attachment;

use super::Failure;

/// How many files of one name a folder may have.
const OF_ONE_NAME: usize = 1_000;

/// The longest name without its extension, in bytes: file systems take 255 of both, and there may be a number as well.
const LONGEST: usize = 200;
/// The longest extension, in bytes with its dot; what is longer is none.
const LONGEST_ENDING: usize = 20;

/// Writes the files into `folder`, under names that are free there; without a folder, says that they are not kept.
///
/// One that cannot be written keeps no other from being written.
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
    if !files.is_empty() {
        create_dir_all(folder).map_err(|error| fault(folder, &error))?;
    }
    let mut first = Ok(());
    for file in files {
        match write(file, folder) {
            Ok(path) => _ = writeln!(told, "wrote {}", path.display()),
            Err(failure) => first = first.and(Err(failure)),
        }
    }
    first
}

fn write(file: &Attachment, folder: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join(name(file));
    let (path, mut free) = free(&path).map_err(|error| fault(&path, &error))?;
    free.write_all(file.data()).map_err(|error| fault(&path, &error))?;
    Ok(path)
}

fn fault(path: &Path, error: &io::Error) -> Failure {
    Failure::Error(format!("cannot write {}: {error}", path.display()))
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
    let plain: String = last.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    match plain.trim_matches(['.', ' ']) {
        "" => format!("file.{}", ending(file.media_type())),
        name => cut(name),
    }
}

/// Returns a name that is short enough for a file system, with the extension that it has.
fn cut(name: &str) -> String {
    let dot = name.rfind('.').filter(|dot| name.len() - dot <= LONGEST_ENDING).unwrap_or(name.len());
    let (stem, ending) = name.split_at(dot);
    let end = (0..=stem.len().min(LONGEST)).rev().find(|end| stem.is_char_boundary(*end)).unwrap_or_default();
    format!("{}{ending}", stem[..end].trim_end_matches(['.', ' ']))
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
    use std::fs::{create_dir, read, read_dir, remove_dir_all, write};

    use llm_do_providers::Attachment;

    use super::{Failure, OF_ONE_NAME, keep, name};

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
    }

    #[test]
    fn a_long_name_is_cut_between_characters_and_keeps_its_extension() {
        for (given, expected) in [
            (format!("{}.png", "é".repeat(300)), format!("{}.png", "é".repeat(100))),
            (format!("a{}.tar.gz", "é".repeat(300)), format!("a{}.gz", "é".repeat(99))),
            ("漢".repeat(100), "漢".repeat(66)),
            (format!("a.{}", "漢".repeat(100)), format!("a.{}", "漢".repeat(66))),
            (format!("{} .{}.png", "a".repeat(198), "b".repeat(9)), format!("{}.png", "a".repeat(198))),
            (format!("{}.png", "漢".repeat(66)), format!("{}.png", "漢".repeat(66))),
        ] {
            assert_eq!(named(&given), expected);
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_keeps_no_other_from_being_written() {
        let folder = std::env::temp_dir().join(format!("llm-do-{}", uuid::Uuid::now_v7()));
        create_dir(&folder).unwrap();
        let file = |name: &str| Attachment::new("text/plain", name).named(name);
        // All names that it may have are taken.
        write(folder.join("taken.txt"), "").unwrap();
        for number in 2..=OF_ONE_NAME {
            write(folder.join(format!("taken-{number}.txt")), "").unwrap();
        }
        let long = format!("{}.txt", "漢".repeat(100));
        let files = [file("a.txt"), file("taken.txt"), file(&long), file(&long), file("b.txt")];
        let Err(Failure::Error(text)) = keep(&files, Some(&folder)) else { panic!("all are written") };
        assert!(text.contains("cannot write") && text.contains("taken.txt"), "{text}");

        let cut = "漢".repeat(66);
        for (name, content) in [
            ("a.txt", "a.txt"),
            ("b.txt", "b.txt"),
            (&format!("{cut}.txt"), long.as_str()),
            (&format!("{cut}-2.txt"), long.as_str()),
        ] {
            assert_eq!(read(folder.join(name)).unwrap(), content.as_bytes(), "{name}");
        }
        assert_eq!(read_dir(&folder).unwrap().count(), OF_ONE_NAME + 4);
        remove_dir_all(&folder).unwrap();
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
