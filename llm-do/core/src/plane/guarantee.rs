//! Guarantees of hybrids: what comparisons have shown, where that is kept, and whether code may answer.

mod file;
mod memory;
#[cfg(feature = "serve")]
mod sqlite;
mod state;

use std::fmt::Debug;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use jiff::Timestamp;
use llm_do_bounds::Guarantee;

pub(crate) use self::file::FileEvidence;
use self::memory::MemoryEvidence;
#[cfg(feature = "serve")]
pub(crate) use self::sqlite::SqliteEvidence;
#[cfg(feature = "serve")]
pub(crate) use self::sqlite::read_file;
pub use self::state::HybridStatus;
pub(crate) use self::state::{HybridState, Note, NoteKind, Turned};
use crate::base::error::BoxError;

/// What evidence is about: a worker on a model, and the tool that answers first.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// A digest of all three, so that evidence starts again when a part changes.
    pub(crate) key: String,
    pub(crate) worker: String,
    pub(crate) tool: String,
    pub(crate) model: String,
    pub(crate) guarantee: Guarantee,
    pub(crate) now: Timestamp,
}

/// Keeps evidence; processes that share it see each other's comparisons.
#[async_trait]
pub(crate) trait EvidenceStore: Debug + Send + Sync {
    /// Returns what is known; `None` before the first note.
    async fn load(&self, key: &str) -> Result<Option<HybridState>, BoxError>;

    /// Adds a note to what is known, unless it was added before; returns what that changed.
    async fn note(&self, subject: &Subject, note: Note) -> Result<Option<Turned>, BoxError>;

    /// Returns everything that is known.
    async fn all(&self) -> Result<Vec<HybridState>, BoxError>;
}

/// Where the evidence of a session is kept: a place of the program, or else that of its service, or else in memory.
#[derive(Debug, Default)]
pub(crate) struct EvidencePlace {
    given: OnceLock<Arc<dyn EvidenceStore>>,
    memory: Arc<MemoryEvidence>,
}

impl EvidencePlace {
    pub(crate) fn new(given: Option<Arc<dyn EvidenceStore>>) -> Self {
        Self { given: given.map(OnceLock::from).unwrap_or_default(), memory: Arc::default() }
    }

    /// Sets the store, unless the program has set one.
    #[cfg(feature = "serve")]
    pub fn set_default(&self, store: Arc<dyn EvidenceStore>) {
        drop(self.given.set(store));
    }

    pub(crate) fn store(&self) -> Arc<dyn EvidenceStore> {
        match self.given.get() {
            Some(store) => Arc::clone(store),
            None => Arc::clone(&self.memory) as Arc<dyn EvidenceStore>,
        }
    }
}

impl HybridState {
    /// Draws whether code answers the next call; otherwise the worker does, and is compared with code.
    pub(crate) fn draws_code(&self) -> bool {
        self.evidence.holds() && random_share() >= self.evidence.rate(&self.guarantee)
    }
}

/// Returns a random number from 0 to 1. The keys of the hash are random.
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
fn random_share() -> f64 {
    let bits = RandomState::new().hash_one(0_u8) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}
