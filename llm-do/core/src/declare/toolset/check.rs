//! Compile-time checks of declarations, with specific error messages.

use super::OUTPUT_TOOL;
use super::member::{MAX_NAME, Member, holds};
use super::text::{Text, same};

/// Has room for two names of at most 64 bytes each, and the text around them.
type Message = Text<320>;

/// Checks that a declaration of `item` has no two tools of the same shown name.
///
/// # Panics
///
/// Panics at compile time if two tools have the same shown name; the message contains the name.
#[doc(hidden)]
#[track_caller]
pub const fn assert_unique(item: &str, lists: &[&[Member]]) {
    let (mut list, mut index) = (0, 0);
    while list < lists.len() {
        while index < lists[list].len() {
            assert_only(item, &lists[list][index], lists, list, index + 1);
            index += 1;
        }
        index = 0;
        list += 1;
    }
}

/// Checks that no later member has the name of `first`, starting at a position in the lists.
#[track_caller]
const fn assert_only(item: &str, first: &Member, lists: &[&[Member]], mut list: usize, mut index: usize) {
    while list < lists.len() {
        while index < lists[list].len() {
            if first.has_same_name(&lists[list][index]) {
                panic_duplicate(item, first, &lists[list][index]);
            }
            index += 1;
        }
        index = 0;
        list += 1;
    }
}

#[track_caller]
const fn panic_duplicate(item: &str, first: &Member, second: &Member) -> ! {
    let mut text = Message::new();
    text.push("duplicate tool name `");
    text.push(first.shown());
    text.push("` in the toolsets of `");
    text.push(item);
    // A tool under its registered name can get a prefix; a tool with a prefix needs a different one.
    if same(first.shown(), first.tool()) && same(second.shown(), second.tool()) {
        text.push("`; list each tool once, or rename one with `prefixed(\"..\", ..)`");
    } else {
        text.push("`; choose another prefix, or exclude one with `except`");
    }
    panic!("{}", text.as_str())
}

/// Checks the prefixed names of the members.
///
/// # Panics
///
/// Panics at compile time if a name is too long or reserved; the message contains the name.
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
            panic_name(prefix, members[next].shown(), words);
        }
        if same(name.as_str(), OUTPUT_TOOL) {
            let words = "` is reserved for the output of workers; choose another prefix";
            panic_name(prefix, members[next].shown(), words);
        }
        next += 1;
    }
}

#[track_caller]
const fn panic_name(prefix: &str, name: &str, words: &str) -> ! {
    let mut text = Message::new();
    text.push("`");
    text.push(prefix);
    text.push(name);
    text.push(words);
    panic!("{}", text.as_str())
}

/// Checks that the tools of `pick`, in `only` or `except`, are among `members`, whose name in the source is `of`.
///
/// # Panics
///
/// Panics at compile time if a tool is missing; the message contains its name.
#[doc(hidden)]
#[track_caller]
pub const fn assert_picked(pick: &str, picked: &[Member], of: &str, members: &[Member]) {
    let mut next = 0;
    while next < picked.len() {
        if !holds(&[members], &picked[next]) {
            let mut text = Message::new();
            text.push("`");
            text.push(pick);
            // A picked group may be missing only in part, so the message names the tool.
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

    // Checked in a constant, since the compiler limits the time of constant evaluation. All names start alike.
    const _: () = assert_unique("hundreds_of_names", &[ALL]);

    #[test]
    fn hundreds_of_similar_names_are_checked_at_compile_time() {
        assert_eq!(ALL[499].shown(), "x_1a_company_4a_service_with_a_long_name_49");
    }

    #[test]
    #[should_panic(expected = "duplicate tool name `x_0a_company_0a_service_with_a_long_name_00`")]
    fn a_duplicate_name_among_hundreds_is_found() {
        assert_unique("hundreds_of_names", &[ALL, &ALL[..1]]);
    }
}
