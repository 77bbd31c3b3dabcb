//! The tools for the files in the working directory: arguments for typed calls.

#![expect(clippy::missing_errors_doc, reason = "the docs of a tool are what models read")]

super::tools::tools! {
    /// The tools for files in the working directory, by their registered names; see `filesystem_cwd`.
    CwdFiles("cwd_files"), of_working_directory,
    "cwd_read_file", "cwd_write_file", "cwd_edit_file", "cwd_list_files", "cwd_search_files", "cwd_move_file",
    "cwd_delete_file"
}
