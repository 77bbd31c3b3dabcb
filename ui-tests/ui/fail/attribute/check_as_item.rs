//! `check!` stands in a test, not beside one.

#![allow(unused)]

llm_do::check!();

mod tests {
    llm_do::check!(llm_do::Runtime::builder());
}

fn main() {}
