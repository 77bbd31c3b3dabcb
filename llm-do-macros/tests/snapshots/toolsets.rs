/// Files of the project.
#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    clippy::all,
    clippy::pedantic
)]
pub enum filesystem {}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const __MEMBERS: &[&[&str]] = &[
        <read_file as __llm_do::Toolset>::NAMES,
        <more::list_files as __llm_do::Toolset>::NAMES,
    ];
    const _: () = __llm_do::assert_unique("filesystem", __MEMBERS);
    impl __llm_do::Toolset for filesystem {
        const NAMES: &'static [&'static str] = &__llm_do::concat::<
            { __llm_do::count(__MEMBERS) },
        >(__MEMBERS);
    }
    #[diagnostic::do_not_recommend]
    impl<__T, __I> __llm_do::Includes<__T, __llm_do::In<0usize, __I>> for filesystem
    where
        read_file: __llm_do::Includes<__T, __I>,
    {}
    #[diagnostic::do_not_recommend]
    impl<__T, __I> __llm_do::Includes<__T, __llm_do::In<1usize, __I>> for filesystem
    where
        more::list_files: __llm_do::Includes<__T, __I>,
    {}
    __llm_do::inventory::submit! {
        __llm_do::ToolsetDef::new("filesystem", "Files of the project.", < filesystem as
        __llm_do::Toolset > ::NAMES, __llm_do::Location::new(::core::file!(),
        ::core::line!()),)
    }
};
#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    clippy::all,
    clippy::pedantic
)]
enum everything {}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const __MEMBERS: &[&[&str]] = &[<filesystem as __llm_do::Toolset>::NAMES];
    const _: () = __llm_do::assert_unique("everything", __MEMBERS);
    impl __llm_do::Toolset for everything {
        const NAMES: &'static [&'static str] = &__llm_do::concat::<
            { __llm_do::count(__MEMBERS) },
        >(__MEMBERS);
    }
    #[diagnostic::do_not_recommend]
    impl<__T, __I> __llm_do::Includes<__T, __llm_do::In<0usize, __I>> for everything
    where
        filesystem: __llm_do::Includes<__T, __I>,
    {}
    #[diagnostic::do_not_recommend]
    impl __llm_do::Includes<__llm_do::Nothing, __llm_do::In<1usize, __llm_do::Here>>
    for everything {}
    __llm_do::inventory::submit! {
        __llm_do::ToolsetDef::new("everything", "", < everything as __llm_do::Toolset >
        ::NAMES, __llm_do::Location::new(::core::file!(), ::core::line!()),)
    }
};
