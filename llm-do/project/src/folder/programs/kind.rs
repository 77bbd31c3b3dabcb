//! Recognizes programs by their names, their permissions and their first bytes.

use std::io::Read;
use std::path::Path;

use llm_do_core::base::open_file::read_only;

/// The extensions of programs. Other files are data, which a server may write itself.
const EXTENSIONS: [&str; 50] = [
    "ahk", "awk", "bash", "bat", "c", "cc", "cjs", "clj", "cmd", "cpp", "cs", "cts", "dll", "ex", "exe", "exs", "fish",
    "go", "groovy", "h", "hs", "jar", "java", "jl", "js", "jsx", "kt", "kts", "ksh", "lua", "mjs", "mk", "mts", "node",
    "php", "pl", "ps1", "py", "pyw", "pyz", "rb", "rs", "scala", "sh", "so", "swift", "tcl", "ts", "tsx", "zsh",
];
/// The names of files that programs such as `npm`, `make` or `uv` read without an argument.
const NAMES: [&str; 28] = [
    ".env",
    ".envrc",
    ".npmrc",
    ".python-version",
    "Cargo.toml",
    "Dockerfile",
    "GNUmakefile",
    "Gemfile",
    "Justfile",
    "Makefile",
    "Pipfile",
    "Procfile",
    "Rakefile",
    "Taskfile.yaml",
    "Taskfile.yml",
    "compose.yaml",
    "compose.yml",
    "deno.json",
    "deno.jsonc",
    "docker-compose.yaml",
    "docker-compose.yml",
    "go.mod",
    "justfile",
    "makefile",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "uv.toml",
];

/// The first bytes of files that a system can run directly: a script with an interpreter, or a binary.
const MAGIC: [&[u8]; 8] = [
    b"#!",
    b"MZ",
    b"\x7fELF",
    b"\xca\xfe\xba\xbe",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
];
/// The number of bytes in which [`MAGIC`] is searched.
const START: u64 = 4;

/// Returns whether a file is a program.
///
/// Permissions are not sufficient: some mounts, such as those of Windows, make every file executable.
pub(super) fn is_program(path: &Path) -> bool {
    let has_ending = path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end.eq_ignore_ascii_case(known)));
    let has_name = path.file_name().is_some_and(|name| NAMES.iter().any(|known| name == *known));
    has_ending || has_name || (is_executable(path) && (path.extension().is_none() || begins_as_program(path)))
}

/// Returns whether a file begins like a program, or cannot be read.
fn begins_as_program(path: &Path) -> bool {
    let mut start = Vec::new();
    match read_only(path).and_then(|file| file.take(START).read_to_end(&mut start)) {
        Ok(_) => MAGIC.iter().any(|magic| start.starts_with(magic)),
        Err(_) => true,
    }
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
