//! Paths as models write them, as lists of names.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path};

use llm_do_core::base::printable::printable_line;

use super::fault::Fault;

/// The maximum length of a path in bytes.
const MAX_LENGTH: usize = 4096;

/// The maximum number of names in a path.
pub(super) const MAX_NAMES: usize = 256;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To the folder above: `..`.
    Up,
    /// To an entry of the folder.
    Name(OsString),
}

/// Splits a path into steps from the root; an absolute path must begin with one of `roots`.
pub(super) fn steps(path: &str, roots: &[&Path]) -> Result<VecDeque<Step>, Fault> {
    check_text(path)?;
    let whole = Path::new(path);
    let inside = roots.iter().find_map(|root| whole.strip_prefix(root).ok().filter(|_| root.is_absolute()));
    relative_steps(inside.unwrap_or(whole)).ok_or_else(|| Fault::Outside(printable_line(path)))
}

/// Splits a relative path into steps; `None` for an absolute path.
pub(super) fn relative_steps(path: &Path) -> Option<VecDeque<Step>> {
    let step = |component| match component {
        Component::Normal(name) => Some(Some(Step::Name(name.to_owned()))),
        Component::CurDir => Some(None),
        Component::ParentDir => Some(Some(Step::Up)),
        Component::RootDir | Component::Prefix(_) => None,
    };
    let steps: Option<Vec<_>> = path.components().map(step).collect();
    Some(steps?.into_iter().flatten().collect())
}

fn check_text(path: &str) -> Result<(), Fault> {
    let invalid = |text: String| Err(Fault::Invalid(text));
    if path.is_empty() {
        return invalid("empty path; the root folder is `.`".to_owned());
    }
    if path.len() > MAX_LENGTH || path.split(['/', '\\']).count() > MAX_NAMES {
        return invalid(format!("the path is too long: at most {MAX_LENGTH} bytes and {MAX_NAMES} names"));
    }
    if path.contains('\0') {
        return invalid(format!("invalid path `{}`: it contains a NUL character", printable_line(path)));
    }
    if path == "~" || path.starts_with("~/") {
        return invalid(format!("`~` in `{}` is not expanded; give a path relative to the root", printable_line(path)));
    }
    Ok(())
}

/// Checks the name of a new file or folder: all its characters must be visible.
pub(super) fn check_new_name(name: &OsString) -> Result<(), Fault> {
    let text = name.to_string_lossy();
    let visible = printable_line(&text);
    if visible == text && text.trim() == text {
        return Ok(());
    }
    let rule = "a new name cannot contain invisible characters, or begin or end with a space";
    Err(Fault::Invalid(format!("invalid name `{visible}`: {rule}")))
}
