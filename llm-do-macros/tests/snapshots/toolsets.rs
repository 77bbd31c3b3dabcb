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
    const __MEMBERS: &[&[__llm_do::Member]] = &[
        <read_file as __llm_do::Toolset>::MEMBERS,
        <more::list_files as __llm_do::Toolset>::MEMBERS,
    ];
    const _: () = __llm_do::assert_unique("filesystem", __MEMBERS);
    impl __llm_do::Toolset for filesystem {
        const MEMBERS: &'static [__llm_do::Member] = &__llm_do::concat::<
            { __llm_do::count(__MEMBERS) },
        >(__MEMBERS);
    }
    impl<__Members: __llm_do::Includes> __llm_do::Includes for filesystem
    where
        (read_file, more::list_files): __llm_do::Alias<Of = __Members>,
    {
        type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolsetDef::new("filesystem", "Files of the project.", < filesystem as
        __llm_do::Toolset > ::MEMBERS, __llm_do::Location::new(::core::file!(),
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
    const __MEMBERS: &[&[__llm_do::Member]] = &[
        <filesystem as __llm_do::Toolset>::MEMBERS,
    ];
    const _: () = __llm_do::assert_unique("everything", __MEMBERS);
    impl __llm_do::Toolset for everything {
        const MEMBERS: &'static [__llm_do::Member] = &__llm_do::concat::<
            { __llm_do::count(__MEMBERS) },
        >(__MEMBERS);
    }
    impl<__Members: __llm_do::Includes> __llm_do::Includes for everything
    where
        filesystem: __llm_do::Alias<Of = __Members>,
    {
        type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolsetDef::new("everything", "", < everything as __llm_do::Toolset >
        ::MEMBERS, __llm_do::Location::new(::core::file!(), ::core::line!()),)
    }
};
