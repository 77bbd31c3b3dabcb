//! Checks the limits and timeouts that a session sets by name.

use std::time::Duration;

use crate::observe::event::ItemKind;
use crate::plane::config::SessionConfig;
use crate::plane::registry::Registry;

/// The similarity above which an unknown name is treated as a typo of a registered one; 1 means equal. It is higher
/// than for suggestions, since a similar name is refused.
const TYPO_SIMILARITY: f64 = 0.75;

/// Returns the errors of names whose limits or timeouts would have no effect.
///
/// A name that resembles no registered one is allowed: it may be the name of a worker that is created at run time.
pub(super) fn errors(config: &SessionConfig, registry: &Registry) -> Vec<String> {
    let limited = config.worker_limits.keys().filter_map(|name| limits_error(name, registry));
    let timed = config.timeouts.iter().filter_map(|(name, timeout)| timeout_error(name, *timeout, registry));
    let mut errors: Vec<_> = limited.chain(timed).collect();
    errors.sort();
    errors
}

fn limits_error(name: &str, registry: &Registry) -> Option<String> {
    match registry.get(name) {
        Some(item) if item.kind() == ItemKind::Worker => None,
        Some(item) => {
            let kind = item.kind().as_str();
            Some(format!(
                "`worker_limits`: `{name}` is of kind `{kind}`, not `worker`; set the limits of the run instead"
            ))
        }
        None => typo_error("worker_limits", name, registry, |kind| kind == ItemKind::Worker),
    }
}

fn timeout_error(name: &str, timeout: Duration, registry: &Registry) -> Option<String> {
    if timeout.is_zero() {
        return Some(format!("`timeout`: the timeout of `{name}` is 0; it must be longer than 0"));
    }
    if registry.get(name).is_some() { None } else { typo_error("timeout", name, registry, |_| true) }
}

/// Returns an error if an unregistered name resembles a registered one.
fn typo_error(method: &str, name: &str, registry: &Registry, fits: impl Fn(ItemKind) -> bool) -> Option<String> {
    let known = registry.iter().filter(|item| fits(item.kind())).map(|item| item.name());
    let similar = known.map(|known| (strsim::normalized_damerau_levenshtein(name, known), known));
    let (_, known) =
        similar.filter(|(similar, _)| *similar > TYPO_SIMILARITY).max_by(|left, right| left.0.total_cmp(&right.0))?;
    Some(format!("`{method}`: unknown name `{name}`; did you mean `{known}`?"))
}
