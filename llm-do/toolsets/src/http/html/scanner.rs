//! Scans the tags and the text of HTML in one pass: each byte is read a constant number of times.

/// A part of HTML.
#[derive(Debug)]
pub(super) enum Token<'h> {
    /// Text with character references.
    Text(&'h str),
    /// Text without character references.
    Raw(&'h str),
    Start(Tag<'h>),
    End(String),
}

/// A start tag.
#[derive(Debug, Default)]
pub(super) struct Tag<'h> {
    /// The name in lower case.
    pub(super) name: String,
    /// The attributes that affect the text, as written.
    pub(super) attributes: Vec<(&'static str, &'h str)>,
    /// Whether it ends with `/>`.
    pub(super) is_closed: bool,
}

/// The attributes that affect the text.
const ATTRIBUTES: [&str; 6] = ["alt", "colspan", "href", "rowspan", "src", "start"];

/// Elements whose content has no tags, but character references.
const REFERENCES_ONLY: [&str; 2] = ["textarea", "title"];
const RAW: [&str; 6] = ["iframe", "noembed", "noframes", "script", "style", "xmp"];

/// The maximum length of a known element name.
const MAX_NAME: usize = 20;

/// Iterates over the parts of HTML.
pub(super) struct Scanner<'h> {
    rest: &'h str,
    /// The element whose content has no tags, once its start tag was returned.
    content: Option<String>,
}

impl<'h> Scanner<'h> {
    pub(super) fn new(html: &'h str) -> Self {
        Self { rest: html, content: None }
    }

    /// Takes the rest up to a position.
    fn take(&mut self, end: usize) -> &'h str {
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Skips the rest up to the end of `end`, or all of it.
    fn skip_past(&mut self, end: &str) {
        let at = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.take(at);
    }

    /// Takes the content of an element that has no tags.
    fn content_of(&mut self, name: &str) -> Token<'h> {
        let end = if name == "plaintext" { self.rest.len() } else { end_of(self.rest, name) };
        let content = self.take(end);
        if REFERENCES_ONLY.contains(&name) { Token::Text(content) } else { Token::Raw(content) }
    }

    /// Takes the markup after `<`; `None` for a comment or an unfinished tag.
    fn markup(&mut self) -> Option<Token<'h>> {
        let after = &self.rest[1..];
        if after.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return self.start_tag().map(Token::Start);
        }
        if after.starts_with("!--") {
            self.take(4);
            // `<!-->` and `<!--->` are complete comments.
            let at = [">", "->"].iter().find(|short| self.rest.starts_with(**short)).map(|short| short.len());
            match at {
                Some(at) => drop(self.take(at)),
                None => self.skip_comment(),
            }
            return None;
        }
        match after.as_bytes().first() {
            Some(b'/') if after[1..].starts_with(|first: char| first.is_ascii_alphabetic()) => {
                self.take(1);
                self.start_tag().map(|tag| Token::End(tag.name))
            }
            Some(b'/' | b'!' | b'?') => {
                self.skip_past(">");
                None
            }
            _ => Some(Token::Raw(self.take(1))),
        }
    }

    fn skip_comment(&mut self) {
        let ends = ["-->", "--!>"];
        let mut from = 0;
        while let Some(dashes) = self.rest[from..].find("--").map(|at| from + at) {
            if let Some(end) = ends.iter().find(|end| self.rest[dashes..].starts_with(**end)) {
                self.take(dashes + end.len());
                return;
            }
            from = dashes + 1;
        }
        self.rest = "";
    }

    /// Takes a tag, from its `<` or `/` on; `None`, with the whole rest, if it is unfinished.
    fn start_tag(&mut self) -> Option<Tag<'h>> {
        let named = &self.rest[1..];
        let end = named.find(is_end_of_name).unwrap_or(named.len());
        let mut tag = Tag { name: named[..end.min(floor(named, MAX_NAME))].to_ascii_lowercase(), ..Tag::default() };
        self.take(1 + end);
        loop {
            let start = self.rest.trim_start_matches(is_space);
            self.rest = start;
            match start.as_bytes().first()? {
                b'>' => {
                    self.take(1);
                    return Some(tag);
                }
                b'/' => {
                    self.take(1);
                    tag.is_closed = self.rest.starts_with('>');
                }
                _ => self.attribute(&mut tag)?,
            }
        }
    }

    /// Takes an attribute, and keeps it if it affects the text; the first attribute of a name counts.
    fn attribute(&mut self, tag: &mut Tag<'h>) -> Option<()> {
        // A `=` at the start belongs to the name.
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let end = self.rest[first..].find(|next| is_end_of_name(next) || next == '=');
        let name = self.take(first + end?);
        let value = self.rest.trim_start_matches(is_space);
        let Some(value) = value.strip_prefix('=') else { return Some(()) };
        self.rest = value.trim_start_matches(is_space);
        let value = self.value()?;
        let known = ATTRIBUTES.into_iter().find(|known| known.eq_ignore_ascii_case(name));
        if let Some(name) = known.filter(|name| tag.attributes.iter().all(|(given, _)| given != name)) {
            tag.attributes.push((name, value));
        }
        Some(())
    }

    /// Takes the value of an attribute, quoted or not.
    fn value(&mut self) -> Option<&'h str> {
        let first = self.rest.chars().next()?;
        if first != '"' && first != '\'' {
            let end = self.rest.find(|next| is_space(next) || next == '>')?;
            return Some(self.take(end));
        }
        self.take(1);
        let end = self.rest.find(first)?;
        let value = self.take(end);
        self.take(1);
        Some(value)
    }
}

impl<'h> Iterator for Scanner<'h> {
    type Item = Token<'h>;

    fn next(&mut self) -> Option<Token<'h>> {
        if let Some(name) = self.content.take() {
            return Some(self.content_of(&name));
        }
        while !self.rest.is_empty() {
            let text = self.rest.find('<').unwrap_or(self.rest.len());
            if text > 0 {
                return Some(Token::Text(self.take(text)));
            }
            let whole = self.rest;
            let Some(token) = self.markup() else {
                // An unfinished tag is not text.
                if self.rest.len() == whole.len() {
                    self.rest = "";
                }
                continue;
            };
            if let Token::Start(tag) = &token
                && (RAW.contains(&&*tag.name) || REFERENCES_ONLY.contains(&&*tag.name) || tag.name == "plaintext")
            {
                self.content = Some(tag.name.clone());
            }
            return Some(token);
        }
        None
    }
}

/// Returns the start of the end tag of an element, or the end of the text.
fn end_of(text: &str, name: &str) -> usize {
    let is_end = |(at, _): &(usize, &str)| {
        let after = &text.as_bytes()[at + 2..];
        after.len() > name.len()
            && after[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            && is_end_of_name(after[name.len()].into())
    };
    text.match_indices("</").find(is_end).map_or(text.len(), |(at, _)| at)
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

fn is_end_of_name(character: char) -> bool {
    is_space(character) || matches!(character, '/' | '>')
}

/// Returns the end of the last character that begins before `max`.
fn floor(text: &str, max: usize) -> usize {
    text.char_indices()
        .map(|(at, character)| at + character.len_utf8())
        .take_while(|end| *end <= max)
        .last()
        .unwrap_or(0)
}
