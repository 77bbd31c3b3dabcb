//! Toolsets that show short names to models.
//!
//! The registered names have a prefix, which models do not see, since a program may have a tool with the short name.

/// Defines a toolset with the members of `$of`, without the prefix of their names.
macro_rules! short_names {
    ($(#[doc = $doc:literal])* $name:ident($text:literal) = $of:ty, $prefix:literal) => {
        $(#[doc = $doc])*
        #[expect(non_camel_case_types, reason = "named as toolsets are")]
        #[derive(Debug)]
        pub enum $name {}

        impl llm_do_core::declare::toolset::Toolset for $name {
            const MEMBERS: &'static [llm_do_core::declare::toolset::Member] = {
                const MEMBERS: &[llm_do_core::declare::toolset::Member] = <$of as llm_do_core::declare::toolset::Toolset>::MEMBERS;
                &llm_do_core::declare::toolset::unprefixed::<{ MEMBERS.len() }>($prefix, MEMBERS)
            };
        }

        impl llm_do_core::declare::toolset::Includes for $name {
            type Answer<T: llm_do_core::declare::toolset::Keyed> = <$of as llm_do_core::declare::toolset::Includes>::Answer<T>;
            type Effects<Kept: llm_do_core::declare::toolset::Includes, D: llm_do_core::declare::toolset::Depth> =
                <$of as llm_do_core::declare::toolset::Includes>::Effects<Kept, D>;
            type Inside<I: llm_do_core::declare::toolset::NamedInstance> =
                <$of as llm_do_core::declare::toolset::Includes>::Inside<I>;
        }

        inventory::submit! {
            llm_do_core::plane::definition::ToolsetDef::new(
                $text,
                concat!($($doc, "\n"),*),
                <$name as llm_do_core::declare::toolset::Toolset>::MEMBERS,
                llm_do_core::plane::definition::Location::new(file!(), line!()),
            )
        }
    };
}

pub(super) use short_names;
