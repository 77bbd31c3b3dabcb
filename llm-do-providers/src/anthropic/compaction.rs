//! The summary of a long conversation that the server itself makes.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/compaction-threshold> (read 2026-11-29): the answer begins with a block of
//! the type `compaction`, which goes back with it, and the API then ignores all before the block. A block without content is a
//! summary that failed.

use super::binding::HEADER;
use super::wire::{ContextManagement, Edit, Trigger};
use crate::settings::{Settings, Warnings};

/// The API refuses the field without it.
const BETA: &str = "compact-2026-01-12";
/// The lowest trigger that the API accepts, in input tokens.
const LEAST: u32 = 50_000;

/// Returns the trigger to send; `accepts` is whether the model can summarize.
pub(super) fn trigger(settings: &Settings, accepts: bool, warnings: &mut Warnings) -> Option<u32> {
    let reason = "the API summarizes for Claude from 4.6 on";
    let set = warnings.accept("compact_at", settings.compact_at, accepts, reason)?;
    if set < LEAST {
        warnings.changed("compact_at", format!("{set} sent as {LEAST}, the least that the API accepts"));
    }
    Some(set.max(LEAST))
}

/// Returns the field of a request.
pub(super) fn field(value: u32) -> ContextManagement {
    ContextManagement { edits: [Edit::Compact { trigger: Trigger::InputTokens { value } }] }
}

/// Returns the settings with the beta, beside those of the model or of the settings themselves.
pub(super) fn with_beta(settings: &Settings, betas: &str) -> Settings {
    let own = settings.extra_headers.iter().find(|(name, _)| *name == HEADER);
    let betas = own.map_or(betas, |(_, value)| value);
    let all = match betas {
        "" => BETA.to_owned(),
        betas if betas.contains(BETA) => betas.to_owned(),
        betas => format!("{betas},{BETA}"),
    };
    settings.clone().extra_header(HEADER, all)
}
