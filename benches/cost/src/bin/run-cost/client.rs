//! One client: warms up, makes its runs so many at a time, and tells what CPU time each took.

use std::sync::Arc;

use clap::ValueEnum;
use cost::compare;
use cost::figures::Figures;
use cost::http::Answering;
use cost::load::{self, Load};

use crate::ours::{self, Place};
use crate::{answers, by_hand};

/// Whose runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// By hand.
    ByHand,
    /// By hand, with answers streamed.
    ByHandStreamed,
    /// By hand, the tool off the async threads.
    ByHandOffThread,
    /// llm-do, its tool inline.
    Ours,
    /// llm-do, its tool inline and answers streamed.
    OursStreamed,
    /// llm-do, its tool async.
    OursAsync,
    /// llm-do, its tool off the async threads.
    OursOffThread,
}

impl compare::Way for Way {
    const MOST: f64 = 2.0;
    const ANSWERING: Answering = answers::answer;

    fn all() -> Vec<Self> {
        Self::value_variants().to_vec()
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn measure(self, base_url: &str, load: &Load) -> Figures {
        load::measure(load, 6400, || {
            let session = Session::new(self, base_url);
            move || {
                let session = session.clone();
                async move { session.run().await }
            }
        })
    }

    fn opponent(self) -> Self {
        match self {
            Self::ByHandStreamed | Self::OursStreamed => Self::ByHandStreamed,
            Self::ByHandOffThread | Self::OursOffThread => Self::ByHandOffThread,
            Self::ByHand | Self::Ours | Self::OursAsync => Self::ByHand,
        }
    }

    fn plainest(self) -> Option<Self> {
        Some(Self::ByHand)
    }
}

/// One side of the comparison, ready to run.
#[derive(Clone, Debug)]
pub(crate) enum Session {
    ByHand(Arc<by_hand::Session>),
    Ours(llm_do::prelude::Runtime, Place),
}

impl Session {
    /// Returns a session that asks the server at `base_url`.
    pub(crate) fn new(way: Way, base_url: &str) -> Self {
        let streaming = compare::Way::opponent(way) == Way::ByHandStreamed;
        let place = match way {
            Way::ByHand | Way::ByHandStreamed | Way::ByHandOffThread => {
                let off_thread = way == Way::ByHandOffThread;
                return Self::ByHand(by_hand::Session::new(base_url, streaming, off_thread));
            }
            Way::Ours | Way::OursStreamed => Place::Inline,
            Way::OursAsync => Place::Async,
            Way::OursOffThread => Place::OffThread,
        };
        Self::Ours(ours::session(base_url, streaming), place)
    }

    /// Makes one run.
    pub(crate) async fn run(&self) {
        let answer = match self {
            Self::ByHand(session) => session.run().await,
            Self::Ours(session, place) => ours::run(session, *place).await,
        };
        assert_eq!(answer, "The sum of all of them is 42.");
    }
}
