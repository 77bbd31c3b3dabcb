//! The names under which MCP servers and their tools are registered: `mcp__SERVER` and `mcp__SERVER__TOOL`.

use std::hash::{Hash, Hasher};

use siphasher::sip::SipHasher13;

/// The prefix of the names of tools by which servers ask a model.
pub const MCP_SAMPLING: &str = "mcp_sampling__";
const PREFIX: &str = "mcp__";
const SEPARATOR: &str = "__";
/// The maximum length of a name that every provider accepts, in bytes.
const MAX_NAME: usize = 64;
/// The maximum length of the server's part.
const MAX_SERVER: usize = 32;

/// Returns the name of the toolset of an MCP server: `mcp__SERVER`.
///
/// ```
/// # use llm_do_worker_file::mcp_toolset_name;
/// assert_eq!(mcp_toolset_name("github"), "mcp__github");
/// ```
#[must_use]
pub fn mcp_toolset_name(server: &str) -> String {
    format!("{PREFIX}{}", server_part(server))
}

/// Returns the registered name of a tool of an MCP server, `mcp__SERVER__TOOL`: at most 64 ASCII letters, digits, `_` or `-`.
///
/// A name that is too long or has other characters ends with a digest of the whole name, so that different tools have
/// different names. The result is the same in every version and on every machine.
///
/// ```
/// # use llm_do_worker_file::mcp_tool_name;
/// assert_eq!(mcp_tool_name("github", "create_issue"), "mcp__github__create_issue");
/// assert_eq!(mcp_tool_name("files", "files.read"), "mcp__files__files_read_d322ea74");
/// ```
#[must_use]
pub fn mcp_tool_name(server: &str, tool: &str) -> String {
    let prefix = format!("{}{SEPARATOR}", mcp_toolset_name(server));
    let room = MAX_NAME - prefix.len();
    if (1..=room).contains(&tool.len()) && tool.chars().all(is_allowed) {
        return prefix + tool;
    }
    prefix + &mapped(tool, room, '_', is_allowed)
}

/// Returns the name of the tool by which an MCP server asks a model: `mcp_sampling__SERVER`, at most 64 ASCII letters, digits,
/// `_` or `-`. No tool of a server has such a name.
///
/// ```
/// # use llm_do_worker_file::mcp_sampling_name;
/// assert_eq!(mcp_sampling_name("github"), "mcp_sampling__github");
/// ```
#[must_use]
pub fn mcp_sampling_name(server: &str) -> String {
    format!("{MCP_SAMPLING}{}", server_part(server))
}

/// Returns the name of a server, or a derived name.
///
/// Without `__`, and without `_` at its ends, so that the start of the tool's name is unambiguous.
fn server_part(server: &str) -> String {
    let is_clear = !server.contains(SEPARATOR) && !server.starts_with('_') && !server.ends_with('_');
    if (1..=MAX_SERVER).contains(&server.len()) && server.chars().all(is_allowed) && is_clear {
        return server.to_owned();
    }
    mapped(server, MAX_SERVER, '-', |letter| letter == '-' || letter.is_ascii_alphanumeric())
}

/// Returns a name with invalid characters replaced, and with a digest of the whole name at the end.
fn mapped(name: &str, room: usize, filler: char, is_kept: impl Fn(char) -> bool) -> String {
    let digest = format!("{filler}{:08x}", digest(name));
    let letters = name.chars().take(room - digest.len());
    letters.map(|letter| if is_kept(letter) { letter } else { filler }).collect::<String>() + &digest
}

fn is_allowed(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

fn digest(name: &str) -> u32 {
    let mut hasher = SipHasher13::new();
    name.hash(&mut hasher);
    u32::try_from(hasher.finish() & u64::from(u32::MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::check_worker_name;

    #[test]
    fn every_name_is_one_that_models_accept_and_begins_with_that_of_the_server() {
        let long = "a".repeat(200);
        for (server, tool) in [("s", "t"), ("größe", "a b/c"), ("s", &long), (&long, "t"), (&long, &long), ("", "")] {
            let name = mcp_tool_name(server, tool);
            assert_eq!(check_worker_name(&name), Ok(()), "{name}");
            assert!(name.starts_with(&format!("{}__", mcp_toolset_name(server))), "{name}");
        }
    }

    #[test]
    fn different_tools_have_different_names() {
        let servers = ["a", "a_", "_a", "a__b", "a b", "a-b", "a.b", "A"];
        let tools = ["b", "_b", "b__c", "b.c", "b c", "b/c", "b_c", "", &"x".repeat(100), &"x".repeat(101)];
        let names = servers.iter().flat_map(|server| tools.iter().map(|tool| mcp_tool_name(server, tool)));
        assert_eq!(names.collect::<HashSet<_>>().len(), servers.len() * tools.len());
    }
}
