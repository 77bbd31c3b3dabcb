//! An error type implements `Error` or `Display`.

#![deny(warnings)]

use std::convert::Infallible;
use std::error::Error;
use std::fmt;

use llm_do::{CallError, entry, prelude, tool};

/// Implements `Display` but not `Error`.
struct Spoken(std::rc::Rc<str>);

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// As in anyhow: no error itself, and made into one.
#[derive(Debug)]
struct Any(Box<dyn Error + Send + Sync>);

impl From<Any> for Box<dyn Error + Send + Sync> {
    fn from(any: Any) -> Self {
        any.0
    }
}

/// A.
#[tool]
fn spoken() -> Result<u8, Spoken> {
    Err(Spoken("no".into()))
}

/// B.
#[tool]
async fn spoken_later() -> Result<u8, Spoken> {
    Ok(3)
}

/// C.
#[tool]
fn any() -> Result<u8, Any> {
    Err(Any("no".into()))
}

/// D.
#[tool]
fn boxed() -> Result<u8, Box<dyn Error + Send + Sync>> {
    Err("no")?
}

/// E.
#[tool]
fn boxed_here() -> Result<u8, Box<dyn Error>> {
    Err("no")?
}

/// F.
#[tool]
fn text() -> Result<u8, String> {
    Err("no".to_owned())
}

/// G.
#[tool]
fn literal() -> Result<u8, &'static str> {
    Err("no")
}

/// H.
#[tool]
fn never() -> Result<u8, Infallible> {
    Ok(3)
}

/// I.
#[tool]
fn formatted() -> fmt::Result {
    Ok(())
}

/// J.
#[tool]
fn called() -> Result<(), CallError> {
    Ok(())
}

#[entry]
async fn start() -> prelude::Result<()> {
    Err("no")?
}

fn main() {}
