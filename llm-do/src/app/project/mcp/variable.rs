//! Variables of the environment in the definitions of servers: `${NAME}` and `${NAME:-default}`.

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a str),
    Variable { name: &'a str, default: Option<&'a str> },
}

/// Splits a text at its variables; a variable that is not closed, or has an invalid name, stays text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let variable = after.split_once('}').and_then(|(inside, behind)| Some((variable(inside)?, behind)));
        let Some((variable, behind)) = variable else {
            parts.push(Part::Text(&rest[..before.len() + 2]));
            rest = after;
            continue;
        };
        parts.extend([Part::Text(before), variable]);
        rest = behind;
    }
    parts.push(Part::Text(rest));
    parts
}

fn variable(inside: &str) -> Option<Part<'_>> {
    let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, text)| (name, Some(text)));
    let is_name = !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    is_name.then_some(Part::Variable { name, default })
}

/// Returns the names of the variables in a text.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    parts(text).into_iter().filter_map(|part| match part {
        Part::Text(_) => None,
        Part::Variable { name, .. } => Some(name),
    })
}

/// Replaces variables by their values; other text stays as it is.
#[cfg(feature = "mcp")]
pub(super) fn expand(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::new();
    for part in parts(text) {
        let (name, default) = match part {
            Part::Text(text) => {
                expanded.push_str(text);
                continue;
            }
            Part::Variable { name, default } => (name, default),
        };
        match (value(name).filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => expanded.push_str(&value),
            (None, Some(default)) => expanded.push_str(default),
            (None, None) => {
                return Err(format!("the variable `{name}` is not set; set it, or write `${{{name}:-DEFAULT}}`"));
            }
        }
    }
    Ok(expanded)
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
        assert_eq!(names(text).collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(names("$${A:-}${${B}").collect::<Vec<_>>(), ["A", "B"]);
    }
}
