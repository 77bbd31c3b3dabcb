//! Whether a toolset includes a tool, answered by a type.
//!
//! A trait alone says that a tool is in a toolset and cannot say that it is not, which `except` needs, and so does a
//! tool that a declaration holds twice, under two names. So each tool has a [`Keyed::Key`], a hash of its name as a list
//! of digits, and digits can be told apart as types. The runtime goes by the names themselves, so that two names of one
//! hash would not let a call through; of two tools of one name, it refuses to begin.
//!
//! The compiler looks through a declaration anew for each call, so what it does there counts; `benches/compile` measures
//! it. That is why the tool is a parameter of the answers and not of the traits: what holds of a list is then proved once
//! for all calls. And a list is looked through up to the first yes only.

use std::marker::PhantomData;

/// Tells of each tool whether a toolset includes it.
pub trait Includes {
    /// The answer for `T`, as a type.
    #[doc(hidden)]
    type Answer<T: Keyed>: Answer;
}

/// A tool by itself: what it is told apart by. Not public API.
pub trait Keyed {
    /// The hash of its registered name.
    type Key: Key;
}

/// Is included.
#[derive(Debug)]
pub enum Yes {}

/// Is not included.
#[derive(Debug)]
pub enum No {}

/// [`Yes`] or [`No`], and how they combine.
pub trait Answer {
    /// `Yes` if this one is or `Toolset` includes `T`.
    type OrIn<Toolset: Includes, T: Keyed>: Answer;
    /// `Yes` if this one is and `Toolset` includes `T`.
    type AndIn<Toolset: Includes, T: Keyed>: Answer;
    /// `Yes` if this one is not and `Toolset` includes `T`.
    type NotButIn<Toolset: Includes, T: Keyed>: Answer;
}

impl Answer for Yes {
    type OrIn<Toolset: Includes, T: Keyed> = Self;
    type AndIn<Toolset: Includes, T: Keyed> = Toolset::Answer<T>;
    type NotButIn<Toolset: Includes, T: Keyed> = No;
}

impl Answer for No {
    type OrIn<Toolset: Includes, T: Keyed> = Toolset::Answer<T>;
    type AndIn<Toolset: Includes, T: Keyed> = Self;
    type NotButIn<Toolset: Includes, T: Keyed> = Toolset::Answer<T>;
}

/// A list of digits, each in the one before.
pub trait Key {
    /// Whether both are one: asks the other whether it begins with the first digit of this one.
    type Same<Other: Key>: Answer;
    /// Whether no digit is left.
    type IsEnd: Answer;
    /// Whether it begins with the digit 0 and goes on as `Rest`; and so on for the others.
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

/// Says of digits that they are not this one.
macro_rules! no {
    ($($is:ident)*) => { $(type $is<Rest: Key> = No;)* };
}

impl Key for () {
    type Same<Other: Key> = Other::IsEnd;
    type IsEnd = Yes;
    no!(Is0 Is1 Is2 Is3 Is4 Is5 Is6 Is7 Is8 Is9 IsA IsB IsC IsD IsE IsF);
}

/// Makes the digits of keys; those whose `Is` is before the semicolon are made by now.
macro_rules! digits {
    ($($earlier:ident)*;) => {};
    ($($earlier:ident)*; $digit:ident $is:ident $($name:ident $later:ident)*) => {
        /// A digit of a key, and the next.
        #[derive(Debug)]
        pub struct $digit<Next>(PhantomData<Next>);

        impl<Next: Key> Key for $digit<Next> {
            type Same<Other: Key> = Other::$is<Next>;
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
}

/// A list of no members.
#[diagnostic::do_not_recommend]
impl Includes for () {
    type Answer<T: Keyed> = <T::Key as Key>::IsEnd;
}

/// A list of members, cut in two.
#[diagnostic::do_not_recommend]
impl<Left: Includes, Right: Includes> Includes for (Left, Right) {
    type Answer<T: Keyed> = <Left::Answer<T> as Answer>::OrIn<Right, T>;
}

/// What is in both `Member` and `Picks`.
#[derive(Debug)]
pub struct Only<Member, Picks>(PhantomData<(Member, Picks)>);

#[diagnostic::do_not_recommend]
impl<Member: Includes, Picks: Includes> Includes for Only<Member, Picks> {
    type Answer<T: Keyed> = <Picks::Answer<T> as Answer>::AndIn<Member, T>;
}

/// What is in `Member` and not in `Picks`.
#[derive(Debug)]
pub struct Except<Member, Picks>(PhantomData<(Member, Picks)>);

#[diagnostic::do_not_recommend]
impl<Member: Includes, Picks: Includes> Includes for Except<Member, Picks> {
    type Answer<T: Keyed> = <Picks::Answer<T> as Answer>::NotButIn<Member, T>;
}

/// A type by another name: the way to name it in a bound and nowhere else.
pub trait Alias {
    /// The type itself.
    type Of;
}

impl<T> Alias for T {
    type Of = T;
}
