#[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps, clippy::unused_async)]
/// Count rows.
async fn count(
    ctx: &dyn ToolContext,
    table: String,
    db: State<Database>,
    clock: &Clock,
) -> Result<u64> {
    db.count(table).await
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const _: () = __llm_do::assert_argument::<String>();
    #[allow(unused_imports)]
    use __llm_do::{NoSchema as _, NotResult as _};
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<Result<u64>>>::FALLIBLE;
    impl __llm_do::Tool for count {
        const NAME: &'static str = "count";
        type Output = <Result<u64> as __llm_do::Yields<__FALLIBLE>>::Output;
    }
    impl __llm_do::Toolset for count {
        const MEMBERS: &'static [__llm_do::Member] = &[__llm_do::Member::new("count")];
    }
    impl __llm_do::Keyed for count {
        type Key = __llm_do::key!(b 1 e 5 e 2 8 e 4 4 7 9);
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
                __llm_do::returned::<
                    Result<u64>,
                    __FALLIBLE,
                >(count(&__injected_0, self.table, __injected_1, &__injected_2).await)
            })
        }
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::tool:: < count > ("Count rows.",
        __llm_do::Location::new(::core::file!(), ::core::line!()),).state(&
        [__llm_do::StateKey::of:: < Database >]).output(< __llm_do::SchemaProbe << count
        as __llm_do::Tool > ::Output >> ::SCHEMA)
    }
};
///Arguments of the tool `count`.
///
/// Count rows.
#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
#[allow(clippy::all, clippy::pedantic)]
#[derive(
    ::llm_do::__private::serde::Serialize,
    ::llm_do::__private::serde::Deserialize,
    ::llm_do::__private::schemars::JsonSchema
)]
#[serde(crate = "::llm_do::__private::serde", deny_unknown_fields)]
#[schemars(crate = "::llm_do::__private::schemars")]
struct count {
    pub table: String,
}
