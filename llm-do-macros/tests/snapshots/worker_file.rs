///Arguments of the worker `code-reviewer`.
///
#[allow(
    non_camel_case_types,
    non_snake_case,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
struct reviewer {
    pub path: PathBuf,
    pub depth: u8,
    pub lines: Option<u32>,
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
fn reviewer(
    path: PathBuf,
    depth: u8,
    lines: Option<u32>,
) -> ::llm_do::__private::DirectCall<reviewer, Result<Review>> {
    ::llm_do::__private::DirectCall::of_worker()
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    static __ARGUMENT_0: __llm_do::Parameter<PathBuf> = __llm_do::parameter::<
        PathBuf,
    >("path");
    fn __default_1() -> u8 {
        <u8 as ::core::default::Default>::default()
    }
    static __ARGUMENT_1: __llm_do::Parameter<u8> = __llm_do::parameter::<u8>("depth")
        .default(__default_1);
    static __ARGUMENT_2: __llm_do::Parameter<Option<u32>> = __llm_do::parameter::<
        Option<u32>,
    >("lines");
    impl __llm_do::Arguments for reviewer {
        const PARAMETERS: &'static [&'static dyn __llm_do::Described] = &[
            &__ARGUMENT_0,
            &__ARGUMENT_1,
            &__ARGUMENT_2,
        ];
        #[allow(unused_variables)]
        fn read(
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<Self, __llm_do::Fault> {
            ::core::result::Result::Ok(Self {
                path: __ARGUMENT_0.read(__fields)?,
                depth: __ARGUMENT_1.read(__fields)?,
                lines: __ARGUMENT_2.read(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn read_text(
            __fields: &mut __llm_do::TextFields<'_>,
        ) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self {
                path: __ARGUMENT_0.read_text(__fields)?,
                depth: __ARGUMENT_1.read_text(__fields)?,
                lines: __ARGUMENT_2.read_text(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn write(
            &self,
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<(), __llm_do::Fault> {
            __ARGUMENT_0.write(&self.path, __fields)?;
            __ARGUMENT_1.write(&self.depth, __fields)?;
            __ARGUMENT_2.write(&self.lines, __fields)?;
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
            Self {
                path,
                depth: __default_1(),
                lines: ::core::option::Option::None,
            }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::NotResult as _;
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<Result<Review>>>::FALLIBLE;
    impl<__Output> __llm_do::Tool for reviewer
    where
        Result<Review>: __llm_do::Yields<__FALLIBLE, Output = __Output>,
    {
        const NAME: &'static str = "code-reviewer";
        type Output = __Output;
    }
    impl __llm_do::Toolset for reviewer {
        const MEMBERS: &'static [__llm_do::Member] = &[
            __llm_do::Member::new("code-reviewer"),
        ];
    }
    impl __llm_do::Keyed for reviewer {
        type Key = __llm_do::HexC<
            __llm_do::HexA<
                __llm_do::Hex2<
                    __llm_do::Hex0<
                        __llm_do::Hex7<
                            __llm_do::Hex3<
                                __llm_do::Hex1<
                                    __llm_do::Hex9<
                                        __llm_do::HexF<
                                            __llm_do::HexA<__llm_do::Hex3<__llm_do::Hex9<()>>>,
                                        >,
                                    >,
                                >,
                            >,
                        >,
                    >,
                >,
            >,
        >;
        type Calls<__D: __llm_do::Depth> = __llm_do::CallsOf<Self, __D>;
        const OWN: __llm_do::StrongestEffect = __llm_do::StrongestEffect::new(
            "code-reviewer",
            __llm_do::Effect::ReadOnly,
        );
    }
    impl<__Members: __llm_do::Includes> __llm_do::DeclarationOf for reviewer
    where
        (read_file, crate::fs::list_files): __llm_do::Alias<Of = __Members>,
    {
        type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
    }
    const __MEMBERS: &[&[__llm_do::Member]] = &[
        <read_file as __llm_do::Toolset>::MEMBERS,
        <crate::fs::list_files as __llm_do::Toolset>::MEMBERS,
    ];
    const _: () = __llm_do::assert_unique("code-reviewer", __MEMBERS);
    #[allow(
        dead_code,
        non_camel_case_types,
        non_upper_case_globals,
        unused_imports,
        unused_macros
    )]
    const _: () = {
        mod __stand_ins {
            pub type read_file = ::llm_do::__private::NoType;
            pub const read_file: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
        }
        macro_rules! read_file {
            () => {};
        }
        use read_file as __member_0;
        const _: () = {
            use __member_0 as read_file;
            use __stand_ins::*;
            __llm_do::assert_listed::<read_file, _>(&read_file);
        };
    };
    impl<__D: __llm_do::Depth> __llm_do::CallsAt<__D> for reviewer {
        const STRONGEST: __llm_do::StrongestEffect = {
            #[allow(unused_imports)]
            use __llm_do::NotToolset as _;
            <__llm_do::EffectProbe<(read_file, crate::fs::list_files), __D>>::STRONGEST
        };
    }
    const __DECLARATION: __llm_do::Declaration = __llm_do::Declaration::new(
        __MEMBERS,
        &[],
    );
    const __TIMEOUT: ::core::time::Duration = ::core::time::Duration::new(90, 0);
    const _: () = __llm_do::assert_timeout(__TIMEOUT);
    impl __llm_do::TakesHistory for reviewer {}
    fn __settings() -> __llm_do::Settings {
        __llm_do::SettingsValue::into_settings(
            __llm_do::Settings::new().temperature(0.2).max_tokens(900).seed(7),
        )
    }
    fn __limits() -> __llm_do::Limits {
        __llm_do::LimitsValue::into_limits(
            __llm_do::Limits::new()
                .requests(10)
                .total_tokens(50000)
                .cost(__llm_do::Money::from_picodollars(250000000000))
                .allow_unpriced(true)
                .wall_time(::core::time::Duration::new(120, 0)),
        )
    }
    const __MAX_TURNS: ::core::primitive::u32 = 6;
    const _: () = __llm_do::assert_turns(__MAX_TURNS);
    const _: &::core::primitive::str = ::core::include_str!(
        "CRATE/src/../tests/files/reviewer.worker"
    );
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::worker:: < reviewer, < Result < Review > as __llm_do::Yields <
        __FALLIBLE >> ::Output > ("Review one file.",
        __llm_do::Location::new(::core::file!(), ::core::line!())
        .package(::core::option_env!("CARGO_PKG_NAME"),
        ::core::option_env!("CARGO_PKG_VERSION")),
        __llm_do::WorkerDef::new("You are a senior reviewer.\n\nRead the file, then judge it.")
        .model("openai:gpt-5").server_side_tools(||
        ::std::vec![__llm_do::ServerSideTool::WebSearch(__llm_do::WebSearch::new()
        .max_uses({ let __uses : ::core::primitive::u32 = 2; __uses })
        .blocked_domains(["example.org"])), __llm_do::ServerSideTool::WebFetch])
        .settings(__settings).hints(& ["code review"]).output(__llm_do::OutputMode::Tool)
        .output_schema("../tests/files/reviewer.worker:26",
        "{\"type\":\"object\",\"properties\":{\"score\":{\"type\":\"integer\"}},\"required\":[\"score\"]}",
        "Result<Review>").max_turns(__MAX_TURNS).retries(1).limits(__limits),)
        .timeout(__TIMEOUT).declares(& __DECLARATION).error({ #[allow(unused_imports)]
        use __llm_do::NoErrorType as _; < __llm_do::ErrorProbe < Result < Review > >>
        ::TYPE })
    }
};
