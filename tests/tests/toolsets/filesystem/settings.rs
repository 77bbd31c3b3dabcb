//! The settings, the toolsets and their roots.

use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::toolsets::filesystem::{
    Filesystem, cwd, filesystem_cwd, filesystem_cwd_ro, filesystem_project, filesystem_project_ro, project,
};
use llm_do::usage::Usage;
use llm_do::{Runtime, Toolset};
use serde_json::json;

use super::{Project, fault};

#[tokio::test]
async fn hidden_files_are_in_no_answer() {
    let project = Project::with(Filesystem::new().hide(".env").hide("/keys/"));
    for path in [".env", "sub/.env", "keys/a.txt", "sub/keys/b.txt", "plain.txt"] {
        project.put(path, "token");
    }
    assert_eq!(project.list(".").await.unwrap(), "plain.txt\nsub/keys/b.txt");
    assert!(project.search("token").await.unwrap().ends_with("[2 matches in 2 files]"));
    for path in [".env", "sub/.env", "keys/a.txt", "sub/../.env", ".ENV"] {
        if project.has(path) {
            assert!(fault(project.read(path).await).ends_with("is hidden by the application"), "{path}");
        }
        assert!(fault(project.write(path, "").await).ends_with("is hidden by the application"), "{path}");
    }
    assert_eq!(fault(project.list("keys").await), "`keys` is hidden by the application");
    assert!(fault(project.rename("keys/a.txt", "b.txt").await).ends_with("is hidden by the application"));
    assert!(fault(project.rename("plain.txt", "keys/b.txt").await).ends_with("is hidden by the application"));
    assert!(fault(project.delete(".env").await).ends_with("is hidden by the application"));
}

#[cfg(unix)]
#[tokio::test]
async fn hidden_and_protected_files_stay_so_behind_links() {
    let project = Project::with(Filesystem::new().hide("secret.txt").hide("/keys"));
    project.put("secret.txt", "token");
    project.put("keys/a.txt", "token");
    project.put(".git/config", "");
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, project.root().join(name)).unwrap();
    link("secret.txt", "file");
    link("keys", "folder");
    link(".git", "repository");
    link("file", "twice");
    for path in ["file", "twice", "folder/a.txt"] {
        assert!(fault(project.read(path).await).ends_with("is hidden by the application"), "{path}");
    }
    assert!(fault(project.list("folder").await).ends_with("is hidden by the application"));
    let protected = "is protected by the application: it can be read, but not changed";
    assert!(fault(project.write("repository/hooks/pre-commit", "").await).ends_with(protected));
    assert!(fault(project.edit("repository/config", "a", "b").await).ends_with(protected));
}

#[tokio::test]
async fn the_git_folder_is_read_but_not_changed() {
    let project = Project::new();
    project.put(".git/HEAD", "ref: refs/heads/main\n");
    project.put("sub/.git/HEAD", "ref");
    assert!(project.read(".git/HEAD").await.is_ok());
    let protected = "is protected by the application: it can be read, but not changed";
    for failed in [
        project.write(".git/hooks/pre-commit", "#!/bin/sh").await,
        project.write(".GIT/hooks/pre-commit", "#!/bin/sh").await,
        project.write("a/../.git/config", "").await,
        project.write("sub/.git/HEAD", "").await,
        project.write("new/.git/config", "").await,
        project.edit(".git/HEAD", "main", "other").await,
        project.rename(".git/HEAD", "head").await,
        project.delete(".git/HEAD").await,
    ] {
        let text = fault(failed);
        assert!(text.ends_with(protected) || text == "`a` does not exist, so `..` cannot follow it", "{text}");
    }
    assert!(!project.has(".git/hooks") && !project.has(".GIT/hooks"), "no folder is created before the check");
}

#[tokio::test]
async fn the_protection_of_git_can_be_removed() {
    let project = Project::with(Filesystem::new().protect("!.git").protect("*.lock"));
    assert!(project.write(".git/info/exclude", "target").await.is_ok());
    assert!(fault(project.write(".git/index.lock", "").await).contains("is protected by the application"));
}

#[tokio::test]
async fn read_only_settings_refuse_every_change() {
    let project = Project::with(Filesystem::new().read_only());
    project.put("a.txt", "one");
    assert_eq!(project.read("a.txt").await.unwrap(), "     1\tone");
    for failed in [
        project.write("b/c.txt", "").await,
        project.edit("a.txt", "one", "two").await,
        project.rename("a.txt", "b.txt").await,
        project.delete("a.txt").await,
    ] {
        assert_eq!(fault(failed), "the files are read-only: the application allows no changes");
    }
    assert!(!project.has("b"));
}

#[tokio::test]
async fn the_size_of_files_is_limited() {
    let project = Project::with(Filesystem::new().max_bytes(5));
    project.put("five", "12345");
    project.put("six", "123456");
    assert!(project.read("five").await.is_ok());
    let large = "`six` has 6 bytes; the maximum is 5; search it with `search_files`";
    assert_eq!(fault(project.read("six").await), large);
    assert_eq!(fault(project.write("new", "123456").await), "`new` has 6 bytes; the maximum is 5");
    assert!(project.write("six", "123").await.is_ok(), "a larger file may be replaced");
}

#[tokio::test]
async fn an_invalid_pattern_of_the_settings_fails_every_call() {
    let project = Project::with(Filesystem::new().hide("[z-a]").protect("b"));
    project.put("a.txt", "");
    assert!(fault(project.read("a.txt").await).starts_with("invalid pattern `[z-a]` in the application's settings: "));
}

#[tokio::test]
async fn the_root_may_be_a_folder_of_the_project() {
    let project = Project::with(Filesystem::new().root("site"));
    project.put("site/a.txt", "one");
    project.put("b.txt", "two");
    assert_eq!(project.list(".").await.unwrap(), "a.txt");
    assert!(fault(project.read("../b.txt").await).contains("is outside the root folder"));
}

#[tokio::test]
async fn each_run_may_have_its_own_root_and_settings() {
    let (one, other) = (Project::new(), Project::new());
    one.put("a.txt", "one");
    other.put("b.txt", "two");
    let list = || project::list_files { limit: 9, ..Default::default() };
    assert_eq!(one.runtime.run(list()).await.unwrap(), "a.txt");
    assert_eq!(one.runtime.start(list()).project_root(other.root()).await.unwrap(), "b.txt");
    let hiding = one.runtime.start(list()).state(Filesystem::new().hide("*.txt"));
    assert_eq!(hiding.await.unwrap(), "[no file found]");
}

#[tokio::test]
async fn a_missing_root_is_an_error_of_the_call() {
    let runtime = Runtime::builder().project_root("/no such folder").build().unwrap();
    let error = runtime.run(project::list_files::default()).await.unwrap_err();
    let text = llm_do::error::chain(&error);
    assert!(text.starts_with("`project_list_files` failed: cannot open the root folder `/no such folder`: "), "{text}");
}

#[tokio::test]
async fn the_working_directory_is_the_root_of_the_other_toolset() {
    let runtime = Runtime::builder().project_root("/no such folder").build().unwrap();
    let listed = runtime.run(cwd::list_files { pattern: Some("Cargo.*".into()), ..Default::default() }).await.unwrap();
    assert_eq!(listed, "Cargo.toml");
}

/// Edits files.
#[worker(toolsets = [filesystem_project])]
async fn editor(task: String) -> String;

/// Reads files.
#[worker(toolsets = [filesystem_project_ro, prefixed("cwd_", filesystem_cwd_ro)])]
async fn reader(task: String) -> String;

/// Returns the names that models see.
fn names<T: Toolset>() -> Vec<&'static str> {
    let mut names = Vec::new();
    for member in T::MEMBERS {
        names.push(member.shown());
    }
    names
}

#[test]
fn models_see_short_names_and_read_only_toolsets_change_nothing() {
    let all = ["read_file", "write_file", "edit_file", "list_files", "search_files", "move_file", "delete_file"];
    assert_eq!(names::<filesystem_project>(), all);
    assert_eq!(names::<filesystem_cwd>(), all);
    let reading = ["read_file", "list_files", "search_files"];
    assert_eq!(names::<filesystem_project_ro>(), reading);
    assert_eq!(names::<filesystem_cwd_ro>(), reading);
}

#[tokio::test]
async fn a_model_reads_and_edits_a_file_with_the_diff_approved() {
    let project = Project::new();
    project.put("a.txt", "one\ntwo\n");
    let model = FunctionModel::new(|request: Request<'_>| {
        let results = request.messages.iter().filter(|message| matches!(message, Message::Tool { .. })).count();
        let call = |name: &str, arguments: serde_json::Value| {
            ResponsePart::ToolCall(ToolCall::new("1", name, arguments.to_string()))
        };
        let part = match results {
            0 => call("read_file", json!({ "path": "a.txt" })),
            1 => call("edit_file", json!({ "path": "a.txt", "old_text": "two", "new_text": "2" })),
            2 => call("search_files", json!({ "regex": "2" })),
            _ => ResponsePart::Text { text: "done".into() },
        };
        Ok(Response::new("test", vec![part], Usage::of_request(1, 1)))
    });
    let runtime = Runtime::builder()
        .project_root(project.root())
        .force_model(model)
        .approve_with(|request| async move {
            assert_eq!((&*request.tool, &*request.summary()), ("project_edit_file", "edit a.txt"));
            assert_eq!(request.preview.as_deref(), Some("--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2"));
            llm_do::approval::Decision::approve()
        })
        .build()
        .unwrap();
    assert_eq!(runtime.run(editor { task: "edit".into() }).await.unwrap(), "done");
    assert_eq!(project.content("a.txt"), "one\n2\n");
}
