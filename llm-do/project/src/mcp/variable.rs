//! Environment variables in the definitions of servers: `${NAME}`, `${env:NAME}` and `${NAME:-default}`, whose default
//! may contain variables too.

/// The maximum nesting of defaults; deeper ones stay text.
const MAX_NESTED: usize = 8;
/// The maximum length of a variable with its default, in bytes, since a text may have many unclosed variables.
const MAX_LENGTH: usize = 1024;
/// The prefix that some programs write before the name of a variable.
const PREFIX: &str = "env:";

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
enum TextPart<'a> {
    Text(&'a str),
    Variable { name: &'a str, default: Option<Vec<TextPart<'a>>> },
}

/// Splits a text at its variables; an unclosed variable, or one with an invalid name, stays text.
fn parts(text: &str, nested: usize) -> Vec<TextPart<'_>> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let variable = closed(after).and_then(|(inside, behind)| Some((variable(inside, nested)?, behind)));
        let Some((variable, behind)) = variable else {
            parts.push(TextPart::Text(&rest[..before.len() + 2]));
            rest = after;
            continue;
        };
        parts.extend([TextPart::Text(before), variable]);
        rest = behind;
    }
    parts.push(TextPart::Text(rest));
    parts
}

/// Splits the text after `${` at its closing `}`, not at those of variables in its default.
fn closed(after: &str) -> Option<(&str, &str)> {
    let (mut open, mut begin) = (0_usize, 0);
    loop {
        let searched = after.as_bytes().iter().take(MAX_LENGTH).skip(begin);
        let end = begin + searched.copied().position(|byte| byte == b'}')?;
        open += after[begin..end].matches("${").count();
        if open == 0 {
            return Some((&after[..end], &after[end + 1..]));
        }
        (open, begin) = (open - 1, end + 1);
    }
}

fn variable(inside: &str, nested: usize) -> Option<TextPart<'_>> {
    let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, text)| (name, Some(text)));
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let is_name = !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    let default = default.map(|text| match nested.checked_sub(1) {
        Some(nested) => parts(text, nested),
        None => vec![TextPart::Text(text)],
    });
    is_name.then_some(TextPart::Variable { name, default })
}

/// Returns the names of the variables in a text, including those in defaults.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let mut names = Vec::new();
    collect(&parts(text, MAX_NESTED), &mut names);
    names.into_iter()
}

fn collect<'a>(parts: &[TextPart<'a>], names: &mut Vec<&'a str>) {
    for part in parts {
        if let TextPart::Variable { name, default } = part {
            names.push(name);
            collect(default.as_deref().unwrap_or_default(), names);
        }
    }
}

/// Replaces variables by their values; other text and the values are unchanged.
#[cfg(feature = "mcp")]
pub(super) fn expand(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::new();
    append(&parts(text, MAX_NESTED), &value, &mut expanded)?;
    Ok(expanded)
}

#[cfg(feature = "mcp")]
fn append(
    parts: &[TextPart<'_>],
    value: &impl Fn(&str) -> Option<String>,
    expanded: &mut String,
) -> Result<(), String> {
    for part in parts {
        let (name, default) = match part {
            TextPart::Text(text) => {
                expanded.push_str(text);
                continue;
            }
            TextPart::Variable { name, default } => (name, default),
        };
        match (value(name).filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => expanded.push_str(&value),
            (None, Some(default)) => append(default, value, expanded)?,
            (None, None) => {
                return Err(format!("the variable `{name}` is not set; set it, or write `${{{name}:-DEFAULT}}`"));
            }
        }
    }
    Ok(())
}

/// Replaces variables by those of this process.
#[cfg(feature = "mcp")]
pub(super) fn expanded(text: &str) -> Result<String, String> {
    expand(text, |name| std::env::var(name).ok())
}

#[cfg(all(test, feature = "mcp"))]
mod tests {
    use super::{expand, names};

    fn expanded(text: &str) -> Result<String, String> {
        expand(text, |name| match name {
            "A" => Some("a".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${A}".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn variables_are_replaced_once() {
        for (text, value) in [
            ("", ""),
            ("plain $A {A}", "plain $A {A}"),
            ("x${A}y${A}", "xaya"),
            ("${A:-b}", "a"),
            ("${NONE:-b c}", "b c"),
            ("${NONE:-}", ""),
            ("${EMPTY}", ""),
            ("${EMPTY:-b}", "b"),
            ("${NESTED}", "${A}"),
            ("${A", "${A"),
            ("${}", "${}"),
            ("${a b} ${A}", "${a b} a"),
            ("${env:A}-${env:NONE:-b}", "a-b"),
            ("x${NONE:-${A}}y", "xay"),
            ("${NONE:-<${MISSING:-${env:A}}>}}", "<a>}"),
            ("${NONE:-{b}}", "{b}"),
            ("${A:-${NONE}}", "a"),
            ("${NONE:-${A", "${NONE:-${A"),
        ] {
            assert_eq!(expanded(text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn a_missing_variable_without_a_default_is_named() {
        let fault = expanded("x${NONE}").unwrap_err();
        assert_eq!(fault, "the variable `NONE` is not set; set it, or write `${NONE:-DEFAULT}`");
    }

    #[test]
    fn the_names_are_those_that_are_replaced() {
        let text = "${A}${B:-${C}} ${env:D} $E ${F";
        assert_eq!(names(text).collect::<Vec<_>>(), ["A", "B", "C", "D"]);
        assert_eq!(names("$${A:-}${${B}").collect::<Vec<_>>(), ["A", "B"]);
    }
}
