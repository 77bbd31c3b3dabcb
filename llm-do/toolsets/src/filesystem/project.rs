//! The tools for the files of the project: arguments for typed calls.

#![expect(clippy::missing_errors_doc, reason = "the docs of a tool are what models read")]

use llm_do_core::plane::definition::EnvironmentDef;

use super::settings::Filesystem;

inventory::submit! {
    EnvironmentDef {
        tools: &["project_write_file", "project_edit_file", "project_move_file", "project_delete_file"],
        describe: environment,
    }
}

/// Returns the root of the tools, relative to the project's root.
fn environment(ctx: &CallContext) -> String {
    let settings = ctx.state::<Filesystem>().map(|settings| Filesystem::clone(&settings)).unwrap_or_default();
    settings.root_in(ctx.project_root()).to_string_lossy().into_owned()
}

super::tools::tools! {
    /// The tools for files of the project, by their registered names; see `filesystem_project`.
    ProjectFiles("project_files"), of_project,
    "project_read_file", "project_write_file", "project_edit_file", "project_list_files", "project_search_files",
    "project_move_file", "project_delete_file"
}
