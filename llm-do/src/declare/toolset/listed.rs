//! What the compiler says of a function in a list of tools.

/// Stands for the type of a name that has none.
#[doc(hidden)]
#[derive(Debug)]
#[expect(dead_code, reason = "the field makes the type unsized, unlike every type that can be listed")]
pub struct NoType(str);

/// Stands for the value of a name that has none.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct NoValue;

/// A name that a list of tools may hold: one that has a type, or has no value `V` either, which is another fault.
#[diagnostic::on_unimplemented(
    message = "`toolsets` and `toolset!` take tools, workers, entries and toolsets, not plain functions or values",
    label = "not annotated with `#[tool]`, `#[worker]` or `#[entry]`",
    note = "annotate the function with `#[tool]`, or list a tool that calls it"
)]
#[doc(hidden)]
pub trait Listed<V: ?Sized> {}

#[diagnostic::do_not_recommend]
impl<T, V: ?Sized> Listed<V> for T {}

#[diagnostic::do_not_recommend]
impl Listed<NoValue> for NoType {}

// With a single implementation, the compiler would infer `V` from it, and report mismatched types.
#[diagnostic::do_not_recommend]
impl Listed<NoType> for NoType {}

/// Refuses a name without a type that has a value.
#[doc(hidden)]
pub const fn assert_listed<T: Listed<V> + ?Sized, V: ?Sized>(_: &V) {}
