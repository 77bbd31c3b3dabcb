///Arguments of the worker `reviewer`.
///
/// Review one file.
#[allow(
    non_camel_case_types,
    non_snake_case,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
pub struct reviewer {
    pub path: PathBuf,
}
#[doc(hidden)]
#[allow(
    unused,
    deprecated,
    missing_docs,
    private_interfaces,
    unreachable_pub,
    unused_qualifications
)]
#[allow(
    elided_lifetimes_in_paths,
    non_snake_case,
    clippy::all,
    clippy::pedantic,
    clippy::nursery
)]
pub fn reviewer(path: PathBuf) -> ::llm_do::__private::DirectCall<reviewer, Review> {
    ::llm_do::__private::DirectCall::of_worker()
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    static __ARGUMENT_0: __llm_do::Parameter<PathBuf> = __llm_do::parameter::<
        PathBuf,
    >("path")
        .alone();
    impl __llm_do::Arguments for reviewer {
        const PARAMETERS: &'static [&'static dyn __llm_do::Described] = &[&__ARGUMENT_0];
        #[allow(unused_variables)]
        fn read(
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<Self, __llm_do::Fault> {
            ::core::result::Result::Ok(Self {
                path: __ARGUMENT_0.read(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn read_text(
            __fields: &mut __llm_do::TextFields<'_>,
        ) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self {
                path: __ARGUMENT_0.read_text(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn write(
            &self,
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<(), __llm_do::Fault> {
            __ARGUMENT_0.write(&self.path, __fields)?;
            ::core::result::Result::Ok(())
        }
    }
    impl __llm_do::serde::Serialize for reviewer {
        fn serialize<__S: __llm_do::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            __llm_do::serialize(self, __serializer)
        }
    }
    impl<'de> __llm_do::serde::Deserialize<'de> for reviewer {
        fn deserialize<__D: __llm_do::serde::Deserializer<'de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            __llm_do::deserialize(__deserializer)
        }
    }
    impl __llm_do::schemars::JsonSchema for reviewer {
        fn schema_name() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed("reviewer")
        }
        fn schema_id() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed(
                ::core::concat!(::core::module_path!(), "::", "reviewer"),
            )
        }
        fn json_schema(
            __generator: &mut __llm_do::schemars::SchemaGenerator,
        ) -> __llm_do::schemars::Schema {
            __llm_do::describe::<Self>(__generator)
        }
    }
    #[allow(dead_code, non_snake_case, private_interfaces, unreachable_pub)]
    #[allow(clippy::missing_const_for_fn)]
    impl reviewer {
        /// Returns a call with these arguments, and the defaults of all other arguments.
        #[must_use]
        pub fn new(path: PathBuf) -> Self {
            Self { path }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::NotResult as _;
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<Review>>::FALLIBLE;
    impl<__Output> __llm_do::Tool for reviewer
    where
        Review: __llm_do::Yields<__FALLIBLE, Output = __Output>,
    {
        const NAME: &'static str = "reviewer";
        type Output = __Output;
    }
    impl __llm_do::Toolset for reviewer {
        const MEMBERS: &'static [__llm_do::Member] = &[
            __llm_do::Member::new("reviewer"),
        ];
    }
    impl __llm_do::Keyed for reviewer {
        type Key = __llm_do::Hex9<
            __llm_do::HexF<
                __llm_do::HexD<
                    __llm_do::Hex5<
                        __llm_do::HexB<
                            __llm_do::Hex9<
                                __llm_do::Hex5<
                                    __llm_do::Hex2<
                                        __llm_do::Hex4<
                                            __llm_do::Hex7<__llm_do::Hex3<__llm_do::Hex6<()>>>,
                                        >,
                                    >,
                                >,
                            >,
                        >,
                    >,
                >,
            >,
        >;
        type Calls<__D: __llm_do::Depth> = __llm_do::NoEffects;
        const OWN: __llm_do::StrongestEffect = __llm_do::StrongestEffect::new(
                "code_execution",
                __llm_do::Effect::Undeclared,
            )
            .through("reviewer");
    }
    const __TIMEOUT: ::core::time::Duration = Duration::from_secs(90);
    const _: () = __llm_do::assert_timeout(__TIMEOUT);
    impl __llm_do::TakesHistory for reviewer {}
    fn __settings() -> __llm_do::Settings {
        __llm_do::SettingsValue::into_settings(Settings::new().temperature(0.2))
    }
    fn __limits() -> __llm_do::Limits {
        __llm_do::LimitsValue::into_limits(Limits::new().requests(10))
    }
    const __MAX_TURNS: ::core::primitive::u32 = LIMIT;
    const _: () = __llm_do::assert_turns(__MAX_TURNS);
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::worker:: < reviewer, < Review as __llm_do::Yields < __FALLIBLE
        >> ::Output > ("Review one file.", __llm_do::Location::new(::core::file!(),
        ::core::line!()).package(::core::option_env!("CARGO_PKG_NAME"),
        ::core::option_env!("CARGO_PKG_VERSION")),
        __llm_do::WorkerDef::new("Review one file.").compatible_models(& ["anthropic:*"])
        .server_side_tools(||
        ::std::vec![__llm_do::ServerSideTool::WebSearch(__llm_do::WebSearch::new()
        .max_uses({ let __uses : ::core::primitive::u32 = 3; __uses })
        .allowed_domains(["docs.rs"]).blocked_domains(["example.org"])),
        __llm_do::ServerSideTool::CodeExecution]).settings(__settings).hints(&
        ["code review", "Rust"]).output(__llm_do::OutputMode::Prompted)
        .max_turns(__MAX_TURNS).limits(__limits),).timeout(__TIMEOUT).error({
        #[allow(unused_imports)] use __llm_do::NoErrorType as _; < __llm_do::ErrorProbe <
        Review >> ::TYPE })
    }
};
