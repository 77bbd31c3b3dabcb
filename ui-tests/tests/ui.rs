//! Compiles every case under `ui`; `TRYBUILD=overwrite` rewrites what the faults say.
//!
//! What they say depends on the compiler, so these belong to the one in `rust-toolchain.toml`.

#[test]
fn faults_are_told_in_our_words_and_everything_else_compiles() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*/*.rs");
    cases.compile_fail("ui/fail/*/*.rs");
}
