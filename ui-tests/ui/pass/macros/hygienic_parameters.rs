//! Two parameters of one name, from a `macro_rules!` and from its caller, differ.

#![deny(warnings)]

use llm_do::{CallContext, CallError, entry, tool};

macro_rules! with_limit {
    ($name:ident, $parameter:ident) => {
        /// Takes.
        #[tool]
        fn $name($parameter: String, #[arg(default = 3)] limit: usize) -> String {
            $parameter.chars().take(limit).collect()
        }
    };
}

with_limit!(take, text);

#[entry(toolsets = [take])]
async fn start(ctx: &CallContext<start>) -> Result<String, CallError> {
    let text = String::new();
    ctx.call(take { text, limit: 1 }).await
}

fn main() {
    let take { limit, .. } = take { text: String::new(), limit: 2 };
    assert_eq!(limit, 2);
}
