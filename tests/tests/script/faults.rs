//! The faults of scripts: all of them, each with its line and column, in words that tell what to write.

use expect_test::{Expect, expect};
use llm_do::script::ScriptTool;

use crate::{builder, with_body};

/// Checks the faults that reading or linking a script reports.
fn check(text: &str, expected: &Expect) {
    let faults = match ScriptTool::parse("main", text) {
        Err(error) => error.faults().join("\n"),
        Ok(tool) => builder().0.tool(tool).build().unwrap_err().to_string(),
    };
    expected.assert_eq(&format!("{faults}\n"));
}

#[test]
fn a_signature_has_all_of_its_faults() {
    let text = r#"
import enum

class Color(enum.Enum):
    RED = 1

class Plain:
    pass

def main(a, b: set[int], c: bytes, d: Color, e: Plain, f: dict[int, str], /, *rest: int, g: int = len("x")):
    return a
"#;
    check(text, &expect![[""]]);
}

#[test]
fn front_matter_has_places() {
    let text = r#"
def main() -> None:
    """
    ---
    toolset: [a]
    effect: readonly
    ---
    Do it.
    """
"#;
    check(text, &expect![[""]]);
}

#[test]
fn invalid_syntax_is_reported_with_all_places() {
    check("def main(:\n    return )\n", &expect![[""]]);
}

#[test]
fn a_missing_function_is_reported_with_a_similar_name() {
    check("def mian() -> None:\n    \"\"\"Do it.\"\"\"\n", &expect![[""]]);
}

#[test]
fn ill_typed_calls_are_reported_together() {
    let body = r#"
    hits = search(1, limit="3")
    for hit in hits:
        erase(hit["titel"])
        save(hit.id)
    note = read_note(id=1)
    if note["status"] == "Opened":
        delete_all()
    return note["title"] + 1"#;
    check(&with_body("def main() -> Any:", body), &expect![[""]]);
}

#[test]
fn a_tool_that_is_not_declared_is_unknown() {
    let text = "def main() -> int:\n    \"\"\"\n    ---\n    toolsets: [search]\n    ---\n    Do it.\n    \"\"\"\n    return price(\"pen\")\n";
    check(text, &expect![[""]]);
}

#[test]
fn calls_where_the_interpreter_cannot_wait_are_refused() {
    let body = r#"
    def dear(item: str) -> bool:
        return price(item) > 4
    class Box:
        def __repr__(self) -> str:
            return str(price("box"))
    items = ["pen", "paper"]
    items.sort(key=price)
    biggest = max(items, key=lambda item: price(item))
    return [biggest, list(map(price, items)), list(filter(dear, items))]"#;
    check(&with_body("def main() -> Any:", body), &expect![[""]]);
}

#[test]
fn unknown_toolsets_are_reported_with_the_line() {
    let text = "def main() -> None:\n    \"\"\"\n    ---\n    toolsets: [serch]\n    ---\n    Do it.\n    \"\"\"\n";
    check(text, &expect![[""]]);
}

#[test]
fn a_script_that_is_too_long_is_refused() {
    check(&"#".repeat(70_000), &expect![[""]]);
}

#[test]
fn names_for_functions_of_python_are_required() {
    let fault = ScriptTool::parse("my-tool", "def my_tool() -> None:\n    \"\"\"Do it.\"\"\"\n").unwrap_err();
    assert!(fault.faults()[0].contains("with `_` in place of `-`"), "{fault}");
}
