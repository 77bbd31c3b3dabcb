//! What a script's signature and docstring become.

use llm_do::json;
use llm_do::script::ScriptTool;

use crate::script::{builder, run};

const TRIAGE: &str = r#"
from dataclasses import dataclass
from typing import Literal, NotRequired, Optional, TypedDict, Union

Urgency = Literal["low", "high"]

class Match(TypedDict):
    """A ticket.

    Attributes:
        id: The number.
    """
    id: int
    urgency: Urgency
    note: NotRequired[str]

@dataclass
class Area:
    name: str
    rooms: list[int]
    size: float = 1.5

def triage(
    text: str, area: Area, tags: tuple[str, int], pairs: dict[str, list[Optional[bool]]], limit: Union[int, None] = 3,
) -> list[Match]:
    """
    ---
    toolsets: []
    ---
    Find tickets.

    Slowly.

    Args:
        text (str): What the user wrote,
            as it is.
        limit: At most.
    """
    assert area.rooms[0] == 4 and area.size == 1.5 and isinstance(tags, tuple) and pairs["a"] == [None, True]
    return [{"id": limit or 0, "urgency": "low"}, {"id": 2, "urgency": "high", "note": f"{area.name} {tags[1]} {text}"}]
"#;

#[tokio::test]
async fn types_descriptions_and_defaults_are_the_schema() {
    let runtime = builder().0.tool(ScriptTool::parse("triage", TRIAGE).unwrap()).build().unwrap();
    let item = runtime.registry().get("triage").unwrap();
    assert_eq!(item.description(), "Find tickets.\n\nSlowly.");
    assert_eq!(
        *item.parameters(),
        json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "What the user wrote, as it is." },
                "area": { "$ref": "#/$defs/Area" },
                "tags": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "minItems": 2, "maxItems": 2 },
                "pairs": {
                    "type": "object",
                    "additionalProperties": { "type": "array", "items": { "anyOf": [{ "type": "boolean" }, { "type": "null" }] } },
                },
                "limit": { "anyOf": [{ "type": "integer" }, { "type": "null" }], "description": "At most.", "default": 3 },
            },
            "required": ["text", "area", "tags", "pairs"],
            "additionalProperties": false,
            "$defs": {
                "Area": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "rooms": { "type": "array", "items": { "type": "integer" } },
                        "size": { "type": "number", "default": 1.5 },
                    },
                    "required": ["name", "rooms"],
                    "additionalProperties": false,
                },
            },
        })
    );
    assert_eq!(
        item.output().unwrap(),
        json!({
            "type": "array",
            "items": { "$ref": "#/$defs/Match" },
            "$defs": {
                "Match": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "integer", "description": "The number." },
                        "urgency": { "type": "string", "enum": ["low", "high"] },
                        "note": { "type": "string" },
                    },
                    "required": ["id", "urgency"],
                    "additionalProperties": false,
                    "description": "A ticket.",
                },
            },
        })
    );
}

#[tokio::test]
async fn values_of_all_types_reach_the_function_and_come_back() {
    let runtime = builder().0.tool(ScriptTool::parse("triage", TRIAGE).unwrap()).build().unwrap();
    let arguments =
        json!({ "text": "t", "area": { "name": "n", "rooms": [4] }, "tags": ["x", 7], "pairs": { "a": [null, true] } });
    let result = runtime.run_named("triage", arguments).await.unwrap();
    assert_eq!(result, json!([{ "id": 3, "urgency": "low" }, { "id": 2, "urgency": "high", "note": "n 7 t" }]));
}

#[tokio::test]
async fn nested_classes_are_instances() {
    let text = r#"
from dataclasses import dataclass

@dataclass
class Leaf:
    size: int

@dataclass
class Tree:
    leaves: list[Leaf]
    best: Leaf | None = None

def main(tree: Tree, more: dict[str, Leaf]) -> Tree:
    """Grow."""
    total = sum([leaf.size for leaf in tree.leaves]) + more["a"].size + (tree.best.size if tree.best else 0)
    return Tree(leaves=[Leaf(size=total)])
"#;
    let arguments =
        json!({ "tree": { "leaves": [{ "size": 1 }], "best": { "size": 2 } }, "more": { "a": { "size": 4 } } });
    let result = run(text, arguments).await.unwrap();
    assert_eq!(result, json!({ "leaves": [{ "size": 7 }], "best": null }));
}

#[tokio::test]
async fn a_result_of_another_type_is_an_error() {
    let text = "from typing import Any\ndef main(x: Any) -> int:\n    \"\"\"Pass on.\"\"\"\n    return x\n";
    assert_eq!(run(text, json!({ "x": 1 })).await.unwrap(), 1);
    let error = run(text, json!({ "x": "1" })).await.unwrap_err();
    assert!(crate::script::text_of(&error).contains("the result does not have the type that the script declares"));
}
