//! The tools of a script, as functions of Python.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

/// A tool that a script may call.
#[derive(Clone, Debug)]
pub(crate) struct ScriptCallee {
    /// The name that the script's declaration shows.
    pub(crate) shown: Arc<str>,
    pub(crate) description: String,
    pub(crate) parameters: Arc<Value>,
    pub(crate) output: Option<Value>,
    pub(crate) is_read_only: bool,
}

/// The tools of a script, by the names of their functions.
#[derive(Debug, Default)]
pub(super) struct Callees {
    by_name: HashMap<String, ScriptCallee>,
}

impl Callees {
    /// Names the tools; returns the faults of those whose names collide.
    pub(super) fn new(tools: Vec<ScriptCallee>) -> Result<Self, Vec<String>> {
        let (mut by_name, mut faults) = (HashMap::<String, ScriptCallee>::new(), Vec::new());
        for tool in tools {
            let name = identifier(&tool.shown);
            if let Some(first) = by_name.get(&name) {
                faults.push(format!(
                    "`{}` and `{}` would both be `{name}` in the script; give one another name",
                    first.shown, tool.shown
                ));
                continue;
            }
            by_name.insert(name, tool);
        }
        if faults.is_empty() { Ok(Self { by_name }) } else { Err(faults) }
    }

    pub(super) fn get(&self, name: &str) -> Option<&ScriptCallee> {
        self.by_name.get(name)
    }

    /// Returns the stored name, if it is that of a tool.
    pub(super) fn get_key(&self, name: &str) -> Option<&str> {
        self.by_name.get_key_value(name).map(|(name, _)| name.as_str())
    }

    /// Returns the tools with the names of their functions, sorted.
    pub(super) fn sorted(&self) -> Vec<(&str, &ScriptCallee)> {
        let mut all: Vec<_> = self.by_name.iter().map(|(name, tool)| (name.as_str(), tool)).collect();
        all.sort_by_key(|(name, _)| *name);
        all
    }
}

/// Returns a name in which all characters other than letters, digits and `_` are replaced.
pub(crate) fn identifier(name: &str) -> String {
    let mut identifier: String =
        name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
    if is_keyword(&identifier) {
        identifier.push('_');
    }
    identifier
}

/// Returns whether a name can be that of a parameter or of a field in a class.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !is_keyword(name)
}

fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 35] = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
        "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
    ];
    KEYWORDS.contains(&name)
}
