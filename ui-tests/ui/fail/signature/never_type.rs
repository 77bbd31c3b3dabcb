//! `!` cannot be returned.

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
