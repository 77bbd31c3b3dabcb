//! The links of doc comments to Rust items, which only rustdoc resolves.

use std::borrow::Cow;

/// Returns the text of a doc comment in which links to items are replaced by their texts.
///
/// Only rustdoc can follow such links; models cannot. Other links and code are unchanged.
///
/// ```
/// # use llm_do_worker_file::without_item_links;
/// let text = "Reads a [`Prompt`], or [any text](crate::Text), as [Markdown](https://commonmark.org).";
/// assert_eq!(without_item_links(text), "Reads a `Prompt`, or any text, as [Markdown](https://commonmark.org).");
/// ```
#[must_use]
pub fn without_item_links(text: &str) -> Cow<'_, str> {
    if !text.contains('[') {
        return Cow::Borrowed(text);
    }
    let labels: Vec<_> = text.lines().filter_map(definition).collect();
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let before = &text[..text.len() - rest.len()];
        let starts_line = before.is_empty() || before.ends_with('\n');
        let block = if starts_line { block(rest) } else { None };
        let (kept, read) = block.unwrap_or_else(|| inline(rest, &labels));
        plain.push_str(kept);
        rest = &rest[read..];
    }
    if !labels.is_empty() {
        plain.truncate(plain.trim_end().len());
    }
    Cow::Owned(plain)
}

/// Returns the label of a line such as `` [client]: crate::Client ``.
fn definition(line: &str) -> Option<&str> {
    let (label, target) = line.trim().strip_prefix('[')?.split_once("]:")?;
    (!label.contains(['[', ']']) && is_target(target)).then_some(label)
}

/// Returns the kept part of the link definition or the code block that begins here, and its length.
fn block(rest: &str) -> Option<(&str, usize)> {
    let line = rest.split_inclusive('\n').next()?;
    if definition(line).is_some() {
        return Some(("", line.len()));
    }
    let fence = ["```", "~~~"].into_iter().find(|fence| line.trim_start().starts_with(fence))?;
    let mut length = line.len();
    for line in rest[length..].split_inclusive('\n') {
        length += line.len();
        if line.trim_start().starts_with(fence) {
            break;
        }
    }
    Some((&rest[..length], length))
}

/// Returns the kept part of the link, code or other text that begins here, and its length.
fn inline<'a>(rest: &'a str, labels: &[&str]) -> (&'a str, usize) {
    let plain = rest.find(['\n', '\\', '`', '[']).unwrap_or(rest.len());
    if plain > 0 {
        return (&rest[..plain], plain);
    }
    if rest.starts_with('[')
        && let Some(link) = link(rest, labels)
    {
        return link;
    }
    let length = span(rest);
    (&rest[..length], length)
}

/// Returns the text of the link to an item that begins here, and its length.
fn link<'a>(rest: &'a str, labels: &[&str]) -> Option<(&'a str, usize)> {
    let end = closing(rest, '[', ']')?;
    let (text, after) = (&rest[1..end], &rest[end + 1..]);
    let is_known = |label: &str| is_path_label(label) || labels.iter().any(|known| known.eq_ignore_ascii_case(label));
    let (is_link, length) = if after.starts_with('(') {
        let close = closing(after, '(', ')')?;
        (is_target(&after[1..close]), close + 1)
    } else if after.starts_with('[') {
        let close = closing(after, '[', ']')?;
        (is_known(if close == 1 { text } else { &after[1..close] }), close + 1)
    } else {
        (is_known(text), 0)
    };
    is_link.then_some((text, end + 1 + length))
}

/// Returns the place of the bracket that closes the first one, in the same paragraph.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() && !text[at..].starts_with("\n\n") {
        let rest = &text[at..];
        if rest.starts_with(open) {
            depth += 1;
        } else if rest.starts_with(close) {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
        at += span(rest);
    }
    None
}

/// Returns the length of the code, the escaped character or the character that begins here.
fn span(rest: &str) -> usize {
    let length = |text: &str| text.chars().next().map_or(0, char::len_utf8);
    match rest.as_bytes().first() {
        Some(b'`') => code_span(rest),
        Some(b'\\') => 1 + length(&rest[1..]),
        _ => length(rest),
    }
}

/// Returns the length of the code between equal runs of backticks, or of the first run alone.
fn code_span(rest: &str) -> usize {
    let run = |text: &str| text.len() - text.trim_start_matches('`').len();
    let ticks = run(rest);
    let mut at = ticks;
    while let Some(found) = rest[at..].find('`') {
        let start = at + found;
        at = start + run(&rest[start..]);
        if at - start == ticks {
            return at;
        }
    }
    ticks
}

/// Returns whether a bracketed text without a target links to an item: code, or a path with `::`. `[x]` is ambiguous.
fn is_path_label(label: &str) -> bool {
    let code = label.strip_prefix('`').and_then(|label| label.strip_suffix('`'));
    code.or_else(|| label.contains("::").then_some(label)).is_some_and(is_path)
}

/// Returns whether the target of a link, which may have a title, is an item.
fn is_target(target: &str) -> bool {
    let mut words = target.split_whitespace();
    let is_item = words.next().is_some_and(|path| is_path(path.trim_matches('`')));
    is_item && words.next().is_none_or(|title| title.starts_with(['"', '\'', '(']))
}

/// Returns whether a text is the path of an item in rustdoc's syntax: `Prompt`, `fn@crate::read`, `read()`, `Vec<T>`,
/// `Prompt#limits`.
fn is_path(text: &str) -> bool {
    let path = text.split_once('@').map_or(text, |(_, path)| path);
    let path = path.split(['#', '<']).next().unwrap_or_default();
    let path = ["!()", "![]", "!{}", "()", "!"].into_iter().find_map(|call| path.strip_suffix(call)).unwrap_or(path);
    let is_identifier = |segment: &str| {
        segment.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && segment.chars().all(|char| char.is_alphanumeric() || char == '_')
    };
    path.strip_prefix("::").unwrap_or(path).split("::").all(is_identifier)
}

#[cfg(test)]
mod tests {
    use super::without_item_links;

    #[test]
    fn links_to_items_leave_their_text() {
        for (given, expected) in [
            ("[`Prompt`] and [`Vec<T>`]", "`Prompt` and `Vec<T>`"),
            ("[`Decide`](Self::Decide) too", "`Decide` too"),
            ("[any text](crate::text::Text \"title\")", "any text"),
            ("[read](fn@crate::read()), [limits](Prompt#limits)", "read, limits"),
            ("[the client][client]\n\n[client]: crate::Client", "the client"),
            (
                "[client] and [Client][]\n\n[client]: crate::Client\n[docs]: https://docs.rs",
                "client and Client\n\n[docs]: https://docs.rs",
            ),
            ("[text][`Prompt`], [crate::Prompt], [`check!`]", "text, crate::Prompt, `check!`"),
            ("[over two\nlines](Self::x)", "over two\nlines"),
            ("[`ä`] and é", "`ä` and é"),
        ] {
            assert_eq!(without_item_links(given), expected, "{given}");
        }
    }

    #[test]
    fn other_brackets_and_code_stay() {
        for text in [
            "[Markdown](https://commonmark.org), [page](page.html), [part](#part), [mail](mailto:a@example.org)",
            "`[`a`]` and ``[`Prompt`]``",
            "```\nlet x = y[`Prompt`];\n[client]: crate::Client;\n```",
            "a list [1, 2], [optional], x[i][j], [`--flag`], [`a b`]",
            "\\[`Prompt`]",
            "[ and [`Prompt\n\nnot closed`]",
            "[`Prompt`](see below)",
        ] {
            assert_eq!(without_item_links(text), text);
        }
    }
}
