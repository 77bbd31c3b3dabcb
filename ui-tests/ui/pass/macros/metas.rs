//! A `macro_rules!` can pass attributes, docs, visibilities, types, defaults and whole items.

#![deny(warnings)]

use llm_do::{CallContext, CallError, data, entry, tool, toolset, worker};

macro_rules! tools {
    ($(
        $(#[$meta:meta])*
        $vis:vis fn $name:ident($($(#[$on:meta])* $parameter:ident: $ty:ty $(= $default:expr)?),* $(,)?) -> $output:ty $body:block
    )*) => {$(
        $(#[$meta])*
        #[tool]
        $vis fn $name($($(#[$on])* $(#[arg(default = $default)])? $parameter: $ty),*) -> $output $body
    )*};
}

tools! {
    /// Adds.
    ///
    /// Two numbers.
    #[must_use]
    pub(crate) fn add(
        /// The first.
        one: u8,
        /// The second.
        two: u8 = 1 + 2,
    ) -> u8 {
        one + two
    }

    /// Joins.
    fn join(words: &[String], between: String = ", ".to_owned(), #[schemars(range(min = 1))] limit: Option<usize>) -> Result<String, CallError> {
        Ok(words.iter().take(limit.unwrap_or(9)).cloned().collect::<Vec<_>>().join(&between))
    }
}

macro_rules! items {
    ($($item:item)*) => { $($item)* };
}

items! {
    /// A range.
    #[data]
    struct Range {
        from: u32,
    }

    /// Judge.
    #[worker(instructions = "Judge.")]
    async fn judge(range: Range) -> u8;

    #[entry(toolsets = [all])]
    async fn start(ctx: &CallContext<start>) -> Result<u8, CallError> {
        ctx.call(judge { range: Range { from: 1 } }).await
    }

    toolset! { all = [add, join, judge]; }
}

macro_rules! named {
    ($name:ident, $text:literal, $($tt:tt)*) => {
        #[doc = $text]
        #[tool($($tt)*)]
        fn $name() {}
    };
}

named!(one, "One.", name = "number-one", effect = read_only);
named!(two, "Two.", inline, toolsets = [one, prefixed("x_", one)]);

fn main() {
    assert_eq!(add(1, 2), 3);
    assert_eq!(<one as llm_do::Tool>::NAME, "number-one");
}
