//! Front matter that is not valid YAML, parsed like the programs that write such files: a value that is not YAML is a
//! text.
//!
//! The lines are split at the keys, and each value is parsed as separate YAML, so that one invalid value does not
//! affect the rest.

use std::collections::HashSet;

use llm_do_worker_file::{Content, Key, Node, Place, read_yaml};

/// The maximum nesting of maps whose values are texts; deeper maps are single texts.
const MAX_NESTED: usize = 4;

/// A key, and the lines of its value.
struct KeyLines<'a> {
    /// The line of the key.
    line: usize,
    key: &'a str,
    /// The rest of the key's line.
    value: &'a str,
    /// The lines of the key and its value, up to the next key.
    lines: Vec<&'a str>,
    /// Whether the next line is part of a text that is not YAML, which only a known key ends.
    is_text: bool,
}

/// Parses the lines of a map; `None` if they have no key. Of two values for one key, the first is used.
pub(super) fn read(yaml: &str, first_line: usize, known: &[&str]) -> Option<Node> {
    map(&yaml.lines().collect::<Vec<_>>(), first_line, Some(known), MAX_NESTED)
}

/// Parses the lines of a map. Without known keys, each key begins a value.
fn map(lines: &[&str], first_line: usize, known: Option<&[&str]>, nested: usize) -> Option<Node> {
    let entries = split(lines, first_line, known);
    let first = entries.first()?.line;
    let (mut read, mut seen) = (Vec::new(), HashSet::new());
    for entry in entries {
        if seen.insert(entry.key) {
            let place = Place::line(entry.line);
            let content = entry.yaml().unwrap_or_else(|| entry.text(nested));
            read.push((Key { place, name: entry.key.to_owned() }, Node { place, content }));
        }
    }
    Some(Node { place: Place::line(first), content: Content::Map(read) })
}

fn split<'a>(lines: &[&'a str], first_line: usize, known: Option<&[&str]>) -> Vec<KeyLines<'a>> {
    let is_known = |key: &str| known.is_none_or(|known| known.contains(&key));
    let mut entries: Vec<KeyLines<'a>> = Vec::new();
    for (index, line) in lines.iter().copied().enumerate() {
        if let Some((key, value)) = key_of(line)
            && entries.last_mut().is_none_or(|last| last.ends_before(is_known(key)))
        {
            let line_number = first_line + index;
            entries.push(KeyLines { line: line_number, key, value, lines: vec![line], is_text: false });
        } else if let Some(last) = entries.last_mut() {
            last.is_text |= !line.starts_with([' ', '\t', '-', '#']) && !line.trim().is_empty();
            last.lines.push(line);
        }
    }
    entries
}

/// Splits a line that begins with a key.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let is_valid = !key.is_empty() && key.trim_end().chars().all(is_key) && !key.starts_with('-');
    (is_valid && (value.is_empty() || value.starts_with([' ', '\t']))).then(|| (key.trim_end(), value.trim()))
}

impl KeyLines<'_> {
    /// Returns whether a line with a key ends this value; within a text that is not YAML, only a known key does.
    fn ends_before(&mut self, is_known: bool) -> bool {
        self.is_text |= !is_known && !self.is_text && !self.value.is_empty() && self.yaml().is_none();
        is_known || !self.is_text
    }

    /// Returns the value, if it is valid YAML on its own.
    fn yaml(&self) -> Option<Content> {
        one_value(&self.lines.join("\n"), self.line)
    }

    /// Returns the value as a text, or as a list or map of texts.
    fn text(&self, nested: usize) -> Content {
        let more = &self.lines[1..];
        let is_item = |line: &&str| is_item(line.trim_start());
        let first = more.iter().find(|line| !line.trim().is_empty());
        if self.value.is_empty() && first.is_some_and(is_item) {
            return Content::List(items(more, self.line + 1));
        }
        if self.value.is_empty()
            && first.is_some_and(|line| line.starts_with([' ', '\t']) && key_of(line.trim_start()).is_some())
            && let Some(nested) = nested.checked_sub(1)
            && let Some(map) = map(&dedented(more), self.line + 1, None, nested)
        {
            return map.content;
        }
        Content::String(match block(self.value) {
            Some('|') => dedented(more).join("\n").trim_matches('\n').to_owned(),
            Some(_) => folded(more.iter().copied()),
            None => unquoted(&folded([self.value].into_iter().chain(more.iter().copied())), self.line),
        })
    }
}

/// Returns the value of a text `key: value` that is valid YAML.
fn one_value(text: &str, line: usize) -> Option<Content> {
    let mut faults = Vec::new();
    let root = read_yaml(text, line, &mut faults)?;
    match root.content {
        Content::Map(mut entries) if faults.is_empty() && entries.len() == 1 => Some(entries.pop()?.1.content),
        _ => None,
    }
}

fn is_item(line: &str) -> bool {
    line == "-" || line.starts_with("- ")
}

/// Returns the items of a list; an item that is not valid YAML is a text.
fn items(lines: &[&str], first_line: usize) -> Vec<Node> {
    let mut items: Vec<(usize, Vec<&str>)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let text = line.trim();
        if is_item(text) {
            items.push((first_line + index, vec![text[1..].trim_start()]));
        } else if let Some((_, texts)) = items.last_mut() {
            texts.push(line);
        }
    }
    let node = |(line, texts): (usize, Vec<&str>)| {
        let folded = folded(texts);
        let content = one_value(&format!("item: {folded}"), line);
        let content = content.unwrap_or_else(|| Content::String(unquoted(&folded, line)));
        Node { place: Place::line(line), content }
    };
    items.into_iter().map(node).collect()
}

/// Returns the indicator of a block scalar, `|` or `>`, if it is the only character after the key.
fn block(value: &str) -> Option<char> {
    let mut letters = value.chars();
    let style = letters.next().filter(|first| matches!(first, '|' | '>'))?;
    letters.all(|letter| matches!(letter, '+' | '-' | '1'..='9')).then_some(style)
}

/// Returns the lines without their common indentation.
fn dedented<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let indentation = |line: &&&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let shared = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| indentation(&line)).min();
    lines.iter().map(|line| line.get(shared.unwrap_or_default()..).unwrap_or_default()).collect()
}

/// Joins lines to a text with spaces, and with a line break for each blank line.
fn folded<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in lines.into_iter().map(str::trim) {
        match line {
            "" => text.push('\n'),
            _ if text.is_empty() || text.ends_with('\n') => text.push_str(line),
            _ => text.extend([" ", line]),
        }
    }
    text.trim().to_owned()
}

/// Returns a text without the quotes around it; inner quotes are part of the text.
fn unquoted(text: &str, line: usize) -> String {
    let Some(quote @ ('"' | '\'')) = text.chars().next() else { return text.to_owned() };
    if let Some(Content::String(read)) = one_value(&format!("text: {text}"), line) {
        return read;
    }
    let inner = text[1..].strip_suffix(quote);
    inner.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::read;

    /// Returns the values as JSON.
    fn values(yaml: &str) -> String {
        read(yaml, 2, &["name", "description", "tools"]).map(|node| node.to_json()).unwrap_or_default()
    }

    #[test]
    fn a_value_that_yaml_refuses_is_a_text() {
        for (value, expected) in [
            ("[beta] Reviews code", "[beta] Reviews code"),
            ("{name} is reviewed", "{name} is reviewed"),
            ("> 80 % of code", "> 80 % of code"),
            ("| a pipe", "| a pipe"),
            ("\"Quoted\" and more", "\"Quoted\" and more"),
            ("'Quoted' and more", "'Quoted' and more"),
            ("\"It is \"quoted\" here\"", "It is \"quoted\" here"),
            ("'It's quoted'", "It's quoted"),
            ("\"not closed", "\"not closed"),
            ("Use it for:", "Use it for:"),
            ("Use it: always #1 # here", "Use it: always #1 # here"),
            ("*", "*"),
            ("@team `code` %", "@team `code` %"),
            ("!important note", "!important note"),
        ] {
            let expected = serde_json::json!({ "name": "a", "description": expected, "tools": "Read" }).to_string();
            let found = values(&format!("name: a\ndescription: {value}\ntools: Read\n"));
            assert_eq!(found.parse::<serde_json::Value>().unwrap().to_string(), expected, "{value}");
        }
    }

    #[test]
    fn unindented_lines_belong_to_the_text_above_up_to_a_known_key() {
        let yaml = "description: Use it. Examples:\n\n<example>\nContext: new code\nuser: \"Hi: there\"\n</example>\n\ntools: [A, B]\nodd: 1\n";
        let expected = "{\"description\":\"Use it. Examples:\\u000a<example> Context: new code user: \\\"Hi: there\\\" </example>\",\
                        \"tools\":[\"A\",\"B\"],\"odd\":1}";
        assert_eq!(values(yaml), expected);
        assert_eq!(values("description: |\nOne\nTwo: 2\nname: a\n"), r#"{"description":"One\u000aTwo: 2","name":"a"}"#);
    }

    #[test]
    fn items_and_nested_values_are_texts_on_their_own() {
        let yaml = "tools:\n  - Read\n  - Bash(git: *)\n  - 'a' b\n  - 7\nmeta:\n  author: me: myself\n  more: [1]\n";
        let expected = r#"{"tools":["Read","Bash(git: *)","'a' b",7],"meta":{"author":"me: myself","more":[1]}}"#;
        assert_eq!(values(yaml), expected);
    }

    #[test]
    fn a_text_without_a_key_is_not_read() {
        assert_eq!(values("[\n  odd\n"), "");
        assert_eq!(values("- a: b: c\n"), "");
    }
}
