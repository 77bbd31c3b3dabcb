//! Checks the items that a model may call in the background.

use llm_do_worker_file::{BACKGROUND_PARAMETER, SAME_PARAMETER};

use super::Registered;

/// Returns the fault of an item that has a parameter `background` of its own: models get one of that name.
pub(super) fn fault(item: &Registered) -> Option<String> {
    let is_same = item.background && item.parameters()["properties"].get(BACKGROUND_PARAMETER).is_some();
    is_same.then(|| format!("`{}` ({}): {SAME_PARAMETER}", item.name(), item.location()))
}
