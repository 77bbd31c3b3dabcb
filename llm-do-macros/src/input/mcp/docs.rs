//! Descriptions of a server as doc comments: text that rustdoc neither runs nor interprets as HTML.

use syn::{Attribute, parse_quote};

/// Returns doc comments with this text, line by line.
pub(super) fn attributes(text: &str) -> Vec<Attribute> {
    let lines = text.trim().lines().map(escaped).collect::<Vec<_>>();
    lines.into_iter().map(|line| parse_quote!(#[doc = #line])).collect()
}

/// Returns a line without the syntax of code, links and HTML.
fn escaped(line: &str) -> String {
    // An indented line would be code, which rustdoc runs as a test.
    let line: String = line.trim().chars().filter(|letter| !letter.is_control()).collect();
    let mut text = String::new();
    if ["```", "~~~"].iter().any(|fence| line.starts_with(fence)) {
        text.push('\\');
    }
    let mut is_code = false;
    for letter in line.chars() {
        is_code ^= letter == '`';
        if !is_code && matches!(letter, '<' | '[' | ']') {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_links_and_html_are_plain_text() {
        let lines = ["    let a = 1;", "```rust", "a `Vec<u8>` and <script> and [link]", "~~~", "\u{1b}[31m"];
        let expected = ["let a = 1;", "\\```rust", "a `Vec<u8>` and \\<script> and \\[link\\]", "\\~~~", "\\[31m"];
        assert_eq!(lines.map(escaped), expected);
    }
}
