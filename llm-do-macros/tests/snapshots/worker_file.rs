::core::compile_error! {
    "this is `#[arg]`'s to say: write `#[arg(default = ..)]`"
}
::core::compile_error! {
    "../tests/files/reviewer.worker:18: `input_schema` and the parameters of `reviewer` differ: its required properties are `path`, those of the signature `depth`, `path`"
}
///Arguments of the worker `code-reviewer`.
///
#[allow(
    non_camel_case_types,
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
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const __ARGUMENT_0: __llm_do::Parameter<PathBuf> = __llm_do::parameter::<
        PathBuf,
    >("path");
    const __ARGUMENT_1: __llm_do::Parameter<u8> = __llm_do::parameter::<u8>("depth");
    const __ARGUMENT_2: __llm_do::Parameter<Option<u32>> = __llm_do::parameter::<
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
        ) -> ::core::result::Result<Self, __llm_do::String> {
            ::core::result::Result::Ok(Self {
                path: __ARGUMENT_0.read(__fields)?,
                depth: __ARGUMENT_1.read(__fields)?,
                lines: __ARGUMENT_2.read(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn write(
            &self,
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<(), __llm_do::String> {
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
    #[allow(unused_imports)]
    use __llm_do::NotResult as _;
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<Result<Review>>>::FALLIBLE;
    impl __llm_do::Tool for reviewer {
        const NAME: &'static str = "code-reviewer";
        type Output = <Result<Review> as __llm_do::Yields<__FALLIBLE>>::Output;
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
    }
    impl<__T> __llm_do::Declares<__T> for reviewer {}
};
