//! A tree of calls as data: the input of each tool and worker in these tests, which do what it describes.

use std::collections::{BTreeMap, BTreeSet};

use llm_do::data;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A call and its behaviour.
#[data]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) id: u32,
    pub(crate) what: What,
    pub(crate) answer: Answer,
    pub(crate) end: End,
    /// The number of times that the call yields to the scheduler before it acts.
    pub(crate) yields: u8,
    /// The number of times that its caller makes the call.
    pub(crate) times: u8,
    /// Whether its calls are made concurrently.
    pub(crate) together: bool,
    /// Whether it continues after a failed call.
    pub(crate) catches: bool,
    /// Whether it returns the first caught failure at its end.
    pub(crate) returns_caught: bool,
    pub(crate) calls: Vec<Plan>,
}

/// The kind of what is called.
#[data]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    /// A tool with an effect.
    Leaf,
    /// A blocking tool with an effect.
    Blocking,
    /// A tool that only reads.
    Look,
    /// A tool that makes calls, and has an effect.
    Composite,
    /// A worker.
    Agent,
    /// A tool that creates a worker, and calls it.
    Hire,
    /// A tool with an effect, and unordered arguments.
    Unordered,
    /// A worker with unordered arguments.
    Sorter,
}

/// The decision of the approver.
#[data]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    Approve,
    Remember,
    /// Approves the call with another id.
    Edit,
    Deny,
    Panic,
}

/// How the call ends.
#[data]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Return,
    Fail,
    Panic,
}

/// The difference between the id of an edited call and the original id.
const EDITED: u32 = 1_000;

/// Returns the id of a call before edits.
pub(crate) fn unedited(id: u32) -> u32 {
    id % EDITED
}

impl What {
    /// Returns the name of the tool.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Leaf => "leaf",
            Self::Blocking => "blocking",
            Self::Look => "lookup",
            Self::Composite => "composite",
            Self::Agent => "agent",
            Self::Hire => "hire",
            Self::Unordered => "unordered",
            Self::Sorter => "sorter",
        }
    }
}

impl Plan {
    /// Creates the plan of a call that makes these calls and returns.
    pub(crate) fn new(what: What, calls: Vec<Plan>) -> Self {
        let (answer, end) = (Answer::Approve, End::Return);
        let (yields, times, together, catches, returns_caught) = (0, 1, false, false, false);
        Self { id: 0, what, answer, end, yields, times, together, catches, returns_caught, calls }
    }

    /// Returns the calls that it makes, in order.
    pub(crate) fn made(&self) -> impl Iterator<Item = &Plan> {
        self.calls.iter().flat_map(|plan| std::iter::repeat_n(plan, plan.times.into()))
    }

    /// Returns the arguments of the call.
    pub(crate) fn arguments(&self) -> Value {
        let words = || (0..6).map(|n| format!("{} {n}", self.id));
        let counts = || words().zip(0..6).map(|(word, n)| (word, json!(n))).collect::<Map<_, _>>();
        match self.what {
            What::Unordered | What::Sorter => {
                json!({ "plan": self, "words": words().collect::<Vec<_>>(), "counts": counts() })
            }
            _ => json!({ "plan": self }),
        }
    }

    /// Returns the call as edited by its approver, with new ids of all calls below it.
    pub(crate) fn edited(&self) -> Self {
        Self { id: self.id + EDITED, calls: self.calls.iter().map(Self::edited).collect(), ..self.clone() }
    }

    /// Returns the same calls, all with this decision of the approver.
    pub(crate) fn with_answer(self, answer: Answer) -> Self {
        let calls = self.calls.into_iter().map(|plan| plan.with_answer(answer)).collect();
        Self { answer, calls, ..self }
    }

    /// Returns the ids of the calls that the approver approves for the session, with and without an edit above them.
    pub(crate) fn ids_approved_for_session(&self) -> BTreeSet<u32> {
        let below = self.calls.iter().flat_map(Self::ids_approved_for_session);
        let own = (self.answer == Answer::Remember).then_some([self.id, self.id + EDITED]);
        below.chain(own.into_iter().flatten()).collect()
    }

    /// Returns whether the approver panics about a call.
    pub(crate) fn leaves_undecided(&self) -> bool {
        self.answer == Answer::Panic || self.calls.iter().any(Self::leaves_undecided)
    }

    /// Returns the maximum number of times that each call is made, by its id before edits.
    pub(crate) fn counts(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::from([(self.id, 1)]);
        for plan in self.made() {
            plan.counts().into_iter().for_each(|(id, times)| *counts.entry(id).or_default() += times);
        }
        counts
    }

    fn number(&mut self, next: &mut u32) {
        self.id = *next;
        *next += 1;
        self.calls.iter_mut().for_each(|plan| plan.number(next));
    }
}

/// Generates trees of calls up to 8 deep, each call with a unique id.
pub(crate) fn plans() -> impl Strategy<Value = Plan> {
    let calls = prop::collection::vec(call().prop_recursive(7, 24, 4, calling), 0..5);
    let what = prop_oneof![
        6 => Just(What::Composite),
        6 => Just(What::Agent),
        1 => Just(What::Leaf),
        1 => Just(What::Blocking),
        1 => Just(What::Unordered),
        1 => Just(What::Sorter),
        1 => Just(What::Hire),
    ];
    let root = (what, calls, node());
    root.prop_map(|(what, calls, node)| {
        let is_leaf = matches!(what, What::Leaf | What::Blocking | What::Unordered);
        let calls = if is_leaf { Vec::new() } else { calls };
        let mut plan = Plan { what, calls, times: 1, ..node };
        plan.number(&mut 0);
        plan
    })
}

fn calling(inner: impl Strategy<Value = Plan> + 'static) -> impl Strategy<Value = Plan> {
    let what = prop_oneof![
        4 => Just(What::Composite),
        4 => Just(What::Agent),
        1 => Just(What::Hire),
        1 => Just(What::Sorter),
    ];
    let calls = prop::collection::vec(inner, 1..4);
    (node(), what, calls).prop_map(|(node, what, calls)| Plan { what, calls, ..node })
}

fn call() -> impl Strategy<Value = Plan> {
    let what = prop_oneof![
        4 => Just(What::Leaf),
        1 => Just(What::Blocking),
        1 => Just(What::Unordered),
        2 => Just(What::Look),
        1 => Just(What::Composite),
        1 => Just(What::Agent),
    ];
    (node(), what).prop_map(|(node, what)| Plan { what, ..node })
}

fn node() -> impl Strategy<Value = Plan> {
    let answer = prop_oneof![
        12 => Just(Answer::Approve),
        3 => Just(Answer::Remember),
        2 => Just(Answer::Edit),
        2 => Just(Answer::Deny),
        1 => Just(Answer::Panic),
    ];
    let end = prop_oneof![8 => Just(End::Return), 1 => Just(End::Fail), 1 => Just(End::Panic)];
    let times = prop_oneof![5 => Just(1_u8), 1 => Just(2_u8)];
    let catches = (prop::bool::weighted(0.7), prop::bool::weighted(0.3));
    (answer, end, 0..4_u8, times, any::<bool>(), catches).prop_map(
        |(answer, end, yields, times, together, (catches, returns_caught))| Plan {
            answer,
            end,
            yields,
            times,
            together,
            catches,
            returns_caught,
            ..Plan::new(What::Leaf, Vec::new())
        },
    )
}
