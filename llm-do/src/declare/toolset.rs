//! Toolsets as types: which items a tool, worker or entry may call, checked by the compiler.

mod check;
mod listed;
mod member;
mod membership;
mod text;

pub use self::check::{assert_picked, assert_prefixed, assert_unique};
pub use self::listed::{Listed, NoType, NoValue, assert_listed};
pub use self::member::{Member, concat, count, count_picked, picked, prefixed};
pub use self::membership::{
    Alias, Answer, Except, Hex0, Hex1, Hex2, Hex3, Hex4, Hex5, Hex6, Hex7, Hex8, Hex9, HexA, HexB, HexC, HexD, HexE,
    HexF, Includes, Keyed, No, Only, Yes,
};
use crate::declare::tool::TakesHistory;

/// The name of the tool through which a model without native output returns a worker's result; no item may have it.
pub(crate) const OUTPUT_TOOL: &str = "final_result";

/// A tool, worker or entry, or a group declared with `toolset!`: the items of `toolsets = [..]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool or a toolset",
    label = "not declared with `#[tool]`, `#[worker]`, `#[entry]` or `toolset!`"
)]
pub trait Toolset {
    /// Its members, each with the name that callers see.
    const MEMBERS: &'static [Member];
}

/// Implemented by an item that declares the tool `T`: its toolsets include `T`, and `only` and `except` do not exclude it.
#[diagnostic::on_unimplemented(
    message = "`{T}` is not in the toolsets of `{Self}`",
    label = "not declared by `{Self}`",
    note = "add `{T}` to `toolsets = [..]` of `{Self}`; if it is listed, check `only` and `except`"
)]
pub trait Declares<T> {}

// An undeclared call is reported in terms of the declaration, not of its members. Expanded code cannot use this attribute
// itself: in a crate without a prelude, `diagnostic` does not resolve.
#[diagnostic::do_not_recommend]
impl<T: Keyed, Item: DeclarationOf<Answer<T> = Yes>> Declares<T> for Item {}

/// Answers at the type level whether an item declares a tool; implemented by the macros.
#[doc(hidden)]
pub trait DeclarationOf {
    /// The answer, as a type.
    type Answer<T: Keyed>: Answer;
}

/// The declaration of an item without `toolsets`: it may call everything that is registered.
#[derive(Debug)]
pub enum Anything {}

#[diagnostic::do_not_recommend]
impl<T> Declares<T> for Anything {}

/// For calls by name: whether the callee is a worker is known at run time.
impl TakesHistory for Anything {}
