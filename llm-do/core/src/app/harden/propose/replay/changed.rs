//! Replays runs with changed results of tools: a text that was never recorded, or a failure. A script must not go on as on another path.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::super::super::paths::{PastCall, PastRun};
use super::super::tape::{Change, ChangedText, Followed};
use super::Replay;
use crate::base::error::CallError;
use crate::declare::schema::CheckedSchema;

/// The maximum number of tries.
const MAX_TRIES: usize = 200;
/// The maximum number of tries of one field of one tool, on each path.
const MAX_OF_FIELD: usize = 3;
/// The maximum number of different texts of a field that is a choice.
const MAX_TEXTS: usize = 12;
/// The maximum number of described tries.
const MAX_EXAMPLES: usize = 6;
/// A text that no tool returns.
const UNSEEN: &str = "unseen-0c1f";
/// The maximum nesting of results that is looked at.
const MAX_DEPTH: usize = 8;

/// How a script does when results of tools are changed before the first call with an effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangedResults {
    /// The number of tries: each is a run with one changed result.
    pub tries: usize,
    /// The number of tries in which the script was misled: it made a call with an effect, or returned a result, that the run has not.
    pub misled: usize,
    /// Some of these, a sentence each.
    pub examples: Vec<String>,
}

/// The texts in the results of tools that are choices, such as a status: by tool and place.
pub(in crate::app::harden::propose) struct Choices {
    texts: BTreeMap<(Arc<str>, String), BTreeSet<String>>,
    /// The schemas of the results, by tool, with their texts.
    schemas: HashMap<Arc<str>, (CheckedSchema, BTreeSet<String>)>,
    /// A recorded result of each tool.
    results: Arc<BTreeMap<Arc<str>, Value>>,
}

impl Choices {
    /// Finds the choices in runs; `outputs` are the known schemas of results.
    pub(in crate::app::harden::propose) fn of<'r>(
        runs: impl Iterator<Item = &'r PastRun>,
        outputs: impl Iterator<Item = (Arc<str>, Value)>,
    ) -> Self {
        let mut seen: BTreeMap<(Arc<str>, String), (usize, BTreeSet<String>)> = BTreeMap::new();
        let mut results = BTreeMap::new();
        for call in runs.flat_map(|run| &run.calls).filter(|call| call.value().is_some()) {
            results.entry(Arc::clone(&call.name)).or_insert_with(|| call.recorded.clone());
            for (place, text) in texts_of(call) {
                let (times, texts) = seen.entry((Arc::clone(&call.name), general(&place))).or_default();
                *times += 1;
                texts.insert(text.to_owned());
            }
        }
        let is_choice = |times: usize, texts: &BTreeSet<String>| texts.len() <= MAX_TEXTS && times >= 2 * texts.len();
        let texts = seen.into_iter().filter(|(_, (times, texts))| is_choice(*times, texts));
        let schema = |(name, output): (Arc<str>, Value)| {
            let mut texts = BTreeSet::new();
            texts_of_schema(&output, &mut texts);
            (name, (CheckedSchema::new(&output).untrusted(), texts))
        };
        Self {
            texts: texts.map(|(field, (_, texts))| (field, texts)).collect(),
            schemas: outputs.map(schema).collect(),
            results: Arc::new(results),
        }
    }

    /// Returns the result of a call with a text that was never recorded in this place; `None` if the text is not a choice, or
    /// every other one is invalid.
    fn change(&self, call: &PastCall, place: &str, text: &str) -> Option<(PastCall, ChangedText)> {
        let known = self.texts.get(&(Arc::clone(&call.name), general(place)))?;
        let schema = self.schemas.get(&call.name);
        let of_schema = schema.into_iter().flat_map(|(_, texts)| texts).filter(|text| !known.contains(*text));
        let mut candidates = std::iter::once(UNSEEN).chain(of_schema.map(String::as_str));
        candidates.find_map(|to| {
            let mut changed = call.clone();
            *changed.recorded.pointer_mut(&format!("/result/value{place}"))? = Value::from(to);
            let is_valid =
                schema.is_none_or(|(schema, _)| changed.value().is_some_and(|value| schema.check(value).is_ok()));
            is_valid
                .then(|| (changed, ChangedText { to: to.to_owned(), from: text.to_owned(), is_unique: to == UNSEEN }))
        })
    }
}

/// A run with a changed result.
struct Try {
    run: PastRun,
    changed: Option<ChangedText>,
    /// What is changed.
    what: String,
}

/// Replays runs with changed results; these are runs that the script answers.
pub(in crate::app::harden::propose) async fn try_changed(
    replay: &Replay<'_>,
    runs: &[&PastRun],
    choices: &Choices,
) -> ChangedResults {
    let mut results = ChangedResults::default();
    let mut tried: HashMap<String, usize> = HashMap::new();
    for run in runs {
        for tried_run in tries(run, choices, replay) {
            let times = tried.entry(format!("{} {:?}", tried_run.what, run.path())).or_default();
            if *times >= MAX_OF_FIELD || results.tries >= MAX_TRIES {
                continue;
            }
            *times += 1;
            results.tries += 1;
            let Try { run: changed_run, changed: text, what } = tried_run;
            let change = Change { text, results: Arc::clone(&choices.results) };
            let (result, followed) = replay.play(&changed_run, Some(change)).await;
            if let Some(did) = misled(&result, &followed, |value| replay.agrees(run, value)) {
                results.misled += 1;
                if results.examples.len() < MAX_EXAMPLES {
                    results.examples.push(format!("with {what}, {did}"));
                }
            }
        }
    }
    results
}

/// Returns a run with each changed result before the first call with an effect.
fn tries(run: &PastRun, choices: &Choices, replay: &Replay<'_>) -> Vec<Try> {
    let reads = run.calls.iter().take_while(|call| replay.split.reads.contains(&call.name)).enumerate();
    let reads = reads.filter(|(_, call)| call.value().is_some());
    let mut tries = Vec::new();
    for (at, call) in reads {
        let with = |call: PastCall| {
            let mut run = run.clone();
            run.calls[at] = call;
            run
        };
        for (place, text) in texts_of(call) {
            let Some((changed_call, changed)) = choices.change(call, &place, text) else { continue };
            let what = format!("a text in `{place}` of the result of `{}` that no run has", call.name);
            tries.push(Try { run: with(changed_call), changed: Some(changed), what });
        }
        let recorded = json!({ "failed": "the tool is out of order" });
        let what = format!("a failed call of `{}`", call.name);
        tries.push(Try { run: with(PastCall { recorded, ..call.clone() }), changed: None, what });
    }
    tries
}

/// Returns what a misled script did. An unknown call that only reads shows nothing, so it does not count.
fn misled(
    result: &Result<Value, CallError>,
    followed: &Followed,
    agrees: impl FnOnce(&Value) -> bool,
) -> Option<String> {
    match (&followed.difference, result) {
        (Some(difference), _) => difference.may_change.then(|| difference.text.clone()),
        (None, Err(_)) => None,
        (None, Ok(value)) => {
            let is_same = followed.missing.is_none() && agrees(value);
            (!is_same).then(|| format!("it returned {value}"))
        }
    }
}

/// Returns the texts in the result of a call, each with its JSON pointer.
fn texts_of(call: &PastCall) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    if let Some(value) = call.value() {
        add_texts(value, String::new(), 0, &mut found);
    }
    found
}

fn add_texts<'v>(value: &'v Value, place: String, depth: usize, found: &mut Vec<(String, &'v str)>) {
    match value {
        _ if depth > MAX_DEPTH => {}
        Value::String(text) => found.push((place, text)),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, item)| add_texts(item, format!("{place}/{at}"), depth + 1, found));
        }
        Value::Object(fields) => fields.iter().for_each(|(name, field)| {
            let name = name.replace('~', "~0").replace('/', "~1");
            add_texts(field, format!("{place}/{name}"), depth + 1, found);
        }),
        _ => {}
    }
}

/// Returns a place without the numbers of items.
fn general(place: &str) -> String {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    place.split('/').map(|part| if is_number(part) { "*" } else { part }).collect::<Vec<_>>().join("/")
}

/// Adds the texts that a schema names.
fn texts_of_schema(schema: &Value, texts: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            let named = fields
                .get("const")
                .into_iter()
                .chain(fields.get("enum").and_then(Value::as_array).into_iter().flatten());
            texts.extend(named.filter_map(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| texts_of_schema(field, texts));
        }
        Value::Array(items) => items.iter().for_each(|item| texts_of_schema(item, texts)),
        _ => {}
    }
}
