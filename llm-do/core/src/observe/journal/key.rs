//! The position of a step in the call tree, and its key, which is the same in each replay.
//!
//! Keys do not depend on the order in which concurrent calls begin.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt::Write;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use serde_json::{Number, Value};
use siphasher::sip::SipHasher24;

use super::{StepKind, StepSpec};
use crate::base::error::{CallError, ErrorId};
use crate::base::mutex::IgnorePoison;

/// The part of an approval below which the steps of its review are.
pub(crate) const REVIEW: &str = "review";

/// Precedes the thread in the key of a call that continues one.
const THREAD: &str = "%40";

/// Precedes the number in the key of a call in the background.
const BACKGROUND: &str = "%26";

/// The steps that one call has made. Numbers them, and gives equal steps distinct keys. Allocated with the first step.
#[derive(Debug, Default)]
pub(crate) struct ChildSteps(OnceLock<Arc<Mutex<Siblings>>>);

#[derive(Debug, Default)]
struct Siblings {
    /// The number of steps that have begun, shared with the steps.
    begun: Arc<AtomicU32>,
    in_flight: u32,
    /// The number of announced calls, which have no position yet.
    announced: u32,
    /// The number of calls that began, without those made by guards.
    begun_unguarded: u32,
    /// The step in flight that began when no other was in flight, until another overlaps it.
    alone: Option<StepSpec>,
    failed: Vec<FailedCall>,
    /// The step that began last.
    last: Option<(StepKind, Arc<str>)>,
    /// The number of steps that have begun with the same name and input, by their common key.
    equal: HashMap<Arc<str>, u32>,
    /// Which code changes the call uses, as decided when it first asked.
    versions: HashMap<String, bool>,
}

/// A call that is announced but has no position yet, for example while guards run on it or its arguments are checked.
///
/// Calls that begin in the meantime are concurrent with it, since timing decides about the order of their positions.
#[derive(Debug)]
pub(crate) struct AnnouncedCall {
    siblings: Arc<Mutex<Siblings>>,
    /// The number of calls that had begun before the announcement, without those made by guards.
    begun: u32,
    /// Whether another call was in flight at the announcement.
    is_met: bool,
}

/// A failed step.
#[derive(Debug)]
struct FailedCall {
    key: Arc<str>,
    /// The number of steps that had begun when it failed.
    begun: u32,
    /// The key of the failed step: its own, or that of a call whose result was replaced by the error.
    step: Arc<str>,
    /// The error that its caller received; `None` once the caller is known to have dropped it.
    error: Option<ErrorId>,
}

/// A guard: its step counts as in flight until this is dropped.
#[derive(Debug)]
#[must_use = "the step counts as ended once this is dropped"]
pub(crate) struct InFlightStep {
    siblings: Arc<Mutex<Siblings>>,
    key: Arc<str>,
}

impl ChildSteps {
    /// Begins a step of `parent`, which owns this.
    pub(crate) fn next(
        &self,
        parent: &Arc<str>,
        kind: StepKind,
        name: impl Into<Arc<str>>,
        input: Value,
    ) -> (StepSpec, InFlightStep) {
        self.begin(StepSpec::new(Arc::clone(parent), 0, kind, name, input), None, false)
    }

    /// Announces a call that gets its position later.
    pub(crate) fn announce(&self) -> AnnouncedCall {
        let siblings = self.0.get_or_init(Arc::default);
        let mut known = lock(siblings);
        known.announced += 1;
        let is_met = known.in_flight > 0;
        known.alone.take().iter().for_each(StepSpec::overlap);
        AnnouncedCall { siblings: Arc::clone(siblings), begun: known.begun_unguarded, is_met }
    }

    /// Begins a call, which may have been announced; calls that guards make about announced calls are not concurrent
    /// with them.
    pub(crate) fn begin(
        &self,
        step: StepSpec,
        announced: Option<AnnouncedCall>,
        by_guard: bool,
    ) -> (StepSpec, InFlightStep) {
        let siblings = self.0.get_or_init(Arc::default);
        let step = lock(siblings).begin(step, announced.as_ref(), by_guard);
        drop(announced);
        let in_flight = InFlightStep { siblings: Arc::clone(siblings), key: Arc::clone(&step.key) };
        (step, in_flight)
    }

    /// Returns the keys of the failed steps that led to the end of their parent with `error`.
    ///
    /// These are the steps whose error is `error` or one of its sources. If no step has such an error, an error in
    /// between may hide the type of the inner error; the last step that failed with the same text is returned then.
    /// Since code may replace an error, the failed steps after which no other step began are returned too, unless the
    /// plane itself ended the parent.
    pub(crate) fn led_to(&self, error: Option<&CallError>) -> Vec<Arc<str>> {
        let Some(siblings) = self.0.get().map(|siblings| lock(siblings)) else { return Vec::new() };
        if siblings.failed.is_empty() {
            return Vec::new();
        }
        let begun = siblings.begun();
        let returned: Vec<_> = error.into_iter().flat_map(CallError::ids).collect();
        let has_last = !error.is_some_and(CallError::is_of_plane);
        let is_last = |failed: &FailedCall| has_last && failed.begun == begun;
        let is_returned = |failed: &FailedCall| failed.error.as_ref().is_some_and(|error| returned.contains(error));
        let is_known = siblings.failed.iter().any(is_returned);
        let hidden = if is_known { None } else { returned.iter().find_map(|outer| siblings.last_inside(outer)) };
        let is_hidden = |failed: &FailedCall| hidden == Some(&*failed.step);
        let led = siblings.failed.iter().filter(|failed| is_last(failed) || is_returned(failed) || is_hidden(failed));
        led.map(|failed| Arc::clone(&failed.key)).collect()
    }

    /// Returns the decision about a code change.
    pub(crate) fn version(&self, change: &str) -> Option<bool> {
        lock(self.0.get()?).versions.get(change).copied()
    }

    /// Stores the decision about a code change.
    pub(crate) fn set_version(&self, change: &str, is_known: bool) {
        lock(self.0.get_or_init(Arc::default)).versions.insert(change.to_owned(), is_known);
    }

    /// Returns the key of the last step, if it is a model's answer.
    pub(crate) fn last_answer(&self) -> Option<Arc<str>> {
        let siblings = lock(self.0.get()?);
        siblings.last.as_ref().filter(|(kind, _)| *kind == StepKind::Model).map(|(_, key)| Arc::clone(key))
    }
}

impl Siblings {
    fn begin(&mut self, mut step: StepSpec, announced: Option<&AnnouncedCall>, by_guard: bool) -> StepSpec {
        let equal = self.equal.entry(Arc::clone(&step.key)).or_default();
        step.place = self.begun.fetch_add(1, Ordering::Relaxed);
        step = step.nth(*equal).counting(&self.begun);
        *equal += 1;
        self.last = Some((step.kind, Arc::clone(&step.key)));
        let is_met = announced.is_some_and(|announced| announced.is_met || announced.begun != self.begun_unguarded);
        let others = self.announced.saturating_sub(u32::from(announced.is_some()));
        self.begun_unguarded += u32::from(!by_guard);
        if self.in_flight == 0 && !is_met && (others == 0 || by_guard) {
            self.alone = Some(step.clone());
        } else {
            step.overlap();
            self.alone.take().iter().for_each(StepSpec::overlap);
        }
        self.in_flight += 1;
        step
    }

    /// Returns the last step whose error may be inside `outer`.
    fn last_inside(&self, outer: &ErrorId) -> Option<&str> {
        let is_inside = |failed: &&FailedCall| failed.error.as_ref().is_some_and(|error| outer.may_contain(error));
        self.failed.iter().rfind(is_inside).map(|failed| &*failed.step)
    }

    fn begun(&self) -> u32 {
        self.begun.load(Ordering::Relaxed)
    }
}

impl InFlightStep {
    /// Records that the step failed with the error that its caller receives.
    pub(crate) fn fail(&self, error: &CallError) {
        self.fail_by([Arc::clone(&self.key)], error);
    }

    /// Records that the caller receives an error although the step has a result, because the steps with these keys
    /// failed.
    pub(crate) fn fail_by(&self, keys: impl IntoIterator<Item = Arc<str>>, error: &CallError) {
        let (mut siblings, error) = (lock(&self.siblings), error.id());
        let begun = siblings.begun();
        // Code that retries drops an error, and a later error may have the same address and text.
        let is_dropped = |failed: &&mut FailedCall| failed.step != self.key && failed.error.as_ref() == Some(&error);
        siblings.failed.iter_mut().filter(is_dropped).for_each(|failed| failed.error = None);
        let failed = |key| FailedCall { key, begun, step: Arc::clone(&self.key), error: Some(error.clone()) };
        siblings.failed.extend(keys.into_iter().map(failed));
    }
}

impl Drop for AnnouncedCall {
    fn drop(&mut self) {
        lock(&self.siblings).announced -= 1;
    }
}

impl Drop for InFlightStep {
    fn drop(&mut self) {
        let mut siblings = lock(&self.siblings);
        siblings.in_flight -= 1;
        if siblings.in_flight == 0 {
            siblings.alone = None;
        }
    }
}

fn lock(siblings: &Mutex<Siblings>) -> MutexGuard<'_, Siblings> {
    siblings.lock().ignore_poison()
}

/// Returns the key of the first call in `parent` with a name and an input.
pub(super) fn step_key(parent: &str, name: &str, input: &Value) -> String {
    let mut key = below(parent, name);
    key.push(':');
    key.push_str(&digest(input));
    key
}

/// Returns the key of the first call in `parent` with a name and an input that continues a thread.
pub(super) fn thread_key(parent: &str, name: &str, thread: &str, messages: usize, input: &Value) -> String {
    let mut key = below(parent, name);
    let thread = thread.replace('%', "%25").replace('/', "%2F").replace(':', "%3A");
    // Names cannot contain this text, since their `%` is written as `%25`.
    key.push_str(THREAD);
    _ = write!(key, "{thread}+{messages}:{}", digest(input));
    key
}

/// Returns the key of the first call in `parent` with a name and an input that is in the background; `number` is its number among those
/// of a model.
///
/// It is not that of an equal call in the foreground, so that neither key depends on which of them begins first.
pub(super) fn background_key(parent: &str, name: &str, number: Option<u32>, input: &Value) -> String {
    let mut key = below(parent, name);
    // Names cannot contain this text, since their `%` is written as `%25`.
    key.push_str(BACKGROUND);
    if let Some(number) = number {
        _ = write!(key, "{number}");
    }
    key.push(':');
    key.push_str(&digest(input));
    key
}

/// Returns whether the key belongs to a call that continues a thread.
pub(super) fn is_in_thread(key: &str) -> bool {
    key.rsplit('/').next().is_some_and(|part| part.contains(THREAD))
}

/// Returns whether a key is that of a call in the background.
#[cfg(feature = "script")]
pub(super) fn is_in_background(key: &str) -> bool {
    key.rsplit('/').next().is_some_and(|part| part.contains(BACKGROUND))
}

/// Returns whether a key is in a run that continues a chat.
#[doc(hidden)]
#[must_use]
pub fn is_in_chat(key: &str) -> bool {
    key.split('/').next().is_some_and(|root| root.contains(THREAD))
}

/// Returns the key of a root call as that of one that continues a chat.
pub(super) fn in_chat(root: &str) -> String {
    let (name, input) = root.rsplit_once(':').unwrap_or((root, ""));
    format!("{name}{THREAD}chat:{input}")
}

/// Returns the root call of a key.
#[doc(hidden)]
#[must_use]
pub fn run_of(key: &str) -> &str {
    split_root(key).0
}

/// Splits a key behind its root call.
pub(super) fn split_root(key: &str) -> (&str, &str) {
    key.split_at(key.find('/').unwrap_or(key.len()))
}

/// Returns the key of a root call without its number among equal ones, and this number.
pub(super) fn unnumbered(root: &str) -> (&str, u32) {
    let digest = root.rfind(':').unwrap_or_default();
    match root[digest..].split_once('#') {
        Some((start, number)) => (&root[..digest + start.len()], number.parse().unwrap_or_default()),
        None => (root, 0),
    }
}

/// Returns a key without the number of its root call among equal ones.
pub(super) fn unnumbered_run(key: Arc<str>) -> Arc<str> {
    let (root, rest) = split_root(&key);
    match unnumbered(root) {
        (_, 0) => key,
        (root, _) => format!("{root}{rest}").into(),
    }
}

/// Returns the key of the part `name` below `parent`.
pub(super) fn below(parent: &str, name: &str) -> String {
    let name = name.replace('%', "%25").replace('/', "%2F");
    if parent.is_empty() { name } else { format!("{parent}/{name}") }
}

/// Returns the key of the call in `parent` that contains the step `key`, or `key` itself.
pub(super) fn call<'a>(key: &'a str, parent: &str) -> &'a str {
    let prefix = if parent.is_empty() { 0 } else { parent.len() + 1 };
    let end = key.get(prefix..).and_then(|rest| rest.find('/'));
    end.map_or(key, |end| &key[..prefix + end])
}

/// Returns whether a key is that of a step which a review of the call made, before the call began.
pub(super) fn is_in_review(key: &str, call: &str) -> bool {
    let part = key.strip_prefix(call).and_then(|rest| rest.split('/').nth(2));
    part == Some(REVIEW)
}

/// Returns the key of the call that contains the call with this key; `None` for a root call.
pub(super) fn parent(key: &str) -> Option<&str> {
    key.rsplit_once('/').map(|(parent, _)| parent)
}

/// Describes a call by its key alone.
pub(super) fn describe_key(key: &str) -> String {
    let part = key.rsplit('/').next().unwrap_or(key);
    let digest = part.rsplit_once(':').map(|(_, digest)| digest.chars().take(8).collect::<String>());
    format!("call `{}` (input {})", name(key), digest.unwrap_or_default())
}

/// Describes the position of a call: "`main` → `sum` → 3rd call".
pub(super) fn describe_place(parent: &str, place: u32) -> String {
    let call = format!("{} call", ordinal(u64::from(place) + 1));
    let names = names(parent).map(|name| format!("`{name}`"));
    names.chain([call]).collect::<Vec<_>>().join(" → ")
}

/// Returns the name in the last part of a key.
#[doc(hidden)]
#[must_use]
pub fn name(key: &str) -> String {
    names(key).last().unwrap_or_default()
}

/// Describes a step by its kind, its name and a digest of its input.
pub(super) fn describe(kind: StepKind, name: &str, input: &Value) -> String {
    describe_hash(kind, name, hash(input))
}

/// Describes a step by its kind, its name and the hash of its input.
pub(super) fn describe_hash(kind: StepKind, name: &str, hash: u64) -> String {
    format!("{} `{name}` (input {})", kind.as_str(), &hex(hash)[..8])
}

fn names(key: &str) -> impl Iterator<Item = String> {
    key.split('/').filter(|part| !part.is_empty()).map(|part| {
        let name = part.rsplit_once(':').map_or(part, |(name, _)| name);
        let name = name.split_once(THREAD).map_or(name, |(name, _)| name);
        let name = name.split_once(BACKGROUND).map_or(name, |(name, _)| name);
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

/// Returns a digest of a value as 16 hexadecimal digits, independent of the order of object fields.
#[doc(hidden)]
#[must_use]
pub fn digest(value: &Value) -> String {
    hex(hash(value))
}

/// Returns the digest of a text, which is that of the text as a value.
pub(crate) fn digest_of_text(text: &str) -> String {
    let mut hasher = SipHasher24::new();
    feed_text(&mut hasher, text);
    hex(hasher.finish())
}

/// Returns the hash of a value, independent of the order of object fields; the same in each version and on each machine.
pub(super) fn hash(value: &Value) -> u64 {
    let mut hasher = SipHasher24::new();
    feed(&mut hasher, value);
    hasher.finish()
}

fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

/// Hashes a value, each part with its type and its length, so that different values hash different bytes.
///
/// The JSON text is not hashed, since the format of numbers may change with the version of the JSON library.
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
        // With the `arbitrary_precision` feature, serde_json stores such a number as text.
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
