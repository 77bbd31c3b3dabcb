#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const _: () = __llm_do::assert_argument::<PathBuf>();
    #[allow(unused_imports)]
    use __llm_do::{NoSchema as _, NotResult as _};
    const __FALLIBLE: bool = <__llm_do::ReturnProbe<Review>>::FALLIBLE;
    impl __llm_do::Tool for reviewer {
        const NAME: &'static str = "reviewer";
        type Output = <Review as __llm_do::Yields<__FALLIBLE>>::Output;
    }
    impl __llm_do::Toolset for reviewer {
        const MEMBERS: &'static [__llm_do::Member] = &[
            __llm_do::Member::new("reviewer"),
        ];
    }
    impl __llm_do::Keyed for reviewer {
        type Key = __llm_do::key!(9 f d 5 b 9 5 2 4 7 3 6);
    }
    #[diagnostic::do_not_recommend]
    impl<__T> __llm_do::Declares<__T> for reviewer
    where
        read_file: __llm_do::Includes<__T, Answer = __llm_do::Yes>,
    {}
    const __MEMBERS: &[&[__llm_do::Member]] = &[
        <read_file as __llm_do::Toolset>::MEMBERS,
    ];
    const _: () = __llm_do::assert_unique("reviewer", __MEMBERS);
    const __DECLARATION: __llm_do::Declaration = __llm_do::Declaration::new(
        __MEMBERS,
        &[],
    );
    __llm_do::inventory::submit! {
        __llm_do::ToolDef::worker:: < reviewer, < Review as __llm_do::Yields < __FALLIBLE
        >> ::Output > ("Review one file.", __llm_do::Location::new(::core::file!(),
        ::core::line!()), __llm_do::WorkerDef::new(include_str!("reviewer.md"))
        .model("anthropic:claude-sonnet-4-5").compatible_models(& ["anthropic:*"])
        .max_turns(8).retries(1),).declares(& __DECLARATION)
    }
};
///Arguments of the worker `reviewer`.
///
/// Review one file.
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
pub struct reviewer {
    /// File to review.
    pub path: PathBuf,
}
