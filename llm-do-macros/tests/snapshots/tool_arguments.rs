#[allow(
    clippy::missing_const_for_fn,
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    clippy::unused_async
)]
/// Read a text file.
///
/// Lines are numbered.
#[must_use]
pub fn read_file(
    path: &Path,
    mut max_chars: usize,
    encoding: String,
    lines: Option<Vec<u32>>,
    r#type: &str,
    tags: &[String],
) -> std::io::Result<String> {
    body(path)
}
///Arguments of the tool `read_file`.
///
/// Read a text file.
///
/// Lines are numbered.
#[allow(
    non_camel_case_types,
    non_snake_case,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
pub struct read_file {
    /// Path relative to the root.
    pub path: ::std::path::PathBuf,
    pub max_chars: usize,
    pub encoding: String,
    pub lines: Option<Vec<u32>>,
    pub r#type: ::std::string::String,
    pub tags: ::std::vec::Vec<String>,
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    static __ARGUMENT_0: __llm_do::Parameter<::std::path::PathBuf> = __llm_do::parameter::<
        ::std::path::PathBuf,
    >("path")
        .description("Path relative to the root.");
    fn __default_1() -> usize {
        20_000
    }
    static __ARGUMENT_1: __llm_do::Parameter<usize> = __llm_do::parameter::<
        usize,
    >("max_chars")
        .default(__default_1);
    fn __default_2() -> String {
        __llm_do::FromText::from_text("utf-8")
    }
    static __ARGUMENT_2: __llm_do::Parameter<String> = __llm_do::parameter::<
        String,
    >("charset")
        .default(__default_2);
    #[allow(unused_imports)]
    use ::core::convert::Into as _;
    #[derive(::llm_do::__private::schemars::JsonSchema)]
    #[schemars(crate = "::llm_do::__private::schemars")]
    #[allow(dead_code)]
    struct __Described3 {
        #[schemars(length(max = 2))]
        value: Option<Vec<u32>>,
    }
    static __ARGUMENT_3: __llm_do::Parameter<Option<Vec<u32>>> = __llm_do::parameter::<
        Option<Vec<u32>>,
    >("lines")
        .description("Only these lines.")
        .described_by({
            #[allow(unused_imports)]
            use __llm_do::NoField as _;
            <__llm_do::FieldProbe<__Described3>>::SCHEMA
        });
    static __ARGUMENT_4: __llm_do::Parameter<::std::string::String> = __llm_do::parameter::<
        ::std::string::String,
    >("type");
    static __ARGUMENT_5: __llm_do::Parameter<::std::vec::Vec<String>> = __llm_do::parameter::<
        ::std::vec::Vec<String>,
    >("tags");
    impl __llm_do::Arguments for read_file {
        const PARAMETERS: &'static [&'static dyn __llm_do::Described] = &[
            &__ARGUMENT_0,
            &__ARGUMENT_1,
            &__ARGUMENT_2,
            &__ARGUMENT_3,
            &__ARGUMENT_4,
            &__ARGUMENT_5,
        ];
        #[allow(unused_variables)]
        fn read(
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<Self, __llm_do::Fault> {
            ::core::result::Result::Ok(Self {
                path: __ARGUMENT_0.read(__fields)?,
                max_chars: __ARGUMENT_1.read(__fields)?,
                encoding: __ARGUMENT_2.read(__fields)?,
                lines: __ARGUMENT_3.read(__fields)?,
                r#type: __ARGUMENT_4.read(__fields)?,
                tags: __ARGUMENT_5.read(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn read_text(
            __fields: &mut __llm_do::TextFields<'_>,
        ) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self {
                path: __ARGUMENT_0.read_text(__fields)?,
                max_chars: __ARGUMENT_1.read_text(__fields)?,
                encoding: __ARGUMENT_2.read_text(__fields)?,
                lines: __ARGUMENT_3.read_text(__fields)?,
                r#type: __ARGUMENT_4.read_text(__fields)?,
                tags: __ARGUMENT_5.read_text(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn write(
            &self,
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<(), __llm_do::Fault> {
            __ARGUMENT_0.write(&self.path, __fields)?;
            __ARGUMENT_1.write(&self.max_chars, __fields)?;
            __ARGUMENT_2.write(&self.encoding, __fields)?;
            __ARGUMENT_3.write(&self.lines, __fields)?;
            __ARGUMENT_4.write(&self.r#type, __fields)?;
            __ARGUMENT_5.write(&self.tags, __fields)?;
            ::core::result::Result::Ok(())
        }
    }
    impl __llm_do::serde::Serialize for read_file {
        fn serialize<__S: __llm_do::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            __llm_do::serialize(self, __serializer)
        }
    }
    impl<'de> __llm_do::serde::Deserialize<'de> for read_file {
        fn deserialize<__D: __llm_do::serde::Deserializer<'de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            __llm_do::deserialize(__deserializer)
        }
    }
    impl __llm_do::schemars::JsonSchema for read_file {
        fn schema_name() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed("read_file")
        }
        fn schema_id() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed(
                ::core::concat!(::core::module_path!(), "::", "read_file"),
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
    impl read_file {
        /// Returns a call with these arguments, and the defaults of all other arguments.
        #[must_use]
        pub fn new(
            path: ::std::path::PathBuf,
            r#type: ::std::string::String,
            tags: ::std::vec::Vec<String>,
        ) -> Self {
            Self {
                path,
                max_chars: __default_1(),
                encoding: __default_2(),
                lines: ::core::option::Option::None,
                r#type,
                tags,
            }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::NotResult as _;
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<std::io::Result<String>>>::FALLIBLE;
    impl<__Output> __llm_do::Tool for read_file
    where
        std::io::Result<String>: __llm_do::Yields<__FALLIBLE, Output = __Output>,
    {
        const NAME: &'static str = "read_file";
        type Output = __Output;
    }
    impl __llm_do::Toolset for read_file {
        const MEMBERS: &'static [__llm_do::Member] = &[
            __llm_do::Member::new("read_file"),
        ];
    }
    impl __llm_do::Keyed for read_file {
        type Key = __llm_do::HexA<
            __llm_do::Hex2<
                __llm_do::Hex1<
                    __llm_do::Hex6<
                        __llm_do::Hex6<
                            __llm_do::Hex5<
                                __llm_do::Hex4<
                                    __llm_do::HexB<
                                        __llm_do::Hex8<
                                            __llm_do::Hex1<__llm_do::HexC<__llm_do::Hex8<()>>>,
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
            "read_file",
            __llm_do::Effect::ReadOnly,
        );
    }
    const __TIMEOUT: ::core::time::Duration = ::core::time::Duration::new(60, 500000000);
    const _: () = __llm_do::assert_timeout(__TIMEOUT);
    impl __llm_do::Function for read_file {
        fn start(self, __ctx: &__llm_do::CallContext) -> __llm_do::Running {
            __llm_do::Running::blocking(move || {
                let __returned = read_file(
                    &self.path,
                    self.max_chars,
                    self.encoding,
                    self.lines,
                    &self.r#type,
                    &self.tags,
                );
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
        __llm_do::ToolDef::tool:: < read_file >
        ("Read a text file.\n\nLines are numbered.",
        __llm_do::Location::new(::core::file!(), ::core::line!())
        .package(::core::option_env!("CARGO_PKG_NAME"),
        ::core::option_env!("CARGO_PKG_VERSION")),).effect(__llm_do::Effect::ReadOnly)
        .timeout(__TIMEOUT).output({ #[allow(unused_imports)] use __llm_do::NoSchema as
        _; < __llm_do::SchemaProbe << read_file as __llm_do::Tool > ::Output >> ::SCHEMA
        }).error({ #[allow(unused_imports)] use __llm_do::NoErrorType as _; <
        __llm_do::ErrorProbe < std::io::Result < String > >> ::TYPE })
    }
};
