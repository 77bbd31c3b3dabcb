::core::compile_error! {
    "../tests/files/faulty.worker:2: invalid name `code reviewer`: expected 1 to 64 ASCII letters, digits, `_` or `-`"
}
::core::compile_error! {
    "../tests/files/faulty.worker:3: `model` is given both here and in the attribute; remove one"
}
::core::compile_error! {
    "../tests/files/faulty.worker:4: `read file` is not the name or path of a tool or toolset, such as `read_file` or `crate::fs::read_file`"
}
::core::compile_error! {
    "../tests/files/faulty.worker:4: `fs::` is not the name or path of a tool or toolset, such as `read_file` or `crate::fs::read_file`"
}
::core::compile_error! {
    "../tests/files/faulty.worker:5: unknown key `hint`; did you mean `hints`?\nkeys: `name`, `description`, `model`, `compatible_models`, `tools`, `toolsets`, `code`, `server_side_tools`, `effect`, `effect_reason`, `hints`, `settings`, `output`, `max_turns`, `retries`, `limits`, `max_result`, `attachments`, `background`, `timeout`, `input_schema`, `input_model_ref`, `output_schema`, `hybrid`, `guarantee`, `shadow`, `refine`, `skills`, `context`, `mcp_servers`\nsee \"Keys of a worker file\" in the documentation of `llm_do::worker`"
}
::core::compile_error! {
    "../tests/files/faulty.worker:10: `hybrid` works only at run time: use `RuntimeBuilder::hybrid`"
}
::core::compile_error! {
    "../tests/files/faulty.worker:6: `input_schema` does not match `reviewer`: properties of the schema: `file`; parameters of the function: `path`"
}
::core::compile_error! {
    "../tests/files/faulty.worker:6: `input_schema` does not match `reviewer`: required properties of the schema: none; required parameters of the function: `path`"
}
///Arguments of the worker `reviewer`.
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
            "reviewer",
            __llm_do::Effect::ReadOnly,
        );
    }
    impl __llm_do::TakesHistory for reviewer {}
    impl __llm_do::DeclarationOf for reviewer {
        type Answer<__T: __llm_do::Keyed> = __llm_do::Yes;
    }
};
