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
struct reviewer {
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
fn reviewer(path: PathBuf) -> ::llm_do::__private::DirectCall<reviewer, Review> {
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
        type Calls<__D: __llm_do::Depth> = __llm_do::CallsOf<Self, __D>;
        const OWN: __llm_do::StrongestEffect = __llm_do::StrongestEffect::new(
            "reviewer",
            __llm_do::Effect::ReadOnly,
        );
    }
    impl<__Members: __llm_do::Includes> __llm_do::DeclarationOf for reviewer
    where
        read_file: __llm_do::Alias<Of = __Members>,
    {
        type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
    }
    const __MEMBERS: &[&[__llm_do::Member]] = &[
        <read_file as __llm_do::Toolset>::MEMBERS,
    ];
    const _: () = __llm_do::assert_unique("reviewer", __MEMBERS);
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
            <__llm_do::EffectProbe<read_file, __D>>::STRONGEST
        };
    }
    const __DECLARATION: __llm_do::Declaration = __llm_do::Declaration::new(
        __MEMBERS,
        &[],
    );
    impl __llm_do::TakesHistory for reviewer {}
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::worker:: < reviewer, < Review as __llm_do::Yields < __FALLIBLE
        >> ::Output > ("Review one file.", __llm_do::Location::new(::core::file!(),
        ::core::line!()).package(::core::option_env!("CARGO_PKG_NAME"),
        ::core::option_env!("CARGO_PKG_VERSION")),
        __llm_do::WorkerDef::new("Review one file.").code(true),).declares(&
        __DECLARATION).error({ #[allow(unused_imports)] use __llm_do::NoErrorType as _; <
        __llm_do::ErrorProbe < Review >> ::TYPE })
    }
};
