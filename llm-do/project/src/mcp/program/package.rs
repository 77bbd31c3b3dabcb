//! Commands that run a published package or an image, and no file of the project.

use std::io::ErrorKind;
use std::path::Path;

use crate::folder::Folder;

/// The settings of npm, which the user may have in the home folder.
const SETTINGS: &str = ".npmrc";
/// Files that npm searches in the folder of a project and in all its parents; because of each, `npx` may run another
/// program than the published one.
const OF_NPM: [&str; 3] = ["node_modules", SETTINGS, "package.json"];
/// Packages that run the files of a project.
const RUNNERS: [&str; 9] = ["bun", "deno", "node", "nodemon", "python", "ts-node", "ts-node-dev", "tsx", "vite-node"];

/// Returns whether a command runs a published program by a known form; its remaining arguments are for that program.
pub(super) fn is_published(program: &str, arguments: &[String], folder: &Folder) -> bool {
    let mut words = arguments.iter().map(String::as_str);
    match program {
        "docker" => words.next() == Some("run") && is_image(words),
        "npx" => {
            let name = words.find(|word| !["-y", "--yes"].contains(word)).and_then(package);
            name.is_some_and(|name| runs_itself(name, words, folder)) && !has_own(folder)
        }
        "uvx" => words.next().and_then(package).is_some_and(|name| runs_itself(name, words, folder)),
        _ => false,
    }
}

/// Returns whether a package runs no file of the project that its arguments name.
fn runs_itself<'a>(package: &str, mut arguments: impl Iterator<Item = &'a str>, folder: &Folder) -> bool {
    let names_program = |word: &str| word.split('=').any(|part| folder.has_program(part));
    !RUNNERS.contains(&package) && !arguments.any(names_program)
}

/// Returns the name in `NAME` or `@SCOPE/NAME`, with or without a version; `None` for any other form, such as a path.
fn package(word: &str) -> Option<&str> {
    let is_name = |name: &str| {
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
        !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
    };
    let is_version = |version: &str| {
        let is_number = !version.is_empty() && version.chars().all(|char| char.is_ascii_digit() || char == '.');
        version == "latest" || is_number
    };
    let (scope, rest) = word
        .strip_prefix('@')
        .map_or(Some((None, word)), |scoped| scoped.split_once('/').map(|(scope, rest)| (Some(scope), rest)))?;
    let (name, version) = rest.split_once('@').unwrap_or((rest, "latest"));
    let is_package = scope.is_none_or(is_name) && is_name(name) && is_version(version);
    let length = word.len() - rest.len() + name.len();
    is_package.then(|| &word[..length])
}

/// Returns whether `npx` may run another program than the published one.
///
/// It searches the argument, with its version and scope, and reads settings, in each folder up to the root of the file
/// system. So the name of the package is not compared.
fn has_own(folder: &Folder) -> bool {
    let root = folder.canonical();
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let exists = |path: &Path| path.symlink_metadata().err().is_none_or(|error| error.kind() != ErrorKind::NotFound);
    root.ancestors().any(|above| {
        let is_home = above != root && home.as_deref() == Some(above);
        OF_NPM.iter().any(|name| !(is_home && *name == SETTINGS) && exists(&above.join(name)))
    })
}

/// Returns whether the words after `docker run` are an image with options that do not share a file of the project with
/// it.
fn is_image<'a>(mut words: impl Iterator<Item = &'a str>) -> bool {
    while let Some(word) = words.next() {
        match word {
            "-i" | "--interactive" | "--init" | "--rm" => {}
            "-e" | "--env" => drop(words.next()),
            image => return !image.starts_with('-'),
        }
    }
    false
}
