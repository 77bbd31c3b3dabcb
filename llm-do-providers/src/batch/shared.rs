//! The batchers of this process: models of one account collect their requests together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use tokio::runtime::{Handle, Id};

use super::{BatchApi, BatchPace, Batcher, lock};

/// What requests of one batch have in common. A batcher works in the async runtime of its tasks.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    runtime: Option<Id>,
    account: Vec<u8>,
    pace: BatchPace,
}

/// The batchers in use.
static BATCHERS: Mutex<Option<HashMap<Key, Weak<Batcher>>>> = Mutex::new(None);

/// Returns the batcher of an account, whose requests may be in one batch; creates it if it is not in use.
pub(crate) fn shared<A: BatchApi>(account: Vec<u8>, pace: BatchPace, api: impl FnOnce() -> A) -> Arc<Batcher> {
    let runtime = Handle::try_current().ok().map(|runtime| runtime.id());
    let mut batchers = lock(&BATCHERS);
    let batchers = batchers.get_or_insert_default();
    let key = Key { runtime, account, pace };
    if let Some(batcher) = batchers.get(&key).and_then(Weak::upgrade) {
        return batcher;
    }
    batchers.retain(|_, batcher| batcher.strong_count() > 0);
    let batcher = Arc::new(Batcher::new(Box::new(api()), pace));
    batchers.insert(key, Arc::downgrade(&batcher));
    batcher
}
