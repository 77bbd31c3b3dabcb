//! `#[schemars]` on a parameter adds to the schema.

#![deny(warnings)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping(
    #[schemars(range(min = 1, max = 10))] a: u8,
    #[schemars(length(min = 1), regex(pattern = "^a"))] b: String,
    #[schemars(title = "Three", extend("format" = "date"))] c: Option<String>,
    #[schemars(length(max = 3), inner(range(max = 3)))]
    #[arg(default = vec![1])]
    d: Vec<u8>,
    #[schemars(with = "String")] e: &str,
    #[schemars(email)]
    #[arg(rename = "mail")]
    f: &str,
) {
    drop((a, b, c, d, e, f));
}

fn main() {}
