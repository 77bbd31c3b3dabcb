//! Decides which commands are refused, and which need no approval.

use std::path::Path;

use super::command::split;
use super::fault::Fault;
use super::program::Program;
use super::read_only::{is_listed, is_read_only};
use super::settings::{Sandbox, Shell};
use super::starters::{is_runner, starts_another};
use super::{arguments, git};

/// The permission of a command without approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Approved {
    /// The command is known to only read: in a sandbox, it can change nothing.
    Reading,
    /// The application allows the command: in a sandbox, it may change the project.
    Changing,
}

/// Fails if the settings refuse the command.
pub(super) fn check_refused(settings: &Shell, words: &[String], root: &Path) -> Result<(), Fault> {
    let [program, rest @ ..] = words else { return Ok(()) };
    for rule in &settings.denied {
        let denied = split(rule).map_err(|_| Fault::Rule(rule.clone()))?;
        if rest.starts_with(&denied[1..]) && Program::new(program, root).is_refused_by(&denied[0]) {
            return Err(Fault::Refused(rule.clone()));
        }
    }
    Ok(())
}

/// Returns the permission of a command without approval; `None` if it needs approval.
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
        if words == allowed || is_allowed_by(&allowed, words, root) {
            return Ok(Some(Approved::Changing));
        }
    }
    Ok(None)
}

/// Returns whether a rule allows a command that begins with its words, and whose further words start no other program.
fn is_allowed_by(rule: &[String], words: &[String], root: &Path) -> bool {
    if words.len() < rule.len() || words[1..rule.len()] != rule[1..] {
        return false;
    }
    let (program, of_rule) = (Program::new(&words[0], root), Program::new(&rule[0], root));
    if !program.is_same(&of_rule) {
        return false;
    }
    let needs_all = is_runner(&program) || program.names().any(|name| is_listed(name, &words[1..]));
    words.len() == rule.len() || !(needs_all || starts_another(&program, words, rule.len()))
}

/// Returns whether a reading command starts no program that a repository names.
fn reads_only_files(words: &[String], root: &Path, is_sandboxed: bool) -> bool {
    words[0] != "git" || (is_sandboxed && git::fault(root).is_none())
}
