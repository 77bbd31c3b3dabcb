//! Brings messages to the runs that this process drives.

use super::Shared;
use super::active::RunSlot;
use crate::store::{MessageRow, StoreError};

impl Shared {
    /// Brings the messages after `last`, which clients sent through any process; `last` is then the number of the last one.
    pub(super) async fn bring_messages(&self, last: &mut Option<i64>) -> Result<(), StoreError> {
        let Some(last) = last else {
            // Runs get earlier messages when they are started.
            *last = Some(self.store.last_message().await?);
            return Ok(());
        };
        for MessageRow { number, run, message, .. } in self.store.messages_after(*last).await? {
            *last = number;
            // Refused by a run that ends: it shows that the message has not joined.
            let _ = self.active.send(&run, number, message);
        }
        Ok(())
    }

    /// Brings the messages that a started run has not taken in an earlier process.
    pub(super) async fn bring_earlier_messages(&self, run: &str, slot: &RunSlot) -> Result<(), StoreError> {
        let messages = self.store.messages_of(run).await?;
        if messages.is_empty() {
            return Ok(());
        }
        let joined = self.store.joined_messages(run).await?;
        for MessageRow { number, message, .. } in messages {
            if !message.id().is_some_and(|id| joined.contains(id)) {
                let _ = slot.send(number, message);
            }
        }
        Ok(())
    }
}
