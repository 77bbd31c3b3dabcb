//! A `#[data]` type owns its data.

#![allow(unused)]

use std::borrow::Cow;

use llm_do::data;

#[data]
struct Note<'a> {
    text: &'a str,
    marks: Vec<&'a [u8]>,
    title: Cow<'a, str>,
    kind: &'static str,
}

#[data]
enum Either<'a> {
    Text(&'a str),
    Nothing,
}

fn main() {}
