//! Where in the call tree an effect is, and its key: the same in each replay, in whatever order concurrent calls come.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Number, Value};
use siphasher::sip::SipHasher24;

use super::{StepKind, StepSpec};
use crate::base::error::{CallError, ErrorId};

/// What tells the calls that one call makes apart. Empty until the first; each call of the tree owns one.
#[derive(Debug, Default)]
pub(crate) struct Places(OnceLock<Arc<Mutex<Siblings>>>);

#[derive(Debug, Default)]
struct Siblings {
    /// How many have begun, as their steps know it too.
    begun: Arc<AtomicU32>,
    under_way: u32,
    /// How many are made and have no place yet.
    coming: u32,
    /// How many have begun that no guard made.
    begun_unguarded: u32,
    /// The one that began when none was under way: only that may be alone so far.
    alone: Option<StepSpec>,
    failed: Vec<FailedCall>,
    /// The one that began last.
    last: Option<(StepKind, Arc<str>)>,
    /// How many have begun with a key, equal ones not told apart.
    equal: HashMap<Arc<str>, u32>,
}

/// A call that is made and has no place yet: guards look at it, or its arguments take long to check.
///
/// Others that begin meanwhile are made at once with it: which of them gets its place first depends on how long that takes.
#[derive(Debug)]
pub(crate) struct Coming {
    siblings: Arc<Mutex<Siblings>>,
    /// How many had begun, without those of guards, before it was made.
    begun: u32,
    /// Whether another was under way then.
    is_met: bool,
}

/// A call that failed.
#[derive(Debug)]
struct FailedCall {
    key: Arc<str>,
    /// How many calls had begun by then.
    begun: u32,
    /// Of what visit it is.
    visit: Arc<str>,
    /// The error that its caller got; none once that is known to be dropped.
    error: Option<ErrorId>,
}

/// A call that is under way until this is dropped.
#[derive(Debug)]
#[must_use = "the call counts as ended once this is dropped"]
pub(crate) struct Visit {
    siblings: Arc<Mutex<Siblings>>,
    key: Arc<str>,
}

impl Places {
    /// Begins a call in `parent`, whose places these are.
    pub(crate) fn next(
        &self,
        parent: &Arc<str>,
        kind: StepKind,
        name: impl Into<Arc<str>>,
        input: Value,
    ) -> (StepSpec, Visit) {
        self.begin(StepSpec::new(Arc::clone(parent), 0, kind, name, input), None, false)
    }

    /// Notes that a call is made.
    pub(crate) fn coming(&self) -> Coming {
        let siblings = self.0.get_or_init(Arc::default);
        let mut known = lock(siblings);
        known.coming += 1;
        let is_met = known.under_way > 0;
        known.alone.take().iter().for_each(StepSpec::overlap);
        Coming { siblings: Arc::clone(siblings), begun: known.begun_unguarded, is_met }
    }

    /// Begins a call that was coming or is made just now; what guards do about calls that are coming is not made at once
    /// with them.
    pub(crate) fn begin(&self, step: StepSpec, coming: Option<Coming>, by_guard: bool) -> (StepSpec, Visit) {
        let siblings = self.0.get_or_init(Arc::default);
        let step = lock(siblings).begin(step, coming.as_ref(), by_guard);
        drop(coming);
        let visit = Visit { siblings: Arc::clone(siblings), key: Arc::clone(&step.key) };
        (step, visit)
    }

    /// Returns the keys of the calls whose failures led to the end of their parent.
    ///
    /// Those are the calls whose errors `error` is or came from, whenever they failed. Code may make a new error of what it
    /// got: so they are also those after whose end no other call began, unless the plane itself ended the parent.
    pub(crate) fn led_to(&self, error: Option<&CallError>) -> Vec<Arc<str>> {
        let Some(siblings) = self.0.get().map(|siblings| lock(siblings)) else { return Vec::new() };
        if siblings.failed.is_empty() {
            return Vec::new();
        }
        let begun = siblings.begun();
        let returned: Vec<_> = error.into_iter().flat_map(CallError::ids).collect();
        let has_last = !error.is_some_and(CallError::is_of_plane);
        let is_last = |failed: &FailedCall| has_last && failed.begun == begun;
        let led = siblings
            .failed
            .iter()
            .filter(|failed| is_last(failed) || failed.error.as_ref().is_some_and(|error| returned.contains(error)));
        led.map(|failed| Arc::clone(&failed.key)).collect()
    }

    /// Returns the key of a model's answer, if no other call began after it.
    pub(crate) fn last_answer(&self) -> Option<Arc<str>> {
        let siblings = lock(self.0.get()?);
        siblings.last.as_ref().filter(|(kind, _)| *kind == StepKind::Model).map(|(_, key)| Arc::clone(key))
    }
}

impl Siblings {
    fn begin(&mut self, mut step: StepSpec, coming: Option<&Coming>, by_guard: bool) -> StepSpec {
        let equal = self.equal.entry(Arc::clone(&step.key)).or_default();
        step.place = self.begun.fetch_add(1, Ordering::Relaxed);
        step = step.nth(*equal).counting(&self.begun);
        *equal += 1;
        self.last = Some((step.kind, Arc::clone(&step.key)));
        let is_met = coming.is_some_and(|coming| coming.is_met || coming.begun != self.begun_unguarded);
        let others = self.coming.saturating_sub(u32::from(coming.is_some()));
        self.begun_unguarded += u32::from(!by_guard);
        if self.under_way == 0 && !is_met && (others == 0 || by_guard) {
            self.alone = Some(step.clone());
        } else {
            step.overlap();
            self.alone.take().iter().for_each(StepSpec::overlap);
        }
        self.under_way += 1;
        step
    }

    fn begun(&self) -> u32 {
        self.begun.load(Ordering::Relaxed)
    }
}

impl Visit {
    /// Notes that the call has failed, with the error that its caller gets.
    pub(crate) fn fail(&self, error: &CallError) {
        self.fail_by([Arc::clone(&self.key)], error);
    }

    /// Notes that the call came to a result, of which its caller gets an error because of what failed under these keys.
    pub(crate) fn fail_by(&self, keys: impl IntoIterator<Item = Arc<str>>, error: &CallError) {
        let (mut siblings, error) = (lock(&self.siblings), error.id());
        let begun = siblings.begun();
        // Code that tries again drops an error, and the next one may take its memory and say the same.
        let is_dropped = |failed: &&mut FailedCall| failed.visit != self.key && failed.error.as_ref() == Some(&error);
        siblings.failed.iter_mut().filter(is_dropped).for_each(|failed| failed.error = None);
        let failed = |key| FailedCall { key, begun, visit: Arc::clone(&self.key), error: Some(error.clone()) };
        siblings.failed.extend(keys.into_iter().map(failed));
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        lock(&self.siblings).coming -= 1;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut siblings = lock(&self.siblings);
        siblings.under_way -= 1;
        if siblings.under_way == 0 {
            siblings.alone = None;
        }
    }
}

fn lock(siblings: &Mutex<Siblings>) -> MutexGuard<'_, Siblings> {
    siblings.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the key of the first call in `parent` of a name and an input.
pub(super) fn key(parent: &str, name: &str, input: &Value) -> String {
    let mut key = below(parent, name);
    key.push(':');
    key.push_str(&digest(input));
    key
}

/// Returns the key of what is called `name` below `parent`.
pub(super) fn below(parent: &str, name: &str) -> String {
    let name = name.replace('%', "%25").replace('/', "%2F");
    if parent.is_empty() { name } else { format!("{parent}/{name}") }
}

/// Returns the key of the call in `parent` that `key` is a part of, or else `key`.
pub(super) fn call<'a>(key: &'a str, parent: &str) -> &'a str {
    let prefix = if parent.is_empty() { 0 } else { parent.len() + 1 };
    let end = key.get(prefix..).and_then(|rest| rest.find('/'));
    end.map_or(key, |end| &key[..prefix + end])
}

/// Returns the key of the call that the call of a key happens in; none for a root call.
pub(super) fn parent(key: &str) -> Option<&str> {
    key.rsplit_once('/').map(|(parent, _)| parent)
}

/// Returns what the call of a key is, as far as the key tells.
pub(super) fn describe_key(key: &str) -> String {
    let part = key.rsplit('/').next().unwrap_or(key);
    let digest = part.rsplit_once(':').map(|(_, digest)| digest.chars().take(8).collect::<String>());
    format!("call `{}` (input {})", name(key), digest.unwrap_or_default())
}

/// Returns the place of a call in words: "`main` → `sum` → 3rd call".
pub(super) fn in_words(parent: &str, place: u32) -> String {
    let call = format!("{} call", ordinal(u64::from(place) + 1));
    let names = names(parent).map(|name| format!("`{name}`"));
    names.chain([call]).collect::<Vec<_>>().join(" → ")
}

/// Returns the name of the call of a key, as it was called.
pub(crate) fn name(key: &str) -> String {
    names(key).last().unwrap_or_default()
}

/// Returns what a step is, without what it holds.
pub(super) fn describe(kind: StepKind, name: &str, input: &Value) -> String {
    format!("{} `{name}` (input {})", kind.as_str(), &digest(input)[..8])
}

fn names(key: &str) -> impl Iterator<Item = String> {
    key.split('/').filter(|part| !part.is_empty()).map(|part| {
        let name = part.rsplit_once(':').map_or(part, |(name, _)| name);
        name.replace("%2F", "/").replace("%25", "%")
    })
}

fn ordinal(n: u64) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// Returns 16 hexadecimal digits that stand for a value, whatever the order of its objects' fields.
pub(crate) fn digest(value: &Value) -> String {
    let mut hasher = SipHasher24::new();
    feed(&mut hasher, value);
    format!("{:016x}", hasher.finish())
}

/// Feeds a value, each part with its kind and its length, so that no two values feed the same bytes.
///
/// Not as a text: how a number is written may change with the library that writes it.
fn feed(hasher: &mut SipHasher24, value: &Value) {
    match value {
        Value::Null => hasher.write(b"n"),
        Value::Bool(value) => hasher.write(if *value { b"t" } else { b"f" }),
        Value::Number(number) => feed_number(hasher, number),
        Value::String(text) => feed_text(hasher, text),
        Value::Array(items) => {
            feed_length(hasher, b"[", items.len());
            for item in items {
                feed(hasher, item);
            }
        }
        Value::Object(fields) => {
            feed_length(hasher, b"{", fields.len());
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            for (key, field) in fields {
                feed_text(hasher, key);
                feed(hasher, field);
            }
        }
    }
}

fn feed_number(hasher: &mut SipHasher24, number: &Number) {
    let (kind, bytes) = match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(number), ..) => (b"u", number.to_le_bytes()),
        (_, Some(number), _) => (b"i", number.to_le_bytes()),
        (.., Some(number)) => (b"d", number.to_bits().to_le_bytes()),
        // What serde_json holds as a text, if someone turns its `arbitrary_precision` on.
        _ => return feed_text(hasher, &number.to_string()),
    };
    hasher.write(kind);
    hasher.write(&bytes);
}

fn feed_text(hasher: &mut SipHasher24, text: &str) {
    feed_length(hasher, b"s", text.len());
    hasher.write(text.as_bytes());
}

fn feed_length(hasher: &mut SipHasher24, kind: &[u8], length: usize) {
    hasher.write(kind);
    hasher.write(&(length as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn next(places: &Places, name: &str, input: Value) -> (StepSpec, Visit) {
        places.next(&"main".into(), StepKind::Tool, name, input)
    }

    #[test]
    fn a_digest_is_the_same_in_every_version_and_on_every_machine() {
        let value = json!({ "a": [null, true, -1, 1.5, "é"], "b": {} });
        assert_eq!(digest(&value), "f5813a072f9b0083");
        assert_eq!(digest(&Value::Null), "9647f6eabd4ec563");
    }

    #[test]
    fn a_digest_minds_each_part_but_not_the_order_of_fields() {
        assert_eq!(
            digest(&json!({ "a": 1, "b": { "c": 2, "d": 3 } })),
            digest(&json!({ "b": { "d": 3, "c": 2 }, "a": 1 }))
        );
        let different = [
            json!(null),
            json!(0),
            json!(0.0),
            json!(""),
            json!("0"),
            json!([]),
            json!({}),
            json!([[], []]),
            json!([[[]]]),
        ];
        let digests: std::collections::HashSet<_> = different.iter().map(digest).collect();
        assert_eq!(digests.len(), different.len());
        assert_ne!(digest(&json!(["ab", "c"])), digest(&json!(["a", "bc"])));
        assert_ne!(digest(&json!([1, 2])), digest(&json!([2, 1])));
    }

    #[test]
    fn equal_siblings_are_counted_and_others_are_not() {
        let places = Places::default();
        let keys: Vec<_> = [("a", 1), ("a", 1), ("b", 1), ("a", 2), ("a", 1)]
            .map(|(name, input)| next(&places, name, json!(input)).0)
            .into();
        assert_eq!(keys[1].key, format!("{}#1", keys[0].key).into());
        assert_eq!(keys[4].key, format!("{}#2", keys[0].key).into());
        assert!(keys[2].key.starts_with("main/b:") && !keys[2].key.contains('#'));
        assert!(keys[3].key.starts_with("main/a:") && !keys[3].key.contains('#'));
        assert_eq!(keys.iter().map(|step| step.place).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn keys_do_not_depend_on_the_order_of_different_siblings() {
        let keys = |order: &[&str]| {
            let places = Places::default();
            let mut keys: Vec<_> = order.iter().map(|name| next(&places, name, json!(0)).0.key).collect();
            keys.sort();
            keys
        };
        assert_eq!(keys(&["a", "b", "a", "c"]), keys(&["c", "a", "a", "b"]));
    }

    #[test]
    fn calls_one_after_the_other_never_overlap() {
        let places = Places::default();
        for n in 0..3 {
            let (step, visit) = next(&places, "a", json!(n));
            drop(visit);
            assert!(!step.is_overlapped());
        }
        assert!(!next(&places, "b", json!(0)).0.is_overlapped(), "nobody is under way any more");
    }

    #[test]
    fn both_of_two_calls_that_are_under_way_at_once_overlap_whichever_began_first() {
        let places = Places::default();
        let (first, first_visit) = next(&places, "a", json!(1));
        let approval = first.within(StepKind::Approval, "approval");
        assert!(!first.is_overlapped());
        let (second, second_visit) = next(&places, "a", json!(2));
        assert!(first.is_overlapped() && second.is_overlapped() && approval.is_overlapped());
        drop(first_visit);
        let (third, third_visit) = next(&places, "a", json!(3));
        assert!(third.is_overlapped(), "the second is under way still");
        drop((second_visit, third_visit));
        let (fourth, _visit) = next(&places, "a", json!(4));
        assert!(!fourth.is_overlapped());
    }

    #[test]
    fn a_part_of_a_call_shares_its_place_and_is_known_as_a_part() {
        let places = Places::default();
        let (step, _visit) = next(&places, "a", json!(1));
        let part = step.within(StepKind::Approval, "approval");
        assert_eq!((&part.parent, part.place), (&step.parent, step.place));
        assert_eq!(part.key, format!("{}/approval", step.key).into());
        assert_eq!(call(&part.key, &part.parent), &*step.key);
        assert_eq!(call(&step.key, &step.parent), &*step.key);
    }

    #[test]
    fn a_place_is_told_by_the_names_on_the_way_to_it() {
        let main = key("", "main", &json!({}));
        let model = key(&main, "local:small/100%", &json!({}));
        assert_eq!(in_words("", 0), "1st call");
        assert_eq!(in_words(&main, 2), "`main` → 3rd call");
        assert_eq!(in_words(&format!("{model}#3"), 10), "`main` → `local:small/100%` → 11th call");
        assert_eq!(name(&model), "local:small/100%");
        assert_eq!(call(&model, &main), model);
        assert_eq!([2, 4, 12, 21, 102, 113].map(ordinal), ["2nd", "4th", "12th", "21st", "102nd", "113th"]);
    }
}
