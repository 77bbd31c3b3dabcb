//! Items can be in functions, blocks, methods and constants, and use what is in scope there.

#![deny(warnings)]

use llm_do::{CallContext, CallError, data, entry, tool, toolset, worker};

struct Owner;

impl Owner {
    fn method() -> u8 {
        #[data]
        struct StepFuture {
            number: u8,
        }

        /// In a method.
        #[tool]
        fn in_method(local: StepFuture) -> u8 {
            local.number
        }

        in_method(StepFuture { number: 3 })
    }
}

const fn constant() -> u8 {
    /// In a constant function.
    #[tool]
    #[allow(dead_code)]
    fn in_constant() {}
    3
}

const NUMBER: u8 = {
    /// In a constant.
    #[tool]
    #[allow(dead_code)]
    fn in_a_constant() {}
    constant()
};

fn main() {
    let closure = || {
        const LIMIT: u8 = 3;

        /// In a closure.
        #[tool]
        fn in_closure(#[arg(default = LIMIT)] number: u8) -> u8 {
            number
        }

        /// Judges in a closure.
        #[worker(toolsets = [in_closure])]
        async fn judge(input: String) -> u8;

        toolset! { local = [in_closure, judge]; }

        #[entry(toolsets = [local])]
        async fn start(ctx: &CallContext<start>) -> Result<u8, CallError> {
            ctx.call(in_closure::default()).await
        }

        let _ = start;
        in_closure(2)
    };
    {
        /// In a block.
        #[tool]
        fn read() -> u8 {
            1
        }
        assert_eq!(read(), 1);
    }
    {
        /// In another block, with the same name.
        #[tool(name = "read_again")]
        fn read() -> u8 {
            2
        }
        assert_eq!(read(), 2);
    }
    assert_eq!(closure() + Owner::method() + NUMBER, 8);
}
