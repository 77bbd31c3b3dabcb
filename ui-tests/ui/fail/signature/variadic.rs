//! A function cannot be variadic.

#![allow(unused)]

unsafe extern "C" {
    /// Ping.
    #[llm_do::tool]
    fn ping(format: u8, ...) -> i32;
}


fn main() {}
