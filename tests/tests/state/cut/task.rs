//! What a run does, as data: the input of each tool and worker.

use llm_do::data;
use proptest::prelude::*;

/// A call, and those inside it.
#[data]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Task {
    pub(crate) id: u32,
    pub(crate) what: What,
    /// Whether its calls are made concurrently.
    pub(crate) together: bool,
    pub(crate) inside: Vec<Task>,
}

/// The kind of a call.
#[data]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    /// It only reads.
    Read,
    /// It may be repeated.
    Set,
    /// Its effect is not declared.
    Send,
    /// It is destructive.
    Pay,
    /// It is destructive, on a blocking thread.
    Block,
    /// It is destructive, and an unknown outcome is reported.
    Mail,
    /// It is destructive, and a tool finds out what became of it.
    Wire,
    /// It makes a `destructive_effect`.
    Own,
    /// It makes calls.
    Group,
    /// Its model makes calls.
    Agent,
}

impl What {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "cut_read",
            Self::Set => "cut_set",
            Self::Send => "cut_send",
            Self::Pay => "cut_pay",
            Self::Block => "cut_block",
            Self::Mail => "cut_mail",
            Self::Wire => "cut_wire",
            Self::Own => "cut_own",
            Self::Group => "cut_group",
            Self::Agent => "cut_agent",
        }
    }

    /// Returns whether it has an effect that must not be made twice.
    pub(crate) fn is_made_once(self) -> bool {
        !matches!(self, Self::Read | Self::Set | Self::Group | Self::Agent)
    }
}

impl Task {
    fn new(what: What, together: bool, inside: Vec<Self>) -> Self {
        Self { id: 0, what, together, inside }
    }

    /// Returns the task, and all inside it.
    pub(crate) fn all(&self) -> Vec<&Self> {
        std::iter::once(self).chain(self.inside.iter().flat_map(Self::all)).collect()
    }

    fn number(&mut self, next: &mut u32) {
        self.id = *next;
        *next += 1;
        self.inside.iter_mut().for_each(|task| task.number(next));
    }
}

/// Generates one to three trees of tasks of about this size, each task with an id of its own.
pub(crate) fn tasks(size: u32) -> impl Strategy<Value = Vec<Task>> {
    let leaf = prop_oneof![
        1 => Just(What::Read),
        1 => Just(What::Set),
        2 => Just(What::Send),
        4 => Just(What::Pay),
        1 => Just(What::Block),
        2 => Just(What::Mail),
        2 => Just(What::Wire),
        2 => Just(What::Own),
    ];
    let leaf = leaf.prop_map(|what| Task::new(what, false, Vec::new()));
    let task = leaf.prop_recursive(2, size, 2, |inner| {
        let what = prop_oneof![Just(What::Group), Just(What::Agent)];
        (what, any::<bool>(), prop::collection::vec(inner, 1..3))
            .prop_map(|(what, together, inside)| Task::new(what, together, inside))
    });
    prop::collection::vec(task, 1..4).prop_map(|mut tasks| {
        let mut next = 1;
        for task in &mut tasks {
            task.number(&mut next);
        }
        tasks
    })
}
