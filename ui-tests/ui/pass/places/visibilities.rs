//! Generated items have the visibility of the function and cause no visibility lint.

#![deny(warnings, unreachable_pub, private_interfaces, private_bounds, unnameable_types)]

mod outer {
    #[llm_do::data]
    struct Private {
        number: u8,
    }

    #[llm_do::data]
    pub(crate) struct Shared {
        pub(crate) number: u8,
    }

    /// Private.
    #[llm_do::tool]
    fn private(value: Private) -> Private {
        value
    }

    /// Of the crate.
    #[llm_do::tool(toolsets = [private])]
    pub(crate) fn shared(value: Shared) -> u8 {
        let Private { number } = private(Private { number: value.number });
        number
    }

    pub(crate) mod inner {
        /// Of the parent.
        #[llm_do::tool]
        pub(super) fn of_parent() {}

        /// In a path.
        #[llm_do::tool]
        pub(in crate::outer) fn in_path() {}

        /// Of itself.
        #[llm_do::tool]
        pub(self) fn of_itself() {}

        llm_do::toolset! {
            /// All of them, to more than see each.
            pub(crate) all = [of_parent, in_path, of_itself, super::private];
        }
    }

    /// Uses them.
    #[llm_do::entry(toolsets = [inner::of_parent, inner::in_path])]
    pub(crate) async fn start(ctx: &llm_do::CallContext<start>) -> Result<(), llm_do::CallError> {
        ctx.call(inner::of_parent {}).await?;
        ctx.call(inner::in_path {}).await
    }
}

#[llm_do::entry(toolsets = [outer::inner::all, outer::shared])]
async fn main_entry(ctx: &llm_do::CallContext<main_entry>) -> Result<u8, llm_do::CallError> {
    ctx.call(outer::shared { value: outer::Shared { number: 3 } }).await
}

fn main() {
    let _ = outer::start;
}
