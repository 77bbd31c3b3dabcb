//! For drawn paths: nothing outside the root is read or changed.

use proptest::prelude::*;

use super::{Project, SECRET};

/// Parts with a meaning in the tree below, or nearly.
const KNOWN: &[&str] = &[
    "..",
    ".",
    "",
    "a",
    "b.txt",
    "link_out",
    "link_up",
    "link_in",
    "link_file",
    "link_absolute",
    "outside",
    "secret.txt",
    "project",
    "deeper",
    "~",
    "...",
    "..\\",
    "\u{2024}\u{2024}",
    "a\0",
    "\n",
    " ",
    "*",
    "%2e%2e",
];

/// Parts of paths, most of them known.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![8 => prop::sample::select(KNOWN).prop_map(str::to_owned), 1 => ".{0,6}"]
}

fn path() -> impl Strategy<Value = String> {
    let start = prop::sample::select(&["", "", "", "/", "./", "../", "//", "ROOT/", "ROOT/../", "OUT/"][..]);
    (start, prop::collection::vec(part(), 1..7)).prop_map(|(start, parts)| start.to_owned() + &parts.join("/"))
}

/// A project with links in every direction.
fn tangled() -> Project {
    let project = Project::new();
    project.put("a/b.txt", "inside");
    project.put("b.txt", "inside");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;

        let link = |target: &str, name: &str| symlink(target, project.root().join(name)).unwrap();
        link("../outside", "link_out");
        link("..", "link_up");
        link("../..", "a/link_up");
        link("a", "link_in");
        link("../b.txt", "a/link_in");
        link("../outside/secret.txt", "link_file");
        link(project.outside().to_str().unwrap(), "link_absolute");
        link("../link_out/deeper", "a/link_out");
    }
    project
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_path_reads_or_changes_anything_outside(path in path(), other in path(), content in "[a-z\n]{0,9}") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let project = tangled();
        let absolute = |path: &str| {
            let path = path.replace("ROOT/", &format!("{}/", project.root().display()));
            path.replace("OUT/", &format!("{}/", project.outside().display()))
        };
        let (path, other) = (absolute(&path), absolute(&other));
        let before = project.outside_state();
        let answers = runtime.block_on(async {
            [
                project.read(&path).await,
                project.list(&path).await,
                project.call("search_files", serde_json::json!({ "path": path, "regex": "secret" })).await,
                project.write(&path, &content).await,
                project.edit(&path, "secret", &content).await,
                project.rename(&path, &other).await,
                project.rename("b.txt", &path).await,
                project.delete(&other).await,
                project.delete(&path).await,
            ]
        });
        prop_assert_eq!(project.outside_state(), before);
        for answer in answers {
            let text = answer.unwrap_or_else(|error| error);
            prop_assert!(!text.contains(SECRET), "{}", text);
        }
    }
}
