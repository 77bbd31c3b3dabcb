/// The tracker.
///
///The tools of the MCP server `tracker`, as in `../tests/files/tracker.mcp.json`.
#[allow(
    missing_docs,
    missing_debug_implementations,
    non_camel_case_types,
    non_snake_case,
    unreachable_pub
)]
#[allow(
    dead_code,
    missing_copy_implementations,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    rustdoc::all
)]
pub mod tracker {
    #[allow(unused_imports)]
    use ::std::prelude::v1::*;
    #[derive(
        ::llm_do::__private::serde::Serialize,
        ::llm_do::__private::serde::Deserialize,
        ::llm_do::__private::schemars::JsonSchema
    )]
    #[serde(crate = "::llm_do::__private::serde")]
    #[schemars(crate = "::llm_do::__private::schemars")]
    #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
    #[derive(::core::cmp::PartialEq, ::core::cmp::Eq, ::core::hash::Hash)]
    pub enum CreateIssueState {
        #[serde(rename = "open")]
        Open,
        #[serde(rename = "closed")]
        Closed,
    }
    #[derive(
        ::llm_do::__private::serde::Serialize,
        ::llm_do::__private::serde::Deserialize,
        ::llm_do::__private::schemars::JsonSchema
    )]
    #[serde(crate = "::llm_do::__private::serde")]
    #[schemars(crate = "::llm_do::__private::schemars")]
    #[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq)]
    pub struct CreateIssueResult {
        #[serde(rename = "id")]
        pub id: ::core::primitive::i64,
    }
    ///Arguments of the tool `mcp__tracker__create_issue`.
    ///
    ///Creates an issue.
    #[allow(
        non_camel_case_types,
        non_snake_case,
        missing_debug_implementations,
        missing_docs,
        unreachable_pub
    )]
    #[allow(clippy::all, clippy::pedantic)]
    pub struct create_issue {
        ///One line.
        pub title: ::std::string::String,
        pub state: ::core::option::Option<CreateIssueState>,
    }
    impl create_issue {
        /// Returns a value without the optional fields.
        #[must_use]
        pub fn new(title: ::std::string::String) -> Self {
            Self {
                title,
                state: ::core::option::Option::None,
            }
        }
    }
    #[allow(deprecated, clippy::all, clippy::pedantic)]
    const _: () = {
        use ::llm_do::__private as __llm_do;
        static __ARGUMENT_0: __llm_do::Parameter<::std::string::String> = __llm_do::parameter::<
            ::std::string::String,
        >("title")
            .description("One line.");
        static __ARGUMENT_1: __llm_do::Parameter<
            ::core::option::Option<CreateIssueState>,
        > = __llm_do::parameter::<::core::option::Option<CreateIssueState>>("state");
        impl __llm_do::Arguments for create_issue {
            const PARAMETERS: &'static [&'static dyn __llm_do::Described] = &[
                &__ARGUMENT_0,
                &__ARGUMENT_1,
            ];
            #[allow(unused_variables)]
            fn read(
                __fields: &mut __llm_do::Fields,
            ) -> ::core::result::Result<Self, __llm_do::Fault> {
                ::core::result::Result::Ok(Self {
                    title: __ARGUMENT_0.read(__fields)?,
                    state: __ARGUMENT_1.read(__fields)?,
                })
            }
            #[allow(unused_variables)]
            fn read_text(
                __fields: &mut __llm_do::TextFields<'_>,
            ) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(Self {
                    title: __ARGUMENT_0.read_text(__fields)?,
                    state: __ARGUMENT_1.read_text(__fields)?,
                })
            }
            #[allow(unused_variables)]
            fn write(
                &self,
                __fields: &mut __llm_do::Fields,
            ) -> ::core::result::Result<(), __llm_do::Fault> {
                __ARGUMENT_0.write(&self.title, __fields)?;
                if ::core::option::Option::is_some(&self.state) {
                    __ARGUMENT_1.write(&self.state, __fields)?;
                }
                ::core::result::Result::Ok(())
            }
        }
        impl __llm_do::serde::Serialize for create_issue {
            fn serialize<__S: __llm_do::serde::Serializer>(
                &self,
                __serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                __llm_do::serialize(self, __serializer)
            }
        }
        impl<'de> __llm_do::serde::Deserialize<'de> for create_issue {
            fn deserialize<__D: __llm_do::serde::Deserializer<'de>>(
                __deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                __llm_do::deserialize(__deserializer)
            }
        }
        impl __llm_do::schemars::JsonSchema for create_issue {
            fn schema_name() -> __llm_do::Cow<'static, str> {
                __llm_do::Cow::Borrowed("create_issue")
            }
            fn schema_id() -> __llm_do::Cow<'static, str> {
                __llm_do::Cow::Borrowed(
                    ::core::concat!(::core::module_path!(), "::", "create_issue"),
                )
            }
            fn json_schema(
                __generator: &mut __llm_do::schemars::SchemaGenerator,
            ) -> __llm_do::schemars::Schema {
                __llm_do::describe::<Self>(__generator)
            }
        }
        impl __llm_do::Toolset for create_issue {
            const MEMBERS: &'static [__llm_do::Member] = &[
                __llm_do::Member::new("mcp__tracker__create_issue"),
            ];
        }
        impl __llm_do::Keyed for create_issue {
            type Key = __llm_do::Hex5<
                __llm_do::HexD<
                    __llm_do::Hex0<
                        __llm_do::HexD<
                            __llm_do::Hex7<
                                __llm_do::HexF<
                                    __llm_do::HexB<
                                        __llm_do::HexB<
                                            __llm_do::Hex4<
                                                __llm_do::HexF<__llm_do::Hex8<__llm_do::Hex5<()>>>,
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
                "mcp__tracker__create_issue",
                __llm_do::Effect::Undeclared,
            );
        }
        impl __llm_do::Tool for create_issue {
            const NAME: &'static str = "mcp__tracker__create_issue";
            type Output = CreateIssueResult;
        }
    };
    #[doc(hidden)]
    pub enum __McpToolset {}
    #[allow(deprecated, clippy::all, clippy::pedantic)]
    const _: () = {
        use ::llm_do::__private as __llm_do;
        impl __llm_do::Toolset for __McpToolset {
            const MEMBERS: &'static [__llm_do::Member] = &[
                __llm_do::Member::new("mcp__tracker__create_issue"),
            ];
        }
        impl<__Members: __llm_do::Includes> __llm_do::Includes for __McpToolset
        where
            create_issue: __llm_do::Alias<Of = __Members>,
        {
            type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
            type Effects<__Kept: __llm_do::Includes, __D: __llm_do::Depth> = __Members::Effects<
                __Kept,
                __D,
            >;
            type Inside<__I: __llm_do::NamedInstance> = __Members::Inside<__I>;
        }
        __llm_do::inventory::submit! {
            __llm_do::snapshot_definition("tracker", < __McpToolset as __llm_do::Toolset
            > ::MEMBERS,
            ::core::include_str!("CRATE/src/../tests/files/tracker.mcp.json"),
            __llm_do::Location::new(::core::file!(), ::core::line!()),)
        }
    };
}
