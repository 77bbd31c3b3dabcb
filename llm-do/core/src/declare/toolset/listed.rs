//! The compiler error for a plain function in a list of tools.

/// The placeholder for the type of a name that is not a type.
#[doc(hidden)]
#[derive(Debug)]
#[expect(dead_code, reason = "the field makes the type unsized, unlike every type that can be listed")]
pub struct NoType(str);

/// The placeholder for the value of a name that is not a value.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct NoValue;

/// A name that a list of tools may contain: a type, or an unknown name, which is reported separately.
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

/// Rejects a name that is a value but not a type.
#[doc(hidden)]
pub const fn assert_listed<T: Listed<V> + ?Sized, V: ?Sized>(_: &V) {}
