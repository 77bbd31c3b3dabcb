//! Evidence in memory: it ends with the process.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;

use super::state::add;
use super::{EvidenceStore, HybridState, Note, Subject, Turned};
use crate::base::error::BoxError;
use crate::base::mutex::IgnorePoison;

#[derive(Debug, Default)]
pub(super) struct MemoryEvidence(Mutex<BTreeMap<String, HybridState>>);

#[async_trait]
impl EvidenceStore for MemoryEvidence {
    async fn load(&self, key: &str) -> Result<Option<HybridState>, BoxError> {
        Ok(self.0.lock().ignore_poison().get(key).cloned())
    }

    async fn note(&self, subject: &Subject, note: Note) -> Result<Option<Turned>, BoxError> {
        Ok(add(&mut self.0.lock().ignore_poison(), subject, note))
    }

    async fn all(&self) -> Result<Vec<HybridState>, BoxError> {
        Ok(self.0.lock().ignore_poison().values().cloned().collect())
    }
}
