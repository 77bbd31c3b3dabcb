//! Includes the case that denies all lints, so that clippy checks it: trybuild runs the compiler only.

#[path = "../ui/pass/lints/all.rs"]
#[expect(dead_code, reason = "the case is a program, and its `main` is not called here")]
pub mod all;
