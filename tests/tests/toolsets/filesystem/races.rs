//! Another process changes the tree while calls run: no call leaves the root.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{Project, SECRET};

/// The number of rounds of calls in each race.
const ROUNDS: usize = 150;

/// A thread that swaps two entries again and again.
struct Swapping {
    is_over: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Swapping {
    fn start(one: PathBuf, other: PathBuf) -> Self {
        let (is_over, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (over, count) = (Arc::clone(&is_over), Arc::clone(&swaps));
        let thread = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                // Fails while a call has removed an entry.
                if renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Self { is_over, swaps, thread: Some(thread) }
    }

    /// Ends the swaps; returns how many there were.
    fn end(mut self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        self.swaps.load(Ordering::Relaxed)
    }
}

impl Drop for Swapping {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Makes calls at `path` while `path` or a folder of it is swapped with a link to the outside.
async fn race(project: &Project, swapped: (&Path, &Path), path: &str) {
    let before = project.outside_state();
    let swapping = Swapping::start(swapped.0.to_owned(), swapped.1.to_owned());
    let (mut reads, mut refusals) = (0, 0);
    let mut count = |result: Result<String, String>| match result {
        Ok(text) => {
            assert!(!text.contains(SECRET), "{text}");
            reads += 1;
        }
        Err(text) => {
            assert!(!text.contains(SECRET), "{text}");
            refusals += 1;
        }
    };
    for round in 0..ROUNDS {
        count(project.read(path).await);
        count(project.search("secret").await);
        count(project.list("folder").await);
        count(project.write(path, &format!("inside {round}")).await);
        count(project.edit(path, "inside", "inside").await);
        count(project.edit(path, "inside", "still inside").await);
        count(project.write(&format!("{path}.new/a.txt"), "new").await);
        count(project.delete(&format!("{path}.new/a.txt")).await);
    }
    assert!(swapping.end() > 100, "the tree changed while calls ran");
    assert!(reads > 0 && refusals > 0, "{reads} succeeded, {refusals} were refused");
    assert_eq!(project.outside_state(), before);
}

#[tokio::test]
async fn a_file_that_is_swapped_with_a_link_to_the_outside() {
    let project = Project::new();
    project.put("folder/secret.txt", "inside");
    symlink("../../outside/secret.txt", project.root().join("folder/other")).unwrap();
    let root = project.root();
    let swapped = (&*root.join("folder/secret.txt"), &*root.join("folder/other"));
    race(&project, swapped, "folder/secret.txt").await;
}

#[tokio::test]
async fn a_folder_that_is_swapped_with_a_link_to_the_outside() {
    let project = Project::new();
    project.put("folder/secret.txt", "inside");
    symlink(project.outside(), project.root().join("other")).unwrap();
    let root = project.root();
    race(&project, (&root.join("folder"), &root.join("other")), "folder/secret.txt").await;
}

#[tokio::test]
async fn an_inner_folder_that_is_swapped_with_a_link_to_the_outside() {
    let project = Project::new();
    project.put("folder/deeper/secret.txt", "inside");
    symlink("../../outside/deeper", project.root().join("folder/other")).unwrap();
    let root = project.root();
    let swapped = (&*root.join("folder/deeper"), &*root.join("folder/other"));
    race(&project, swapped, "folder/deeper/secret.txt").await;
}

#[tokio::test]
async fn a_link_whose_target_is_swapped_with_a_link_to_the_outside() {
    let project = Project::new();
    project.put("folder/a/secret.txt", "inside");
    symlink("a", project.root().join("folder/link")).unwrap();
    symlink("../../outside", project.root().join("folder/b")).unwrap();
    let root = project.root();
    let swapped = (&*root.join("folder/a"), &*root.join("folder/b"));
    race(&project, swapped, "folder/link/secret.txt").await;
}

#[tokio::test]
async fn a_hidden_file_that_is_swapped_with_a_plain_one_behind_a_link() {
    let project = Project::with(llm_do::toolsets::filesystem::Filesystem::new().hide("hidden.txt"));
    project.put("hidden.txt", SECRET);
    project.put("plain.txt", "plain");
    symlink("plain.txt", project.root().join("one")).unwrap();
    symlink("hidden.txt", project.root().join("other")).unwrap();
    let swapping = Swapping::start(project.root().join("one"), project.root().join("other"));
    let mut hidden = 0;
    for _ in 0..ROUNDS * 3 {
        match project.read("one").await {
            Ok(text) => assert_eq!(text, "     1\tplain"),
            Err(text) => hidden += usize::from(text.ends_with("is hidden by the application")),
        }
    }
    assert!(swapping.end() > 100 && hidden > 0);
}

#[tokio::test]
async fn a_move_never_replaces_a_file_that_appears_meanwhile() {
    let project = Project::new();
    let target = project.root().join("target.txt");
    let is_over = Arc::new(AtomicBool::new(false));
    let creator = std::thread::spawn({
        let (target, is_over) = (target.clone(), Arc::clone(&is_over));
        move || {
            let mut replaced = 0;
            while !is_over.load(Ordering::Relaxed) {
                let created = fs::OpenOptions::new().write(true).create_new(true).open(&target);
                if created.is_ok() {
                    replaced += usize::from(fs::read(&target).is_ok_and(|content| content == b"moved"));
                    drop(fs::remove_file(&target));
                }
            }
            replaced
        }
    });
    for _ in 0..ROUNDS {
        project.put("source.txt", "moved");
        drop(project.rename("source.txt", "target.txt").await);
        if fs::read(&target).is_ok_and(|content| content == b"moved") {
            drop(fs::remove_file(&target));
        }
    }
    is_over.store(true, Ordering::Relaxed);
    assert_eq!(creator.join().unwrap(), 0);
}
