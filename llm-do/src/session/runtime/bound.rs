//! Limits and timeouts that the session gives by name: whether there is anything that they could bound.

use std::collections::HashMap;
use std::time::Duration;

use crate::base::usage::Limits;
use crate::observe::event::ItemKind;
use crate::plane::registry::Registry;

/// How much alike two names are of which one is taken for a slip of the other, up to 1 for equal ones.
const ALIKE: f64 = 0.75;

/// Says which names bound nothing: a limit that does not hold is worse than none.
///
/// A name that is like no registered one may be that of a worker that is yet to be made.
pub(super) fn faults(
    limits: &HashMap<String, Limits>,
    timeouts: &HashMap<String, Duration>,
    registry: &Registry,
) -> Vec<String> {
    let limited = limits.keys().filter_map(|name| of_limits(name, registry));
    let timed = timeouts.iter().filter_map(|(name, timeout)| of_timeout(name, *timeout, registry));
    let mut faults: Vec<_> = limited.chain(timed).collect();
    faults.sort();
    faults
}

fn of_limits(name: &str, registry: &Registry) -> Option<String> {
    match registry.get(name) {
        Some(item) if item.kind() == ItemKind::Worker => None,
        Some(item) => {
            let kind = item.kind().as_str();
            Some(format!("`worker_limits` of `{name}`, which is no worker, but of kind `{kind}`; limit the run"))
        }
        None => slip("worker_limits", name, registry, |kind| kind == ItemKind::Worker),
    }
}

fn of_timeout(name: &str, timeout: Duration, registry: &Registry) -> Option<String> {
    if timeout.is_zero() {
        return Some(format!("`timeout` of `{name}`, which is 0: no call could end in time"));
    }
    if registry.get(name).is_some() { None } else { slip("timeout", name, registry, |_| true) }
}

/// Returns the fault of a name that is not registered, but much like one that is.
fn slip(what: &str, name: &str, registry: &Registry, fits: impl Fn(ItemKind) -> bool) -> Option<String> {
    let known = registry.iter().filter(|item| fits(item.kind())).map(|item| item.name());
    let alike = known.map(|known| (strsim::normalized_damerau_levenshtein(name, known), known));
    let (_, known) = alike.filter(|(alike, _)| *alike > ALIKE).max_by(|left, right| left.0.total_cmp(&right.0))?;
    Some(format!("`{what}` of `{name}`, which is not registered; did you mean `{known}`?"))
}
