/// A database.
impl Database {
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::unused_self
    )]
    async fn open(ctx: &CallContext, url: State<Url>) -> Result<Self, Fault> {
        connect(ctx, &url).await
    }
    /// Query a table.
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::unused_self
    )]
    pub fn query(&self, table: &str) -> Vec<Row> {
        self.rows(table)
    }
    fn rows(&self, table: &str) -> Vec<Row> {
        self.0.rows(table)
    }
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::unused_self
    )]
    fn close(self) {}
}
///Arguments of the tool `query`.
///
/// Query a table.
#[allow(
    non_camel_case_types,
    non_snake_case,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
pub struct query {
    pub table: ::std::string::String,
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    static __ARGUMENT_0: __llm_do::Parameter<::std::string::String> = __llm_do::parameter::<
        ::std::string::String,
    >("table")
        .alone();
    impl __llm_do::Arguments for query {
        const PARAMETERS: &'static [&'static dyn __llm_do::Described] = &[&__ARGUMENT_0];
        #[allow(unused_variables)]
        fn read(
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<Self, __llm_do::Fault> {
            ::core::result::Result::Ok(Self {
                table: __ARGUMENT_0.read(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn read_text(
            __fields: &mut __llm_do::TextFields<'_>,
        ) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self {
                table: __ARGUMENT_0.read_text(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn write(
            &self,
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<(), __llm_do::Fault> {
            __ARGUMENT_0.write(&self.table, __fields)?;
            ::core::result::Result::Ok(())
        }
    }
    impl __llm_do::serde::Serialize for query {
        fn serialize<__S: __llm_do::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            __llm_do::serialize(self, __serializer)
        }
    }
    impl<'de> __llm_do::serde::Deserialize<'de> for query {
        fn deserialize<__D: __llm_do::serde::Deserializer<'de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            __llm_do::deserialize(__deserializer)
        }
    }
    impl __llm_do::schemars::JsonSchema for query {
        fn schema_name() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed("query")
        }
        fn schema_id() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed(
                ::core::concat!(::core::module_path!(), "::", "query"),
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
    impl query {
        /// Returns a call with these arguments, and the defaults of all other arguments.
        #[must_use]
        pub fn new(table: ::std::string::String) -> Self {
            Self { table }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::NotResult as _;
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<Vec<Row>>>::FALLIBLE;
    impl<__Output> __llm_do::Tool for query
    where
        Vec<Row>: __llm_do::Yields<__FALLIBLE, Output = __Output>,
    {
        const NAME: &'static str = "query";
        type Output = __Output;
    }
    impl __llm_do::Toolset for query {
        const MEMBERS: &'static [__llm_do::Member] = &[__llm_do::Member::new("query")];
    }
    impl __llm_do::Keyed for query {
        type Key = __llm_do::HexB<
            __llm_do::Hex1<
                __llm_do::Hex0<
                    __llm_do::Hex6<
                        __llm_do::Hex8<
                            __llm_do::HexF<
                                __llm_do::Hex1<
                                    __llm_do::Hex4<
                                        __llm_do::Hex6<
                                            __llm_do::HexC<__llm_do::Hex4<__llm_do::Hex5<()>>>,
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
            "query",
            __llm_do::Effect::ReadOnly,
        );
    }
    impl __llm_do::Function for query {
        fn start(self, __ctx: &__llm_do::CallContext) -> __llm_do::Running {
            let __injected_0 = match <__llm_do::Instance<
                Database,
            > as __llm_do::FromContext>::from_context(__ctx) {
                ::core::result::Result::Ok(__value) => __value,
                ::core::result::Result::Err(__error) => {
                    return __llm_do::Running::failed(__error);
                }
            };
            __llm_do::Running::blocking(move || {
                let __returned = <Database>::query(&__injected_0, &self.table);
                let __kind = {
                    #[allow(unused_imports)]
                    use __llm_do::{
                        ReturnsError as _, ReturnsNested as _, ReturnsSource as _,
                        ReturnsText as _, ReturnsValue as _,
                    };
                    (&&&&&__llm_do::Returned::of(&__returned)).kind()
                };
                __kind.finish(__returned)
            })
        }
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::tool:: < query > ("Query a table.",
        __llm_do::Location::new(::core::file!(), ::core::line!())
        .package(::core::option_env!("CARGO_PKG_NAME"),
        ::core::option_env!("CARGO_PKG_VERSION")),).effect(__llm_do::Effect::ReadOnly)
        .method_of:: < Database > ().output({ #[allow(unused_imports)] use
        __llm_do::NoSchema as _; < __llm_do::SchemaProbe << query as __llm_do::Tool >
        ::Output >> ::SCHEMA }).error({ #[allow(unused_imports)] use
        __llm_do::NoErrorType as _; < __llm_do::ErrorProbe < Vec < Row > >> ::TYPE })
    }
};
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const __MEMBERS: &[&[__llm_do::Member]] = &[<query as __llm_do::Toolset>::MEMBERS];
    const _: () = __llm_do::assert_unique("database", __MEMBERS);
    #[allow(
        dead_code,
        non_camel_case_types,
        non_upper_case_globals,
        unused_imports,
        unused_macros
    )]
    const _: () = {
        mod __stand_ins {
            pub type query = ::llm_do::__private::NoType;
            pub const query: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
        }
        macro_rules! query {
            () => {};
        }
        use query as __member_0;
        const _: () = {
            use __member_0 as query;
            use __stand_ins::*;
            __llm_do::assert_listed::<query, _>(&query);
        };
    };
    impl __llm_do::Toolset for Database {
        const MEMBERS: &'static [__llm_do::Member] = &__llm_do::concat::<
            { __llm_do::count(__MEMBERS) },
        >(__MEMBERS);
    }
    impl<__Members: __llm_do::Includes> __llm_do::Includes for Database
    where
        query: __llm_do::Alias<Of = __Members>,
    {
        type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
        type Effects<__Kept: __llm_do::Includes, __D: __llm_do::Depth> = __Members::Effects<
            __Kept,
            __D,
        >;
        type Inside<__I: __llm_do::NamedInstance> = __Members::Inside<__I>;
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolsetDef::new("database", "A database.", < Database as
        __llm_do::Toolset > ::MEMBERS, __llm_do::Location::new(::core::file!(),
        ::core::line!()),)
    }
    impl __llm_do::Stateful for Database {
        const NAME: &'static str = "database";
        const STATE: &'static [fn() -> __llm_do::StateKey] = &[
            || __llm_do::StateKey::new::<Url>("Url"),
        ];
        fn open(__ctx: &__llm_do::CallContext) -> __llm_do::Opening<Self> {
            let __injected_0 = match <CallContext as __llm_do::FromContext>::from_context(
                __ctx,
            ) {
                ::core::result::Result::Ok(__value) => __value,
                ::core::result::Result::Err(__error) => {
                    return __llm_do::Opening::failed(__error);
                }
            };
            let __injected_1 = match <State<
                Url,
            > as __llm_do::FromContext>::from_context(__ctx) {
                ::core::result::Result::Ok(__value) => __value,
                ::core::result::Result::Err(__error) => {
                    return __llm_do::Opening::failed(__error);
                }
            };
            __llm_do::Opening::future(async move {
                {
                    let __returned = <Database>::open(&__injected_0, __injected_1).await;
                    let __kind = {
                        #[allow(unused_imports)]
                        use __llm_do::{
                            ReturnsError as _, ReturnsNested as _, ReturnsSource as _,
                            ReturnsText as _, ReturnsValue as _,
                        };
                        (&&&&&__llm_do::Returned::of(&__returned)).kind()
                    };
                    __kind.value(__returned)
                }
            })
        }
        fn close(self) -> __llm_do::Closing {
            __llm_do::Closing::blocking(move || {
                let __returned = <Database>::close(self);
                let __kind = {
                    #[allow(unused_imports)]
                    use __llm_do::{
                        ReturnsError as _, ReturnsNested as _, ReturnsSource as _,
                        ReturnsText as _, ReturnsValue as _,
                    };
                    (&&&&&__llm_do::Returned::of(&__returned)).kind()
                };
                __kind.value(__returned)
            })
        }
    }
};
