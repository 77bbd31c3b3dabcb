#[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps, clippy::unused_async)]
/// List files.
#[cfg(unix)]
fn list_files(root: PathBuf, limit: Option<u32>) {}
#[cfg(unix)]
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const _: () = __llm_do::assert_argument::<PathBuf>();
    const _: () = __llm_do::assert_argument::<Option<u32>>();
    impl ListFiles {
        #[doc(hidden)]
        fn __default_root() -> PathBuf {
            __llm_do::FromText::from_text(".")
        }
    }
    impl ::core::default::Default for ListFiles {
        fn default() -> Self {
            Self {
                root: Self::__default_root(),
                limit: ::core::option::Option::None,
            }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::{NoSchema as _, NotResult as _};
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<()>>::FALLIBLE;
    impl __llm_do::Tool for ListFiles {
        const NAME: &'static str = "list-files";
        type Output = <() as __llm_do::Yields<__FALLIBLE>>::Output;
    }
    impl __llm_do::Toolset for ListFiles {
        const MEMBERS: &'static [__llm_do::Member] = &[
            __llm_do::Member::new("list-files"),
        ];
    }
    impl __llm_do::Keyed for ListFiles {
        type Key = __llm_do::key!(2 a b 0 b f c a 6 6 2 6);
    }
    impl __llm_do::Function for ListFiles {
        fn start(self, __ctx: &__llm_do::CallContext) -> __llm_do::Running {
            __llm_do::Running::inline(move || __llm_do::returned::<
                (),
                __FALLIBLE,
            >(list_files(self.root, self.limit)))
        }
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::tool:: < ListFiles > ("List files.",
        __llm_do::Location::new(::core::file!(), ::core::line!()),).output(<
        __llm_do::SchemaProbe << ListFiles as __llm_do::Tool > ::Output >> ::SCHEMA)
    }
};
#[cfg(unix)]
///Arguments of the tool `list-files`.
///
/// List files.
#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
#[derive(
    ::llm_do::__private::serde::Serialize,
    ::llm_do::__private::serde::Deserialize,
    ::llm_do::__private::schemars::JsonSchema
)]
#[serde(crate = "::llm_do::__private::serde", deny_unknown_fields)]
#[schemars(crate = "::llm_do::__private::schemars")]
struct ListFiles {
    #[serde(default = "ListFiles::__default_root")]
    pub root: PathBuf,
    pub limit: Option<u32>,
}
