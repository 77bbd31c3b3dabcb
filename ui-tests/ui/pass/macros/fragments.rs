//! Items from the user's `macro_rules!`: fragments are invisible groups, and names are hygienic.

#![deny(warnings)]

use llm_do::{CallContext, CallError, State, entry, tool, toolset, worker};

macro_rules! tools {
    ($vis:vis $name:ident, $registered:literal, $reference:ty, $number:ty, $default:expr, $text:expr) => {
        /// Tells a number.
        #[tool(name = $registered, toolsets = [])]
        $vis async fn $name(
            ctx: &CallContext<$name>,
            state: State<u8>,
            text: $reference,
            #[arg(default = $default)] number: $number,
            #[arg(default = $text)] more: String,
        ) -> Result<$number, CallError> {
            let _ = (ctx, text.len(), more.len());
            Ok(number + <$number>::from(*state))
        }
    };
}

tools!(pub(crate) small, "small_number", &str, u8, 3, "a");
tools!(large, "large-number", &[u8], u64, 300 + 3, "b");

macro_rules! entries {
    ($group:ident, $entry:ident, [$($path:path),*], $prompt:expr) => {
        toolset! {
            /// Numbers.
            $group = [$($path),*];
        }

        /// Judge.
        #[worker(instructions = $prompt, toolsets = [$group], max_turns = 1 + 1)]
        async fn judge(input: String) -> $crate::Verdict;

        #[entry(toolsets = [judge, $($path),*])]
        async fn $entry(ctx: &CallContext<$entry>) -> Result<u64, CallError> {
            let verdict = ctx.call(judge { input: String::new() }).await?;
            ctx.call(self::large { text: vec![verdict], number: 1, more: String::new() }).await
        }
    };
}

type Verdict = u8;

entries!(numbers, start, [small, self::large], "Judge.");

fn main() {}
