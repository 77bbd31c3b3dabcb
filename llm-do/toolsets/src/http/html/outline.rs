//! An outline: the elements of HTML that affect the text, all of them closed, with limits on their number and depth.
//!
//! Elements beyond a limit are omitted; their text is kept.

use std::fmt::Write;

use super::budget::Budget;
use super::element::{Kind, known};
use super::hidden::Hidden;
use super::scanner::Tag;
use super::table::Table;

/// The maximum number of elements.
const MAX_ELEMENTS: usize = 50_000;
/// The maximum number of open elements.
const MAX_DEPTH: usize = 64;
/// The maximum number of open lists and quotes, each of which indents its lines.
const MAX_INDENTS: usize = 10;
/// The maximum number of open tables.
const MAX_TABLES: usize = 6;
/// The maximum length of an attribute in bytes; longer attributes are omitted.
const MAX_ATTRIBUTE: usize = 4_000;

type Element = (&'static str, Kind);

/// An outline so far.
#[derive(Debug, Default)]
pub(super) struct Outline {
    html: String,
    open: Vec<Element>,
    /// The tables of `open`.
    tables: Vec<Table>,
    /// The number of elements so far.
    elements: usize,
    hidden: Option<Hidden>,
    budget: Budget,
}

impl Outline {
    /// Adds text with character references.
    pub(super) fn text(&mut self, text: &str) {
        if self.begins_text(text) {
            let text = self.budget.text(text, &self.open);
            escape(&mut self.html, text, &[('<', "&lt;"), ('>', "&gt;")]);
        }
    }

    /// Adds text without character references.
    pub(super) fn raw(&mut self, text: &str) {
        if self.begins_text(text) {
            let text = self.budget.text(text, &self.open);
            escape(&mut self.html, text, &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;")]);
        }
    }

    /// Adds a start tag.
    pub(super) fn start(&mut self, tag: &Tag<'_>) {
        if let Some(hidden) = &mut self.hidden {
            hidden.start(tag);
            return;
        }
        let name = tag.name.as_str();
        self.hidden = Hidden::from_tag(tag);
        if self.hidden.is_some() {
            return;
        }
        match known(name) {
            Some(_) if self.elements >= MAX_ELEMENTS => {
                self.close_to(0);
                self.html.push(' ');
            }
            Some((shown, Kind::Empty)) => self.empty(shown, tag),
            // It has no content, but ends a paragraph.
            Some(_) if name == "hr" => self.close_paragraph(),
            Some(element) => self.begin(element, tag),
            None => {}
        }
    }

    /// Adds an end tag.
    pub(super) fn end(&mut self, name: &str) {
        if let Some(hidden) = &mut self.hidden {
            if hidden.end(name) {
                self.hidden = None;
            }
            return;
        }
        let Some((shown, kind)) = known(name) else { return };
        let is_limit = |(_, other): &Element| match kind {
            Kind::Table => false,
            Kind::Rows | Kind::Row | Kind::Cell => *other == Kind::Table,
            _ => matches!(other, Kind::Cell | Kind::Table),
        };
        // The end tag of any heading closes an open heading.
        let is_it = |element: &Element| element.0 == shown || (kind == Kind::Heading && element.1 == kind);
        if let Some(at) = self.last(is_it, is_limit) {
            self.close_to(at);
        }
    }

    /// Returns whether the rest is omitted.
    pub(super) fn is_full(&self) -> bool {
        self.budget.is_spent
    }

    /// Closes all elements.
    pub(super) fn finish(mut self) -> String {
        self.close_to(0);
        if self.is_full() {
            self.html.push_str("<p>[the rest of the page is left out: it is too large as text]</p>");
        }
        self.html
    }

    /// Returns whether text is shown; in a table, the text is put into a cell.
    fn begins_text(&mut self, text: &str) -> bool {
        if let Some(hidden) = &mut self.hidden {
            let is_title = std::mem::take(&mut hidden.is_title);
            if is_title && text.len() <= MAX_ATTRIBUTE && self.elements < MAX_ELEMENTS {
                self.image_title(text);
            }
            return false;
        }
        if !self.is_between_cells() {
            return true;
        }
        let is_shown = !text.trim_ascii().is_empty();
        if is_shown {
            self.begin_cell("td", 1, 1);
        }
        is_shown
    }

    fn image_title(&mut self, title: &str) {
        if self.is_between_cells() {
            self.begin_cell("td", 1, 1);
        }
        self.elements += 2;
        self.html.push_str("<svg><title>");
        escape(&mut self.html, title, &[('<', "&lt;"), ('>', "&gt;")]);
        self.html.push_str("</title></svg>");
    }

    /// Opens an element, after closing and opening the elements that it requires.
    fn begin(&mut self, element: Element, tag: &Tag<'_>) {
        let (name, kind) = element;
        match kind {
            Kind::Rows | Kind::Row | Kind::Cell if self.tables.is_empty() => {}
            Kind::Rows => {
                self.close_to_table(&[Kind::Table]);
                self.push(element, "");
            }
            Kind::Row => self.begin_row(),
            Kind::Cell => self.begin_cell(name, span(tag, "colspan"), span(tag, "rowspan")),
            Kind::Inline => self.begin_inline(element, tag),
            _ => {
                if self.is_between_cells() {
                    self.begin_cell("td", 1, 1);
                }
                self.close_paragraph();
                self.begin_block(element, tag);
            }
        }
    }

    fn begin_inline(&mut self, element: Element, tag: &Tag<'_>) {
        if self.is_between_cells() {
            self.begin_cell("td", 1, 1);
        }
        let is_cell = |(_, kind): &Element| *kind == Kind::Cell;
        match self.last(|open| *open == element, is_cell) {
            // A link ends where the next link begins; any further inline element already applies.
            Some(at) if element.0 == "a" => self.close_to(at),
            Some(_) => return,
            None => {}
        }
        self.push(element, &attribute(tag, "href"));
    }

    fn begin_block(&mut self, element: Element, tag: &Tag<'_>) {
        let (name, kind) = element;
        let is_cell = |(_, kind): &Element| *kind == Kind::Cell;
        match kind {
            Kind::Heading => {
                if let Some(at) = self.last(|(_, kind)| *kind == Kind::Heading, is_cell) {
                    self.close_to(at);
                }
            }
            Kind::Item => self.begin_part("ul", &["ul", "ol"]),
            Kind::Description => self.begin_part("dl", &["dl"]),
            _ => {}
        }
        let indents = self.open.iter().filter(|(_, kind)| matches!(kind, Kind::List | Kind::Quote)).count();
        let is_left_out = match kind {
            Kind::List | Kind::Quote => indents >= MAX_INDENTS,
            Kind::Item | Kind::Description => !self.open.last().is_some_and(|(_, kind)| *kind == Kind::List),
            Kind::Table => self.tables.len() >= MAX_TABLES,
            _ => name == "pre" && self.last(|open| open.0 == "pre", is_cell).is_some(),
        };
        if is_left_out {
            return;
        }
        let attributes = if name == "ol" { start(tag) } else { String::new() };
        self.push(element, &attributes);
    }

    /// Closes the open part of a list, or opens a list if none is open.
    fn begin_part(&mut self, list: &'static str, lists: &[&str]) {
        let is_cell = |(_, kind): &Element| *kind == Kind::Cell;
        match self.last(|(name, _)| lists.contains(name), is_cell) {
            Some(at) => self.close_to(at + 1),
            None => self.push((list, Kind::List), ""),
        }
    }

    fn begin_row(&mut self) {
        if !self.tables.last_mut().is_some_and(Table::begin_row) {
            return;
        }
        self.close_to_table(&[Kind::Table, Kind::Rows]);
        if self.open.last().is_some_and(|(_, kind)| *kind == Kind::Table) {
            self.push(("tbody", Kind::Rows), "");
        }
        self.push(("tr", Kind::Row), "");
    }

    fn begin_cell(&mut self, name: &'static str, colspan: usize, rowspan: usize) {
        if self.last(|(_, kind)| *kind == Kind::Row, |(_, kind)| *kind == Kind::Table).is_none() {
            self.begin_row();
        }
        let spans = self.tables.last_mut().and_then(|table| table.add_cell(colspan, rowspan));
        let Some((columns, rows)) = spans else {
            self.html.push(' ');
            return;
        };
        self.close_to_table(&[Kind::Row]);
        let mut attributes = String::new();
        for (name, span) in [("colspan", columns), ("rowspan", rows)] {
            if span > 1 {
                _ = write!(attributes, " {name}=\"{span}\"");
            }
        }
        self.push((name, Kind::Cell), &attributes);
    }

    fn empty(&mut self, name: &'static str, tag: &Tag<'_>) {
        if self.is_between_cells() {
            self.begin_cell("td", 1, 1);
        }
        self.elements += 1;
        let attributes = attribute(tag, "src") + &attribute(tag, "alt");
        self.budget.spend(attributes.len(), &self.open);
        _ = write!(self.html, "<{name}{attributes}>");
    }

    /// Returns whether the innermost element may contain only rows or cells.
    fn is_between_cells(&self) -> bool {
        self.open.last().is_some_and(|(_, kind)| matches!(kind, Kind::Table | Kind::Rows | Kind::Row))
    }

    fn close_paragraph(&mut self) {
        let is_cell = |(_, kind): &Element| *kind == Kind::Cell;
        if let Some(at) = self.last(|(_, kind)| *kind == Kind::Paragraph, is_cell) {
            self.close_to(at);
        }
    }

    /// Closes the open elements of the innermost table, up to an element of these kinds.
    fn close_to_table(&mut self, kinds: &[Kind]) {
        if let Some(at) = self.open.iter().rposition(|(_, kind)| kinds.contains(kind)) {
            self.close_to(at + 1);
        }
    }

    /// Returns the place of the innermost matching element, but not beyond a limiting one.
    fn last(&self, is_it: impl Fn(&Element) -> bool, is_limit: impl Fn(&Element) -> bool) -> Option<usize> {
        let mut open = self.open.iter().enumerate().rev();
        open.find(|(_, element)| is_it(element) || is_limit(element))
            .filter(|(_, element)| is_it(element))
            .map(|(at, _)| at)
    }

    fn push(&mut self, element: Element, attributes: &str) {
        // The parts of a table close in order, so that its text stays in cells.
        let is_part = matches!(element.1, Kind::Rows | Kind::Row | Kind::Cell);
        if self.open.len() >= MAX_DEPTH && !is_part {
            return;
        }
        self.elements += 1;
        self.budget.spend(attributes.len(), &self.open);
        if element.1 == Kind::Table {
            self.tables.push(Table::default());
        }
        _ = write!(self.html, "<{}{attributes}>", element.0);
        self.open.push(element);
    }

    /// Closes all elements from this place on.
    fn close_to(&mut self, at: usize) {
        for (name, kind) in self.open.drain(at..).rev() {
            if kind == Kind::Table {
                self.tables.pop();
            }
            _ = write!(self.html, "</{name}>");
        }
    }
}

/// Returns an attribute as written in a tag, after a space; empty if it is missing or too long.
fn attribute(tag: &Tag<'_>, name: &str) -> String {
    let value = tag.attributes.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
    let Some(value) = value.filter(|value| value.len() <= MAX_ATTRIBUTE) else { return String::new() };
    let mut written = format!(" {name}=\"");
    escape(&mut written, value, &[('"', "&quot;")]);
    written.push('"');
    written
}

/// Returns the attribute with the number of a list's first item, within a range that fits the numbers of all items.
fn start(tag: &Tag<'_>) -> String {
    const MAX: i64 = 1_000_000_000;
    let value = tag.attributes.iter().find(|(given, _)| *given == "start");
    let number = value.and_then(|(_, value)| value.trim().parse::<i64>().ok());
    number.map(|number| format!(" start=\"{}\"", number.clamp(-MAX, MAX))).unwrap_or_default()
}

/// Returns the number of columns or rows of a cell.
fn span(tag: &Tag<'_>, name: &str) -> usize {
    let value = tag.attributes.iter().find(|(given, _)| *given == name);
    value.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(1)
}

/// Adds text in which some characters are replaced.
fn escape(to: &mut String, text: &str, replaced: &[(char, &str)]) {
    let mut rest = text;
    while let Some(at) = rest.find(|next| replaced.iter().any(|(character, _)| *character == next)) {
        let (before, after) = rest.split_at(at);
        to.push_str(before);
        let mut characters = after.chars();
        let next = characters.next();
        to.extend(replaced.iter().filter(|(character, _)| Some(*character) == next).map(|(_, with)| *with));
        rest = characters.as_str();
    }
    to.push_str(rest);
}
