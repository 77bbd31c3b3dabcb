//! `#[data]` applies only to structs and enums.

#![allow(unused)]

use llm_do::data;

#[data]
fn ping() {}

#[data]
union Number {
    whole: u32,
    real: f32,
}

#[data]
trait Speak {}

#[data]
type Alias = u8;

fn main() {
    ping();
}
