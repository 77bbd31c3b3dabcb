//! The faults of scripts: all of them, each with its line and column, with what to write instead.

use expect_test::{Expect, expect};
use llm_do::script::ScriptTool;

use crate::script::{builder, with_body};

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

def main(z: int, /, a, b: set[int], c: bytes, d: Color, e: Plain, f: dict[int, str], *rest: int, g: int = len("x")):
    return a
"#;
    check(
        text,
        &expect![[r#"
            main.py:4:1: scripts do not support class inheritance and metaclasses; write functions, or a dataclass without a base; raise a built-in exception such as `ValueError`
            main.py:10:5: `main` needs a docstring: it is the description that models read
            main.py:10:5: `main` has no type for its result; write `-> str:`, or another of str, int, float, bool, None, list, dict, tuple, Literal, Optional, Union, a TypedDict or a dataclass of this file
            main.py:10:10: `z`: arguments of a tool have names; remove the `/`
            main.py:10:21: the parameter `a` has no type; write `a: str`, or another of str, int, float, bool, None, list, dict, tuple, Literal, Optional, Union, a TypedDict or a dataclass of this file
            main.py:10:27: the parameter `b`: `set[int]` has no JSON schema; write `list[..]`: JSON has no sets
            main.py:10:40: the parameter `c`: `bytes` has no JSON schema; write `str`, with base64 inside: JSON has no bytes
            main.py:10:50: the parameter `d`: the Enum `Color` has no JSON schema; write `Literal[..]` with its values
            main.py:10:60: the parameter `e`: the class `Plain` has no JSON schema; write `@dataclass` above it, or make it a TypedDict
            main.py:10:75: the parameter `f`: the keys of a dict must be `str`: those of JSON are; write `dict[str, ..]`
            main.py:10:86: `rest`: a tool has a fixed list of parameters; write each with its name and type
            main.py:10:107: the parameter `g`: a default must be a literal, such as `0`, `""` or `None`
        "#]],
    );
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
    check(
        text,
        &expect![[r"
        main.py:5:1: unknown key `toolset`; did you mean `toolsets`?
        keys: `toolsets`, `effect`
        see the documentation of `llm_do::script`
        main.py:6:9: `effect`: expected one of `read_only`, `idempotent`, `destructive`, `undeclared`, found `readonly`
    "]],
    );
}

#[test]
fn front_matter_that_is_not_read_is_a_fault() {
    let elsewhere = "front matter has no effect here: move it to the docstring of `main`";
    for (text, place, fault) in [
        ("\"\"\"\n---\ntoolsets: [a]\n---\n\"\"\"\n\ndef main() -> None:\n    \"\"\"Do it.\"\"\"\n", "1:1", elsewhere),
        (
            "def helper() -> None:\n    \"\"\"\n    ---\n    effect: read_only\n    ---\n    \"\"\"\n\ndef main() -> None:\n    \"\"\"Do it.\"\"\"\n",
            "2:5",
            elsewhere,
        ),
        (
            "def main() -> None:\n    \"\"\"Do it.\n\n    ---\n    effect: read_only\n    ---\n    \"\"\"\n",
            "2:5",
            "the front matter stands first in the docstring: move it to its beginning",
        ),
        (
            "def main() -> None:\n    \"\"\"\n    ---\n    toolsets: [a]\n    Do it.\n    \"\"\"\n",
            "2:5",
            "the front matter has no end: write a line `---` below it",
        ),
    ] {
        let error = ScriptTool::parse("main", text).unwrap_err();
        assert_eq!(error.faults(), [format!("main.py:{place}: {fault}")], "{text}");
    }
    let ruled = "def main() -> None:\n    \"\"\"Do it.\n\n    ---\n    Note: twice.\n    ---\n    \"\"\"\n";
    assert!(ScriptTool::parse("main", ruled).is_ok());
}

#[test]
fn invalid_syntax_is_reported_with_all_places() {
    check(
        "def main(:\n    return )\n",
        &expect![[r"
        main.py:1:10: invalid syntax: Expected a parameter or the end of the parameter list
        main.py:1:11: invalid syntax: Expected `)`, found newline
        main.py:2:12: invalid syntax: Expected a statement
        main.py:2:13: invalid syntax: Expected a statement
    "]],
    );
}

#[test]
fn a_missing_function_is_reported_with_a_similar_name() {
    check(
        "def mian() -> None:\n    \"\"\"Do it.\"\"\"\n",
        &expect![[r"
        main.py:1:1: no function `main`; did you mean `mian`?; the tool is the function with the name of the file: write `def main(..) -> ..:`
    "]],
    );
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
    check(
        &with_body("def main() -> Any:", body),
        &expect![[r#"
        invalid registry:
          main.py:10:19: Argument to function `search` is incorrect: Expected `str`, found `Literal[1]`
          main.py:10:22: Argument to function `search` is incorrect: Expected `int`, found `Literal["3"]`
          main.py:12:19: Unknown key "titel" for TypedDict `Hit` - did you mean "title"?
          main.py:13:9: No argument provided for required parameter `text` of function `save`
          main.py:13:14: Object of type `Hit` has no attribute `id`
          main.py:17:12: Operator `+` is not supported between objects of type `str` and `Literal[1]`
    "#]],
    );
}

#[test]
fn a_tool_that_is_not_declared_is_unknown() {
    let text = "def main() -> int:\n    \"\"\"\n    ---\n    toolsets: [search]\n    ---\n    Do it.\n    \"\"\"\n    return price(\"pen\")\n";
    check(
        text,
        &expect![[r"
        invalid registry:
          main.py:8:12: Name `price` used when not defined; a script calls its own functions, the built-in ones and the tools of its `toolsets`
    "]],
    );
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
    check(
        &with_body("def main() -> Any:", body),
        &expect![[r"
            invalid registry:
              main.py:14:24: `price` cannot be called inside `__repr__`: call it before, in a loop, and keep the results in a list
              main.py:16:20: `price` cannot be called inside the `key=` of `sort`: call it before, in a loop, and keep the results in a list
              main.py:17:43: `price` cannot be called inside the `key=` of `max`: call it before, in a loop, and keep the results in a list
              main.py:18:31: `price` cannot be called inside `map`: call it before, in a loop, and keep the results in a list
              main.py:18:59: `price` cannot be called inside `filter`: call it before, in a loop, and keep the results in a list
        "]],
    );
}

#[test]
fn unknown_toolsets_are_reported_with_the_line() {
    let text = "def main() -> None:\n    \"\"\"\n    ---\n    toolsets: [serch]\n    ---\n    Do it.\n    \"\"\"\n";
    check(
        text,
        &expect![[r"
        invalid registry:
          `main` (tests/tests/state/script/faults.rs:12): unknown tool or toolset `serch`; did you mean `search`?
    "]],
    );
}

#[test]
fn a_script_that_is_too_long_is_refused() {
    check(
        &"#".repeat(70_000),
        &expect![[r"
        main.py:1:1: the script has 70000 bytes; the maximum is 65536: split it
    "]],
    );
}

#[test]
fn names_for_functions_of_python_are_required() {
    let fault = ScriptTool::parse("my-tool", "def my_tool() -> None:\n    \"\"\"Do it.\"\"\"\n").unwrap_err();
    assert!(fault.faults()[0].contains("with `_` in place of `-`"), "{fault}");
}
