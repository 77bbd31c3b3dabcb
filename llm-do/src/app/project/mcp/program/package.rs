//! Commands that run a published package or an image, and no file of the project.

use std::path::Path;

use serde_json::Value;

use crate::app::project::folder::Folder;

const MANIFEST: &str = "package.json";
/// Keys of a `package.json` by which `npx` runs programs of the project.
const OWN_PROGRAMS: [&str; 3] = ["bin", "directories", "workspaces"];
/// The maximum size of a `package.json` that is read, in bytes.
const MAX_MANIFEST: u64 = 1 << 20;

/// Returns whether a command runs a published program by a known form; its other arguments go to that program.
pub(super) fn is_published(program: &str, arguments: &[String], folder: &Folder) -> bool {
    let mut words = arguments.iter().map(String::as_str);
    match program {
        "uvx" => words.next().and_then(package).is_some(),
        "npx" => {
            let name = words.find(|word| !["-y", "--yes"].contains(word)).and_then(package);
            name.is_some_and(|name| !has_own(folder, name))
        }
        "docker" => words.next() == Some("run") && is_image(words),
        _ => false,
    }
}

/// Returns the name in `NAME`, `@SCOPE/NAME` or one of these with a version; `None` for anything else, such as a path.
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

/// Returns whether the project may have a package itself, which `npx` runs in place of the published one.
fn has_own(folder: &Folder, package: &str) -> bool {
    let root = folder.canonical();
    let exists = |path: &Path| root.join(path).symlink_metadata().is_ok();
    let modules = Path::new("node_modules");
    let command = package.rsplit('/').next().unwrap_or(package);
    let is_installed = exists(&modules.join(package)) || exists(&modules.join(".bin").join(command));
    is_installed || exists(Path::new(".npmrc")) || (exists(Path::new(MANIFEST)) && has_programs(&root.join(MANIFEST)))
}

/// Returns whether a `package.json` names programs of the project, or cannot be read.
fn has_programs(manifest: &Path) -> bool {
    let is_small = manifest.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_MANIFEST);
    let text = Some(manifest).filter(|_| is_small).and_then(|path| std::fs::read(path).ok());
    match text.and_then(|text| serde_json::from_slice(&text).ok()) {
        Some(Value::Object(keys)) => OWN_PROGRAMS.iter().any(|key| keys.contains_key(*key)),
        _ => true,
    }
}

/// Returns whether the words after `docker run` are an image with options that give it no file of the project.
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
