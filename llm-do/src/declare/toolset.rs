//! Toolsets as types: what an item may call, checked by the compiler.

mod check;
mod member;
mod membership;
mod text;

pub use self::check::{assert_picked, assert_prefixed, assert_unique};
pub use self::member::{Member, concat, count, count_picked, picked, prefixed};
pub use self::membership::{
    Alias, Answer, Except, Hex0, Hex1, Hex2, Hex3, Hex4, Hex5, Hex6, Hex7, Hex8, Hex9, HexA, HexB, HexC, HexD, HexE,
    HexF, Includes, Keyed, No, Only, Yes,
};
use crate::declare::tool::TakesHistory;

/// The tool through which a model without native output gives a worker's result; no item may have this name.
pub(crate) const OUTPUT_TOOL: &str = "final_result";

/// A tool, worker or entry by itself, or a group that `toolset!` made: what `toolsets = [..]` may name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool or a toolset",
    label = "not annotated with `#[tool]`, `#[worker]` or `#[entry]`, and no `toolset!`"
)]
pub trait Toolset {
    /// Its members, each under the name that callers see.
    const MEMBERS: &'static [Member];
}

/// Says that an item declares the tool `T`: its toolsets include it, and no form leaves it out.
#[diagnostic::on_unimplemented(
    message = "`{T}` is not in the toolsets of `{Self}`",
    label = "not declared by `{Self}`",
    note = "add `{T}` to `toolsets = [..]` of `{Self}`; an `only` or `except` there may leave it out"
)]
pub trait Declares<T> {}

// A call outside the declaration is told in the declaration's words, not in its members'. Expanded code cannot ask for
// that itself: in a crate without a prelude, `diagnostic` is no attribute.
#[diagnostic::do_not_recommend]
impl<T: Keyed, Item: DeclarationOf<Answer<T> = Yes>> Declares<T> for Item {}

/// Tells whether an item declares a tool; implemented by the macros.
#[doc(hidden)]
pub trait DeclarationOf {
    /// The answer, as a type.
    type Answer<T: Keyed>: Answer;
}

/// The declaration of an item that declares nothing: it may call whatever is registered.
#[derive(Debug)]
pub enum Anything {}

#[diagnostic::do_not_recommend]
impl<T> Declares<T> for Anything {}

/// A call by name: whether it is of a worker is known when it is made.
impl TakesHistory for Anything {}
