//! The name of the person of a note.

use super::note::Run;
use super::people::{People, is_person_like};
use super::{Stated, agrees, contains, doubt, place};

/// Returns the name that the model proposed as the note writes it, or `None` if the note contains no name.
pub(super) fn name<'a>(note: &str, runs: &[Run<'a>], proposed: &str) -> Stated<&'a str> {
    let can_be_name = |run: &Run<'_>| {
        if run.is_one_word() { is_person_like(note, *run) } else { place::home_start(note, *run).is_none() }
    };
    let (names, places): (Vec<_>, Vec<_>) = runs.iter().copied().partition(can_be_name);
    let proposals: Vec<_> = names.iter().filter(|run| agrees(proposed, run.text)).collect();
    let Some(name) = proposals.iter().max_by_key(|run| run.text.len()) else {
        let is_made_up = !contains(note, proposed) || places.iter().any(|place| agrees(proposed, place.text));
        let possible = names.iter().map(|run| run.text).chain((!is_made_up).then_some(proposed));
        return if names.is_empty() && is_made_up { Ok(None) } else { doubt("name", possible) };
    };
    // An answer that repeats the note names everything in it.
    let is_only_proposal = proposals.iter().all(|run| contains(name.text, run.text));
    let others = People::new(note, runs, Some(name.text)).others;
    if is_only_proposal && others.iter().all(|other| other.is_one_word() && !name.is_one_word()) {
        return Ok(Some(name.text));
    }
    doubt("name", proposals.into_iter().chain(&others).map(|run| run.text))
}
