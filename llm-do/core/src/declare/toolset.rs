//! Toolsets as types: the callees of a tool, worker or entry, checked by the compiler.

mod check;
mod effect;
mod listed;
mod member;
mod membership;
mod named_instance;
mod text;

pub use self::check::{assert_picked, assert_prefixed, assert_unique};
pub use self::effect::{
    CallsAt, CallsOf, Depth, EffectProbe, EightWorkers, HasEffects, NoEffects, NoWorker, NotToolset, StrongestEffect,
    assert_effect, assert_reads, assert_separate,
};
pub use self::listed::{Listed, NoType, NoValue, assert_listed};
#[doc(hidden)]
pub use self::member::unprefixed;
pub use self::member::{Member, concat, count, count_picked, picked, prefixed};
pub use self::membership::{
    Alias, Answer, Except, Hex0, Hex1, Hex2, Hex3, Hex4, Hex5, Hex6, Hex7, Hex8, Hex9, HexA, HexB, HexC, HexD, HexE,
    HexF, Includes, Keyed, No, Only, Yes,
};
pub use self::named_instance::{HasTool, InstanceOf, NamedInstance, OfInstance, registered_as_shown};
use crate::declare::tool::TakesHistory;

/// The tool through which a model without native structured output returns a worker's result; the name is reserved.
pub(crate) const OUTPUT_TOOL: &str = "final_result";

/// A tool, worker or entry, or a group defined by `toolset!`: what `toolsets = [..]` accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool or a toolset",
    label = "not declared with `#[tool]`, `#[worker]`, `#[entry]` or `toolset!`"
)]
pub trait Toolset {
    /// The members, each with the name that callers see.
    const MEMBERS: &'static [Member];
}

/// Implemented by an item that declares the tool `T`: its toolsets include `T`, and no `only` or `except` leaves it
/// out.
#[diagnostic::on_unimplemented(
    message = "`{T}` is not in the toolsets of `{Self}`",
    label = "not declared by `{Self}`",
    note = "add `{T}` to `toolsets = [..]` of `{Self}`; if it is listed, check `only` and `except`"
)]
pub trait Declares<T> {}

// With `do_not_recommend`, the compiler reports the message of `Declares` instead of listing the members. Expanded code
// cannot do that itself: in a crate without a prelude, `diagnostic` is not an attribute.
#[diagnostic::do_not_recommend]
impl<T: Keyed, Item: DeclarationOf<Answer<T> = Yes>> Declares<T> for Item {}

/// Answers whether an item declares a tool; implemented by the macros.
#[doc(hidden)]
pub trait DeclarationOf {
    /// The answer, as a type.
    type Answer<T: Keyed>: Answer;
}

/// The declaration of an item without one, which may call everything that is registered.
#[derive(Debug)]
pub enum Anything {}

#[diagnostic::do_not_recommend]
impl<T> Declares<T> for Anything {}

/// A call by name is checked to be a call of a worker when it is made.
impl TakesHistory for Anything {}
