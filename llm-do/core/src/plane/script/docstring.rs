//! The docstring of a script: front matter, the description, and those of the parameters.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

/// The parts of a docstring.
#[derive(Debug, Default)]
pub(super) struct Docstring {
    /// The YAML between the lines `---`, without indentation.
    pub(super) front_matter: Option<String>,
    pub(super) description: String,
    /// The descriptions of parameters, or of fields, by name.
    pub(super) parameters: BTreeMap<String, String>,
}

/// The titles of sections that describe parameters or fields.
const PARAMETERS: [&str; 5] = ["args", "arguments", "parameters", "params", "attributes"];
/// The titles of other sections, which stay in the description.
const OTHERS: [&str; 7] = ["returns", "return", "raises", "yields", "examples", "example", "notes"];

/// Returns the literal with which a body begins, if it is a string.
pub(super) fn literal(body: &[Stmt]) -> Option<&ruff_python_ast::ExprStringLiteral> {
    let Some(Stmt::Expr(statement)) = body.first() else { return None };
    match &*statement.value {
        Expr::StringLiteral(literal) => Some(literal),
        _ => None,
    }
}

/// Parses the docstring of a body.
pub(super) fn of_body(body: &[Stmt]) -> Docstring {
    literal(body).map(|literal| parse(literal.value.to_str())).unwrap_or_default()
}

/// Returns the line of the script on which the YAML of the docstring begins.
pub(super) fn yaml_line(text: &str, body: &[Stmt]) -> usize {
    let Some(literal) = literal(body) else { return 1 };
    let first = super::fault::place(text, literal.start()).line;
    let own = &text[literal.start().to_usize()..];
    let fence = own.lines().position(|line| line.trim().trim_start_matches(['"', '\'']).trim() == "---");
    first + fence.unwrap_or(0) + 1
}

fn parse(text: &str) -> Docstring {
    let lines = unindented(text);
    let (front_matter, lines) = split(&lines);
    let mut docstring = Docstring { front_matter, ..Docstring::default() };
    let (mut description, mut section) = (Vec::new(), None);
    for line in lines {
        let title = line.trim().trim_end_matches(':').to_ascii_lowercase();
        let is_title = line.trim().ends_with(':') && !line.starts_with(' ');
        if is_title && PARAMETERS.contains(&title.as_str()) {
            section = Some(None);
            continue;
        }
        if is_title && OTHERS.contains(&title.as_str()) || (section.is_some() && starts_paragraph(line)) {
            section = None;
        }
        if let Some(rest) = line.trim().strip_prefix(":param ") {
            if let Some((name, text)) = rest.split_once(':') {
                let name = name.split_whitespace().last().unwrap_or_default().to_owned();
                docstring.parameters.insert(name, text.trim().to_owned());
            }
            continue;
        }
        match &mut section {
            Some(current) => parameter(line, current, &mut docstring.parameters),
            None => description.push(line.as_str()),
        }
    }
    Docstring { description: description.join("\n").trim().to_owned(), ..docstring }
}

/// Returns whether a line is text that belongs to no section, since it is not indented.
fn starts_paragraph(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with(' ')
}

/// Reads a line of a section of parameters: `name: text`, `name (type): text`, or the text's continuation.
fn parameter(line: &str, current: &mut Option<(usize, String)>, parameters: &mut BTreeMap<String, String>) {
    let text = line.trim();
    let indent = line.len() - line.trim_start().len();
    if text.is_empty() {
        return;
    }
    if let Some((of, name)) = current
        && indent > *of
    {
        let known = parameters.entry(name.clone()).or_default();
        if !known.is_empty() {
            known.push(' ');
        }
        known.push_str(text);
        return;
    }
    let Some((head, text)) = text.split_once(':') else { return };
    let name = head.split([' ', '(']).next().unwrap_or_default().trim_matches('`').to_owned();
    parameters.insert(name.clone(), text.trim().to_owned());
    *current = Some((indent, name));
}

/// Removes the indentation that all lines after the first share.
fn unindented(text: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let rest = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let shared = rest.map(indent).min().unwrap_or(0);
    let first = text.lines().take(1).map(|line| line.trim().to_owned());
    let rest = text.lines().skip(1).map(|line| line.get(shared..).unwrap_or_default().trim_end().to_owned());
    first.chain(rest).collect()
}

/// The position of front matter that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misplaced {
    /// It has no closing line `---`.
    Open,
    /// It is below other text.
    Below,
}

/// Returns why the front matter of a docstring is not read, if so.
///
/// Lines between two `---` below other text are front matter if they set one of `keys`, and otherwise a part of the description.
pub(super) fn misplaced(body: &[Stmt], keys: &[&str]) -> Option<Misplaced> {
    let lines = unindented(literal(body)?.value.to_str());
    let is_fence = |line: &String| line.trim() == "---";
    let first = lines.iter().position(|line| !line.trim().is_empty())?;
    let (begins, is_split) = (is_fence(&lines[first]), split(&lines).0.is_some());
    if begins {
        return (!is_split).then_some(Misplaced::Open);
    }
    let sets = |line: &String| line.split_once(':').is_some_and(|(key, _)| keys.contains(&key.trim()));
    let open = lines.iter().position(is_fence)?;
    let mut block = lines[open + 1..].iter().take_while(|line| !is_fence(line));
    block.any(sets).then_some(Misplaced::Below)
}

/// Returns whether a docstring begins with front matter.
pub(super) fn has_front_matter(body: &[Stmt]) -> bool {
    literal(body).is_some_and(|literal| split(&unindented(literal.value.to_str())).0.is_some())
}

/// Splits the front matter off, if the text begins with a line `---`.
fn split(lines: &[String]) -> (Option<String>, &[String]) {
    let first = lines.iter().position(|line| !line.trim().is_empty());
    let Some(open) = first.filter(|at| lines[*at].trim() == "---") else { return (None, lines) };
    let rest = &lines[open + 1..];
    match rest.iter().position(|line| line.trim() == "---") {
        Some(close) => (Some(rest[..close].join("\n")), &rest[close + 1..]),
        None => (None, lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_description_and_parameters_are_found() {
        let found = parse(
            "---\n    toolsets: [search]\n    ---\n    Find notes.\n\n    Slowly.\n\n    Args:\n        word (str): The word,\n            \
             in lowercase.\n        limit: At most.\n\n    Returns:\n        The notes.\n    ",
        );
        assert_eq!(found.front_matter.as_deref(), Some("toolsets: [search]"));
        assert_eq!(found.description, "Find notes.\n\nSlowly.\n\nReturns:\n    The notes.");
        assert_eq!(found.parameters["word"], "The word, in lowercase.");
        assert_eq!(found.parameters["limit"], "At most.");
    }

    #[test]
    fn parameters_of_sphinx_are_found() {
        let found = parse("Find notes.\n\n:param str word: The word.\n:param limit: At most.");
        assert_eq!(found.description, "Find notes.");
        assert_eq!(found.parameters["word"], "The word.");
    }
}
