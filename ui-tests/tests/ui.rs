//! Compiles every case under `ui`; `TRYBUILD=overwrite` updates the expected errors.
//!
//! The errors depend on the compiler; the expected ones are for the toolchain in `rust-toolchain.toml`.

#[test]
fn errors_match_the_expected_ones_and_valid_programs_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*/*.rs");
    cases.compile_fail("ui/fail/*/*.rs");
}
