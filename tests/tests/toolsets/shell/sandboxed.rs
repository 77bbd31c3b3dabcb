//! What an approved command cannot do in a sandbox: each claim holds for `bwrap` and for Landlock.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use llm_do::toolsets::shell::{Sandbox, Shell};

use super::{Project, sandboxes};

/// Runs a script that is approved.
async fn script(project: &Project, script: &str) -> Result<String, String> {
    fs::write(project.root().join("run.sh"), script).unwrap();
    project.approved("sh run.sh").await
}

/// Returns a project in each sandbox that works.
async fn projects(settings: Shell) -> Vec<(Sandbox, Project)> {
    let project = |sandbox| (sandbox, Project::new(settings.clone().sandbox(sandbox)));
    sandboxes().await.into_iter().map(project).collect()
}

#[tokio::test]
async fn a_command_changes_the_project_and_nothing_else() {
    for (sandbox, project) in projects(Shell::new()).await {
        let lines = "echo in > b; mkdir c; mv b c/b; echo x > ../escaped; echo x > /usr/escaped; echo x > /etc/escaped; \
                     echo x > /escaped; echo x > /dev/null";
        let answer = script(&project, lines).await.unwrap();
        assert_eq!(fs::read_to_string(project.root().join("c/b")).unwrap(), "in\n", "{sandbox:?}: {answer}");
        assert!(!project.outer.path().join("escaped").exists(), "{sandbox:?}");
        assert!(["/usr/escaped", "/etc/escaped", "/escaped"].iter().all(|path| !fs::exists(path).unwrap()));
        let refusal = if sandbox == Sandbox::Bwrap { "Read-only file system" } else { "Permission denied" };
        assert!(answer.contains(refusal), "{sandbox:?}: {answer}");
    }
}

#[tokio::test]
async fn only_what_the_policy_lists_can_be_read() {
    for (sandbox, project) in projects(Shell::new()).await {
        let outside = project.outer.path().join("secret.txt");
        symlink(&outside, project.root().join("link")).unwrap();
        symlink("/", project.root().join("all")).unwrap();
        for path in [
            "../secret.txt",
            "link",
            "/proc/self/root/etc/shadow",
            "/proc/1/environ",
            "/proc/1/root/etc/shadow",
            "all/etc/shadow",
            "/etc/shadow",
            "/etc/gshadow",
            "/etc/sudoers",
            "/etc/gitconfig",
            "/etc/npmrc",
            "/etc/pip.conf",
            "/etc/ssl/private",
            "/dev/mem",
            "/dev/kmsg",
            "/dev/vda",
            "/dev/sda",
        ] {
            // The first process of its own namespace, with the variables of the command.
            if sandbox == Sandbox::Bwrap && path == "/proc/1/environ" {
                continue;
            }
            let answer = project.approved(&format!("head -c 1 '{path}'")).await.unwrap();
            assert!(!answer.contains("stdout"), "{sandbox:?}: {path}: {answer}");
        }
        for path in ["/opt", "/srv", "/var/lib", "/root", "/home", "/run", "/sys", "/boot", "/mnt", "/media"] {
            let answer = project.approved(&format!("ls -A {path}")).await.unwrap();
            assert!(!answer.contains("stdout"), "{sandbox:?}: {path}: {answer}");
        }
    }
}

#[tokio::test]
async fn a_git_link_makes_nothing_readable() {
    for (sandbox, project) in projects(Shell::new()).await {
        let outside = project.outer.path().join("hidden");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("key"), "the secret of another project").unwrap();
        fs::create_dir(project.root().join("sub")).unwrap();
        symlink(&outside, project.root().join("sub/.git")).unwrap();
        fs::remove_dir_all(project.root().join(".git")).unwrap();
        fs::write(project.root().join(".git"), format!("gitdir: {}", outside.display())).unwrap();
        for path in ["sub/.git/key".to_owned(), outside.join("key").display().to_string()] {
            let answer = project.approved(&format!("cat {path}")).await.unwrap();
            assert!(!answer.contains("another project"), "{sandbox:?}: {answer}");
        }
    }
}

#[tokio::test]
async fn a_change_below_git_fails_the_call_or_is_prevented() {
    for lines in [
        "echo x > .git/config",
        "mkdir .git/hooks; echo x > .git/hooks/post-checkout",
        "mv .git gone; mkdir .git; echo x > .git/config",
        "rm -rf .git",
        "echo x > libs/inner/.git/hooks/post-checkout",
        "mv libs moved; mkdir -p libs/inner/.git/hooks; echo x > libs/inner/.git/hooks/post-checkout",
        "mv libs/inner moved; mkdir -p libs/inner/.git; cp -r moved/.git/* libs/inner/.git",
        "echo x > bare/config",
        "mv bare/hooks bare/old; mkdir bare/hooks; echo x > bare/hooks/pre-receive",
        "echo x > worktree/.git",
        "ln -f .git/config twin && echo x > twin",
        "chmod 777 .git/config",
        "mkdir new; mkdir new/.git",
        "touch new HEAD; mkdir objects refs; echo x > config",
        "ln -s /tmp/x new; mkdir n; ln -s ../bare n/.git",
    ] {
        for (sandbox, project) in projects(Shell::new()).await {
            let root = project.root();
            for folder in ["libs/inner/.git/hooks", "bare/objects", "bare/refs", "bare/hooks", "worktree"] {
                fs::create_dir_all(root.join(folder)).unwrap();
            }
            for (file, text) in [("bare/HEAD", "x"), ("bare/config", "[core]\n"), ("worktree/.git", "gitdir: ../bare")]
            {
                fs::write(root.join(file), text).unwrap();
            }
            let kept = || {
                fs::read_to_string(root.join(".git/config")).is_ok_and(|text| text == "[core]\n")
                    && !root.join(".git/hooks").exists()
                    && fs::read_dir(root.join("libs/inner/.git/hooks")).is_ok_and(|mut it| it.next().is_none())
            };
            match script(&project, lines).await {
                Err(error) => assert!(error.contains("changed a repository"), "{sandbox:?}: {lines}: {error}"),
                Ok(answer) => {
                    let is_git = lines.contains(".git") && !lines.contains("bare") && !lines.contains("new");
                    assert!(is_git && kept(), "{sandbox:?}: {lines}: {answer}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_repository_behind_many_folders_is_protected_too() {
    for (sandbox, project) in projects(Shell::new()).await {
        for n in 0..3_000 {
            fs::create_dir_all(project.root().join(format!("many/{n}"))).unwrap();
        }
        fs::create_dir_all(project.root().join("many/2999/.git/hooks")).unwrap();
        let hook = project.root().join("many/2999/.git/hooks/x");
        let result = script(&project, "echo x > many/2999/.git/hooks/x").await;
        assert!(result.is_err() || !hook.exists(), "{sandbox:?}: {result:?}");
    }
}

#[tokio::test]
async fn commands_that_change_no_repository_do_not_fail() {
    for (sandbox, project) in projects(Shell::new().allow("touch")).await {
        assert_eq!(project.unasked("touch b").await.unwrap(), "exit status: 0", "{sandbox:?}");
        assert!(project.root().join("b").exists());
        assert!(script(&project, "mkdir -p d/e; echo x > d/e/f; mv d g; cat .git/config").await.is_ok());
    }
}

#[tokio::test]
async fn other_processes_are_neither_read_nor_signalled() {
    for (sandbox, project) in projects(Shell::new()).await {
        let mut other = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let id = other.id();
        let answer =
            script(&project, &format!("kill -9 {id}; cat /proc/{id}/cmdline /proc/{id}/environ")).await.unwrap();
        assert!(other.try_wait().unwrap().is_none() && !answer.contains("sleep"), "{sandbox:?}: {answer}");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

#[tokio::test]
async fn the_network_is_reached_only_if_the_application_allows_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    for (sandbox, project) in projects(Shell::new()).await {
        let answer = project.approved(&format!("bash -c '{connect}'")).await.unwrap();
        assert!(answer.contains("Operation not permitted"), "{sandbox:?}: {answer}");
    }
    for (sandbox, project) in projects(Shell::new().network()).await {
        let answer = project.approved(&format!("bash -c '{connect}'")).await.unwrap();
        assert_eq!(answer, "exit status: 0", "{sandbox:?}");
    }
}

/// Attacks by system calls, each as Python that prints `done` if it succeeded.
const ATTACKS: &[&str] = &[
    // Unix sockets: in the project, abstract, as datagrams of a pair.
    "socket.socket(socket.AF_UNIX).connect('service')",
    "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "socket.socket(socket.AF_UNIX).bind('\\0llm-do-test')",
    "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "socket.socketpair(socket.AF_UNIX, 3)",
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)",
    "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
    "socket.socket(40, socket.SOCK_STREAM)",
    "socket.socket(38, 5)",
    "socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW)",
    // Namespaces: each flag of clone, with `SIGCHLD`; unshare, setns, clone3.
    "call(56, 0x00020000 | 17, 0, 0, 0, 0)",
    "call(56, 0x02000000 | 17, 0, 0, 0, 0)",
    "call(56, 0x04000000 | 17, 0, 0, 0, 0)",
    "call(56, 0x08000000 | 17, 0, 0, 0, 0)",
    "call(56, 0x10000000 | 17, 0, 0, 0, 0)",
    "call(56, 0x20000000 | 17, 0, 0, 0, 0)",
    "call(56, 0x40000000 | 17, 0, 0, 0, 0)",
    "call(56, (1 << 32) | 0x10000000 | 17, 0, 0, 0, 0)",
    "call(272, 0x10000000)",
    "call(272, 0x00020000)",
    "call(308, 0, 0)",
    "call(435, 0, 0)",
    // The numbers of x32.
    "call(0x40000000 | 41, 1, 1, 0)",
    "call(0x40000000 | 39)",
    // Mounts, keys, modules, other processes.
    "call(165, b'none', b'/mnt', b'tmpfs', 0, 0)",
    "call(166, b'/proc', 2)",
    "call(155, b'.', b'.')",
    "call(161, b'.')",
    "call(428, -100, b'.', 1)",
    "call(430, b'tmpfs', 0)",
    "call(442, -100, b'.', 0, 0, 0)",
    "call(101, 0, 0, 0, 0)",
    "call(310, os.getppid(), 0, 0, 0, 0, 0)",
    "call(438, 0, 0, 0)",
    "call(312, os.getpid(), os.getpid(), 0, 0, 0)",
    "call(323, 1)",
    "call(425, 1, 0)",
    "call(321, 0, 0, 0)",
    "call(298, 0, 0, 0, 0, 0)",
    "call(304, 0, 0, 0)",
    "call(303, -100, b'.', 0, 0, 0)",
    "call(250, 0, 0)",
    "call(313, 0, 0, 0)",
    "call(246, 0, 0, 0, 0)",
    "call(169, 0, 0, 0, 0)",
    "call(170, b'x', 1)",
    "call(103, 3, 0, 0)",
    "call(227, 0, 0)",
    "call(172, 3)",
    "call(173, 0, 1, 1)",
    "fcntl.ioctl(0, 0x5412, b'x')",
    "fcntl.ioctl(0, 0x541C, b'x')",
    // Devices and settings of the kernel, which are files of root.
    "os.mknod('disk', 0o060600, os.makedev(254, 0)); open('disk', 'rb').read(1)",
    "os.mknod('memory', 0o020600, os.makedev(1, 1)); open('memory', 'rb').read(1)",
    "open('/proc/sys/vm/swappiness', 'w').write('60')",
    "open('/proc/sys/kernel/core_pattern', 'w').write('core')",
    "open('/proc/1/mem', 'rb').read(1)",
    "open('/proc/kcore', 'rb').read(1)",
    "open('/dev/tty', 'w').write('x')",
    "os.chroot('.')",
    "os.kill(OTHER, 9)",
    "os.setpriority(os.PRIO_PROCESS, OTHER, 15)",
    "os.setpriority(os.PRIO_USER, 0, 15)",
    "resource.prlimit(OTHER, resource.RLIMIT_NOFILE, (64, 64))",
    "os.sched_setaffinity(OTHER, {0})",
    "os.readlink('/proc/%d/cwd' % OTHER)",
    "open('/proc/%d/environ' % OTHER, 'rb').read(1)",
    "os.rename('a.txt', '/usr/a.txt')",
    "os.link('/etc/passwd', 'twin')",
    "os.truncate('/etc/hosts', 0)",
    "os.listdir('..').index('secret.txt')",
    "os.read(LEFT_OPEN, 1)[0]",
    // A child of the parent, which does not wait for it.
    "call(56, 0x8000 | 17, 0, 0, 0, 0)",
    // Capabilities, such as those of root.
    "os.chown('a.txt', 12345, 12345)",
    "os.nice(-1)",
    "os.setpriority(os.PRIO_PROCESS, 0, -20)",
    "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
    "call(251, 1, 0, 1 << 13)",
    // Attributes of files that are open for reading: `FS_IOC_SETFLAGS`, `FS_IOC_FSSETXATTR`, `FS_IOC_SETVERSION`.
    "fcntl.ioctl(os.open('a.txt', 0), 0x40086602, bytes(8))",
    "fcntl.ioctl(os.open('a.txt', 0), 0x401C5820, bytes(28))",
    "fcntl.ioctl(os.open('a.txt', 0), 0x40087602, bytes(8))",
    // Mounts by number, and calls that are newer than the filter.
    "call(457, 0, 0, 0, 0)",
    "call(467, -100, b'.', 1, 0, 0)",
    "call(469, -100, b'a.txt', bytes(24), 24, 0)",
];

/// Attacks on files everywhere, which only Landlock lets a command name.
const ATTACKS_ON_LANDLOCK: &[&str] = &[
    "call(253)",
    "call(294, 0)",
    "os.setxattr('a.txt', 'user.a', b'x')",
    "os.setxattr('../secret.txt', 'user.a', b'x')",
    "os.removexattr('../secret.txt', 'user.a')",
    "os.listxattr('../secret.txt')",
];

#[tokio::test]
async fn attacks_by_system_calls_fail() {
    if !cfg!(target_arch = "x86_64") || !fs::exists("/usr/bin/python3").unwrap() {
        return;
    }
    for (sandbox, project) in projects(Shell::new()).await {
        let _service = UnixListener::bind(project.root().join("service")).unwrap();
        let mut other = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let open = fs::File::open(project.outer.path().join("secret.txt")).unwrap();
        rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&open);
        let start = format!(
            "import ctypes, fcntl, os, resource, socket\nOTHER = {}\nLEFT_OPEN = {number}\nlibc = ctypes.CDLL(None, use_errno=True)\n\
             def call(*arguments):\n    result = libc.syscall(*(ctypes.c_long(it) if isinstance(it, int) else it for it in arguments))\n    \
             if result == 0 and arguments[0] == 56: os._exit(0)\n    if result < 0: raise OSError(ctypes.get_errno(), 'denied')\n",
            other.id()
        );
        let attempt = |attack: &&str| {
            format!("try:\n    {attack}\n    print('done:', {attack:?}, flush=True)\nexcept Exception: pass\n")
        };
        let more = if sandbox == Sandbox::Landlock { ATTACKS_ON_LANDLOCK } else { &[] };
        let text = start + &ATTACKS.iter().chain(more).map(attempt).collect::<String>() + "print('all tried')\n";
        fs::write(project.root().join("attacks.py"), text).unwrap();
        let answer = project.approved("/usr/bin/python3 attacks.py").await.unwrap();
        assert!(answer.contains("all tried") && !answer.contains("done:"), "{sandbox:?}: {answer}");
        other.kill().unwrap();
        other.wait().unwrap();
        let text = "import socket, threading\na, b = socket.socketpair()\na.send(b'x')\n\
                    t = threading.Thread(target=lambda: print('thread')); t.start(); t.join()\n";
        fs::write(project.root().join("usual.py"), text).unwrap();
        assert_eq!(project.approved("/usr/bin/python3 usual.py").await.unwrap(), "exit status: 0\nstdout:\nthread\n");
    }
}

#[tokio::test]
async fn files_are_copied_with_their_modes_and_listed() {
    for (sandbox, project) in projects(Shell::new()).await {
        let lines = "set -e; chmod 640 a.txt; cp -p a.txt b; cp -a b c; install -m 750 c d; ls -l d; sed -i s/one/1/ d";
        let answer = script(&project, lines).await.unwrap();
        assert!(answer.starts_with("exit status: 0\nstdout:\n-rwxr-x---"), "{sandbox:?}: {answer}");
        assert!(!answer.contains("stderr"), "{sandbox:?}: {answer}");
    }
}

#[tokio::test]
async fn with_the_network_only_sockets_of_the_internet_open() {
    if !fs::exists("/usr/bin/python3").unwrap() {
        return;
    }
    for (sandbox, project) in projects(Shell::new().network()).await {
        let text = "import socket\nfor family, kind in ((1, 1), (1, 2), (2, 3), (16, 3), (17, 3), (40, 1), (38, 5)):\n    \
                    try:\n        socket.socket(family, kind)\n        print('done', family, kind)\n    except OSError: pass\n\
                    socket.socket(2, 1); socket.socket(10, 2)\n";
        fs::write(project.root().join("open.py"), text).unwrap();
        assert_eq!(project.approved("/usr/bin/python3 open.py").await.unwrap(), "exit status: 0", "{sandbox:?}");
    }
}

#[tokio::test]
async fn a_command_that_is_known_to_read_changes_nothing() {
    for (sandbox, project) in projects(Shell::new()).await {
        assert_eq!(project.unasked("sort a.txt").await.unwrap(), "exit status: 0\nstdout:\none\ntwo\n", "{sandbox:?}");
        assert!(project.needs_approval("touch b").await, "{sandbox:?}");
    }
}

#[tokio::test]
async fn an_argument_that_leaves_the_project_is_asked_about() {
    for (sandbox, project) in projects(Shell::new()).await {
        let root = project.root();
        symlink(project.outer.path().join("secret.txt"), root.join("link")).unwrap();
        symlink("/usr", root.join("folder")).unwrap();
        symlink("/missing/file", root.join("broken")).unwrap();
        symlink("a.txt", root.join("inner")).unwrap();
        for command in [
            "cat /etc/passwd",
            "cat ../secret.txt",
            "cat ./x/../../secret.txt",
            "ls ..",
            "ls /",
            "cat link",
            "cat ./link",
            "cat broken",
            "ls folder/share",
            "head -n 1 link",
            "grep -f link a.txt",
            "grep -flink a.txt",
            "grep -f/etc/passwd a.txt",
            "grep x link",
            "grep -e x link",
            "grep --include=/etc/x -r a",
            "grep -rR x .",
            "ls -LR",
            "find -L .",
            "find folder/ -name x",
            "find . -newer link",
            "sort -t , link",
            "git diff -- ../x",
            "git diff /etc/passwd a.txt",
            "wc -l -- link",
            "tail -n1 /proc/self/environ",
        ] {
            assert!(project.needs_approval(command).await, "{sandbox:?}: {command}");
        }
        let absolute = format!("cat {}", root.canonicalize().unwrap().join("a.txt").display());
        for command in
            ["cat inner", "grep -rn /usr .", "grep -n .. a.txt", &absolute, "find . -name '*.txt'", "cat ./a.txt"]
        {
            assert!(project.unasked(command).await.is_ok(), "{sandbox:?}: {command}");
        }
    }
}

#[tokio::test]
async fn a_path_can_be_read_if_the_application_allows_it() {
    let tools = tempfile::tempdir().unwrap();
    fs::create_dir(tools.path().join("v1")).unwrap();
    fs::write(tools.path().join("v1/tool.txt"), "a tool").unwrap();
    symlink(tools.path().join("v1"), tools.path().join("current")).unwrap();
    let read = format!("cat {}", tools.path().join("current/tool.txt").display());
    for (sandbox, project) in projects(Shell::new()).await {
        assert!(!project.approved(&read).await.unwrap().contains("a tool"), "{sandbox:?}");
    }
    for (sandbox, project) in projects(Shell::new().readable(tools.path().join("current")).readable("/missing")).await {
        assert_eq!(project.approved(&read).await.unwrap(), "exit status: 0\nstdout:\na tool", "{sandbox:?}");
        script(&project, &format!("echo x > {}", tools.path().join("v1/tool.txt").display())).await.unwrap();
        assert_eq!(fs::read_to_string(tools.path().join("v1/tool.txt")).unwrap(), "a tool", "{sandbox:?}");
    }
}

#[tokio::test]
async fn this_process_is_not_confined_afterwards() {
    for (_, project) in projects(Shell::new()).await {
        project.approved("true").await.unwrap();
        fs::write(project.outer.path().join("outside"), "x").unwrap();
        TcpListener::bind("127.0.0.1:0").unwrap();
    }
}

#[tokio::test]
async fn the_preview_states_what_can_be_changed() {
    for (sandbox, project) in projects(Shell::new()).await {
        let shown = project.preview("touch b").await;
        let expected = if sandbox == Sandbox::Bwrap { "except `.git`, without network" } else { "fails the call" };
        assert!(shown.contains("can change only this folder") && shown.contains(expected), "{shown}");
    }
}
