#[allow(
    clippy::missing_const_for_fn,
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    clippy::unused_async
)]
/// List files.
#[cfg(unix)]
fn list_files(root: PathBuf, limit: Option<u32>) {}
#[cfg(unix)]
///Arguments of the tool `list-files`.
///
/// List files.
#[allow(
    non_camel_case_types,
    non_snake_case,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
struct ListFiles {
    pub root: PathBuf,
    pub limit: Option<u32>,
}
#[cfg(unix)]
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    fn __default_0() -> PathBuf {
        __llm_do::FromText::from_text(".")
    }
    static __ARGUMENT_0: __llm_do::Parameter<PathBuf> = __llm_do::parameter::<
        PathBuf,
    >("root")
        .default(__default_0);
    static __ARGUMENT_1: __llm_do::Parameter<Option<u32>> = __llm_do::parameter::<
        Option<u32>,
    >("limit");
    impl __llm_do::Arguments for ListFiles {
        const PARAMETERS: &'static [&'static dyn __llm_do::Described] = &[
            &__ARGUMENT_0,
            &__ARGUMENT_1,
        ];
        #[allow(unused_variables)]
        fn read(
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<Self, __llm_do::Fault> {
            ::core::result::Result::Ok(Self {
                root: __ARGUMENT_0.read(__fields)?,
                limit: __ARGUMENT_1.read(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn read_text(
            __fields: &mut __llm_do::TextFields<'_>,
        ) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self {
                root: __ARGUMENT_0.read_text(__fields)?,
                limit: __ARGUMENT_1.read_text(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn write(
            &self,
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<(), __llm_do::Fault> {
            __ARGUMENT_0.write(&self.root, __fields)?;
            __ARGUMENT_1.write(&self.limit, __fields)?;
            ::core::result::Result::Ok(())
        }
    }
    impl __llm_do::serde::Serialize for ListFiles {
        fn serialize<__S: __llm_do::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            __llm_do::serialize(self, __serializer)
        }
    }
    impl<'de> __llm_do::serde::Deserialize<'de> for ListFiles {
        fn deserialize<__D: __llm_do::serde::Deserializer<'de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            __llm_do::deserialize(__deserializer)
        }
    }
    impl __llm_do::schemars::JsonSchema for ListFiles {
        fn schema_name() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed("ListFiles")
        }
        fn schema_id() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed(
                ::core::concat!(::core::module_path!(), "::", "ListFiles"),
            )
        }
        fn json_schema(
            __generator: &mut __llm_do::schemars::SchemaGenerator,
        ) -> __llm_do::schemars::Schema {
            __llm_do::describe::<Self>(__generator)
        }
    }
    impl ::core::default::Default for ListFiles {
        fn default() -> Self {
            Self {
                root: __default_0(),
                limit: ::core::option::Option::None,
            }
        }
    }
    #[allow(dead_code, non_snake_case, private_interfaces, unreachable_pub)]
    #[allow(clippy::missing_const_for_fn)]
    impl ListFiles {
        /// Returns a call with these arguments, and the defaults of all other arguments.
        #[must_use]
        pub fn new() -> Self {
            Self {
                root: __default_0(),
                limit: ::core::option::Option::None,
            }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::NotResult as _;
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<()>>::FALLIBLE;
    impl<__Output> __llm_do::Tool for ListFiles
    where
        (): __llm_do::Yields<__FALLIBLE, Output = __Output>,
    {
        const NAME: &'static str = "list-files";
        type Output = __Output;
    }
    impl __llm_do::Toolset for ListFiles {
        const MEMBERS: &'static [__llm_do::Member] = &[
            __llm_do::Member::new("list-files"),
        ];
    }
    impl __llm_do::Keyed for ListFiles {
        type Key = __llm_do::Hex2<
            __llm_do::HexA<
                __llm_do::HexB<
                    __llm_do::Hex0<
                        __llm_do::HexB<
                            __llm_do::HexF<
                                __llm_do::HexC<
                                    __llm_do::HexA<
                                        __llm_do::Hex6<
                                            __llm_do::Hex6<__llm_do::Hex2<__llm_do::Hex6<()>>>,
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
            "list-files",
            __llm_do::Effect::Undeclared,
        );
    }
    impl __llm_do::Function for ListFiles {
        fn start(self, __ctx: &__llm_do::CallContext) -> __llm_do::Running {
            __llm_do::Running::inline(move || {
                let __returned = list_files(self.root, self.limit);
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
        __llm_do::ToolDef::tool:: < ListFiles > ("List files.",
        __llm_do::Location::new(::core::file!(), ::core::line!())
        .package(::core::option_env!("CARGO_PKG_NAME"),
        ::core::option_env!("CARGO_PKG_VERSION")),).output({ #[allow(unused_imports)] use
        __llm_do::NoSchema as _; < __llm_do::SchemaProbe << ListFiles as __llm_do::Tool >
        ::Output >> ::SCHEMA }).error({ #[allow(unused_imports)] use
        __llm_do::NoErrorType as _; < __llm_do::ErrorProbe < () >> ::TYPE })
    }
};
