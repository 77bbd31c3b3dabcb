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

        impl crate::declare::toolset::Toolset for $name {
            const MEMBERS: &'static [crate::declare::toolset::Member] = {
                const MEMBERS: &[crate::declare::toolset::Member] = <$of as crate::declare::toolset::Toolset>::MEMBERS;
                &crate::declare::toolset::unprefixed::<{ MEMBERS.len() }>($prefix, MEMBERS)
            };
        }

        impl crate::declare::toolset::Includes for $name {
            type Answer<T: crate::declare::toolset::Keyed> = <$of as crate::declare::toolset::Includes>::Answer<T>;
            type Effects<Kept: crate::declare::toolset::Includes, D: crate::declare::toolset::Depth> =
                <$of as crate::declare::toolset::Includes>::Effects<Kept, D>;
            type Inside<I: crate::declare::toolset::NamedInstance> =
                <$of as crate::declare::toolset::Includes>::Inside<I>;
        }

        inventory::submit! {
            crate::plane::definition::ToolsetDef::new(
                $text,
                concat!($($doc, "\n"),*),
                <$name as crate::declare::toolset::Toolset>::MEMBERS,
                crate::plane::definition::Location::new(file!(), line!()),
            )
        }
    };
}

pub(super) use short_names;
