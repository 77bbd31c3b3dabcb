//! Toolset membership as a type-level answer: yes or no.
//!
//! A trait can express that a toolset includes a tool, but not that it does not. `except` needs that, and so does a tool
//! that a declaration includes twice, under two names. So each tool has a [`Keyed::Key`]: the hash of its name as a
//! type-level list of digits, since digits can be distinguished as types. At run time the names themselves are
//! compared, so a hash collision cannot permit a call; and the registry rejects two tools of the same name.
//!
//! The compiler evaluates a declaration for each call, so its work matters; `benches/compile` measures it. That is why
//! the tool is a parameter of the answers and not of the traits: a property of a list is then proved once for all
//! calls. A list is searched only up to the first yes.

use std::marker::PhantomData;

use super::effect::{Depth, HasEffects, NoEffects, StrongerOf, StrongestEffect};
use super::named_instance::{NamedInstance, OfInstance};

/// Answers for each tool whether a toolset includes it.
pub trait Includes {
    /// The answer for `T`, as a type.
    #[doc(hidden)]
    type Answer<T: Keyed>: Answer;
    /// The effects of its tools, without those that `Kept` does not include.
    #[doc(hidden)]
    type Effects<Kept: Includes, D: Depth>: HasEffects;
    /// The same tools as those of an instance.
    #[doc(hidden)]
    type Inside<I: NamedInstance>: Includes;
}

/// A single tool with its key. Not public API.
pub trait Keyed {
    /// The hash of its registered name.
    type Key: Key;
    /// The effects of the items that its model can call, if it is a worker.
    type Calls<D: Depth>: HasEffects;
    /// The effect that it declares; for a worker, the effect of the tools that its model's provider runs.
    const OWN: StrongestEffect;
}

/// The tool is included.
#[derive(Debug)]
pub enum Yes {}

/// The tool is not included.
#[derive(Debug)]
pub enum No {}

/// [`Yes`] or [`No`], with the operations that combine them.
pub trait Answer {
    /// `Yes` if this is `Yes` or `Toolset` includes `T`.
    type OrIn<Toolset: Includes, T: Keyed>: Answer;
    /// `Yes` if this is `Yes` and `Toolset` includes `T`.
    type AndIn<Toolset: Includes, T: Keyed>: Answer;
    /// `Yes` if this is `No` and `Toolset` includes `T`.
    type NotButIn<Toolset: Includes, T: Keyed>: Answer;
    /// `Effects` if this is `Yes`, otherwise none.
    type Keep<Effects: HasEffects>: HasEffects;
}

impl Answer for Yes {
    type OrIn<Toolset: Includes, T: Keyed> = Self;
    type AndIn<Toolset: Includes, T: Keyed> = Toolset::Answer<T>;
    type NotButIn<Toolset: Includes, T: Keyed> = No;
    type Keep<Effects: HasEffects> = Effects;
}

impl Answer for No {
    type OrIn<Toolset: Includes, T: Keyed> = Toolset::Answer<T>;
    type AndIn<Toolset: Includes, T: Keyed> = Self;
    type NotButIn<Toolset: Includes, T: Keyed> = Toolset::Answer<T>;
    type Keep<Effects: HasEffects> = NoEffects;
}

/// A list of hexadecimal digits; each digit contains the rest of the list.
pub trait Key {
    /// Whether both lists are equal: dispatches on the first digit of this one.
    type Same<Other: Key>: Answer;
    /// This list, followed by another one.
    type Then<Rest: Key>: Key;
    /// Whether the list is empty.
    type IsEnd: Answer;
    /// Whether the list is the digit 0 followed by `Rest`; likewise for the other digits.
    type Is0<Rest: Key>: Answer;
    type Is1<Rest: Key>: Answer;
    type Is2<Rest: Key>: Answer;
    type Is3<Rest: Key>: Answer;
    type Is4<Rest: Key>: Answer;
    type Is5<Rest: Key>: Answer;
    type Is6<Rest: Key>: Answer;
    type Is7<Rest: Key>: Answer;
    type Is8<Rest: Key>: Answer;
    type Is9<Rest: Key>: Answer;
    type IsA<Rest: Key>: Answer;
    type IsB<Rest: Key>: Answer;
    type IsC<Rest: Key>: Answer;
    type IsD<Rest: Key>: Answer;
    type IsE<Rest: Key>: Answer;
    type IsF<Rest: Key>: Answer;
}

/// Answers `No` for the given digits.
macro_rules! no {
    ($($is:ident)*) => { $(type $is<Rest: Key> = No;)* };
}

impl Key for () {
    type Same<Other: Key> = Other::IsEnd;
    type Then<Rest: Key> = Rest;
    type IsEnd = Yes;
    no!(Is0 Is1 Is2 Is3 Is4 Is5 Is6 Is7 Is8 Is9 IsA IsB IsC IsD IsE IsF);
}

/// Defines the digits; the `Is` types before the semicolon belong to digits that are already defined.
macro_rules! digits {
    ($($earlier:ident)*;) => {};
    ($($earlier:ident)*; $digit:ident $is:ident $($name:ident $later:ident)*) => {
        /// A digit of a key, followed by the next digits.
        #[derive(Debug)]
        pub struct $digit<Next>(PhantomData<Next>);

        impl<Next: Key> Key for $digit<Next> {
            type Same<Other: Key> = Other::$is<Next>;
            type Then<Rest: Key> = $digit<Next::Then<Rest>>;
            type IsEnd = No;
            type $is<Rest: Key> = Rest::Same<Next>;
            no!($($earlier)* $($later)*);
        }

        digits!($($earlier)* $is; $($name $later)*);
    };
}

digits!(;
    Hex0 Is0 Hex1 Is1 Hex2 Is2 Hex3 Is3 Hex4 Is4 Hex5 Is5 Hex6 Is6 Hex7 Is7
    Hex8 Is8 Hex9 Is9 HexA IsA HexB IsB HexC IsC HexD IsD HexE IsE HexF IsF
);

#[diagnostic::do_not_recommend]
impl<Itself: Keyed> Includes for Itself {
    type Answer<T: Keyed> = <T::Key as Key>::Same<Itself::Key>;
    type Effects<Kept: Includes, D: Depth> = <Kept::Answer<Itself> as Answer>::Keep<D::Of<Itself>>;
    type Inside<I: NamedInstance> = OfInstance<I, Itself>;
}

/// The empty list of members.
#[diagnostic::do_not_recommend]
impl Includes for () {
    type Answer<T: Keyed> = <T::Key as Key>::IsEnd;
    type Effects<Kept: Includes, D: Depth> = NoEffects;
    type Inside<I: NamedInstance> = Self;
}

/// A list of members, split in two.
#[diagnostic::do_not_recommend]
impl<Left: Includes, Right: Includes> Includes for (Left, Right) {
    type Answer<T: Keyed> = <Left::Answer<T> as Answer>::OrIn<Right, T>;
    type Effects<Kept: Includes, D: Depth> = StrongerOf<Left::Effects<Kept, D>, Right::Effects<Kept, D>>;
    type Inside<I: NamedInstance> = (Left::Inside<I>, Right::Inside<I>);
}

/// The tools that are in both `Member` and `Picks`.
#[derive(Debug)]
pub struct Only<Member, Picks>(PhantomData<(Member, Picks)>);

#[diagnostic::do_not_recommend]
impl<Member: Includes, Picks: Includes> Includes for Only<Member, Picks> {
    type Answer<T: Keyed> = <Picks::Answer<T> as Answer>::AndIn<Member, T>;
    type Effects<Kept: Includes, D: Depth> = Member::Effects<Only<Kept, Picks>, D>;
    type Inside<I: NamedInstance> = Only<Member::Inside<I>, Picks::Inside<I>>;
}

/// The tools that are in `Member` but not in `Picks`.
#[derive(Debug)]
pub struct Except<Member, Picks>(PhantomData<(Member, Picks)>);

#[diagnostic::do_not_recommend]
impl<Member: Includes, Picks: Includes> Includes for Except<Member, Picks> {
    type Answer<T: Keyed> = <Picks::Answer<T> as Answer>::NotButIn<Member, T>;
    type Effects<Kept: Includes, D: Depth> = Member::Effects<Except<Kept, Picks>, D>;
    type Inside<I: NamedInstance> = Except<Member::Inside<I>, Picks::Inside<I>>;
}

/// An alias of a type, for use in a bound.
pub trait Alias {
    /// The type itself.
    type Of;
}

impl<T> Alias for T {
    type Of = T;
}
