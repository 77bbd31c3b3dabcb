//! The registered names of subagents, whose names in files may have any characters.

use std::path::Path;

use llm_do_worker_file::check_worker_name;

use crate::digest::Digest;

/// The maximum length of a name that models accept, in bytes.
const MAX_NAME: usize = 64;
/// The length of the digest in a name that lost characters.
const DIGEST: usize = 8;

/// Returns the name of a subagent, or a derived name that models accept.
///
/// If letters or digits are lost, the name ends with a digest of the whole name, so that different names stay
/// different.
pub(super) fn registered(name: &str, path: &Path) -> String {
    let name = name.trim();
    if check_worker_name(name).is_ok() {
        return name.to_owned();
    }
    let words: Vec<_> = name.split(|letter| !is_allowed(letter)).filter(|word| !word.is_empty()).collect();
    let short = words.join("-");
    let is_whole = name.chars().all(|letter| is_allowed(letter) || !letter.is_alphanumeric());
    if is_whole && check_worker_name(&short).is_ok() {
        return short;
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| check_worker_name(stem).is_ok());
    let readable = if short.is_empty() { stem.unwrap_or("subagent") } else { &short };
    // All permitted characters have one byte.
    let readable = &readable[..readable.len().min(MAX_NAME - DIGEST - 1)];
    format!("{readable}-{}", Digest::new(name.as_bytes()).beginning(DIGEST))
}

fn is_allowed(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(given: &str) -> String {
        registered(given, Path::new("agents/checker.md"))
    }

    #[test]
    fn a_name_is_kept_as_far_as_models_accept_it() {
        assert_eq!(name("code-reviewer"), "code-reviewer");
        assert_eq!(name(" Code Reviewer! "), "Code-Reviewer");
        assert_eq!(name("dotnet-4.8-expert"), "dotnet-4-8-expert");
    }

    #[test]
    fn names_that_lose_letters_differ_and_are_valid() {
        let given = ["审查员", "测试员", "Prüfer", "Präfer", "final_result", "!", &"x".repeat(65), &"x".repeat(66)];
        let names: Vec<_> = given.into_iter().map(name).collect();
        assert!(names.iter().all(|name| check_worker_name(name).is_ok()), "{names:?}");
        assert_eq!(names.iter().collect::<std::collections::HashSet<_>>().len(), names.len(), "{names:?}");
        assert!(names[0].starts_with("checker-") && names[2].starts_with("Pr-fer-"), "{names:?}");
    }
}
