//! The beta by which a server drops thoughts whose preceding messages have changed.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking>, as of 2026-11.

use crate::capability::AnthropicCapabilities;
use crate::settings::Settings;

/// The header of betas.
pub(super) const HEADER: &str = "anthropic-beta";
/// The API refuses the field without it.
const BETA: &str = "thinking-binding-controls-2026-08-01";

/// Adds the beta for a model that needs it, but only at Anthropic's server: other servers refuse unknown betas.
pub(super) fn add_beta(betas: &mut Vec<String>, capabilities: &AnthropicCapabilities, is_home: bool) {
    if is_home && capabilities.bound_thoughts && !betas.iter().any(|beta| beta.contains(BETA)) {
        betas.push(BETA.to_owned());
    }
}

/// Whether a request has the beta; the header in its settings replaces the model's `betas`.
pub(super) fn has_beta(betas: &str, settings: &Settings) -> bool {
    let own = settings.extra_headers.iter().find(|(name, _)| *name == HEADER);
    own.map_or(betas, |(_, value)| value).contains(BETA)
}

#[cfg(test)]
mod tests {
    use super::{BETA, add_beta};
    use crate::capability::CapabilityTable;

    fn betas(model: &str, own: &[&str], is_home: bool) -> String {
        let mut betas = own.iter().map(|beta| (*beta).to_owned()).collect();
        add_beta(&mut betas, &CapabilityTable::builtin().anthropic(model), is_home);
        betas.join(",")
    }

    #[test]
    fn at_home_models_that_bind_their_thoughts_get_the_beta() {
        assert_eq!(betas("claude-fable-5-1", &[], true), BETA);
        assert_eq!(betas("claude-haiku-5-5", &["mine"], true), format!("mine,{BETA}"));
        assert_eq!(betas("claude-opus-5-5", &[BETA], true), BETA);
        assert_eq!(betas("claude-opus-5", &["mine"], true), "mine");
        assert_eq!(betas("claude-opus-5-5", &[], false), "");
    }
}
