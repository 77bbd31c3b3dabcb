//! Names of workers, of models, and of the tools that a worker may call.

/// The name of the tool through which models return a worker's result; no worker may have it.
pub const RESERVED_NAME: &str = "final_result";
/// The maximum length of a name that every provider accepts, in bytes.
const MAX_NAME: usize = 64;
/// Keywords of Rust 2024, except those that can begin a path.
const KEYWORDS: [&str; 49] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "_",
];

/// Checks the name of a worker.
///
/// # Errors
///
/// Returns a message if the name is reserved or models do not accept it.
pub fn check_worker_name(name: &str) -> Result<(), String> {
    if name == RESERVED_NAME {
        return Err(format!(
            "`{name}` is reserved for the tool through which models return results; choose another name"
        ));
    }
    if !is_registrable(name) {
        return Err(format!("invalid name `{name}`: expected 1 to 64 ASCII letters, digits, `_` or `-`"));
    }
    Ok(())
}

/// Checks that the name of a model has the form `provider:model`. The providers are known only at run time.
///
/// # Errors
///
/// Returns the expected form.
pub fn check_model_name(name: &str) -> Result<(), String> {
    match name.split_once(':') {
        Some((provider, model)) if !provider.trim().is_empty() && !model.trim().is_empty() => Ok(()),
        _ => Err(format!("invalid model name `{name}`: expected `provider:model`, such as `openai:gpt-5`")),
    }
}

/// Returns the registered name of an item of `tools` or `toolsets`; for a path, its last segment.
///
/// ```
/// # use llm_do_worker_file::tool_name;
/// assert_eq!(tool_name("crate::fs::read_file"), "read_file");
/// assert_eq!(tool_name("code-reviewer"), "code-reviewer");
/// ```
#[must_use]
pub fn tool_name(item: &str) -> &str {
    let last = item.rsplit("::").next().unwrap_or(item);
    last.strip_prefix("r#").unwrap_or(last)
}

/// Returns the fault of an item of `tools` or `toolsets` that is neither a name nor a path.
#[must_use]
pub fn not_a_tool(item: &str) -> String {
    format!("`{item}` is not the name or path of a tool or toolset, such as `read_file` or `crate::fs::read_file`")
}

/// Returns whether an item of `tools` or `toolsets` is a Rust path, which the macro resolves, and not a registered name.
#[must_use]
pub fn is_path(item: &str) -> bool {
    item.strip_prefix("::").unwrap_or(item).split("::").all(is_segment)
}

pub(crate) fn is_tool(item: &str) -> bool {
    is_registrable(item) || is_path(item)
}

pub(crate) fn is_registrable(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_allowed)
}

fn is_segment(segment: &str) -> bool {
    let (name, is_raw) = segment.strip_prefix("r#").map_or((segment, false), |name| (name, true));
    let begins = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let is_word = begins && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_word && (is_raw || !KEYWORDS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_names_are_limited_to_what_models_accept() {
        for name in ["a", "code-reviewer", "A_1", &"x".repeat(64)] {
            assert_eq!(check_worker_name(name), Ok(()), "{name}");
        }
        for name in ["", "two words", "größe", &"x".repeat(65)] {
            assert!(check_worker_name(name).unwrap_err().starts_with("invalid name"), "{name}");
        }
        assert!(check_worker_name(RESERVED_NAME).unwrap_err().contains("is reserved"));
    }

    #[test]
    fn a_tool_is_a_path_or_a_registered_name() {
        for path in ["look", "crate::ears::listen", "::fs::read", "self::a", "super::super::a", "r#type", "größe"] {
            assert!(is_path(path) && is_tool(path), "{path}");
        }
        for name in ["code-reviewer", "type", "7zip"] {
            assert!(!is_path(name) && is_tool(name), "{name}");
        }
        for other in ["read file", "fs::", "a::-b", "a::type", "", "::", "a:b", "tools[0]", "Vec<u8>"] {
            assert!(!is_tool(other), "{other}");
        }
        assert_eq!((tool_name("a::r#type"), tool_name("look")), ("type", "look"));
    }
}
