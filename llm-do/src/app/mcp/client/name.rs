//! The registered names of servers and of their tools: `mcp__SERVER` and `mcp__SERVER__TOOL`.

use std::hash::{Hash, Hasher};

use siphasher::sip::SipHasher13;

/// The beginning of all names.
const PREFIX: &str = "mcp__";
const SEPARATOR: &str = "__";
/// The longest registered name.
const MAX: usize = 64;
/// The longest name of a server.
const MAX_SERVER: usize = 32;

/// Returns the name of the toolset of a server.
pub(in crate::app) fn toolset(server: &str) -> String {
    format!("{PREFIX}{}", server_part(server))
}

/// Returns the registered name of a tool: the same in each process, and different for each server and tool.
pub(super) fn tool(server: &str, tool: &str) -> String {
    let prefix = format!("{}{SEPARATOR}", toolset(server));
    let room = MAX - prefix.len();
    if (1..=room).contains(&tool.len()) && tool.chars().all(is_allowed) {
        return prefix + tool;
    }
    prefix + &mapped(tool, room, '_', is_allowed)
}

/// Returns the name of a server, or one made of it.
///
/// A name without `__` that neither begins nor ends with `_` makes it clear where the name of the tool begins, so the
/// tools of two servers never have one name.
fn server_part(server: &str) -> String {
    let is_clear = !server.contains(SEPARATOR) && !server.starts_with('_') && !server.ends_with('_');
    if (1..=MAX_SERVER).contains(&server.len()) && server.chars().all(is_allowed) && is_clear {
        return server.to_owned();
    }
    let clear = |char: char| char == '-' || char.is_ascii_alphanumeric();
    mapped(server, MAX_SERVER, '-', clear)
}

/// Returns a name with other characters replaced, and with a digest of the whole name at the end.
fn mapped(name: &str, room: usize, filler: char, is_kept: impl Fn(char) -> bool) -> String {
    let digest = format!("{filler}{:08x}", digest(name));
    let kept = name.chars().take(room - digest.len()).map(|char| if is_kept(char) { char } else { filler });
    kept.collect::<String>() + &digest
}

fn is_allowed(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_' || char == '-'
}

fn digest(name: &str) -> u32 {
    let mut hasher = SipHasher13::new();
    name.hash(&mut hasher);
    // The lower half is as good as the whole.
    u32::try_from(hasher.finish() & u64::from(u32::MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn allowed_names_are_kept() {
        assert_eq!(tool("db", "query"), "mcp__db__query");
        assert_eq!(tool("my-server_2", "_a__b-C"), "mcp__my-server_2___a__b-C");
        assert_eq!(toolset("db"), "mcp__db");
    }

    #[test]
    fn other_names_are_mapped_to_allowed_ones() {
        let long = "x".repeat(200);
        for (server, name) in
            [("claude.ai Mail", "send.mail"), ("", ""), (&long, &long), ("_a__b_", "ä/ö"), ("a", "日本")]
        {
            let name = tool(server, name);
            assert!(name.len() <= MAX && name.chars().all(is_allowed), "{name}");
            assert!(name.starts_with(&format!("{}__", toolset(server))), "{name}");
        }
    }

    #[test]
    fn different_tools_have_different_names() {
        let servers = ["a", "a_", "_a", "a__b", "a b", "a-b", "a.b", "A"];
        let tools = ["b", "_b", "b__c", "b.c", "b c", "b/c", "b_c", ""];
        let long = ["x".repeat(100), "x".repeat(101)];
        let tools: Vec<&str> = tools.into_iter().chain(long.iter().map(String::as_str)).collect();
        let names: HashSet<_> = servers.iter().flat_map(|server| tools.iter().map(|name| tool(server, name))).collect();
        assert_eq!(names.len(), servers.len() * tools.len());
    }
}
