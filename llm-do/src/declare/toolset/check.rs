//! Compile-time checks of declarations, with error messages of this crate.

use super::OUTPUT_TOOL;
use super::member::{MAX_NAME, Member, holds};
use super::text::{Text, same};

/// Space for two names of at most 64 bytes each, and the surrounding text.
type Message = Text<320>;

/// Rejects a declaration of `item` with two tools of the same shown name.
///
/// # Panics
///
/// Panics, and so does not compile, if a name is used twice; the message contains it.
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

/// Rejects a second member with the name of the first, starting at an index in the lists.
#[track_caller]
const fn assert_only(item: &str, first: &Member, lists: &[&[Member]], mut list: usize, mut place: usize) {
    while list < lists.len() {
        while place < lists[list].len() {
            if first.has_same_shown_name(&lists[list][place]) {
                reject_duplicate(item, first, &lists[list][place]);
            }
            place += 1;
        }
        place = 0;
        list += 1;
    }
}

#[track_caller]
const fn reject_duplicate(item: &str, first: &Member, second: &Member) -> ! {
    let mut text = Message::new();
    text.push("duplicate tool name `");
    text.push(first.shown());
    text.push("` in the toolsets of `");
    text.push(item);
    // A registered name can be prefixed; an existing prefix can be changed.
    if same(first.shown(), first.tool()) && same(second.shown(), second.tool()) {
        text.push("`; list each tool once, or rename one with `prefixed(\"..\", ..)`");
    } else {
        text.push("`; choose another prefix, or exclude one with `except`");
    }
    panic!("{}", text.as_str())
}

/// Rejects a prefix that makes the name of a member too long or reserved.
///
/// # Panics
///
/// Panics, and so does not compile, if a name is too long or reserved; the message contains it.
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
            let words = "` is too long for a tool name: at most 64 bytes; shorten the prefix";
            reject_name(prefix, members[next].shown(), words);
        }
        if same(name.as_str(), OUTPUT_TOOL) {
            let words = "` is reserved for the output of workers; choose another prefix";
            reject_name(prefix, members[next].shown(), words);
        }
        next += 1;
    }
}

#[track_caller]
const fn reject_name(prefix: &str, name: &str, words: &str) -> ! {
    let mut text = Message::new();
    text.push("`");
    text.push(prefix);
    text.push(name);
    text.push(words);
    panic!("{}", text.as_str())
}

/// Rejects `pick` in `only` or `except` if it contains a tool that is not in `members`, which the source names `of`.
///
/// # Panics
///
/// Panics, and so does not compile, if it contains one; the message names the tool.
#[doc(hidden)]
#[track_caller]
pub const fn assert_picked(pick: &str, picked: &[Member], of: &str, members: &[Member]) {
    let mut next = 0;
    while next < picked.len() {
        if !holds(&[members], &picked[next]) {
            let mut text = Message::new();
            text.push("`");
            text.push(pick);
            // A group: name the tool in it.
            if picked.len() > 1 {
                text.push("` contains `");
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

    // The compiler limits the evaluation of constants, and names of one service share a prefix.
    const _: () = assert_unique("hundreds_of_names", &[ALL]);

    #[test]
    fn hundreds_of_names_with_a_common_prefix_are_distinguished() {
        assert_eq!(ALL[499].shown(), "x_1a_company_4a_service_with_a_long_name_49");
    }

    #[test]
    #[should_panic(expected = "duplicate tool name `x_0a_company_0a_service_with_a_long_name_00`")]
    fn a_duplicate_among_hundreds_of_names_is_found() {
        assert_unique("hundreds_of_names", &[ALL, &ALL[..1]]);
    }
}
