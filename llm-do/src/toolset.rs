//! Toolsets as types: what an item may call, checked by the compiler.

/// A tool, worker or entry by itself, or a group that `toolset!` made: what `toolsets = [..]` may name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool or a toolset",
    label = "not annotated with `#[tool]`, `#[worker]` or `#[entry]`, and no `toolset!`"
)]
pub trait Toolset {
    /// The names of its members.
    const NAMES: &'static [&'static str];
}

/// Says that a toolset holds the tool `T`, at `Index`, which the compiler infers.
pub trait Includes<T, Index> {}

/// Says that an item declares the tool `T`, at `Index`, which the compiler infers.
#[diagnostic::on_unimplemented(
    message = "`{T}` is not in the toolsets of `{Self}`",
    label = "not declared by `{Self}`",
    note = "add `{T}` to `toolsets = [..]` of `{Self}`"
)]
pub trait Declares<T, Index> {}

/// The index of a tool in itself.
#[derive(Debug)]
pub enum Here {}

/// The index of a tool in the `N`th member of a toolset or declaration, and there at `Index`.
#[derive(Debug)]
pub struct In<const N: usize, Index>(std::marker::PhantomData<Index>);

/// The tool that nobody has: generated code names it where a trait would else have fewer than two implementations.
#[derive(Debug)]
pub enum Nothing {}

/// The declaration of an item that declares nothing: it may call whatever is registered.
#[derive(Debug)]
pub enum Anything {}

#[diagnostic::do_not_recommend]
impl<T> Declares<T, Here> for Anything {}

/// Returns how many names there are in all.
#[doc(hidden)]
#[must_use]
pub const fn count(members: &[&[&str]]) -> usize {
    let (mut sum, mut member) = (0, 0);
    while member < members.len() {
        sum += members[member].len();
        member += 1;
    }
    sum
}

/// Returns all names in one list; `N` is their [`count`].
#[doc(hidden)]
#[must_use]
pub const fn concat<const N: usize>(members: &[&[&'static str]]) -> [&'static str; N] {
    let mut names = [""; N];
    let (mut member, mut place, mut next) = (0, 0, 0);
    while member < members.len() {
        while place < members[member].len() {
            names[next] = members[member][place];
            next += 1;
            place += 1;
        }
        place = 0;
        member += 1;
    }
    names
}

/// Refuses, at compile time, a declaration of `item` in which two tools have one name.
///
/// # Panics
///
/// Panics, and so does not compile, if a name comes twice; the message names it.
#[doc(hidden)]
#[track_caller]
pub const fn assert_unique(item: &str, members: &[&[&str]]) {
    let total = count(members);
    let mut first = 0;
    while first < total {
        let mut second = first + 1;
        while second < total {
            if same(nth(members, first), nth(members, second)) {
                refuse(item, nth(members, first));
            }
            second += 1;
        }
        first += 1;
    }
}

/// Stops the compilation with a message that names `item` and `name`.
#[track_caller]
const fn refuse(item: &str, name: &str) -> ! {
    let mut text = Text::new();
    text.push("the toolsets of `");
    text.push(item);
    text.push("` hold two tools named `");
    text.push(name);
    text.push("`: name each tool once, or give one another name with `#[tool(name = \"..\")]`");
    panic!("{}", text.as_str())
}

const fn nth<'a>(members: &[&[&'a str]], mut index: usize) -> &'a str {
    let mut member = 0;
    while index >= members[member].len() {
        index -= members[member].len();
        member += 1;
    }
    members[member][index]
}

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// A text built at compile time: two names of at most 64 bytes each, and the words around them.
struct Text {
    bytes: [u8; 320],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Self { bytes: [0; 320], length: 0 }
    }

    const fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        let mut index = 0;
        while index < text.len() && self.length < self.bytes.len() {
            self.bytes[self.length] = text[index];
            self.length += 1;
            index += 1;
        }
    }

    const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "two tools of one name in a declaration",
        }
    }
}
