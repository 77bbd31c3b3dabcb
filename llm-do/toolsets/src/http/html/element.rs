//! The elements that affect the text.

/// The kind of an element in an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A part of a line, such as a link.
    Inline,
    /// A paragraph, which contains only inline elements.
    Paragraph,
    Heading,
    Block,
    /// A block whose content is indented.
    List,
    Quote,
    /// An item of a list.
    Item,
    /// A term of a description list, or its description.
    Description,
    Table,
    /// The rows of a table.
    Rows,
    Row,
    Cell,
    /// An element without content.
    Empty,
}

/// Returns the kind of an element, with its name in an outline; `None` if it does not affect the text.
pub(super) fn known(name: &str) -> Option<(&'static str, Kind)> {
    const KNOWN: [(&str, Kind); 40] = [
        ("a", Kind::Inline),
        ("b", Kind::Inline),
        ("blockquote", Kind::Quote),
        ("br", Kind::Empty),
        ("code", Kind::Inline),
        ("dd", Kind::Description),
        ("del", Kind::Inline),
        ("div", Kind::Block),
        ("dl", Kind::List),
        ("dt", Kind::Description),
        ("em", Kind::Inline),
        ("h1", Kind::Heading),
        ("h2", Kind::Heading),
        ("h3", Kind::Heading),
        ("h4", Kind::Heading),
        ("h5", Kind::Heading),
        ("h6", Kind::Heading),
        ("i", Kind::Inline),
        ("img", Kind::Empty),
        ("ins", Kind::Inline),
        ("li", Kind::Item),
        ("menu", Kind::List),
        ("ol", Kind::List),
        ("p", Kind::Paragraph),
        ("pre", Kind::Block),
        ("s", Kind::Inline),
        ("strong", Kind::Inline),
        ("sup", Kind::Inline),
        ("table", Kind::Table),
        ("tbody", Kind::Rows),
        ("td", Kind::Cell),
        ("tfoot", Kind::Rows),
        ("th", Kind::Cell),
        ("thead", Kind::Rows),
        ("tr", Kind::Row),
        ("ul", Kind::List),
        ("wbr", Kind::Empty),
        ("xmp", Kind::Block),
        ("listing", Kind::Block),
        ("plaintext", Kind::Block),
    ];
    if let Some((name, kind)) = KNOWN.iter().find(|(known, _)| *known == name) {
        let shown = match *name {
            "menu" => "ul",
            "tfoot" => "tbody",
            "xmp" | "listing" | "plaintext" => "pre",
            name => name,
        };
        return Some((shown, *kind));
    }
    OTHER_BLOCKS.contains(&name).then_some(("div", Kind::Block))
}

/// Elements whose only effect on the text is a line break.
const OTHER_BLOCKS: [&str; 19] = [
    "address",
    "article",
    "aside",
    "center",
    "details",
    "dialog",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "hr",
    "main",
    "nav",
    "search",
    "section",
    "summary",
];
