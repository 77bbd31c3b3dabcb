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

/// Writes a key, given as hexadecimal digits, as a type.
#[doc(hidden)]
#[macro_export]
macro_rules! __key {
    () => { () };
    (0 $($rest:tt)*) => { $crate::__key!(@ Zero Zero Zero Zero $($rest)*) };
    (1 $($rest:tt)*) => { $crate::__key!(@ Zero Zero Zero One $($rest)*) };
    (2 $($rest:tt)*) => { $crate::__key!(@ Zero Zero One Zero $($rest)*) };
    (3 $($rest:tt)*) => { $crate::__key!(@ Zero Zero One One $($rest)*) };
    (4 $($rest:tt)*) => { $crate::__key!(@ Zero One Zero Zero $($rest)*) };
    (5 $($rest:tt)*) => { $crate::__key!(@ Zero One Zero One $($rest)*) };
    (6 $($rest:tt)*) => { $crate::__key!(@ Zero One One Zero $($rest)*) };
    (7 $($rest:tt)*) => { $crate::__key!(@ Zero One One One $($rest)*) };
    (8 $($rest:tt)*) => { $crate::__key!(@ One Zero Zero Zero $($rest)*) };
    (9 $($rest:tt)*) => { $crate::__key!(@ One Zero Zero One $($rest)*) };
    (a $($rest:tt)*) => { $crate::__key!(@ One Zero One Zero $($rest)*) };
    (b $($rest:tt)*) => { $crate::__key!(@ One Zero One One $($rest)*) };
    (c $($rest:tt)*) => { $crate::__key!(@ One One Zero Zero $($rest)*) };
    (d $($rest:tt)*) => { $crate::__key!(@ One One Zero One $($rest)*) };
    (e $($rest:tt)*) => { $crate::__key!(@ One One One Zero $($rest)*) };
    (f $($rest:tt)*) => { $crate::__key!(@ One One One One $($rest)*) };
    (@ $a:ident $b:ident $c:ident $d:ident $($rest:tt)*) => {
        ($crate::__private::$a, ($crate::__private::$b, ($crate::__private::$c, ($crate::__private::$d,
            $crate::__key!($($rest)*)
        ))))
    };
}
