//! The toolsets: the same tools under short names.
//!
//! A program may have a `read_file` of its own, so the registered names have a prefix, which models do not see.

use llm_do_macros::toolset;

use super::{cwd, project};
use crate::declare::toolset::{Includes, Keyed, Member, Toolset, unprefixed};
use crate::plane::definition::{Location, ToolsetDef};

/// Defines a toolset with the members of `$of`, without the prefix of their names.
macro_rules! short_names {
    ($(#[doc = $doc:literal])* $name:ident($text:literal) = $of:ty, $prefix:literal) => {
        $(#[doc = $doc])*
        #[expect(non_camel_case_types, reason = "named as toolsets are")]
        #[derive(Debug)]
        pub enum $name {}

        impl Toolset for $name {
            const MEMBERS: &'static [Member] =
                &unprefixed::<{ <$of as Toolset>::MEMBERS.len() }>($prefix, <$of as Toolset>::MEMBERS);
        }

        impl Includes for $name {
            type Answer<T: Keyed> = <$of as Includes>::Answer<T>;
        }

        inventory::submit! {
            ToolsetDef::new(
                $text,
                concat!($($doc, "\n"),*),
                <$name as Toolset>::MEMBERS,
                Location::new(file!(), line!()),
            )
        }
    };
}

short_names! {
    /// Read, search and change the files of the project.
    filesystem_project("filesystem_project") = project::ProjectFiles, "project_"
}

short_names! {
    /// Read, search and change the files in the working directory.
    filesystem_cwd("filesystem_cwd") = cwd::CwdFiles, "cwd_"
}

toolset! {
    /// Read and search the files of the project.
    pub filesystem_project_ro =
        [filesystem_project.only([project::read_file, project::list_files, project::search_files])];

    /// Read and search the files in the working directory.
    pub filesystem_cwd_ro = [filesystem_cwd.only([cwd::read_file, cwd::list_files, cwd::search_files])];
}
