//! Functions can be more visible than their argument and output types, with at most a lint of the compiler.
#![allow(private_interfaces)]

mod inner {
    use llm_do::prelude::*;

    #[data]
    struct Private {
        size: u32,
    }

    #[data]
    pub(crate) struct OfCrate {
        size: u32,
    }

    /// Take and return what only this module sees.
    #[tool]
    pub fn private(value: Private) -> Private {
        value
    }

    /// Return what only this crate sees, or fail.
    #[tool]
    pub fn of_crate(size: u32) -> Result<OfCrate> {
        Ok(OfCrate { size })
    }

    /// Write what only this module sees.
    #[worker]
    pub async fn write(size: u32) -> Private;

    /// Calls them.
    #[entry(toolsets = [private, of_crate, write])]
    pub async fn all(ctx: &CallContext<all>) -> Result<u32> {
        let Private { size } = ctx.call(private { value: ctx.call(write { size: 1 }).await? }).await?;
        Ok(ctx.call(of_crate { size }).await?.size)
    }
}

fn main() {
    let _ = (inner::of_crate, inner::all);
}
