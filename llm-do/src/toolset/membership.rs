//! Whether a toolset includes a tool, answered by a type.
//!
//! A trait alone says that a tool is in a toolset and cannot say that it is not, which `except` needs, and so does a
//! tool that a declaration holds twice, under two names. So each tool has a [`Keyed::Key`], a hash of its name as a list
//! of bits, and bits can be told apart as types. The runtime goes by the names themselves, so that two names of one hash
//! would not let a call through; of two tools of one name, it refuses to begin.

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
    /// `Yes` if one of the two is.
    type Or<Other: Answer>: Answer;
    /// `Yes` if both are.
    type And<Other: Answer>: Answer;
    /// `Yes` if this one is and the other is not.
    type AndNot<Other: Answer>: Answer;
    /// The other of the two.
    type Not: Answer;
}

impl Answer for Yes {
    type Or<Other: Answer> = Self;
    type And<Other: Answer> = Other;
    type AndNot<Other: Answer> = Other::Not;
    type Not = No;
}

impl Answer for No {
    type Or<Other: Answer> = Other;
    type And<Other: Answer> = Self;
    type AndNot<Other: Answer> = Self;
    type Not = Yes;
}

/// A bit of a key: 0.
#[derive(Debug)]
pub enum Zero {}

/// A bit of a key: 1.
#[derive(Debug)]
pub enum One {}

/// Tells whether two keys are one.
pub trait Same<Other> {
    type Answer: Answer;
}

impl Same<()> for () {
    type Answer = Yes;
}

impl<Bit, Rest> Same<()> for (Bit, Rest) {
    type Answer = No;
}

impl<Rest: Same<Other>, Other> Same<(Zero, Other)> for (Zero, Rest) {
    type Answer = Rest::Answer;
}

impl<Rest: Same<Other>, Other> Same<(One, Other)> for (One, Rest) {
    type Answer = Rest::Answer;
}

impl<Rest, Other> Same<(One, Other)> for (Zero, Rest) {
    type Answer = No;
}

impl<Rest, Other> Same<(Zero, Other)> for (One, Rest) {
    type Answer = No;
}

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
#[diagnostic::do_not_recommend]
impl<T, Left: Includes<T>, Right: Includes<T>> Includes<T> for (Left, Right) {
    type Answer = <Left::Answer as Answer>::Or<Right::Answer>;
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

// The four bits of a hexadecimal digit, before the rest of a key.
/// The digit 0.
#[doc(hidden)]
pub type Hex0<Rest> = (Zero, (Zero, (Zero, (Zero, Rest))));
/// The digit 1.
#[doc(hidden)]
pub type Hex1<Rest> = (Zero, (Zero, (Zero, (One, Rest))));
/// The digit 2.
#[doc(hidden)]
pub type Hex2<Rest> = (Zero, (Zero, (One, (Zero, Rest))));
/// The digit 3.
#[doc(hidden)]
pub type Hex3<Rest> = (Zero, (Zero, (One, (One, Rest))));
/// The digit 4.
#[doc(hidden)]
pub type Hex4<Rest> = (Zero, (One, (Zero, (Zero, Rest))));
/// The digit 5.
#[doc(hidden)]
pub type Hex5<Rest> = (Zero, (One, (Zero, (One, Rest))));
/// The digit 6.
#[doc(hidden)]
pub type Hex6<Rest> = (Zero, (One, (One, (Zero, Rest))));
/// The digit 7.
#[doc(hidden)]
pub type Hex7<Rest> = (Zero, (One, (One, (One, Rest))));
/// The digit 8.
#[doc(hidden)]
pub type Hex8<Rest> = (One, (Zero, (Zero, (Zero, Rest))));
/// The digit 9.
#[doc(hidden)]
pub type Hex9<Rest> = (One, (Zero, (Zero, (One, Rest))));
/// The digit A.
#[doc(hidden)]
pub type HexA<Rest> = (One, (Zero, (One, (Zero, Rest))));
/// The digit B.
#[doc(hidden)]
pub type HexB<Rest> = (One, (Zero, (One, (One, Rest))));
/// The digit C.
#[doc(hidden)]
pub type HexC<Rest> = (One, (One, (Zero, (Zero, Rest))));
/// The digit D.
#[doc(hidden)]
pub type HexD<Rest> = (One, (One, (Zero, (One, Rest))));
/// The digit E.
#[doc(hidden)]
pub type HexE<Rest> = (One, (One, (One, (Zero, Rest))));
/// The digit F.
#[doc(hidden)]
pub type HexF<Rest> = (One, (One, (One, (One, Rest))));
