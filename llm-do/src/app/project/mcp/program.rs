//! The programs in the folder of a project that its servers start, and whether they are still those that were read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use llm_do_worker_file::{McpServer, McpTransport};
use walkdir::WalkDir;

#[cfg(feature = "mcp")]
use super::variable::expanded;
#[cfg(feature = "mcp")]
use crate::app::project::digest::Digest;
use crate::app::project::digest::Digests;
use crate::app::project::folder::{Folder, name};

/// Files that programs such as `npm`, `make` or `uv` take from their folder, unnamed.
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
/// What a word may be completed with, as `python -m NAME` and `node NAME` do.
const ENDINGS: [&str; 6] = ["", ".py", "/__main__.py", ".js", ".mjs", "/index.js"];
/// Programs whose arguments are programs.
const INTERPRETERS: [&str; 14] =
    ["bash", "bun", "deno", "java", "lua", "node", "npx", "perl", "php", "python", "ruby", "sh", "tsx", "uv"];
/// How the names of programs end. Other files are data, which a server may write itself.
const PROGRAMS: [&str; 16] =
    ["bat", "cjs", "cmd", "exe", "jar", "js", "lua", "mjs", "mts", "php", "pl", "ps1", "py", "rb", "sh", "ts"];
/// Folders in the named ones that programs write themselves.
const LEFT_OUT: [&str; 2] = [".git", "__pycache__"];
/// How many parts of the words of one server are looked for.
const MAX_WORDS: usize = 1000;
/// How many files of named folders are compared.
const MAX_FILES: usize = 5000;

/// Finds the files of the folder that a server runs or reads by the words of its definition, with their digests.
///
/// # Errors
///
/// Returns the file that cannot be compared, and why.
pub(super) fn of_server(server: &McpServer, root: &Path, folder: &Folder) -> Result<Digests, String> {
    let McpTransport::Command { program, arguments, variables } = &server.transport else {
        return Ok(Digests::new());
    };
    let texts = [program].into_iter().chain(arguments).chain(variables.iter().map(|(_, value)| value));
    let texts: Vec<_> = texts.map(|text| resolved(text)).collect();
    let words: BTreeSet<&str> = texts.iter().flat_map(|text| words(text)).take(MAX_WORDS).collect();
    let named = words.iter().flat_map(|word| completed(word));
    let direct = direct(&texts).map(PathBuf::from);
    let unnamed = UNNAMED.into_iter().map(PathBuf::from).filter(|path| root.join(path).is_file());
    let mut files = BTreeSet::new();
    for path in direct.chain(unnamed) {
        if let Some(inside) =
            folder.inside(&root.join(path)).ok().filter(|path| folder.canonical().join(path).is_file())
        {
            files.insert(inside);
        }
    }
    for path in named {
        // What is missing, or outside, is not the project's.
        let Ok(inside) = folder.inside(&root.join(path)) else { continue };
        below(folder, &inside, &mut files)?;
    }
    digests(folder, &files)
}

#[cfg(feature = "mcp")]
/// Compares programs with their digests; returns what changed.
pub(super) fn changed(folder: &Folder, known: &Digests) -> Option<String> {
    let is_same = |name: &str, digest: &Digest| folder.digest(Path::new(name)).is_ok_and(|now| now == *digest);
    known.iter().find(|(name, digest)| !is_same(name, digest)).map(|(name, _)| name.clone())
}

#[cfg(feature = "mcp")]
fn resolved(text: &str) -> String {
    expanded(text).unwrap_or_else(|_| text.to_owned())
}

/// Without the feature `mcp`, no server is started.
#[cfg(not(feature = "mcp"))]
fn resolved(text: &str) -> String {
    text.to_owned()
}

/// Returns a word and its parts, such as the path in `--config=PATH` or in `sh -c "python3 PATH"`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|char: char| char.is_whitespace() || "=:;,'\"&|()<>`@".contains(char));
    [text].into_iter().chain(parts).filter(|word| !word.is_empty())
}

/// Returns the paths that a word may stand for.
fn completed(word: &str) -> impl Iterator<Item = PathBuf> {
    let module = word.replace('.', "/");
    let modules = ENDINGS.into_iter().take(3).map(move |ending| PathBuf::from(format!("{module}{ending}")));
    let paths = ENDINGS.into_iter().map(move |ending| PathBuf::from(format!("{word}{ending}")));
    paths.chain(modules).filter(|path| !path.as_os_str().is_empty())
}

/// Returns the program, and the arguments of an interpreter.
fn direct(texts: &[String]) -> impl Iterator<Item = &String> {
    let program = texts.first().map(Path::new).and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let is_interpreter =
        INTERPRETERS.iter().any(|name| program.trim_end_matches(|char: char| !char.is_alphabetic()) == *name);
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

/// Adds a program, or the programs below a folder other than the project's.
fn below(folder: &Folder, inside: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    let path = folder.canonical().join(inside);
    if inside.as_os_str().is_empty() {
        return Ok(());
    }
    if path.is_file() {
        files.extend(is_program(&path).then(|| inside.to_owned()));
        return Ok(());
    }
    let is_kept = |entry: &walkdir::DirEntry| !LEFT_OUT.iter().any(|name| entry.file_name() == *name);
    for entry in WalkDir::new(&path).into_iter().filter_entry(is_kept) {
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
