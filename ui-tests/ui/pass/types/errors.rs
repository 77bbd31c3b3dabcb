//! An error type implements `Error` or `Display`; with serde, it keeps its type in a journal.

#![deny(warnings)]

use std::convert::Infallible;
use std::error::Error;
use std::fmt;

use llm_do::{CallError, data, entry, prelude, tool, worker};
use serde::Serialize;

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

/// An error that serde writes and reads.
#[data]
enum Refused<T> {
    Limit(T),
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused")
    }
}

impl<T: fmt::Debug> Error for Refused<T> {}

/// As the error of some libraries: it borrows for `'static`.
#[derive(Debug, Serialize, serde::Deserialize)]
struct Named {
    name: &'static str,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Error for Named {}

type Checked<T> = Result<T, Refused<u8>>;

/// K.
#[tool]
fn kept() -> Checked<u8> {
    Err(Refused::Limit(3))
}

/// L.
#[tool(error = Refused<u8>)]
async fn kept_by_key() -> prelude::Result<u8> {
    Err(Refused::Limit(3_u8).into())
}

/// M.
#[tool(error = self::Refused<String>)]
fn opaque() -> Result<impl Serialize, Refused<String>> {
    Err::<u8, _>(Refused::Limit("no".to_owned()))
}

/// N.
#[tool]
fn borrowed() -> Result<(), Named> {
    Err(Named { name: "no" })
}

/// O.
#[worker]
async fn rendered(input: String) -> Checked<String> {
    if input.is_empty() {
        return Err(Refused::Limit(3_u8).into());
    }
    input
}

#[entry(error = Refused<u8>)]
async fn start() -> prelude::Result<()> {
    Err("no")?
}

fn main() {}
