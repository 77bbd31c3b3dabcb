//! What counts towards the limits of processes and memory.

use std::fs;
use std::time::Duration;

use llm_do::toolsets::shell::{Sandbox, Shell};

use super::{Project, sandboxes};

const PYTHON: &str = "/usr/bin/python3";

/// Runs Python in each sandbox that works, and without one; returns the answers.
async fn python(settings: Shell, text: &str) -> Vec<(Sandbox, String)> {
    let mut answers = Vec::new();
    if !fs::exists(PYTHON).unwrap() {
        return answers;
    }
    for sandbox in sandboxes().await.into_iter().chain([Sandbox::Off]) {
        let project = Project::new(settings.clone().sandbox(sandbox).timeout(Duration::from_secs(60)));
        fs::write(project.root().join("run.py"), text).unwrap();
        answers.push((sandbox, project.approved(&format!("{PYTHON} run.py")).await.unwrap()));
    }
    answers
}

#[tokio::test]
async fn children_of_every_thread_and_threads_are_counted() {
    let forks = "import os, threading, time\ndef fork():\n    for n in range(60):\n        if os.fork() == 0:\n            \
                 time.sleep(30)\n            os._exit(0)\n    time.sleep(30)\nthreading.Thread(target=fork).start()\ntime.sleep(30)\n";
    for (sandbox, answer) in python(Shell::new().max_processes(20), forks).await {
        assert!(answer.starts_with("killed: the command had more than 20 processes"), "{sandbox:?}: {answer}");
    }
    let threads = "import threading, time\nfor n in range(300):\n    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n\
                   time.sleep(30)\n";
    for (sandbox, answer) in python(Shell::new().max_processes(20), threads).await {
        assert!(answer.starts_with("killed: the command had more than 160 threads"), "{sandbox:?}: {answer}");
    }
    for (sandbox, answer) in
        python(Shell::new(), &threads.replace("(30,)", "(1,)").replace("sleep(30)", "sleep(1)")).await
    {
        assert_eq!(answer, "exit status: 0", "{sandbox:?}");
    }
}

#[tokio::test]
async fn memory_of_files_and_behind_an_ended_main_thread_is_counted() {
    let file = "import os, time\nfile = os.memfd_create('x')\nfor n in range(300): os.write(file, bytes(1 << 20))\ntime.sleep(30)\n";
    let ended = "import ctypes, threading, time\ndef fill():\n    time.sleep(1)\n    memory = bytearray(b'x') * (300 << 20)\n    \
                 time.sleep(30)\nthreading.Thread(target=fill).start()\nctypes.CDLL(None).syscall(60, 0)\n";
    // The number of the system call is that of this architecture.
    let texts = if cfg!(target_arch = "x86_64") { &[file, ended][..] } else { &[file] };
    for text in texts {
        for (sandbox, answer) in python(Shell::new().max_memory(200 << 20), text).await {
            assert!(answer.starts_with("killed: the command used more than 209715200 bytes"), "{sandbox:?}: {answer}");
        }
    }
}

#[tokio::test]
async fn private_folders_hold_a_part_of_the_limit_of_memory() {
    if !sandboxes().await.contains(&Sandbox::Bwrap) {
        return;
    }
    let project = Project::new(Shell::new().sandbox(Sandbox::Bwrap).max_memory(80 << 20));
    for folder in ["/tmp", "/var/tmp", "/dev/shm"] {
        let answer = project.approved(&format!("dd if=/dev/zero of={folder}/x bs=1M count=20")).await.unwrap();
        assert!(answer.contains("No space left on device"), "{folder}: {answer}");
        let answer = project.approved(&format!("dd if=/dev/zero of={folder}/x bs=1M count=5")).await.unwrap();
        assert!(answer.starts_with("exit status: 0"), "{folder}: {answer}");
    }
    assert!(!project.approved("touch /dev/x").await.unwrap().starts_with("exit status: 0"));
}
