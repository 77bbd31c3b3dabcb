//! Items can be in modules of any visibility and in function bodies, and be named by any path.

#![deny(warnings)]

use llm_do::{CallContext, CallError, entry, tool, toolset};

mod outer {
    use super::*;

    /// Outer.
    #[tool(name = "outer_read")]
    pub fn read() -> u8 {
        1
    }

    pub(crate) mod inner {
        /// Inner.
        #[llm_do::tool(name = "inner_read", toolsets = [super::read])]
        pub(in crate::outer) fn read() -> u8 {
            2
        }

        /// Reads inside.
        #[llm_do::tool(toolsets = [self::read, super::read, crate::outer::group])]
        pub(crate) async fn both(ctx: &llm_do::CallContext<self::both>) -> Result<u8, llm_do::CallError> {
            Ok(ctx.call(read {}).await? + ctx.call(super::read {}).await?)
        }
    }

    toolset! {
        /// Another.
        pub(crate) group = [other];
    }

    /// Other.
    #[tool]
    fn other() {}
}

use outer::inner::both as renamed;

#[entry(toolsets = [renamed, outer::read])]
async fn start(context: &CallContext<start>) -> Result<u8, CallError> {
    let one = context.call(outer::read {}).await?;
    Ok(one + context.call(renamed {}).await?)
}

fn main() {
    /// Local.
    #[tool]
    fn local(#[arg(default = 1)] number: u8) -> u8 {
        number
    }

    toolset! { locals = [local]; }

    #[entry(toolsets = [locals])]
    async fn inside(ctx: &CallContext<inside>) -> Result<u8, CallError> {
        ctx.call(local { number: 2 }).await
    }

    let _ = inside;
}
