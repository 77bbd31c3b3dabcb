//! Tests of what all providers have in common.

mod histories;
mod rules;
mod transcript;
