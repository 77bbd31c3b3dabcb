::core::compile_error! {
    "unknown key `effects`; did you mean `effect`?\nexpected one of `name`, `args`, `effect`, `approval`, `on_unknown`, `reconcile`, `summary`, `preview`, `inline`, `max_result`, `background`, `error`, `timeout`, `toolsets` or `description`\nsee the documentation of `llm_do::tool`"
}
::core::compile_error! {
    "the parameter of a tool must be a plain name, since it names the argument"
}
#[allow(
    clippy::missing_const_for_fn,
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    clippy::unused_async
)]
/// Greet.
fn greet(name: String, (a, b): (u8, u8)) -> String {
    name
}
///Arguments of the tool `greet`.
///
/// Greet.
#[allow(
    non_camel_case_types,
    non_snake_case,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
struct greet {
    pub name: String,
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    fn __default_0() -> String {
        __llm_do::FromText::from_text("you")
    }
    static __ARGUMENT_0: __llm_do::Parameter<String> = __llm_do::parameter::<
        String,
    >("name")
        .default(__default_0)
        .alone();
    impl __llm_do::Arguments for greet {
        const PARAMETERS: &'static [&'static dyn __llm_do::Described] = &[&__ARGUMENT_0];
        #[allow(unused_variables)]
        fn read(
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<Self, __llm_do::Fault> {
            ::core::result::Result::Ok(Self {
                name: __ARGUMENT_0.read(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn read_text(
            __fields: &mut __llm_do::TextFields<'_>,
        ) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self {
                name: __ARGUMENT_0.read_text(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn write(
            &self,
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<(), __llm_do::Fault> {
            __ARGUMENT_0.write(&self.name, __fields)?;
            ::core::result::Result::Ok(())
        }
    }
    impl __llm_do::serde::Serialize for greet {
        fn serialize<__S: __llm_do::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            __llm_do::serialize(self, __serializer)
        }
    }
    impl<'de> __llm_do::serde::Deserialize<'de> for greet {
        fn deserialize<__D: __llm_do::serde::Deserializer<'de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            __llm_do::deserialize(__deserializer)
        }
    }
    impl __llm_do::schemars::JsonSchema for greet {
        fn schema_name() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed("greet")
        }
        fn schema_id() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed(
                ::core::concat!(::core::module_path!(), "::", "greet"),
            )
        }
        fn json_schema(
            __generator: &mut __llm_do::schemars::SchemaGenerator,
        ) -> __llm_do::schemars::Schema {
            __llm_do::describe::<Self>(__generator)
        }
    }
    impl ::core::default::Default for greet {
        fn default() -> Self {
            Self { name: __default_0() }
        }
    }
    #[allow(dead_code, non_snake_case, private_interfaces, unreachable_pub)]
    #[allow(clippy::missing_const_for_fn)]
    impl greet {
        /// Returns a call with these arguments, and the defaults of all other arguments.
        #[must_use]
        pub fn new() -> Self {
            Self { name: __default_0() }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::NotResult as _;
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<String>>::FALLIBLE;
    impl<__Output> __llm_do::Tool for greet
    where
        String: __llm_do::Yields<__FALLIBLE, Output = __Output>,
    {
        const NAME: &'static str = "greet";
        type Output = __Output;
    }
    impl __llm_do::Toolset for greet {
        const MEMBERS: &'static [__llm_do::Member] = &[__llm_do::Member::new("greet")];
    }
    impl __llm_do::Keyed for greet {
        type Key = __llm_do::Hex0<
            __llm_do::HexF<
                __llm_do::Hex4<
                    __llm_do::Hex0<
                        __llm_do::HexE<
                            __llm_do::HexA<
                                __llm_do::Hex2<
                                    __llm_do::Hex9<
                                        __llm_do::Hex6<
                                            __llm_do::Hex3<__llm_do::Hex7<__llm_do::HexF<()>>>,
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
            "greet",
            __llm_do::Effect::ReadOnly,
        );
    }
    impl __llm_do::DeclarationOf for greet {
        type Answer<__T: __llm_do::Keyed> = __llm_do::Yes;
    }
};
