//! Writes the files of a result, from models or tools.

use std::fs::{File, create_dir_all};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use llm_do_core::base::clip::clip;
use llm_do_providers::Attachment;

use super::CommandError;

/// The maximum number of files with the same base name in a folder.
const MAX_SAME_NAME: usize = 1_000;

/// The maximum length of a name without its extension, in bytes. File systems allow 255 in total, with extension and
/// number.
const MAX_STEM: usize = 200;
/// The maximum length of an extension, in bytes, with its dot; a longer extension counts as part of the name.
const MAX_EXTENSION: usize = 20;

/// Writes the files into `folder` under unused names; without a folder, reports that they are not written.
///
/// A failed file does not stop the next files; the first error is returned.
pub(super) fn write_all(files: &[Attachment], folder: Option<&Path>) -> Result<(), CommandError> {
    // Write errors are ignored below: standard error may be closed.
    let mut stderr = io::stderr();
    let Some(folder) = folder else {
        for file in files {
            let (name, bytes) = (name(file), file.data().len());
            let _ =
                writeln!(stderr, "not written: {name}, {bytes} bytes; use --files DIR to write the files of a result");
        }
        return Ok(());
    };
    if !files.is_empty() {
        create_dir_all(folder).map_err(|error| write_error(folder, &error))?;
    }
    let mut first = Ok(());
    for file in files {
        match write(file, folder) {
            Ok(path) => _ = writeln!(stderr, "wrote {}", path.display()),
            Err(failure) => first = first.and(Err(failure)),
        }
    }
    first
}

fn write(file: &Attachment, folder: &Path) -> Result<PathBuf, CommandError> {
    let path = folder.join(name(file));
    let (path, mut created) = create_unused(&path).map_err(|error| write_error(&path, &error))?;
    created.write_all(file.data()).map_err(|error| write_error(&path, &error))?;
    Ok(path)
}

fn write_error(path: &Path, error: &io::Error) -> CommandError {
    CommandError::Error(format!("cannot write {}: {error}", path.display()))
}

/// Creates the file, with a number in its name if the name exists: existing files are kept.
fn create_unused(path: &Path) -> io::Result<(PathBuf, File)> {
    for number in 1..=MAX_SAME_NAME {
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
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    let dot = if extension.is_empty() { "" } else { "." };
    path.with_file_name(format!("{stem}-{number}{dot}{extension}"))
}

/// Returns a file name without path separators or leading dots, since the name may come from a model.
fn name(file: &Attachment) -> String {
    let last = file.name().and_then(|name| name.rsplit(['/', '\\']).next()).unwrap_or_default();
    let is_plain = |c: char| c.is_alphanumeric() || "._- ".contains(c);
    let plain: String = last.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    match plain.trim_matches(['.', ' ']) {
        "" => format!("file.{}", extension(file.media_type())),
        name => shorten(name),
    }
}

/// Shortens a name to a length that file systems support, and keeps its extension.
fn shorten(name: &str) -> String {
    let dot = name.rfind('.').filter(|dot| name.len() - dot <= MAX_EXTENSION).unwrap_or(name.len());
    let (stem, extension) = name.split_at(dot);
    format!("{}{extension}", clip(stem, MAX_STEM).trim_end_matches(['.', ' ']))
}

/// Returns the usual extension of a media type.
fn extension(media_type: &str) -> &str {
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

    use super::{CommandError, MAX_SAME_NAME, name, write_all};

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
    fn a_long_name_is_shortened_between_characters_and_keeps_its_extension() {
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
    fn the_other_files_are_written_if_one_cannot_be() {
        let folder = std::env::temp_dir().join(format!("llm-do-{}", uuid::Uuid::now_v7()));
        create_dir(&folder).unwrap();
        let file = |name: &str| Attachment::new("text/plain", name).named(name);
        // All names for this file exist.
        write(folder.join("taken.txt"), "").unwrap();
        for number in 2..=MAX_SAME_NAME {
            write(folder.join(format!("taken-{number}.txt")), "").unwrap();
        }
        let long = format!("{}.txt", "漢".repeat(100));
        let files = [file("a.txt"), file("taken.txt"), file(&long), file(&long), file("b.txt")];
        let Err(CommandError::Error(text)) = write_all(&files, Some(&folder)) else { panic!("all files were written") };
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
        assert_eq!(read_dir(&folder).unwrap().count(), MAX_SAME_NAME + 4);
        remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_without_a_name_has_the_extension_of_its_media_type() {
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
