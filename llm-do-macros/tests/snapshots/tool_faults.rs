::core::compile_error! {
    "unknown key `effects`; did you mean `effect`?\nexpected `#[tool(name = \"..\", args = Ident, effect = read_only | idempotent | destructive, inline, toolsets = [path, \"name\", ..], description = \"..\")]`"
}
::core::compile_error! {
    "a tool needs a name for each parameter: it is the argument's name"
}
#[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps, clippy::unused_async)]
/// Greet.
fn greet(name: String, (a, b): (u8, u8)) -> String {
    name
}
///Arguments of the tool `greet`.
///
/// Greet.
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
struct greet {
    #[serde(default = "greet::__default_name")]
    pub name: String,
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    impl greet {
        #[doc(hidden)]
        fn __default_name() -> String {
            __llm_do::FromText::from_text("you")
        }
    }
    impl ::core::default::Default for greet {
        fn default() -> Self {
            Self {
                name: Self::__default_name(),
            }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::{NoSchema as _, NotResult as _};
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<String>>::FALLIBLE;
    impl __llm_do::Tool for greet {
        const NAME: &'static str = "greet";
        type Output = <String as __llm_do::Yields<__FALLIBLE>>::Output;
    }
    impl __llm_do::Toolset for greet {
        const MEMBERS: &'static [__llm_do::Member] = &[__llm_do::Member::new("greet")];
    }
    impl __llm_do::Keyed for greet {
        type Key = __llm_do::key!(0 f 4 0 e a 2 9 6 3 7 f);
    }
    impl<__T> __llm_do::Declares<__T> for greet {}
};
