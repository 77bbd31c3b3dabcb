//! The toolsets: the same tools under short names.

use llm_do_macros::toolset;

use super::super::short_names::short_names;
use super::{cwd, project};

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
