//! Calls share the instance, so methods take `&self`.

use llm_do::tool;

#[derive(Default)]
struct Counter(u32);

/// Counts.
#[tool]
impl Counter {
    /// Count up.
    #[tool]
    fn count(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }

    /// Give it away.
    #[tool]
    async fn take(self) -> u32 {
        self.0
    }
}

fn main() {
    let _ = (count {}, take {});
}
