//! Models for tests: no network, no weights, the same answer every time.

mod function;
mod sample;
mod test;

pub use self::function::FunctionModel;
pub use self::test::TestModel;
