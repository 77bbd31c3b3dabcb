::core::compile_error! {
    "../tests/files/faulty.worker:2: models accept names of 1 to 64 letters `A-Z`, `a-z`, digits, `_` and `-` only"
}
::core::compile_error! {
    "../tests/files/faulty.worker:3: `model` is given here and in the attribute; give it once"
}
::core::compile_error! {
    "../tests/files/faulty.worker:4: `read file` is no path of a tool or toolset, such as `read_file` or `crate::fs::read_file`"
}
::core::compile_error! {
    "../tests/files/faulty.worker:4: `fs::` is no path of a tool or toolset, such as `read_file` or `crate::fs::read_file`"
}
::core::compile_error! {
    "../tests/files/faulty.worker:5: unknown key `hint`; did you mean `hints`?\nthe keys are `name`, `description`, `model`, `compatible_models`, `toolsets`, `server_side_tools`, `settings`, `hints`, `output`, `max_turns`, `retries`, `input_schema`, `output_schema`"
}
::core::compile_error! {
    "../tests/files/faulty.worker:6: `input_schema` and the parameters of `reviewer` differ: its properties are `file`, those of the signature `path`"
}
::core::compile_error! {
    "../tests/files/faulty.worker:6: `input_schema` and the parameters of `reviewer` differ: its required properties are none, those of the signature `path`"
}
///Arguments of the worker `reviewer`.
///
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
struct reviewer {
    pub path: PathBuf,
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    #[allow(unused_imports)]
    use __llm_do::{NoSchema as _, NotResult as _};
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<Review>>::FALLIBLE;
    impl __llm_do::Tool for reviewer {
        const NAME: &'static str = "reviewer";
        type Output = <Review as __llm_do::Yields<__FALLIBLE>>::Output;
    }
    impl __llm_do::Toolset for reviewer {
        const NAMES: &'static [&'static str] = &["reviewer"];
    }
    impl __llm_do::Includes<reviewer, __llm_do::Here> for reviewer {}
    impl<__T> __llm_do::Declares<__T, __llm_do::Here> for reviewer {}
};
