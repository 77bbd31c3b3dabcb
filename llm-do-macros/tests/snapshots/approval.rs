#[allow(
    clippy::missing_const_for_fn,
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    clippy::unused_async
)]
/// Write a file.
fn write(path: &str, text: String) {}
///Arguments of the tool `write`.
///
/// Write a file.
#[allow(
    non_camel_case_types,
    non_snake_case,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
struct write {
    pub path: ::std::string::String,
    pub text: String,
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    static __ARGUMENT_0: __llm_do::Parameter<::std::string::String> = __llm_do::parameter::<
        ::std::string::String,
    >("path");
    static __ARGUMENT_1: __llm_do::Parameter<String> = __llm_do::parameter::<
        String,
    >("content");
    impl __llm_do::Arguments for write {
        const PARAMETERS: &'static [&'static dyn __llm_do::Described] = &[
            &__ARGUMENT_0,
            &__ARGUMENT_1,
        ];
        #[allow(unused_variables)]
        fn read(
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<Self, __llm_do::Fault> {
            ::core::result::Result::Ok(Self {
                path: __ARGUMENT_0.read(__fields)?,
                text: __ARGUMENT_1.read(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn read_text(
            __fields: &mut __llm_do::TextFields<'_>,
        ) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self {
                path: __ARGUMENT_0.read_text(__fields)?,
                text: __ARGUMENT_1.read_text(__fields)?,
            })
        }
        #[allow(unused_variables)]
        fn write(
            &self,
            __fields: &mut __llm_do::Fields,
        ) -> ::core::result::Result<(), __llm_do::Fault> {
            __ARGUMENT_0.write(&self.path, __fields)?;
            __ARGUMENT_1.write(&self.text, __fields)?;
            ::core::result::Result::Ok(())
        }
    }
    impl __llm_do::serde::Serialize for write {
        fn serialize<__S: __llm_do::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            __llm_do::serialize(self, __serializer)
        }
    }
    impl<'de> __llm_do::serde::Deserialize<'de> for write {
        fn deserialize<__D: __llm_do::serde::Deserializer<'de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            __llm_do::deserialize(__deserializer)
        }
    }
    impl __llm_do::schemars::JsonSchema for write {
        fn schema_name() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed("write")
        }
        fn schema_id() -> __llm_do::Cow<'static, str> {
            __llm_do::Cow::Borrowed(
                ::core::concat!(::core::module_path!(), "::", "write"),
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
    impl write {
        /// Returns a call with these arguments, and the defaults of all other arguments.
        #[must_use]
        pub fn new(path: ::std::string::String, text: String) -> Self {
            Self { path, text }
        }
    }
    #[allow(unused_imports)]
    use __llm_do::NotResult as _;
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<()>>::FALLIBLE;
    impl<__Output> __llm_do::Tool for write
    where
        (): __llm_do::Yields<__FALLIBLE, Output = __Output>,
    {
        const NAME: &'static str = "write";
        type Output = __Output;
    }
    impl __llm_do::Toolset for write {
        const MEMBERS: &'static [__llm_do::Member] = &[__llm_do::Member::new("write")];
    }
    impl __llm_do::Keyed for write {
        type Key = __llm_do::HexB<
            __llm_do::Hex9<
                __llm_do::Hex3<
                    __llm_do::HexA<
                        __llm_do::Hex1<
                            __llm_do::Hex2<
                                __llm_do::HexB<
                                    __llm_do::Hex0<
                                        __llm_do::HexD<
                                            __llm_do::Hex0<__llm_do::Hex6<__llm_do::HexC<()>>>,
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
            "write",
            __llm_do::Effect::Undeclared,
        );
    }
    impl __llm_do::Function for write {
        fn start(self, __ctx: &__llm_do::CallContext) -> __llm_do::Running {
            __llm_do::Running::blocking(move || {
                let __returned = write(&self.path, self.text);
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
        __llm_do::ToolDef::tool:: < write > ("Write a file.",
        __llm_do::Location::new(::core::file!(), ::core::line!())
        .package(::core::option_env!("CARGO_PKG_NAME"),
        ::core::option_env!("CARGO_PKG_VERSION")),)
        .approval(__llm_do::DeclaredRule::Blocked("not here"))
        .summary("{{write}} {content} to {path}").output({ #[allow(unused_imports)] use
        __llm_do::NoSchema as _; < __llm_do::SchemaProbe << write as __llm_do::Tool >
        ::Output >> ::SCHEMA }).error({ #[allow(unused_imports)] use
        __llm_do::NoErrorType as _; < __llm_do::ErrorProbe < () >> ::TYPE })
    }
};
#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    clippy::all,
    clippy::pedantic
)]
pub enum files {}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const __MEMBERS: &[&[__llm_do::Member]] = &[<write as __llm_do::Toolset>::MEMBERS];
    const _: () = __llm_do::assert_unique("files", __MEMBERS);
    #[allow(
        dead_code,
        non_camel_case_types,
        non_upper_case_globals,
        unused_imports,
        unused_macros
    )]
    const _: () = {
        mod __stand_ins {
            pub type write = ::llm_do::__private::NoType;
            pub const write: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
        }
        macro_rules! write {
            () => {};
        }
        use write as __member_0;
        const _: () = {
            use __member_0 as write;
            use __stand_ins::*;
            __llm_do::assert_listed::<write, _>(&write);
        };
    };
    impl __llm_do::Toolset for files {
        const MEMBERS: &'static [__llm_do::Member] = &__llm_do::concat::<
            { __llm_do::count(__MEMBERS) },
        >(__MEMBERS);
    }
    impl<__Members: __llm_do::Includes> __llm_do::Includes for files
    where
        write: __llm_do::Alias<Of = __Members>,
    {
        type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
        type Effects<__Kept: __llm_do::Includes, __D: __llm_do::Depth> = __Members::Effects<
            __Kept,
            __D,
        >;
        type Inside<__I: __llm_do::NamedInstance> = __Members::Inside<__I>;
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolsetDef::new("files", "", < files as __llm_do::Toolset > ::MEMBERS,
        __llm_do::Location::new(::core::file!(), ::core::line!()),)
        .approval(__llm_do::DeclaredRule::Ask).on_unknown(__llm_do::OnUnknown::Report)
    }
};
