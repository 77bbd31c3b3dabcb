#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    clippy::all,
    clippy::pedantic
)]
enum formed {}
#[allow(deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::llm_do::__private as __llm_do;
    const __LIST_0: &[__llm_do::Member] = <files as __llm_do::Toolset>::MEMBERS;
    const __LIST_1: &[__llm_do::Member] = &__llm_do::picked::<
        {
            __llm_do::count_picked(
                __LIST_0,
                &[
                    <write as __llm_do::Toolset>::MEMBERS,
                    <more::list as __llm_do::Toolset>::MEMBERS,
                ],
                false,
            )
        },
    >(
        __LIST_0,
        &[
            <write as __llm_do::Toolset>::MEMBERS,
            <more::list as __llm_do::Toolset>::MEMBERS,
        ],
        false,
    );
    const __LIST_2: &[__llm_do::Member] = __LIST_1;
    const __LIST_3: &[__llm_do::Member] = &__llm_do::prefixed::<
        { __LIST_2.len() },
    >("fs_", __LIST_2);
    const __LIST_4: &[__llm_do::Member] = <read as __llm_do::Toolset>::MEMBERS;
    const __LIST_5: &[__llm_do::Member] = &__llm_do::picked::<
        {
            __llm_do::count_picked(
                __LIST_4,
                &[<read as __llm_do::Toolset>::MEMBERS],
                true,
            )
        },
    >(__LIST_4, &[<read as __llm_do::Toolset>::MEMBERS], true);
    const _: () = __llm_do::assert_picked(
        "write",
        <write as __llm_do::Toolset>::MEMBERS,
        "files",
        __LIST_0,
    );
    const _: () = __llm_do::assert_picked(
        "more::list",
        <more::list as __llm_do::Toolset>::MEMBERS,
        "files",
        __LIST_0,
    );
    const _: () = __llm_do::assert_prefixed("fs_", __LIST_2);
    const _: () = __llm_do::assert_picked(
        "read",
        <read as __llm_do::Toolset>::MEMBERS,
        "read",
        __LIST_4,
    );
    const __MEMBERS: &[&[__llm_do::Member]] = &[__LIST_3, __LIST_5];
    const _: () = __llm_do::assert_unique("formed", __MEMBERS);
    #[allow(
        dead_code,
        non_camel_case_types,
        non_upper_case_globals,
        unused_imports,
        unused_macros
    )]
    const _: () = {
        mod __stand_ins {
            pub type files = ::llm_do::__private::NoType;
            pub const files: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
            pub type write = ::llm_do::__private::NoType;
            pub const write: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
            pub type read = ::llm_do::__private::NoType;
            pub const read: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
        }
        macro_rules! files {
            () => {};
        }
        use files as __member_0;
        macro_rules! write {
            () => {};
        }
        use write as __member_1;
        macro_rules! read {
            () => {};
        }
        use read as __member_2;
        const _: () = {
            use __member_0 as files;
            use __member_1 as write;
            use __member_2 as read;
            use __stand_ins::*;
            __llm_do::assert_listed::<files, _>(&files);
            __llm_do::assert_listed::<write, _>(&write);
            __llm_do::assert_listed::<read, _>(&read);
        };
        const _: () = {
            mod __module {}
            macro_rules! more {
                () => {};
            }
            const _: () = {
                use more as __module;
                mod __stand_ins {
                    pub type list = ::llm_do::__private::NoType;
                    pub const list: ::llm_do::__private::NoValue = ::llm_do::__private::NoValue;
                }
                use __stand_ins::*;
                const _: () = {
                    use __module::*;
                    __llm_do::assert_listed::<list, _>(&list);
                };
            };
        };
    };
    impl __llm_do::Toolset for formed {
        const MEMBERS: &'static [__llm_do::Member] = &__llm_do::concat::<
            { __llm_do::count(__MEMBERS) },
        >(__MEMBERS);
    }
    impl<__Members: __llm_do::Includes> __llm_do::Includes for formed
    where
        (
            __llm_do::Except<files, (write, more::list)>,
            __llm_do::Only<read, read>,
        ): __llm_do::Alias<Of = __Members>,
    {
        type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
        type Effects<__Kept: __llm_do::Includes, __D: __llm_do::Depth> = __Members::Effects<
            __Kept,
            __D,
        >;
        type Inside<__I: __llm_do::NamedInstance> = __Members::Inside<__I>;
    }
    __llm_do::inventory::submit! {
        __llm_do::ToolsetDef::new("formed", "", < formed as __llm_do::Toolset >
        ::MEMBERS, __llm_do::Location::new(::core::file!(), ::core::line!()),)
    }
};
