#[allow(
    clippy::missing_const_for_fn,
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    clippy::unused_async
)]
async fn review_all(
    ctx: &CallContext<review_all>,
    paths: Vec<PathBuf>,
) -> Result<Vec<Review>> {
    all(ctx, paths).await
}
///Arguments of the entry `review_all`.
///
#[allow(
    non_camel_case_types,
    non_snake_case,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
struct review_all {
    pub paths: Vec<PathBuf>,
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    static __ARGUMENT_0: __llm_do::Parameter<Vec<PathBuf>> = __llm_do::parameter::<
        Vec<PathBuf>,
    >("paths")
        .alone();
    impl __llm_do::Arguments for review_all {
        const PARAMETERS: &'static [&'static dyn __llm_do::Described] = &[&__ARGUMENT_0];
        #[allow(unused_variables)]
        fn read(
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<Self, __llm_do::Fault> {
            ::core::result::Result::Ok(Self {
                paths: __ARGUMENT_0.read(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn read_text(
            __fields: &mut __llm_do::TextFields<'_>,
        ) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self {
                paths: __ARGUMENT_0.read_text(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn write(
            &self,
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<(), __llm_do::Fault> {
            __ARGUMENT_0.write(&self.paths, __fields)?;
            ::core::result::Result::Ok(())
        }
    }
    impl __llm_do::serde::Serialize for review_all {
        fn serialize<__S: __llm_do::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            __llm_do::serialize(self, __serializer)
        }
    }
    impl<'de> __llm_do::serde::Deserialize<'de> for review_all {
        fn deserialize<__D: __llm_do::serde::Deserializer<'de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            __llm_do::deserialize(__deserializer)
        }
    }
    impl __llm_do::schemars::JsonSchema for review_all {
        fn schema_name() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed("review_all")
        }
        fn schema_id() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed(
                ::core::concat!(::core::module_path!(), "::", "review_all"),
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
    impl review_all {
        /// Returns a call with these arguments, and the defaults of all other arguments.
        #[must_use]
        pub fn new(paths: Vec<PathBuf>) -> Self {
            Self { paths }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::NotResult as _;
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<Result<Vec<Review>>>>::FALLIBLE;
    impl<__Output> __llm_do::Tool for review_all
    where
        Result<Vec<Review>>: __llm_do::Yields<__FALLIBLE, Output = __Output>,
    {
        const NAME: &'static str = "review_all";
        type Output = __Output;
    }
    impl __llm_do::Toolset for review_all {
        const MEMBERS: &'static [__llm_do::Member] = &[
            __llm_do::Member::new("review_all"),
        ];
    }
    impl __llm_do::Keyed for review_all {
        type Key = __llm_do::Hex5<
            __llm_do::Hex8<
                __llm_do::Hex5<
                    __llm_do::Hex4<
                        __llm_do::Hex8<
                            __llm_do::Hex8<
                                __llm_do::HexA<
                                    __llm_do::Hex2<
                                        __llm_do::HexD<
                                            __llm_do::HexA<__llm_do::Hex6<__llm_do::Hex9<()>>>,
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
                "review_all",
                __llm_do::Effect::Undeclared,
            )
            .inside();
    }
    impl<__Members: __llm_do::Includes> __llm_do::DeclarationOf for review_all
    where
        (reviewer, files::read_file): __llm_do::Alias<Of = __Members>,
    {
        type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
    }
    const __MEMBERS: &[&[__llm_do::Member]] = &[
        <reviewer as __llm_do::Toolset>::MEMBERS,
        <files::read_file as __llm_do::Toolset>::MEMBERS,
    ];
    const _: () = __llm_do::assert_unique("review_all", __MEMBERS);
    #[allow(
        dead_code,
        non_camel_case_types,
        non_upper_case_globals,
        unused_imports,
        unused_macros
    )]
    const _: () = {
        mod __stand_ins {
            pub type reviewer = ::llm_do::__private::NoType;
            pub const reviewer: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
        }
        macro_rules! reviewer {
            () => {};
        }
        use reviewer as __member_0;
        const _: () = {
            use __member_0 as reviewer;
            use __stand_ins::*;
            __llm_do::assert_listed::<reviewer, _>(&reviewer);
        };
        const _: () = {
            mod __module {}
            macro_rules! files {
                () => {};
            }
            const _: () = {
                use files as __module;
                mod __stand_ins {
                    pub type read_file = ::llm_do::__private::NoType;
                    pub const read_file: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
                }
                use __stand_ins::*;
                const _: () = {
                    use __module::*;
                    __llm_do::assert_listed::<read_file, _>(&read_file);
                };
            };
        };
    };
    const __DECLARATION: __llm_do::Declaration = __llm_do::Declaration::new(
        __MEMBERS,
        &["by_name"],
    );
    impl __llm_do::Function for review_all {
        fn start(self, __ctx: &__llm_do::CallContext) -> __llm_do::Running {
            let __injected_0 = match <CallContext<
                review_all,
            > as __llm_do::FromContext>::from_context(__ctx) {
                ::core::result::Result::Ok(__value) => __value,
                ::core::result::Result::Err(__error) => {
                    return __llm_do::Running::failed(__error);
                }
            };
            __llm_do::Running::future(async move {
                {
                    let __returned = review_all(&__injected_0, self.paths).await;
                    let __kind = {
                        #[allow(unused_imports)]
                        use __llm_do::{
                            ReturnsError as _, ReturnsNested as _, ReturnsSource as _,
                            ReturnsText as _, ReturnsValue as _,
                        };
                        (&&&&&__llm_do::Returned::of(&__returned)).kind()
                    };
                    __kind.finish(__returned)
                }
            })
        }
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::entry:: < review_all > ("",
        __llm_do::Location::new(::core::file!(), ::core::line!())
        .package(::core::option_env!("CARGO_PKG_NAME"),
        ::core::option_env!("CARGO_PKG_VERSION")),).declares(& __DECLARATION).output({
        #[allow(unused_imports)] use __llm_do::NoSchema as _; < __llm_do::SchemaProbe <<
        review_all as __llm_do::Tool > ::Output >> ::SCHEMA }).error({
        #[allow(unused_imports)] use __llm_do::NoErrorType as _; < __llm_do::ErrorProbe <
        Result < Vec < Review > > >> ::TYPE })
    }
};
