//! Whether a toolset includes a tool, answered by a type.
//!
//! A trait alone says that a tool is in a toolset and cannot say that it is not, which `except` needs, and so does a
//! tool that a declaration holds twice, under two names. So each tool has a [`Keyed::Key`], a hash of its name as a list
//! of digits, and digits can be told apart as types. The runtime goes by the names themselves, so that two names of one
//! hash would not let a call through; of two tools of one name, it refuses to begin.
//!
//! The compiler searches a declaration anew for each call, and asks the same many times over. So each step counts: keys
//! are of hexadecimal digits, not of bits, since a type costs by its depth, and [`OrElse`] stops at the first yes.
//! `benches/compile` measures it.

use std::marker::PhantomData;

/// Tells whether a toolset includes the tool `T`.
pub trait Includes<T> {
    /// The answer, as a type.
    #[doc(hidden)]
    type Answer: Answer;
}

/// A tool by itself: what it is told apart by. Not public API.
pub trait Keyed {
    /// The hash of its registered name.
    type Key;
}

/// Is included.
#[derive(Debug)]
pub enum Yes {}

/// Is not included.
#[derive(Debug)]
pub enum No {}

/// [`Yes`] or [`No`], and how they combine.
pub trait Answer {
    /// `Yes` if both are.
    type And<Other: Answer>: Answer;
    /// `Yes` if this one is and the other is not.
    type AndNot<Other: Answer>: Answer;
    /// The other of the two.
    type Not: Answer;
}

impl Answer for Yes {
    type And<Other: Answer> = Other;
    type AndNot<Other: Answer> = Other::Not;
    type Not = No;
}

impl Answer for No {
    type And<Other: Answer> = Self;
    type AndNot<Other: Answer> = Self;
    type Not = Yes;
}

/// [`Yes`], or whether `Toolset` includes `T`.
pub trait OrElse<Toolset, T> {
    /// The answer, as a type.
    type Answer: Answer;
}

#[diagnostic::do_not_recommend]
impl<Toolset, T> OrElse<Toolset, T> for Yes {
    type Answer = Self;
}

#[diagnostic::do_not_recommend]
impl<Toolset: Includes<T>, T> OrElse<Toolset, T> for No {
    type Answer = Toolset::Answer;
}

/// Tells whether two keys are one.
pub trait Same<Other> {
    type Answer: Answer;
}

impl Same<()> for () {
    type Answer = Yes;
}

/// Makes the digits of keys, and tells each from itself and from the others: those before it are made by now.
macro_rules! digits {
    ($($earlier:ident)*;) => {};
    ($($earlier:ident)*; $digit:ident $($later:ident)*) => {
        /// A digit of a key, and the next.
        #[derive(Debug)]
        pub struct $digit<Next>(PhantomData<Next>);

        impl<Next> Same<()> for $digit<Next> {
            type Answer = No;
        }

        impl<Next: Same<Other>, Other> Same<$digit<Other>> for $digit<Next> {
            type Answer = Next::Answer;
        }

        $(impl<Next, Other> Same<$earlier<Other>> for $digit<Next> {
            type Answer = No;
        })*

        $(impl<Next, Other> Same<$later<Other>> for $digit<Next> {
            type Answer = No;
        })*

        digits!($($earlier)* $digit; $($later)*);
    };
}

digits!(; Hex0 Hex1 Hex2 Hex3 Hex4 Hex5 Hex6 Hex7 Hex8 Hex9 HexA HexB HexC HexD HexE HexF);

#[diagnostic::do_not_recommend]
impl<T: Keyed<Key: Same<Itself::Key>>, Itself: Keyed> Includes<T> for Itself {
    type Answer = <T::Key as Same<Itself::Key>>::Answer;
}

/// A list of no members. It asks for the tool's key, so that the compiler knows the tool before it says no.
#[diagnostic::do_not_recommend]
impl<T: Keyed<Key: Same<()>>> Includes<T> for () {
    type Answer = <T::Key as Same<()>>::Answer;
}

/// A list of members, cut in two.
#[derive(Debug)]
pub struct Either<Left, Right>(PhantomData<(Left, Right)>);

#[diagnostic::do_not_recommend]
impl<T, Left: Includes<T, Answer: OrElse<Right, T>>, Right> Includes<T> for Either<Left, Right> {
    type Answer = <Left::Answer as OrElse<Right, T>>::Answer;
}

/// What is in both `Member` and `Picks`.
#[derive(Debug)]
pub struct Only<Member, Picks>(PhantomData<(Member, Picks)>);

#[diagnostic::do_not_recommend]
impl<T, Member: Includes<T>, Picks: Includes<T>> Includes<T> for Only<Member, Picks> {
    type Answer = <Member::Answer as Answer>::And<Picks::Answer>;
}

/// What is in `Member` and not in `Picks`.
#[derive(Debug)]
pub struct Except<Member, Picks>(PhantomData<(Member, Picks)>);

#[diagnostic::do_not_recommend]
impl<T, Member: Includes<T>, Picks: Includes<T>> Includes<T> for Except<Member, Picks> {
    type Answer = <Member::Answer as Answer>::AndNot<Picks::Answer>;
}
