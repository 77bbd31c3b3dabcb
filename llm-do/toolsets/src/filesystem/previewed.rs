//! The target of an approved change, and the content on which its preview is based.
//!
//! Between the approval and the call, a file may change, and a link of its path may be replaced. The call would then do
//! something different from what was approved.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Mutex;

use llm_do_core::base::mutex::IgnorePoison;

use super::fault::{Fault, shown};
use super::locate::{Place, Target};
use super::open;

/// The basis of each preview, by the digest of its call.
#[derive(Debug, Default)]
pub(super) struct Previewed {
    calls: Mutex<HashMap<u64, Seen>>,
    hasher: RandomState,
}

/// The basis of a preview.
#[derive(Debug)]
struct Seen {
    /// The targets of the change. The paths apply to each equal call that shares the approval.
    targets: Vec<Target>,
    /// A digest of the content, until the first call, which changes the content and the folders.
    content: Option<u64>,
}

impl Previewed {
    /// Stores the basis of a preview of `call`: the targets of its change, and the file that it would change, if any.
    pub(super) fn remember(&self, call: &impl Hash, targets: &[&Target], place: Option<&Place>, max: u64) {
        let targets = targets.iter().copied().cloned().collect();
        let seen = Seen { targets, content: Some(self.content(place, max)) };
        self.calls.lock().ignore_poison().insert(self.hasher.hash_one(call), seen);
    }

    /// Fails if the targets or the file have changed since the preview of `call`, if any.
    pub(super) fn check(
        &self,
        call: &impl Hash,
        targets: &[&Target],
        place: Option<&Place>,
        max: u64,
    ) -> Result<(), Fault> {
        let call = self.hasher.hash_one(call);
        let seen =
            self.calls.lock().ignore_poison().get_mut(&call).map(|seen| (seen.targets.clone(), seen.content.take()));
        let Some((seen, content)) = seen else { return Ok(()) };
        let mut pairs = seen.iter().zip(targets);
        if let Some((seen, _)) = pairs.clone().find(|(seen, found)| seen.path != found.path) {
            return Err(Fault::Elsewhere(shown(&seen.path)));
        }
        let Some(content) = content else { return Ok(()) };
        let is_same = pairs.all(|(seen, found)| seen.is_still(found)) && content == self.content(place, max);
        if is_same {
            Ok(())
        } else {
            Err(Fault::Changed(targets.last().map(|target| shown(&target.path)).unwrap_or_default()))
        }
    }

    /// Returns a digest of the file, or of the error of reading it.
    fn content(&self, place: Option<&Place>, max: u64) -> u64 {
        let missing = || self.hasher.hash_one("missing");
        match place.map(|place| open::read(place, max, "")) {
            None | Some(Err(Fault::NotFound(_))) => missing(),
            Some(Ok(content)) => self.hasher.hash_one(content.bytes),
            Some(Err(fault)) => self.hasher.hash_one(fault.to_string()),
        }
    }
}

/// Returns a preview after the real path, if `given` contains symbolic links or `..`.
pub(super) fn with_real_path(given: &str, target: &Target, preview: &str) -> String {
    let (given, real) = (shown(given.trim_start_matches("./").as_ref()), shown(&target.path));
    if given == real || given.ends_with(&format!("/{real}")) && given.starts_with('/') {
        return preview.to_owned();
    }
    format!("`{given}` leads to `{real}`\n{preview}")
}
