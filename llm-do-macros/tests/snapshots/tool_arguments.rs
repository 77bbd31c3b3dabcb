#[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps, clippy::unused_async)]
/// Read a text file.
///
/// Lines are numbered.
#[must_use]
pub fn read_file(
    path: &Path,
    mut max_chars: usize,
    encoding: String,
    lines: Option<Vec<u32>>,
    r#type: &str,
    tags: &[String],
) -> std::io::Result<String> {
    body(path)
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const _: () = __llm_do::assert_argument::<::std::path::PathBuf>();
    const _: () = __llm_do::assert_argument::<usize>();
    const _: () = __llm_do::assert_argument::<String>();
    const _: () = __llm_do::assert_argument::<Option<Vec<u32>>>();
    const _: () = __llm_do::assert_argument::<::std::string::String>();
    const _: () = __llm_do::assert_argument::<::std::vec::Vec<String>>();
    impl read_file {
        #[doc(hidden)]
        fn __default_max_chars() -> usize {
            20_000
        }
        #[doc(hidden)]
        fn __default_encoding() -> String {
            __llm_do::FromText::from_text("utf-8")
        }
    }
    #[allow(unused_imports)]
    use __llm_do::{NoSchema as _, NotResult as _};
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<std::io::Result<String>>>::FALLIBLE;
    impl __llm_do::Tool for read_file {
        const NAME: &'static str = "read_file";
        type Output = <std::io::Result<String> as __llm_do::Yields<__FALLIBLE>>::Output;
    }
    impl __llm_do::Toolset for read_file {
        const MEMBERS: &'static [__llm_do::Member] = &[
            __llm_do::Member::new("read_file"),
        ];
    }
    impl __llm_do::Keyed for read_file {
        type Key = __llm_do::key!(a 2 1 6 6 5 4 b 8 1 c 8);
    }
    impl __llm_do::Function for read_file {
        fn start(self, __ctx: &__llm_do::CallContext) -> __llm_do::Running {
            __llm_do::Running::blocking(move || __llm_do::returned::<
                std::io::Result<String>,
                __FALLIBLE,
            >(
                read_file(
                    &self.path,
                    self.max_chars,
                    self.encoding,
                    self.lines,
                    &self.r#type,
                    &self.tags,
                ),
            ))
        }
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::tool:: < read_file >
        ("Read a text file.\n\nLines are numbered.",
        __llm_do::Location::new(::core::file!(), ::core::line!()),)
        .effect(__llm_do::Effect::ReadOnly).output(< __llm_do::SchemaProbe << read_file
        as __llm_do::Tool > ::Output >> ::SCHEMA)
    }
};
///Arguments of the tool `read_file`.
///
/// Read a text file.
///
/// Lines are numbered.
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
pub struct read_file {
    /// Path relative to the root.
    pub path: ::std::path::PathBuf,
    #[serde(default = "read_file::__default_max_chars")]
    pub max_chars: usize,
    #[serde(rename = "charset")]
    #[serde(default = "read_file::__default_encoding")]
    pub encoding: String,
    ///Only these lines.
    #[schemars(length(max = 2))]
    pub lines: Option<Vec<u32>>,
    pub r#type: ::std::string::String,
    pub tags: ::std::vec::Vec<String>,
}
