//! Items in files of other programs that the registry leaves out. They are an error only where an item names them.

use super::Registry;

/// The beginning of the names of toolsets and tools of MCP servers.
pub(crate) const MCP: &str = "mcp__";
const SEPARATOR: &str = "__";

/// An item that is left out, with the reason.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct LeftOut {
    /// The names of the item; for a server, the name of its toolset, or `mcp__` for all servers.
    #[doc(hidden)]
    pub names: Vec<String>,
    /// The file, the line and the fault.
    pub reason: String,
    /// Whether the item is faulty; otherwise its file disables it.
    #[doc(hidden)]
    #[doc(hidden)]
    pub is_fault: bool,
}

impl LeftOut {
    /// Returns whether the name belongs to the item, or to a tool of it.
    fn is_named(&self, name: &str) -> bool {
        let is_of = |known: &String| match name.strip_prefix(known.as_str()) {
            Some("") => true,
            Some(rest) => known == MCP || known.starts_with(MCP) && rest.starts_with(SEPARATOR),
            None => false,
        };
        self.names.iter().any(is_of)
    }
}

impl Registry {
    /// Returns why the item with this name is left out.
    #[doc(hidden)]
    #[must_use]
    pub fn why_left_out(&self, name: &str) -> Option<String> {
        why_left_out(&self.left_out, name).map(|why| why.trim_start_matches("; ").to_owned())
    }
}

/// Returns why an item with this name is left out, as the end of a message.
#[doc(hidden)]
#[must_use]
pub fn why_left_out(left_out: &[LeftOut], name: &str) -> Option<String> {
    let found = left_out.iter().find(|left_out| left_out.is_named(name))?;
    Some(format!("; it is left out: {}", found.reason))
}

/// Returns the name that other programs give to the toolset of a server or, with the name of a tool, to that tool.
/// Characters that they do not allow are replaced with `_`.
#[doc(hidden)]
#[must_use]
pub fn foreign_tool_name(parts: &[&str]) -> String {
    let allowed = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let parts: Vec<String> = parts.iter().map(|part| part.chars().map(allowed).collect()).collect();
    MCP.to_owned() + &parts.join(SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_its_toolset_and_by_its_tools() {
        let left_out = [LeftOut {
            names: vec!["mcp__db".to_owned(), "pdf".to_owned()],
            reason: "a.json:2: no".to_owned(),
            is_fault: true,
        }];
        for (name, is_named) in
            [("mcp__db", true), ("mcp__db__a", true), ("mcp__db2", false), ("pdf", true), ("pdf__a", false)]
        {
            assert_eq!(why_left_out(&left_out, name).is_some(), is_named, "{name}");
        }
        let all = [LeftOut { names: vec![MCP.to_owned()], reason: String::new(), is_fault: true }];
        assert!(why_left_out(&all, "mcp__db__a").is_some() && why_left_out(&all, "db").is_none());
    }

    #[test]
    fn a_foreign_name_has_underscores_for_other_characters() {
        assert_eq!(foreign_tool_name(&["my server", "files.read"]), "mcp__my_server__files_read");
    }
}
