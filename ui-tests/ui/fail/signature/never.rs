//! A return type that says that nothing is returned, as servers have.

use llm_do::prelude::*;

/// Serves for ever.
#[entry]
async fn serve() -> ! {
    loop {}
}

/// Wait.
#[tool]
fn wait() -> Result<!> {
    loop {}
}

fn main() {}
