//! The name of the person of a note.

use super::note::{Run, begins_sentence};
use super::people::{is_person_like, is_relation_name};
use super::{Stated, agrees, contains, doubt, is_withheld, place};

/// Returns the name of the person as the note writes it, or `None` if the note denies that it states the name.
///
/// It is the only full name in the note, unless the model proposed another name in it. A single name is confirmed only
/// if there is no full one, and if the model proposed it.
pub(super) fn name<'a>(note: &str, runs: &[Run<'a>], proposed: &str) -> Stated<&'a str> {
    // "Signed in Ann Hill": the model decides whether a name follows "in".
    let is_read = |run: &Run<'_>| run.text == proposed && !run.is_one_word() && !place::is_home(note, *run);
    let can_be_name =
        |run: &Run<'_>| (!place::is_inside(note, *run) || is_read(run)) && !is_relation_name(&note[..run.start]);
    let (single, full): (Vec<_>, Vec<_>) = runs.iter().copied().filter(can_be_name).partition(|run| run.is_one_word());
    let single: Vec<_> = single.into_iter().filter(|run| is_person_like(note, *run)).collect();
    // Words such as "from" precede places and names.
    let (unclear, clear): (Vec<_>, Vec<_>) = full.into_iter().partition(|run| place::is_place(note, *run));
    let is_another_read = single.iter().chain(&unclear).any(|run| agrees(proposed, run.text));
    let mut names = [clear, unclear, single].into_iter().find(|names| !names.is_empty()).unwrap_or_default();
    names.dedup_by_key(|run| run.text);
    let may_begin_with_verb = |run: &Run<'_>| run.text.split(' ').count() > 2 && begins_sentence(note, run.start);
    let is_clear = |name: &Run<'_>| !name.is_one_word() && !is_another_read && !may_begin_with_verb(name);
    let is_withheld = is_withheld(note, "name|what s?he['’ ]i?s called|who s?he is");
    let is_proposed = |run: &Run<'_>| agrees(proposed, run.text) && !place::is_home(note, *run);
    match names.as_slice() {
        [] if is_withheld && !runs.iter().any(is_proposed) => Ok(None),
        // An initial may be a title.
        [name] if name.text.get(1..2) == Some(".") => doubt("name", [name.text].into_iter()),
        [name] if !is_withheld && (agrees(proposed, name.text) || is_clear(name)) => {
            Ok(Some(without_verb(name.text, proposed)))
        }
        _ => doubt("name", names.iter().map(|run| run.text).chain(contains(note, proposed).then_some(proposed))),
    }
}

/// Returns `name` without its first word, such as "Met", if that is what the model proposed.
fn without_verb<'a>(name: &'a str, proposed: &str) -> &'a str {
    let rest = name.split_once(' ').map_or(name, |(_, rest)| rest);
    if rest.contains(' ') && rest == proposed { rest } else { name }
}
