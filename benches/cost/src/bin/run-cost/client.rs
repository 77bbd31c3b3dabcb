//! The variants: hand-written code and llm-do, with and without streaming.

use std::sync::Arc;

use clap::ValueEnum;
use cost::compare;
use cost::figures::Figures;
use cost::http::Responder;
use cost::load::{self, Load};

#[cfg(feature = "serve")]
use crate::journaled::Service;
use crate::ours::{self, Events, ToolMode};
use crate::{answers, by_hand};

/// A variant of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Variant {
    /// Hand-written.
    ByHand,
    /// Hand-written, with streamed answers.
    ByHandStreamed,
    /// Hand-written, with the tool off the async threads.
    ByHandOffThread,
    /// llm-do, with an inline tool.
    Ours,
    /// llm-do, with an inline tool and streamed answers.
    OursStreamed,
    /// llm-do, with an async tool.
    OursAsync,
    /// llm-do, with the tool off the async threads.
    OursOffThread,
    /// llm-do, with events written as JSON Lines.
    OursJsonLines,
    /// llm-do, with events and the content of requests written as JSON Lines.
    OursContent,
    /// llm-do, with its steps in a file of many runs, as a service has them.
    #[cfg(feature = "serve")]
    OursJournal,
    /// The same, with events written as JSON Lines.
    #[cfg(feature = "serve")]
    OursJournalJsonLines,
    /// The same, with events and the content of requests written as JSON Lines.
    #[cfg(feature = "serve")]
    OursJournalContent,
}

impl compare::Variant for Variant {
    const MAX_RATIO: f64 = 2.0;
    const RESPONDER: Responder = answers::answer;

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

    fn baseline(self) -> Self {
        match self {
            Self::ByHandStreamed | Self::OursStreamed => Self::ByHandStreamed,
            Self::ByHandOffThread | Self::OursOffThread => Self::ByHandOffThread,
            Self::ByHand | Self::Ours | Self::OursAsync => Self::ByHand,
            Self::OursJsonLines | Self::OursContent => Self::Ours,
            #[cfg(feature = "serve")]
            Self::OursJournal | Self::OursJournalJsonLines | Self::OursJournalContent => Self::OursJournal,
        }
    }

    fn simplest_baseline(self) -> Option<Self> {
        Some(Self::ByHand)
    }
}

/// A prepared variant.
#[derive(Clone, Debug)]
pub(crate) enum Session {
    ByHand(Arc<by_hand::Session>),
    Ours(llm_do::prelude::Runtime, ToolMode),
    #[cfg(feature = "serve")]
    Journaled(Service),
}

impl Session {
    /// Returns a session with the server at `base_url`.
    pub(crate) fn new(variant: Variant, base_url: &str) -> Self {
        let streaming = compare::Variant::baseline(variant) == Variant::ByHandStreamed;
        let mode = match variant {
            Variant::ByHand | Variant::ByHandStreamed | Variant::ByHandOffThread => {
                let off_thread = variant == Variant::ByHandOffThread;
                return Self::ByHand(by_hand::Session::new(base_url, streaming, off_thread));
            }
            Variant::OursAsync => ToolMode::Async,
            Variant::OursOffThread => ToolMode::OffThread,
            _ => ToolMode::Inline,
        };
        let events = match variant {
            Variant::OursJsonLines => Some(Events { content: false }),
            Variant::OursContent => Some(Events { content: true }),
            #[cfg(feature = "serve")]
            Variant::OursJournalJsonLines => Some(Events { content: false }),
            #[cfg(feature = "serve")]
            Variant::OursJournalContent => Some(Events { content: true }),
            _ => None,
        };
        let session = ours::session(base_url, streaming, events);
        #[cfg(feature = "serve")]
        if compare::Variant::baseline(variant) == Variant::OursJournal {
            return Self::Journaled(Service::new(session));
        }
        Self::Ours(session, mode)
    }

    /// Makes one run.
    pub(crate) async fn run(&self) {
        let answer = match self {
            Self::ByHand(session) => session.run().await,
            Self::Ours(session, mode) => ours::run(session, *mode).await,
            #[cfg(feature = "serve")]
            Self::Journaled(service) => service.run().await,
        };
        assert_eq!(answer, "The sum of all of them is 42.");
    }
}
