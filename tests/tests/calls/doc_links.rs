//! Doc comments have links to items, which only rustdoc can resolve.

use llm_do::prelude::*;
use llm_do::{Registry, Value};

/// Reads from [`number`](Self::number) on.
#[data]
struct Chapter {
    /// Counted as in a [`Chapter`], by [Markdown](https://commonmark.org).
    number: u32,
}

/// Read a [`Chapter`] of [the shelf][shelf].
///
/// [shelf]: crate::doc_links::Chapter
#[tool(effect = read_only, inline)]
fn read_chapter(
    /// Which [chapter](Chapter).
    chapter: Chapter,
    #[arg(description = concat!("As in ", "[`Chapter`]."))] part: u32,
) -> u32 {
    chapter.number + part
}

/// Show a prompt.
#[tool(effect = read_only, inline)]
fn show_prompt(prompt: Prompt) -> String {
    format!("{prompt:?}")
}

#[test]
fn schemas_of_types_of_this_crate_have_no_links_to_items() {
    let schema = Registry::collect().unwrap().get("show_prompt").unwrap().parameters().to_string();
    assert!(schema.contains("A file of a `Prompt`.") && !schema.contains("[`"), "{schema}");
}

#[test]
fn models_and_people_read_the_text_of_links_to_items() {
    let registry = Registry::collect().unwrap();
    let tool = registry.get("read_chapter").unwrap();
    assert_eq!(tool.description(), "Read a `Chapter` of the shelf.");
    let schema = tool.parameters();
    let described = |pointer: &str| schema.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    for (pointer, expected) in [
        ("/properties/chapter/description", "Which chapter."),
        ("/properties/part/description", "As in `Chapter`."),
        ("/$defs/Chapter/description", "Reads from `number` on."),
        (
            "/$defs/Chapter/properties/number/description",
            "Counted as in a `Chapter`, by [Markdown](https://commonmark.org).",
        ),
    ] {
        assert_eq!(described(pointer).as_deref(), Some(expected), "{pointer} of {schema}");
    }
}
