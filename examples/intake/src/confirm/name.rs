//! The name of the person of a note.

use std::sync::LazyLock;

use regex::Regex;

use super::note::{Run, begins_sentence};
use super::people::{PERSON, is_relation_name};
use super::{Found, agrees, city, denial};

/// Returns what the note states about the name: its full names, without places and names of relatives.
pub(super) fn found<'a>(note: &'a str, runs: &[Run<'a>], read: &str) -> Found<&'a str> {
    static WITHHELD: LazyLock<Regex> = LazyLock::new(|| denial("name|what s?he['’ ]i?s called|who s?he is"));
    let is_read = |run: &Run<'_>| agrees(read, run.text);
    // "Signed in Ann Hill": the model decides whether a name follows "in".
    let can_be_name = |run: &&Run<'_>| {
        let has_initial = run.text.get(1..2) == Some(".");
        let is_place = city::is_inside(note, **run) && !(is_read(run) && city::home_start(note, **run).is_none());
        !has_initial && !is_place && !PERSON.is_match(run.text) && !is_relation_name(&note[..run.start])
    };
    let (single, full): (Vec<&Run<'a>>, Vec<&Run<'a>>) =
        runs.iter().filter(can_be_name).partition(|run| run.is_one_word());
    let begins_with_verb = |run: &Run<'_>| {
        run.text.split(' ').count() > 2 && begins_sentence(note, run.start) && !note[..run.start].ends_with(": ")
    };
    let is_label = |run: &Run<'_>| note[run.end()..].starts_with(':');
    let is_certain = |run: &Run<'_>| !begins_sentence(note, run.start) && !city::is_place(note, *run);
    let is_possible = |run: &&&Run<'_>| is_read(run) && !is_label(run) || is_certain(run);
    let possible: Vec<_> = single.iter().filter(is_possible).map(|run| run.text).collect();
    // "Her name is Nadia and she would not give a surname": a name and a denial are a doubt.
    let is_withheld = WITHHELD.is_match(note);
    let is_in_doubt = is_withheld && !possible.is_empty() || full.first().is_some_and(|run| begins_with_verb(run));
    Found {
        is_clear: !is_in_doubt,
        stated: full.iter().map(|run| without_verb(run.text, read)).collect(),
        is_withheld: is_withheld && !is_in_doubt,
        possible,
        is_in_note: true,
    }
}

/// Returns `name` without its first word, such as "Met", if that is what the model read.
fn without_verb<'a>(name: &'a str, read: &str) -> &'a str {
    let rest = name.split_once(' ').map_or(name, |(_, rest)| rest);
    if rest.contains(' ') && rest == read { rest } else { name }
}
