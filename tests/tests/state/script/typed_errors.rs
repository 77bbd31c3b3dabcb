//! Errors of a certain type that pass through scripts.

use std::fmt;

use llm_do::error::{BoxError, chain};
use llm_do::journal::MemoryJournal;
use llm_do::runtime::FunctionTool;
use llm_do::script::ScriptTool;
use llm_do::{Effect, json};

/// A row of seats is full.
#[llm_do::data]
struct RowFull {
    row: u32,
}

impl fmt::Display for RowFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {} is full", self.row)
    }
}

impl std::error::Error for RowFull {}

const SCRIPT: &str = r#"
from typing import Any
def reserve_all(rows: int) -> Any:
    """
    ---
    toolsets: [reserve_row]
    ---
    Reserve rows.
    """
    return reserve_row(row=rows)
"#;

#[tokio::test]
async fn an_error_that_ends_a_script_keeps_its_type_with_and_without_a_journal() {
    let schema = json!({ "type": "object", "properties": { "row": { "type": "integer" } }, "required": ["row"] });
    let reserve_row = FunctionTool::new("reserve_row", "Reserve a row.", schema, Effect::ReadOnly, |_, _| async {
        Err::<u32, BoxError>(RowFull { row: 7 }.into())
    });
    let reserve_row = reserve_row.error_type::<RowFull>();
    let mut texts = Vec::new();
    for journal in [None, Some(MemoryJournal::new())] {
        let builder = crate::own_builder().state(super::Log::default()).tool(reserve_row.clone());
        let builder = builder.tool(ScriptTool::parse("reserve_all", SCRIPT).unwrap());
        let builder = match journal {
            Some(journal) => builder.journal(journal),
            None => builder,
        };
        let error = builder.build().unwrap().run_named("reserve_all", json!({ "rows": 7 })).await.unwrap_err();
        assert_eq!(error.downcast_ref::<RowFull>().map(|full| full.row), Some(7), "{error:?}");
        texts.push(chain(&error));
    }
    assert_eq!(texts[0], texts[1]);
}
