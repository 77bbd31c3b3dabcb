//! What a declaration must not say, refused at compile time in our words.

use super::OUTPUT_TOOL;
use super::member::{MAX_NAME, Member, holds};
use super::text::{Text, same};

/// Room for two names of at most 64 bytes each, and the words around them.
type Message = Text<320>;

/// Refuses a declaration of `item` that shows two tools by one name.
///
/// # Panics
///
/// Panics, and so does not compile, if a name comes twice; the message names it.
#[doc(hidden)]
#[track_caller]
pub const fn assert_unique(item: &str, lists: &[&[Member]]) {
    let (mut list, mut place) = (0, 0);
    while list < lists.len() {
        while place < lists[list].len() {
            assert_only(item, &lists[list][place], lists, list, place + 1);
            place += 1;
        }
        place = 0;
        list += 1;
    }
}

/// Refuses a second member of the first's name, from a place in the lists on.
#[track_caller]
const fn assert_only(item: &str, first: &Member, lists: &[&[Member]], mut list: usize, mut place: usize) {
    while list < lists.len() {
        while place < lists[list].len() {
            if first.looks_like(&lists[list][place]) {
                refuse_twice(item, first, &lists[list][place]);
            }
            place += 1;
        }
        place = 0;
        list += 1;
    }
}

#[track_caller]
const fn refuse_twice(item: &str, first: &Member, second: &Member) -> ! {
    let mut text = Message::new();
    text.push("the toolsets of `");
    text.push(item);
    text.push("` hold two tools named `");
    text.push(first.shown());
    // One that is shown by its registered name can be given another; a prefix is the declaration's own.
    if same(first.shown(), first.tool()) && same(second.shown(), second.tool()) {
        text.push("`: name each tool once, or show one by another name with `prefixed(\"..\", ..)`");
    } else {
        text.push("`: choose another prefix, or leave one out with `except`");
    }
    panic!("{}", text.as_str())
}

/// Refuses a prefix that makes of a member's name one that no model may see.
///
/// # Panics
///
/// Panics, and so does not compile, if a name is too long or stands for something else; the message names it.
#[doc(hidden)]
#[track_caller]
pub const fn assert_prefixed(prefix: &str, members: &[Member]) {
    let mut next = 0;
    while next < members.len() {
        let mut name = Text::<MAX_NAME>::new();
        name.push(prefix);
        let fits = name.fits(members[next].shown());
        name.push(members[next].shown());
        if !fits {
            let words = "` is too long: models accept names of at most 64 bytes; shorten the prefix";
            refuse_name(prefix, members[next].shown(), words);
        }
        if same(name.as_str(), OUTPUT_TOOL) {
            let words = "` is the name under which workers give their results; choose another prefix";
            refuse_name(prefix, members[next].shown(), words);
        }
        next += 1;
    }
}

#[track_caller]
const fn refuse_name(prefix: &str, name: &str, words: &str) -> ! {
    let mut text = Message::new();
    text.push("`");
    text.push(prefix);
    text.push(name);
    text.push(words);
    panic!("{}", text.as_str())
}

/// Refuses `pick` in `only` or `except` if it holds a tool that `members`, which the source calls `of`, do not.
///
/// # Panics
///
/// Panics, and so does not compile, if there is one; the message names it.
#[doc(hidden)]
#[track_caller]
pub const fn assert_picked(pick: &str, picked: &[Member], of: &str, members: &[Member]) {
    let mut next = 0;
    while next < picked.len() {
        if !holds(&[members], &picked[next]) {
            let mut text = Message::new();
            text.push("`");
            text.push(pick);
            // A group, of which the one tool is at fault.
            if picked.len() > 1 {
                text.push("` holds `");
                text.push(picked[next].tool());
                text.push("`, which");
            } else {
                text.push("`");
            }
            text.push(" is not a member of `");
            text.push(of);
            text.push("`");
            panic!("{}", text.as_str())
        }
        next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{concat, prefixed};
    use super::*;

    const DIGITS: &[Member] = &[
        Member::new("0"),
        Member::new("1"),
        Member::new("2"),
        Member::new("3"),
        Member::new("4"),
        Member::new("5"),
        Member::new("6"),
        Member::new("7"),
        Member::new("8"),
        Member::new("9"),
    ];
    const TENS: &[Member] = &concat::<50>(&[
        &prefixed::<10>("a_service_with_a_long_name_0", DIGITS),
        &prefixed::<10>("a_service_with_a_long_name_1", DIGITS),
        &prefixed::<10>("a_service_with_a_long_name_2", DIGITS),
        &prefixed::<10>("a_service_with_a_long_name_3", DIGITS),
        &prefixed::<10>("a_service_with_a_long_name_4", DIGITS),
    ]);
    const HUNDREDS: &[Member] = &concat::<250>(&[
        &prefixed::<50>("a_company_0", TENS),
        &prefixed::<50>("a_company_1", TENS),
        &prefixed::<50>("a_company_2", TENS),
        &prefixed::<50>("a_company_3", TENS),
        &prefixed::<50>("a_company_4", TENS),
    ]);
    const ALL: &[Member] = &concat::<500>(&[&prefixed::<250>("x_0", HUNDREDS), &prefixed::<250>("x_1", HUNDREDS)]);

    // The compiler refuses to evaluate constants for long, and names of one service begin alike.
    const _: () = assert_unique("hundreds_of_names", &[ALL]);

    #[test]
    fn hundreds_of_names_that_begin_alike_are_told_apart() {
        assert_eq!(ALL[499].shown(), "x_1a_company_4a_service_with_a_long_name_49");
    }

    #[test]
    #[should_panic(expected = "hold two tools named `x_0a_company_0a_service_with_a_long_name_00`")]
    fn a_name_that_comes_twice_among_hundreds_is_found() {
        assert_unique("hundreds_of_names", &[ALL, &ALL[..1]]);
    }
}
