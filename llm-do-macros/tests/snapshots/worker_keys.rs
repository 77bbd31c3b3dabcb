#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const _: () = __llm_do::assert_argument::<PathBuf>();
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
    fn __settings() -> __llm_do::Settings {
        __llm_do::SettingsValue::into_settings(Settings::new().temperature(0.2))
    }
    const __MAX_TURNS: ::core::primitive::u32 = LIMIT;
    const _: () = __llm_do::assert_turns(__MAX_TURNS);
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::worker:: < reviewer, < Review as __llm_do::Yields < __FALLIBLE
        >> ::Output > ("Review one file.", __llm_do::Location::new(::core::file!(),
        ::core::line!()), __llm_do::WorkerDef::new("Review one file.")
        .server_side_tools(||
        ::std::vec![__llm_do::ServerSideTool::WebSearch(__llm_do::WebSearch::new()
        .max_uses({ let __uses : ::core::primitive::u32 = 3; __uses })
        .allowed_domains(["docs.rs"]).blocked_domains(["example.org"])),
        __llm_do::ServerSideTool::CodeExecution]).settings(__settings).hints(&
        ["code review", "Rust"]).output(__llm_do::OutputMode::Prompted)
        .max_turns(__MAX_TURNS),)
    }
};
///Arguments of the worker `reviewer`.
///
/// Review one file.
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
pub struct reviewer {
    pub path: PathBuf,
}
