//! The programs in the folder of a project that its servers run, with their digests: one that changed is not started.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use llm_do_worker_file::{McpServer, McpTransport};
use walkdir::WalkDir;

use super::server::texts;
#[cfg(feature = "mcp")]
use super::variable::expanded;
#[cfg(feature = "mcp")]
use crate::app::project::digest::Digest;
use crate::app::project::digest::Digests;
use crate::app::project::folder::{Folder, name};

/// Files that programs such as `npm`, `make` or `uv` read from the current folder without an argument.
const UNNAMED: [&str; 13] = [
    "package.json",
    "Makefile",
    "makefile",
    "justfile",
    "Justfile",
    "Taskfile.yml",
    "Cargo.toml",
    "pyproject.toml",
    "deno.json",
    "docker-compose.yml",
    "compose.yml",
    "compose.yaml",
    "Dockerfile",
];
/// What interpreters add to the path of a program, as `node NAME` does.
const PATH_ENDINGS: [&str; 6] = ["", ".py", "/__main__.py", ".js", ".mjs", "/index.js"];
/// What `python -m NAME` adds to the name of a module.
const MODULE_ENDINGS: [&str; 3] = ["", ".py", "/__main__.py"];
/// Programs whose arguments are programs.
const INTERPRETERS: [&str; 14] =
    ["bash", "bun", "deno", "java", "lua", "node", "npx", "perl", "php", "python", "ruby", "sh", "tsx", "uv"];
/// The extensions of programs. Other files are data, which a server may write itself.
const PROGRAMS: [&str; 16] =
    ["bat", "cjs", "cmd", "exe", "jar", "js", "lua", "mjs", "mts", "php", "pl", "ps1", "py", "rb", "sh", "ts"];
/// Folders that are not searched, since programs write them themselves.
const LEFT_OUT: [&str; 2] = [".git", "__pycache__"];
/// The maximum number of words in the definition of one server that are tried as paths.
const MAX_WORDS: usize = 1000;
/// The maximum number of programs of one server.
const MAX_FILES: usize = 5000;

/// Finds the programs of the folder that a server runs by the words of its definition, with their digests.
///
/// # Errors
///
/// Returns the file that cannot be compared, and why.
pub(super) fn of_server(server: &McpServer, root: &Path, folder: &Folder) -> Result<Digests, String> {
    if !matches!(server.transport, McpTransport::Command { .. }) {
        return Ok(Digests::new());
    }
    let texts: Vec<_> = texts(&server.transport).into_iter().map(resolved).collect();
    let unnamed = UNNAMED.into_iter().map(PathBuf::from);
    // What is missing, or outside, does not belong to the project.
    let inside = |path: PathBuf| folder.inside(&root.join(path)).ok();
    let is_file = |path: &PathBuf| folder.canonical().join(path).is_file();
    let named = of_any_name(&texts).map(PathBuf::from).chain(unnamed);
    let mut files: BTreeSet<_> = named.filter_map(inside).filter(is_file).collect();
    let words: BTreeSet<&str> = texts.iter().flat_map(|text| words(text)).take(MAX_WORDS).collect();
    for path in words.into_iter().flat_map(paths_of).filter_map(inside) {
        add_programs(folder, &path, &mut files)?;
    }
    digests(folder, &files)
}

/// Compares programs with their digests; returns the path of the first that changed.
#[cfg(feature = "mcp")]
pub(super) fn changed(folder: &Folder, known: &Digests) -> Option<String> {
    let is_same = |name: &str, digest: &Digest| folder.digest(Path::new(name)).is_ok_and(|now| now == *digest);
    known.iter().find(|(name, digest)| !is_same(name, digest)).map(|(name, _)| name.clone())
}

/// Replaces the variables of a text; one with a missing variable stays as it is, since such a server is not started.
#[cfg(feature = "mcp")]
fn resolved(text: &str) -> String {
    expanded(text).unwrap_or_else(|_| text.to_owned())
}

/// Without the feature `mcp`, no server is started.
#[cfg(not(feature = "mcp"))]
fn resolved(text: &str) -> String {
    text.to_owned()
}

/// Returns a text and its parts, such as the path in `--config=PATH` or in `sh -c "python3 PATH"`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|char: char| char.is_whitespace() || "=:;,'\"&|()<>`@".contains(char));
    [text].into_iter().chain(parts).filter(|word| !word.is_empty())
}

/// Returns the paths that a word may name.
fn paths_of(word: &str) -> impl Iterator<Item = PathBuf> {
    let module = word.replace('.', "/");
    let modules = MODULE_ENDINGS.into_iter().map(move |ending| PathBuf::from(format!("{module}{ending}")));
    let paths = PATH_ENDINGS.into_iter().map(move |ending| PathBuf::from(format!("{word}{ending}")));
    paths.chain(modules).filter(|path| !path.as_os_str().is_empty())
}

/// Returns the texts that name programs without an extension too: the program itself, and the arguments of an interpreter.
fn of_any_name(texts: &[String]) -> impl Iterator<Item = &String> {
    let program = texts.first().map(Path::new).and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    // Without a version, as in `python3.12`.
    let name = program.trim_end_matches(|char: char| !char.is_alphabetic());
    let is_interpreter = INTERPRETERS.contains(&name);
    texts.iter().take(if is_interpreter { usize::MAX } else { 1 })
}

/// Returns whether a file is a program, by its name or its permissions.
fn is_program(path: &Path) -> bool {
    let has_ending = path.extension().is_some_and(|end| PROGRAMS.iter().any(|known| end.eq_ignore_ascii_case(known)));
    has_ending || is_executable(path)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}

/// Adds a program, or the programs below a folder other than the root, given by its path from the root.
fn add_programs(folder: &Folder, inside: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    if inside.as_os_str().is_empty() {
        return Ok(());
    }
    let path = folder.canonical().join(inside);
    if path.is_file() {
        files.extend(is_program(&path).then(|| inside.to_owned()));
        return Ok(());
    }
    let is_searched = |entry: &walkdir::DirEntry| !LEFT_OUT.iter().any(|name| entry.file_name() == *name);
    for entry in WalkDir::new(&path).into_iter().filter_entry(is_searched) {
        let entry = entry.map_err(|error| format!("`{}`: {error}", name(inside)))?;
        if entry.file_type().is_file()
            && is_program(entry.path())
            && let Ok(found) = entry.path().strip_prefix(folder.canonical())
        {
            files.insert(found.to_owned());
        }
        if files.len() > MAX_FILES {
            let text = "has more files than are compared: name the program, and not a folder";
            return Err(format!("`{}` {text}: the limit is {MAX_FILES}", name(inside)));
        }
    }
    Ok(())
}

fn digests(folder: &Folder, files: &BTreeSet<PathBuf>) -> Result<Digests, String> {
    let digest = |file: &PathBuf| {
        let digest = folder.digest(file).map_err(|error| format!("`{}`: {error}", name(file)))?;
        Ok((name(file), digest))
    };
    files.iter().map(digest).collect()
}
