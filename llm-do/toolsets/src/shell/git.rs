//! Reads a repository without starting programs that the repository names.

mod config;

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use llm_do_core::base::open_file;

/// The maximum size of a configuration, in bytes.
const MAX_CONFIG: u64 = 256 << 10;

/// Settings that override those of the repository. Keys that are set here may occur in a repository; see [`config`].
const SETTINGS: &[&str] = &[
    "core.alternateRefsCommand=false",
    "core.askPass=false",
    "core.attributesFile=/dev/null",
    "core.editor=false",
    "core.excludesFile=/dev/null",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "credential.helper=",
    "diff.submodule=short",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
];

/// Variables that override those of the application: no other configuration, and no discovery of other repositories.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "false"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_COUNT", "0"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Returns a reading command of git in which all options that start programs are off.
pub(super) fn reading(words: &[String]) -> Vec<String> {
    let [program, command, rest @ ..] = words else { return words.to_vec() };
    let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
    // A submodule would be read by a separate git process, without these settings.
    let mut options = vec!["--ignore-submodules=dirty"];
    if command != "status" {
        options.extend(["--no-ext-diff", "--no-textconv"]);
    }
    let start = [program.as_str(), "--no-pager"].into_iter().chain(settings).chain([command.as_str()]).chain(options);
    start.map(ToOwned::to_owned).chain(rest.iter().cloned()).collect()
}

/// Returns the variables of a reading command; its repository is `.git` in this folder.
pub(super) fn variables(root: &Path) -> Vec<(&'static str, OsString)> {
    let fixed = VARIABLES.iter().map(|(name, value)| (*name, OsString::from(value)));
    fixed.chain([("GIT_DIR", root.join(".git").into()), ("GIT_WORK_TREE", root.into())]).collect()
}

/// Returns the reason that reading the repository of a folder may start a program; `None` if it cannot.
pub(super) fn fault(root: &Path) -> Option<String> {
    let folder = root.join(".git");
    match fs::symlink_metadata(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Ok(facts) if facts.is_dir() => {}
        _ => return Some("`.git` is not a folder".to_owned()),
    }
    if fs::symlink_metadata(folder.join("commondir")).is_ok() {
        return Some("`.git/commondir` names another configuration".to_owned());
    }
    ["config", "config.worktree"].iter().find_map(|name| fault_of_file(&folder, name))
}

fn fault_of_file(folder: &Path, name: &str) -> Option<String> {
    let path = folder.join(name);
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Ok(facts) if facts.is_file() => {}
        _ => return Some(format!("`.git/{name}` is not a file")),
    }
    let mut text = String::new();
    let read = open_file::read_only(&path).and_then(|file| file.take(MAX_CONFIG + 1).read_to_string(&mut text));
    match read {
        Ok(bytes) if bytes as u64 <= MAX_CONFIG => {
            config::fault(&text).map(|fault| format!("`.git/{name}` has {fault}, which may start a program"))
        }
        Ok(_) => Some(format!("`.git/{name}` is larger than {MAX_CONFIG} bytes")),
        Err(error) => Some(format!("`.git/{name}` cannot be read: {error}")),
    }
}
