//! Tests of what all providers have in common.

mod transcript;
