#[allow(
    clippy::missing_const_for_fn,
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    clippy::unused_async
)]
/// Count rows.
async fn count(
    ctx: &dyn ToolContext,
    table: String,
    db: State<Database>,
    clock: &Clock,
) -> Result<u64> {
    db.count(table).await
}
///Arguments of the tool `count`.
///
/// Count rows.
#[allow(
    non_camel_case_types,
    non_snake_case,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
struct count {
    pub table: String,
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    static __ARGUMENT_0: __llm_do::Parameter<String> = __llm_do::parameter::<
        String,
    >("table")
        .alone();
    impl __llm_do::Arguments for count {
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
    impl __llm_do::serde::Serialize for count {
        fn serialize<__S: __llm_do::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            __llm_do::serialize(self, __serializer)
        }
    }
    impl<'de> __llm_do::serde::Deserialize<'de> for count {
        fn deserialize<__D: __llm_do::serde::Deserializer<'de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            __llm_do::deserialize(__deserializer)
        }
    }
    impl __llm_do::schemars::JsonSchema for count {
        fn schema_name() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed("count")
        }
        fn schema_id() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed(
                ::core::concat!(::core::module_path!(), "::", "count"),
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
    impl count {
        /// Returns a call with these arguments, and the defaults of all other arguments.
        #[must_use]
        pub fn new(table: String) -> Self {
            Self { table }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::NotResult as _;
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<Result<u64>>>::FALLIBLE;
    impl<__Output> __llm_do::Tool for count
    where
        Result<u64>: __llm_do::Yields<__FALLIBLE, Output = __Output>,
    {
        const NAME: &'static str = "count";
        type Output = __Output;
    }
    impl __llm_do::Toolset for count {
        const MEMBERS: &'static [__llm_do::Member] = &[__llm_do::Member::new("count")];
    }
    impl __llm_do::Keyed for count {
        type Key = __llm_do::HexB<
            __llm_do::Hex1<
                __llm_do::HexE<
                    __llm_do::Hex5<
                        __llm_do::HexE<
                            __llm_do::Hex2<
                                __llm_do::Hex8<
                                    __llm_do::HexE<
                                        __llm_do::Hex4<
                                            __llm_do::Hex4<__llm_do::Hex7<__llm_do::Hex9<()>>>,
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
            "count",
            __llm_do::Effect::Undeclared,
        );
    }
    impl __llm_do::Function for count {
        fn start(self, __ctx: &__llm_do::CallContext) -> __llm_do::Running {
            let __injected_0 = match <__llm_do::CallContext as __llm_do::FromContext>::from_context(
                __ctx,
            ) {
                ::core::result::Result::Ok(__value) => __value,
                ::core::result::Result::Err(__error) => {
                    return __llm_do::Running::failed(__error);
                }
            };
            let __injected_1 = match <State<
                Database,
            > as __llm_do::FromContext>::from_context(__ctx) {
                ::core::result::Result::Ok(__value) => __value,
                ::core::result::Result::Err(__error) => {
                    return __llm_do::Running::failed(__error);
                }
            };
            let __injected_2 = match <Clock as __llm_do::FromContext>::from_context(
                __ctx,
            ) {
                ::core::result::Result::Ok(__value) => __value,
                ::core::result::Result::Err(__error) => {
                    return __llm_do::Running::failed(__error);
                }
            };
            __llm_do::Running::future(async move {
                {
                    let __returned = count(
                            &__injected_0,
                            self.table,
                            __injected_1,
                            &__injected_2,
                        )
                        .await;
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
        __llm_do::ToolDef::tool:: < count > ("Count rows.",
        __llm_do::Location::new(::core::file!(), ::core::line!())
        .package(::core::option_env!("CARGO_PKG_NAME"),
        ::core::option_env!("CARGO_PKG_VERSION")),).composite().state(& [||
        __llm_do::StateKey::new:: < Database > ("Database")]).output({
        #[allow(unused_imports)] use __llm_do::NoSchema as _; < __llm_do::SchemaProbe <<
        count as __llm_do::Tool > ::Output >> ::SCHEMA }).error({
        #[allow(unused_imports)] use __llm_do::NoErrorType as _; < __llm_do::ErrorProbe <
        Result < u64 > >> ::TYPE })
    }
};
