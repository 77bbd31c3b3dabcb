#[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps, clippy::unused_async)]
async fn review_all(
    ctx: &CallContext<review_all>,
    paths: Vec<PathBuf>,
) -> Result<Vec<Review>> {
    all(ctx, paths).await
}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const _: () = __llm_do::assert_argument::<Vec<PathBuf>>();
    #[allow(unused_imports)]
    use __llm_do::{NoSchema as _, NotResult as _};
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<Result<Vec<Review>>>>::FALLIBLE;
    impl __llm_do::Tool for review_all {
        const NAME: &'static str = "review_all";
        type Output = <Result<Vec<Review>> as __llm_do::Yields<__FALLIBLE>>::Output;
    }
    impl __llm_do::Toolset for review_all {
        const MEMBERS: &'static [__llm_do::Member] = &[
            __llm_do::Member::new("review_all"),
        ];
    }
    impl __llm_do::Keyed for review_all {
        type Key = __llm_do::key!(5 8 5 4 8 8 a 2 d a 6 9);
    }
    #[diagnostic::do_not_recommend]
    impl<__T> __llm_do::Declares<__T> for review_all
    where
        (reviewer, files::read_file): __llm_do::Includes<__T, Answer = __llm_do::Yes>,
    {}
    const __MEMBERS: &[&[__llm_do::Member]] = &[
        <reviewer as __llm_do::Toolset>::MEMBERS,
        <files::read_file as __llm_do::Toolset>::MEMBERS,
    ];
    const _: () = __llm_do::assert_unique("review_all", __MEMBERS);
    const __DECLARATION: __llm_do::Declaration = __llm_do::Declaration::new(
        __MEMBERS,
        &["by_name"],
    );
    impl __llm_do::Function for review_all {
        fn start(self, __ctx: &__llm_do::CallContext) -> __llm_do::Running {
            let __injected_0 = match <CallContext<
                review_all,
            > as __llm_do::FromContext>::from_context(__ctx) {
                ::core::result::Result::Ok(__value) => __value,
                ::core::result::Result::Err(__error) => {
                    return __llm_do::Running::failed(__error);
                }
            };
            __llm_do::Running::future(async move {
                __llm_do::returned::<
                    Result<Vec<Review>>,
                    __FALLIBLE,
                >(review_all(&__injected_0, self.paths).await)
            })
        }
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::entry:: < review_all > ("",
        __llm_do::Location::new(::core::file!(), ::core::line!()),).declares(&
        __DECLARATION).output(< __llm_do::SchemaProbe << review_all as __llm_do::Tool >
        ::Output >> ::SCHEMA)
    }
};
///Arguments of the entry `review_all`.
///
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
struct review_all {
    pub paths: Vec<PathBuf>,
}
