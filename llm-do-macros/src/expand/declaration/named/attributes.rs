//! The built-in attributes of the compiler. A macro with the name of one is ambiguous if the name is imported (E0659).

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

/// The built-in attributes of Rust 1.95, including those of unstable features.
const BUILT_IN: [&str; 84] = [
    "allow",
    "allow_internal_unsafe",
    "allow_internal_unstable",
    "automatically_derived",
    "cfg",
    "cfg_attr",
    "cfi_encoding",
    "cold",
    "collapse_debuginfo",
    "compiler_builtins",
    "const_continue",
    "coroutine",
    "coverage",
    "crate_name",
    "crate_type",
    "custom_mir",
    "debugger_visualizer",
    "default_lib_allocator",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "export_name",
    "export_stable",
    "feature",
    "ffi_const",
    "ffi_pure",
    "forbid",
    "fundamental",
    "ignore",
    "inline",
    "instruction_set",
    "lang",
    "link",
    "link_name",
    "link_ordinal",
    "link_section",
    "linkage",
    "loop_match",
    "macro_escape",
    "macro_export",
    "macro_use",
    "marker",
    "may_dangle",
    "must_not_suspend",
    "must_use",
    "naked",
    "needs_allocator",
    "needs_panic_runtime",
    "no_builtins",
    "no_core",
    "no_implicit_prelude",
    "no_link",
    "no_main",
    "no_mangle",
    "no_std",
    "non_exhaustive",
    "optimize",
    "panic_handler",
    "panic_runtime",
    "patchable_function_entry",
    "path",
    "pattern_complexity_limit",
    "prelude_import",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "profiler_runtime",
    "recursion_limit",
    "reexport_test_harness_main",
    "register_tool",
    "repr",
    "sanitize",
    "should_panic",
    "stable",
    "target_feature",
    "test_runner",
    "thread_local",
    "track_caller",
    "type_length_limit",
    "unstable",
    "used",
    "warn",
    "windows_subsystem",
];
/// The prefix of the compiler's own attributes.
const RESERVED: &str = "rustc_";

/// Returns a macro with this name, so that the import of an unknown name is not a second error.
///
/// The name of a built-in attribute always resolves to the attribute, so it needs no macro.
pub(super) fn stand_in(name: &Ident) -> TokenStream {
    let word = name.unraw().to_string();
    if BUILT_IN.contains(&word.as_str()) || word.starts_with(RESERVED) {
        return TokenStream::new();
    }
    quote! { macro_rules! #name { () => {}; } }
}
