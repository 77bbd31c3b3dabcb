//! Detects types of shared state, such as locks. They have no JSON form, so they are injected and cannot be arguments.

use syn::visit::{self, Visit};
use syn::{GenericArgument, PathArguments, PathSegment, Type};

use super::{last_segment, ungrouped};

/// Types with interior mutability, in the standard library or another crate.
const CELLS: [&str; 11] = [
    "Cell",
    "LazyCell",
    "LazyLock",
    "Mutex",
    "OnceCell",
    "OnceLock",
    "ReentrantLock",
    "RefCell",
    "RwLock",
    "SyncUnsafeCell",
    "UnsafeCell",
];
/// The names of the atomic types without `Atomic`.
const ATOMICS: [&str; 12] = ["Bool", "I8", "I16", "I32", "I64", "Isize", "Ptr", "U8", "U16", "U32", "U64", "Usize"];
/// Smart pointers.
const SMART_POINTERS: [&str; 4] = ["Arc", "Box", "Rc", "Weak"];

/// Returns whether a type is a lock, a cell or an atomic, or points to one.
pub(super) fn is_state(ty: &Type) -> bool {
    match ungrouped(ty) {
        Type::Reference(reference) => is_state(&reference.elem),
        ty => last_segment(ty).is_some_and(|segment| is_cell(segment) || points_to_state(segment)),
    }
}

/// A type with such a name and no type arguments, such as the `Cell` of a table, is defined by the user.
fn is_cell(segment: &PathSegment) -> bool {
    let name = segment.ident.to_string();
    let is_atomic = name.strip_prefix("Atomic").is_some_and(|rest| ATOMICS.contains(&rest));
    is_atomic || (CELLS.contains(&name.as_str()) && !segment.arguments.is_none())
}

fn points_to_state(segment: &PathSegment) -> bool {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return false };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    SMART_POINTERS.iter().any(|pointer| segment.ident == pointer) && types.any(is_state)
}

/// Returns the first type of shared state in a type, at any depth.
pub(super) fn find(ty: &Type) -> Option<&Type> {
    struct Search<'a>(Option<&'a Type>);
    impl<'a> Visit<'a> for Search<'a> {
        fn visit_type(&mut self, ty: &'a Type) {
            if self.0.is_none() && is_state(ty) {
                self.0 = Some(ty);
            } else if self.0.is_none() {
                visit::visit_type(self, ty);
            }
        }
    }
    let mut search = Search(None);
    search.visit_type(ty);
    search.0
}
