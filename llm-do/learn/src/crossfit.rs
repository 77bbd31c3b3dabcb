//! Models that have not seen the cases that they judge.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use siphasher::sip::SipHasher13;

use crate::answers::Choice;
use crate::case::Example;
use crate::encoder::Encoder;
use crate::fields::Kind;
use crate::leaves::{Leaf, visit};
use crate::part::Model;
use crate::text::Normal;

/// The number of models that judge cases.
pub(crate) const FOLDS: usize = 5;

/// What is learned of one part, and how it was judged.
pub(crate) struct Fitted {
    /// Learned from all cases.
    pub(crate) model: Model,
    /// The scores of each case, by a model that has not seen it; `None` if it is unlike the cases that the model has seen.
    pub(crate) scores: Vec<Option<Vec<f32>>>,
}

/// What one thread does.
enum Done {
    All(Model),
    Fold(Vec<(usize, Option<Vec<f32>>)>),
}

/// Learns each part from all cases, and judges each case by a model that was learned without it, on all processors.
pub(crate) fn fit(
    kinds: &BTreeMap<String, Kind>,
    cases: &[Example],
    folds: &[usize],
    choices: &[&Choice],
    room: usize,
) -> Vec<Fitted> {
    // The longest tasks come first.
    let tasks: Vec<_> =
        (0..=FOLDS).rev().flat_map(|fold| choices.iter().enumerate().map(move |part| (fold, part))).collect();
    let room = room / choices.len().max(1);
    let done = on_all_processors(tasks.len(), |task| {
        let (fold, (_, choice)) = tasks[task];
        let task = Task { kinds, cases, choice, folds, room };
        if fold == FOLDS { Done::All(task.learn(|_| true)) } else { Done::Fold(task.judge(fold)) }
    });
    let mut fitted: Vec<_> = choices.iter().map(|_| (None, vec![None; cases.len()])).collect();
    for ((_, (part, _)), done) in tasks.iter().zip(done) {
        match done {
            Done::All(model) => fitted[*part].0 = Some(model),
            Done::Fold(scores) => scores.into_iter().for_each(|(case, scores)| fitted[*part].1[case] = scores),
        }
    }
    fitted.into_iter().filter_map(|(model, scores)| model.map(|model| Fitted { model, scores })).collect()
}

struct Task<'a> {
    kinds: &'a BTreeMap<String, Kind>,
    cases: &'a [Example],
    choice: &'a Choice,
    folds: &'a [usize],
    /// The bytes of the file for this part.
    room: usize,
}

impl Task<'_> {
    fn learn(&self, is_seen: impl Fn(usize) -> bool) -> Model {
        let seen = (0..self.cases.len()).filter(|case| is_seen(*case));
        let seen: Vec<_> = seen.map(|case| (&self.cases[case].input, self.choice.labels[case])).collect();
        let labels = self.choice.values.len();
        let encoder = Encoder::fit(self.kinds, &seen, labels);
        Model::learn(encoder, &seen, labels, self.room)
    }

    fn judge(&self, fold: usize) -> Vec<(usize, Option<Vec<f32>>)> {
        let model = self.learn(|case| self.folds[case] != fold);
        let held_back = (0..self.cases.len()).filter(|case| self.folds[*case] == fold);
        let judge = |case: usize| {
            let (scores, unlike) = model.scores(&self.cases[case].input);
            (case, unlike.is_none().then_some(scores))
        };
        held_back.map(judge).collect()
    }
}

/// Divides cases, so that those with the same subject stay together, or else those with the same features.
pub(crate) fn folds(kinds: &BTreeMap<String, Kind>, subject: Option<&str>, cases: &[Example]) -> Vec<usize> {
    let digest = |case: &Example| match subject.and_then(|subject| case.input.get(subject)) {
        Some(subject) => {
            let mut hasher = SipHasher13::new();
            subject.to_string().hash(&mut hasher);
            hasher.finish()
        }
        None => digest(kinds, &case.input),
    };
    cases.iter().map(|case| (digest(case) % FOLDS as u64) as usize).collect()
}

fn digest(kinds: &BTreeMap<String, Kind>, input: &Value) -> u64 {
    let mut hasher = SipHasher13::new();
    visit(input, &mut |path, leaf| {
        if matches!(kinds.get(path), None | Some(Kind::LeftOut(_))) {
            return;
        }
        path.hash(&mut hasher);
        match leaf {
            Leaf::Text(text) => Normal::of(text).words().for_each(|word| word.hash(&mut hasher)),
            Leaf::Number(number) => number.to_bits().hash(&mut hasher),
            Leaf::Flag(flag) => flag.hash(&mut hasher),
        }
    });
    hasher.finish()
}

/// Calls `work` with each number below `tasks`; returns the results in that order.
fn on_all_processors<T: Send>(tasks: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(tasks);
    let run = || {
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                return;
            }
            let result = work(task);
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((task, result));
        }
    };
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| {
            scope.spawn(run);
        });
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(task, _)| *task);
    done.into_iter().map(|(_, result)| result).collect()
}
