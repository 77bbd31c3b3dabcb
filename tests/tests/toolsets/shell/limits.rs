//! Output and time.

use std::time::Duration;
use std::{fs, io};

use llm_do::toolsets::shell::{Sandbox, Shell};
use rustix::process::{Pid, test_kill_process};

use super::{Project, sandboxes};

fn short() -> Shell {
    Shell::new().timeout(Duration::from_millis(700))
}

#[tokio::test]
async fn long_output_keeps_its_start_and_its_end_with_the_count_of_the_rest() {
    let project = Project::new(Shell::new().sandbox(Sandbox::Off).max_output(8));
    let answer = project.approved("printf 0123456789abcdefghij").await.unwrap();
    assert_eq!(answer, "exit status: 0\nstdout:\n0123\n[12 bytes left out]\nghij");
    let whole = project.approved("printf 01234567").await.unwrap();
    assert_eq!(whole, "exit status: 0\nstdout:\n01234567");
}

#[tokio::test]
async fn endless_output_is_bounded_and_ends_with_the_timeout() {
    let answer = Project::new(short().sandbox(Sandbox::Off)).approved("yes").await.unwrap();
    assert!(answer.starts_with("killed: the command took longer than 700ms") && answer.len() < 60_000);
}

/// Waits until a process is gone or is a zombie, which stays in a container without an init.
async fn is_gone(pid: &str) -> bool {
    let pid_number = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    for _ in 0..200 {
        let is_zombie = fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
            .is_ok_and(|stat| stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'));
        if is_zombie || test_kill_process(pid_number).is_err() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test]
async fn a_timeout_kills_grandchildren_and_returns_the_output_so_far() -> io::Result<()> {
    let project = Project::new(short().sandbox(Sandbox::Off));
    let answer = project.approved("sh -c 'echo before; sleep 1000 & echo $! > pid; wait'").await.unwrap();
    assert_eq!(answer, "killed: the command took longer than 700ms\nstdout:\nbefore\n");
    assert!(is_gone(&fs::read_to_string(project.root().join("pid"))?).await);
    Ok(())
}

#[tokio::test]
async fn background_processes_do_not_outlive_the_command() -> io::Result<()> {
    let project = Project::plain();
    let answer = project.approved("sh -c 'sleep 1000 & echo $! > pid'").await.unwrap();
    assert_eq!(answer, "exit status: 0");
    assert!(is_gone(&fs::read_to_string(project.root().join("pid"))?).await);
    Ok(())
}

#[tokio::test]
async fn in_the_sandbox_a_timeout_kills_processes_in_sessions_of_their_own() {
    for sandbox in sandboxes().await {
        no_session_survives(sandbox).await;
    }
}

async fn no_session_survives(sandbox: Sandbox) {
    // Long enough that the first writes come before it, on a machine with other work too.
    let project = Project::new(Shell::new().sandbox(sandbox).timeout(Duration::from_secs(3)));
    // It writes for as long as it lives.
    let script =
        "loop='while :; do echo >> alive; sleep 0.05; done'; (setsid sh -c \"$loop\" || sh -c \"$loop\") & sleep 1000";
    fs::write(project.root().join("run.sh"), script).unwrap();
    let answer = project.approved("sh run.sh").await.unwrap();
    assert!(answer.starts_with("killed: the command took longer"), "{answer}");
    let size = || fs::metadata(project.root().join("alive")).unwrap().len();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let before = size();
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(before > 0 && size() == before, "nothing writes any more");
}

#[tokio::test]
async fn a_dropped_run_kills_the_command() {
    let project = Project::plain();
    let pid = project.root().join("pid");
    let written = async {
        loop {
            match fs::read_to_string(&pid) {
                Ok(text) if text.ends_with('\n') => break text,
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    let pid = tokio::select! {
        answer = project.approved("sh -c 'sleep 1000 & echo $! > pid; wait'") => panic!("it ended: {answer:?}"),
        pid = written => pid,
    };
    assert!(is_gone(&pid).await);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_fork_bomb_is_killed_at_the_limit_of_processes() {
    let bounded = |settings: Shell| Project::new(settings.max_processes(50).timeout(Duration::from_secs(60)));
    let off = bounded(Shell::new().sandbox(Sandbox::Off));
    fs::write(off.root().join("bomb.sh"), "for n in $(seq 200); do sleep 1000 & done; wait").unwrap();
    let answer = off.approved("sh bomb.sh").await.unwrap();
    assert!(answer.starts_with("killed: the command had more than 50 processes"), "{answer}");
    for sandbox in sandboxes().await {
        let project = bounded(Shell::new().sandbox(sandbox));
        // With a namespace of processes, each starts two more and ends; without one, on a busy machine, such processes may be
        // faster than they are counted, and would fail other tests.
        let multiplying = "bomb() { bomb | bomb & }; bomb; sleep 1000";
        let many = "for n in $(seq 200); do sleep 1000 & done; wait";
        let bomb = if sandbox == Sandbox::Bwrap { multiplying } else { many };
        fs::write(project.root().join("bomb.sh"), bomb).unwrap();
        let answer = project.approved("bash bomb.sh").await.unwrap();
        assert!(answer.starts_with("killed: the command had more than 50 processes"), "{sandbox:?}: {answer}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_that_takes_too_much_memory_is_killed() {
    let settings = Shell::new().sandbox(Sandbox::Off).max_memory(100 << 20).timeout(Duration::from_secs(60));
    let answer = Project::new(settings).approved("sh -c 'tail /dev/zero'").await.unwrap();
    assert!(answer.starts_with("killed: the command used more than 104857600 bytes of memory"), "{answer}");
}
