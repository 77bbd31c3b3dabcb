//! The attributes apply only to functions.

#![allow(unused)]

/// Ping.
#[llm_do::tool]
struct Ping;

/// Pong.
#[llm_do::entry(name = "pong")]
const PONG: u8 = 3;

/// Peng.
#[llm_do::worker]
enum Peng {
    Peng,
}

/// Speak.
#[llm_do::tool]
trait Speak {}

/// A module.
#[llm_do::tool]
mod tools {}

/// A number.
#[llm_do::entry]
static NUMBER: u8 = 3;

/// An alias.
#[llm_do::worker]
type Alias = u8;

fn main() {
    let _ = (Ping, PONG, Peng::Peng, NUMBER);
}
