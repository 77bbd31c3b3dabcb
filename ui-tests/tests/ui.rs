//! Compiles every case under `ui/fail`; `TRYBUILD=overwrite` updates the expected errors.
//!
//! The errors depend on the compiler; the expected ones are for the toolchain in `rust-toolchain.toml`.

#[test]
fn errors_match_the_expected_ones() {
    trybuild::TestCases::new().compile_fail("ui/fail/*/*.rs");
}
