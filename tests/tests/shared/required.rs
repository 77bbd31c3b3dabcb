//! What a test needs of the machine: without it, the test is skipped with a message, or fails if `LLM_DO_REQUIRE` names it.

/// Reports that `name` (`bwrap`, `landlock`, `browser`, `python`, `restate`, `shm`) is missing; fails if the variable, a list with commas, names it.
#[allow(clippy::print_stderr, reason = "the reason for a skipped test")]
pub(crate) fn missing(name: &str, message: &str) {
    let required = std::env::var("LLM_DO_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|it| it.trim() == name), "`LLM_DO_REQUIRE` names `{name}`, but {message}");
    eprintln!("skipped: {message}");
}
