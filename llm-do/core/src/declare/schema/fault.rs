//! The texts for faults of values.

/// The place of a value inside the one that is validated.
#[derive(Debug)]
pub(super) enum Place<'a> {
    Root,
    Field(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    /// Adds the place to the description of a fault.
    pub(super) fn located(&self, fault: String) -> String {
        located(fault, &self.pointer())
    }

    /// Returns the JSON pointer to the value.
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Field(outer, name) => format!("{}/{}", outer.pointer(), name.replace('~', "~0").replace('/', "~1")),
            Self::Item(outer, index) => format!("{}/{index}", outer.pointer()),
        }
    }
}

/// Adds the place of a value, a JSON pointer, to the description of a fault.
pub(super) fn located(fault: String, pointer: &str) -> String {
    if pointer.is_empty() { fault } else { format!("{fault} at `{pointer}`") }
}

/// Describes a missing field.
pub(super) fn missing(name: &str) -> String {
    format!("`{name}` is missing")
}

/// Describes unknown fields, and lists the known ones.
pub(super) fn unknown<'a>(unexpected: &[impl AsRef<str>], known: impl Iterator<Item = &'a str>) -> String {
    let quoted = |name: &str| format!("`{}`", name.escape_debug());
    let unknown: Vec<_> = unexpected.iter().map(|name| quoted(name.as_ref())).collect();
    let known: Vec<_> = known.map(quoted).collect();
    let expected =
        if known.is_empty() { "expected no fields".to_owned() } else { format!("expected {}", known.join(", ")) };
    let field = if unknown.len() == 1 { "field" } else { "fields" };
    format!("unknown {field} {}, {expected}", unknown.join(", "))
}
