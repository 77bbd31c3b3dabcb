//! Tools in Rust for a worker in a file: `main.worker`, in the current folder.

mod demo;

use llm_do::prelude::*;

/// Add two numbers.
#[tool(effect = read_only)]
fn add(a: f64, b: f64) -> f64 {
    a + b
}

/// Multiply two numbers.
#[tool(effect = read_only)]
fn multiply(a: f64, b: f64) -> f64 {
    a * b
}

/// Divide a number by another.
#[tool(effect = read_only)]
fn divide(dividend: f64, divisor: f64) -> Result<f64> {
    if divisor == 0.0 { Err("division by zero".into()) } else { Ok(dividend / divisor) }
}

/// Multiply all whole numbers from 1 to `n`.
#[tool(effect = read_only)]
fn factorial(n: u64) -> Result<u64> {
    let product = (1..=n).try_fold(1_u64, u64::checked_mul);
    product.ok_or_else(|| format!("the factorial of {n} has more than 64 bits: use at most 20").into())
}

fn main() -> ExitCode {
    llm_do::cli::Cli::new().run_projects().main()
}
