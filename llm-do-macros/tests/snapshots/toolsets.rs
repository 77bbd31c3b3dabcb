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
    #[allow(
        dead_code,
        non_camel_case_types,
        non_upper_case_globals,
        unused_imports,
        unused_macros
    )]
    const _: () = {
        mod __stand_ins {
            pub type read_file = ::llm_do::__private::NoType;
            pub const read_file: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
        }
        macro_rules! read_file {
            () => {};
        }
        use read_file as __member_0;
        const _: () = {
            use __member_0 as read_file;
            use __stand_ins::*;
            __llm_do::assert_listed::<read_file, _>(&read_file);
        };
        const _: () = {
            mod __module {}
            macro_rules! more {
                () => {};
            }
            const _: () = {
                use more as __module;
                mod __stand_ins {
                    pub type list_files = ::llm_do::__private::NoType;
                    pub const list_files: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
                }
                use __stand_ins::*;
                const _: () = {
                    use __module::*;
                    __llm_do::assert_listed::<list_files, _>(&list_files);
                };
            };
        };
    };
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
        type Effects<__Kept: __llm_do::Includes, __D: __llm_do::Depth> = __Members::Effects<
            __Kept,
            __D,
        >;
        type Inside<__I: __llm_do::NamedInstance> = __Members::Inside<__I>;
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
    #[allow(
        dead_code,
        non_camel_case_types,
        non_upper_case_globals,
        unused_imports,
        unused_macros
    )]
    const _: () = {
        mod __stand_ins {
            pub type filesystem = ::llm_do::__private::NoType;
            pub const filesystem: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
        }
        macro_rules! filesystem {
            () => {};
        }
        use filesystem as __member_0;
        const _: () = {
            use __member_0 as filesystem;
            use __stand_ins::*;
            __llm_do::assert_listed::<filesystem, _>(&filesystem);
        };
    };
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
        type Effects<__Kept: __llm_do::Includes, __D: __llm_do::Depth> = __Members::Effects<
            __Kept,
            __D,
        >;
        type Inside<__I: __llm_do::NamedInstance> = __Members::Inside<__I>;
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolsetDef::new("everything", "", < everything as __llm_do::Toolset >
        ::MEMBERS, __llm_do::Location::new(::core::file!(), ::core::line!()),)
    }
};
