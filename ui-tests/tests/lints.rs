//! Has clippy read the case that denies its lints: under trybuild, the compiler alone reads it.

#[path = "../ui/pass/lints/all.rs"]
#[expect(dead_code, reason = "a case is a program of its own, and its `main` is nobody's here")]
pub mod all;
