//! Which commands are refused, and which need no approval.

use std::path::Path;

use super::command::split;
use super::fault::Fault;
use super::read_only::{is_listed, is_read_only};
use super::settings::{Sandbox, Shell};
use super::{arguments, git};

/// Programs that run other programs, which their arguments name.
const RUNNERS: &[&str] = &[
    "awk", "bash", "busybox", "dash", "doas", "env", "find", "gawk", "nice", "node", "nohup", "parallel", "perl",
    "python", "python3", "ruby", "sed", "setsid", "sh", "ssh", "stdbuf", "sudo", "tar", "time", "timeout", "watch",
    "xargs", "zsh",
];

/// How a command may run without approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Approved {
    /// It is known to read: in a sandbox, it can change nothing.
    Reading,
    /// The application allows it: in a sandbox, it may change the project.
    Changing,
}

/// Fails if the settings refuse the command.
pub(super) fn check_refused(settings: &Shell, words: &[String]) -> Result<(), Fault> {
    for rule in &settings.denied {
        let denied = split(rule).map_err(|_| Fault::Rule(rule.clone()))?;
        let [program, rest @ ..] = words else { continue };
        // `/bin/rm` is `rm`.
        let is_program =
            *program == denied[0] || Path::new(program).file_name().is_some_and(|name| *name == *denied[0]);
        if is_program && rest.starts_with(&denied[1..]) {
            return Err(Fault::Refused(rule.clone()));
        }
    }
    Ok(())
}

/// Returns how a command may run without approval; `None` if it needs approval.
pub(super) fn approved(
    settings: &Shell,
    words: &[String],
    root: &Path,
    is_sandboxed: bool,
) -> Result<Option<Approved>, Fault> {
    if !is_sandboxed && settings.sandbox != Sandbox::Off {
        return Ok(None);
    }
    if is_read_only(words) && arguments::stay_inside(words, root) && reads_only_files(words, root, is_sandboxed) {
        return Ok(Some(Approved::Reading));
    }
    for rule in &settings.allowed {
        let allowed = split(rule).map_err(|_| Fault::Rule(rule.clone()))?;
        let needs_all = is_listed(words) || RUNNERS.contains(&allowed[0].as_str());
        if words == allowed || (!needs_all && words.starts_with(&allowed)) {
            return Ok(Some(Approved::Changing));
        }
    }
    Ok(None)
}

/// Returns whether a reading command starts no program that a repository names.
fn reads_only_files(words: &[String], root: &Path, is_sandboxed: bool) -> bool {
    words[0] != "git" || (is_sandboxed && git::fault(root).is_none())
}
