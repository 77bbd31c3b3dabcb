//! Programs that start other programs or load their code, either always or with some options.
//!
//! The page of the tool lists them; a test compares the lists.

use super::program::Program;

/// Programs that run their arguments or their input as code: a rule allows them only with exactly its words.
#[rustfmt::skip]
pub(super) const RUNNERS: &[&str] = &[
    // Shells.
    "ash", "bash", "busybox", "cmd", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "oksh", "powershell", "pwsh", "rbash", "sh",
    "tcsh", "toybox", "xonsh", "yash", "zsh",
    // Interpreters.
    "awk", "bun", "clisp", "clojure", "dc", "deno", "elixir", "erl", "escript", "expect", "gawk", "ghci", "gnuplot", "groovy", "gsed",
    "guile", "iex", "ipython", "java", "jrunscript", "jshell", "julia", "kotlin", "lua", "luajit", "m4", "mawk", "nawk", "node", "nodejs",
    "octave", "osascript", "perl", "php", "pypy", "python", "qjs", "R", "racket", "Rscript", "ruby", "runghc", "sbcl", "scala", "sed",
    "swift", "tclsh", "ts-node", "tsx", "wish",
    // Programs that run another program with changed settings.
    "at", "batch", "bwrap", "capsh", "catchsegv", "choom", "chpst", "chroot", "chronic", "chrt", "cpulimit", "crontab", "daemonize",
    "dbus-launch", "dbus-run-session", "doas", "eatmydata", "entr", "env", "envdir", "faketime", "fakeroot", "firejail", "flock", "gdb",
    "hyperfine", "ifne", "ionice", "ld.so", "linux32", "linux64", "lldb", "ltrace", "mispipe", "nice", "nodemon", "nohup", "nsenter",
    "numactl", "open", "parallel", "pee", "perf", "pkexec", "prlimit", "proot", "proxychains", "rlwrap", "rr", "run0", "run-parts",
    "runuser", "screen", "script", "setarch", "setpriv", "setsid", "setuidgid", "softlimit", "start-stop-daemon", "stdbuf", "strace", "su",
    "sudo", "systemd-run", "taskset", "time", "timeout", "tmux", "torsocks", "unbuffer", "unshare", "valgrind", "watch", "watchexec",
    "xargs", "xdg-open", "xvfb-run",
    // Other machines and containers.
    "docker", "kubectl", "lftp", "lxc", "machinectl", "mosh", "nc", "ncat", "nerdctl", "netcat", "podman", "rsh", "scp", "sftp", "socat",
    "ssh", "systemd-nspawn", "telnet", "vagrant",
    // Packages and tasks, whose scripts run.
    "ant", "bazel", "bundle", "bunx", "cabal", "composer", "conda", "corepack", "gem", "gradle", "grunt", "gulp", "guix", "just", "mamba",
    "mix", "mvn", "nix", "nix-shell", "npx", "pip", "pipenv", "pipx", "pnpx", "poetry", "rake", "stack", "task", "uv", "uvx",
    // Editors, pagers and clients with commands that start programs.
    "ed", "emacs", "ex", "ftp", "less", "mariadb", "more", "most", "mysql", "nano", "nvim", "psql", "sqlite3", "vi", "view", "vim",
    // Programs with too many such options to list.
    "bsdtar", "fd", "fdfind", "find", "gfind", "gtar", "tar",
];

/// A program, or one of its commands, that starts another program with one of these options.
struct Starter {
    words: &'static [&'static str],
    /// `-x`, `--name`, `-name` (with one dash or two), a word without a dash, `NAME=VALUE` for each word of this form, or `ext::`
    /// for each word that contains it.
    options: &'static [&'static str],
    /// Whether the options come before a command, and have another meaning after it.
    is_before_command: bool,
}

const fn any(words: &'static [&'static str], options: &'static [&'static str]) -> Starter {
    Starter { words, options, is_before_command: false }
}

const fn before_command(words: &'static [&'static str], options: &'static [&'static str]) -> Starter {
    Starter { words, options, is_before_command: true }
}

const COMPILER: &[&str] = &["-wrapper", "-B", "-fplugin", "-specs", "-fuse-ld", "-load"];
const MAKE: &[&str] =
    &["-E", "--eval", "-f", "--file", "--makefile", "-C", "--directory", "-I", "--include-dir", "NAME=VALUE"];
const NODE_PACKAGES: &[&str] =
    &["-c", "--call", "--script-shell", "--shell", "--node-options", "create", "dlx", "exec", "explore", "init", "x"];
const TEX: &[&str] = &["-shell-escape", "-enable-write18"];

#[rustfmt::skip]
const STARTERS: &[Starter] = &[
    any(&["c++"], COMPILER),
    any(&["cargo"], &["--config"]),
    any(&["cc"], COMPILER),
    any(&["clang"], COMPILER),
    any(&["clang++"], COMPILER),
    any(&["cmake"], &["-P", "-E", "--build", "--open", "NAME=VALUE"]),
    any(&["cpio"], &["--rsh-command"]),
    any(&["ctest"], &["-S", "-SP", "--build-and-test"]),
    any(&["diff3"], &["--diff-program"]),
    any(&["g++"], COMPILER),
    any(&["gcc"], COMPILER),
    before_command(&["git"], &["-c", "--config-env", "--exec-path"]),
    any(&["git"], &["bisect", "config", "difftool", "filter-branch", "hook", "instaweb", "mergetool", "send-email", "submodule", "web--browse", "--ext-diff", "--textconv", "ext::"]),
    any(&["git", "archive"], &["--exec", "--remote"]),
    any(&["git", "clone"], &["-c", "--config", "-u", "--upload-pack", "--template"]),
    any(&["git", "fetch"], &["--upload-pack"]),
    any(&["git", "fetch-pack"], &["--upload-pack", "--exec"]),
    any(&["git", "grep"], &["-O", "--open-files-in-pager"]),
    any(&["git", "init"], &["--template"]),
    any(&["git", "ls-remote"], &["--upload-pack", "--exec"]),
    any(&["git", "pull"], &["--upload-pack"]),
    any(&["git", "push"], &["--receive-pack", "--exec"]),
    any(&["git", "rebase"], &["-x", "--exec"]),
    any(&["git", "send-pack"], &["--receive-pack", "--exec"]),
    any(&["gmake"], MAKE),
    any(&["go"], &["-exec", "-toolexec", "-vettool", "run", "generate", "tool"]),
    any(&["gpg"], &["--photo-viewer", "--agent-program", "--dirmngr-program", "--keyboxd-program", "--exec-path"]),
    any(&["hg"], &["--config", "--tool"]),
    any(&["install"], &["--strip-program"]),
    any(&["make"], MAKE),
    any(&["man"], &["-P", "--pager", "-H", "--html", "-X", "-C", "--config-file"]),
    any(&["meson"], &["devenv", "--native-file", "--cross-file"]),
    any(&["ninja"], &["-f", "-C", "-t"]),
    any(&["nmap"], &["--script"]),
    any(&["npm"], NODE_PACKAGES),
    any(&["openssl"], &["-engine", "-provider", "-config"]),
    any(&["patch"], &["-e", "--ed"]),
    any(&["pdflatex"], TEX),
    any(&["pnpm"], NODE_PACKAGES),
    any(&["rg"], &["--pre", "--hostname-bin", "-z", "--search-zip"]),
    any(&["rsync"], &["-e", "--rsh", "--rsync-path"]),
    any(&["rustc"], &["-C", "--codegen"]),
    any(&["sdiff"], &["--diff-program"]),
    any(&["split"], &["--filter"]),
    any(&["svn"], &["--diff-cmd", "--diff3-cmd", "--editor-cmd", "--config-option", "--config-dir"]),
    any(&["tcpdump"], &["-z"]),
    any(&["tex"], TEX),
    any(&["wget"], &["--use-askpass", "-e", "--execute", "--config"]),
    any(&["yarn"], NODE_PACKAGES),
    any(&["zip"], &["-T", "-TT", "--test", "--unzip-command"]),
];

/// Returns whether a program can always start another program.
pub(super) fn is_runner(program: &Program<'_>) -> bool {
    // The dynamic linker runs its first argument.
    let is_linker = |name: &str| name.starts_with("ld-linux") || name.starts_with("ld-musl");
    program.names().any(|name| RUNNERS.contains(&name) || is_linker(name))
}

/// Returns whether a command starts another program with a word after those of the rule that allows it.
pub(super) fn starts_another(program: &Program<'_>, words: &[String], of_rule: usize) -> bool {
    let (own, more) = words.split_at(of_rule);
    let command = own.get(1).filter(|word| !word.starts_with('-'));
    let applies = |starter: &Starter| {
        program.names().any(|name| name == starter.words[0])
            && match (starter.words.get(1), command) {
                (Some(own), Some(command)) => own == command,
                // The command is one of the words that are not in the rule.
                (Some(own), None) => more.iter().any(|word| word == own),
                // The rule contains the command, so no option comes before it.
                (None, Some(_)) => !starter.is_before_command,
                (None, None) => true,
            }
    };
    let mut options = STARTERS.iter().filter(|starter| applies(starter)).flat_map(|starter| starter.options);
    options.any(|option| more.iter().any(|word| is_option(word, option)))
}

/// Returns whether a word may be an option, including abbreviations, clusters and values.
fn is_option(word: &str, option: &str) -> bool {
    if option == "NAME=VALUE" {
        return !word.starts_with("--") && word.contains('=');
    }
    if option.ends_with("::") {
        return word.contains(option);
    }
    if let Some(long) = option.strip_prefix("--") {
        let name = word.strip_prefix("--").map(|word| word.split_once('=').map_or(word, |(name, _)| name));
        return name.is_some_and(|name| !name.is_empty() && long.starts_with(name));
    }
    let Some(name) = option.strip_prefix('-') else { return word == option };
    let given = word.strip_prefix('-').map(|word| word.strip_prefix('-').unwrap_or(word));
    match given {
        None => false,
        // One letter: of a cluster, or with its value.
        Some(given) if name.len() == 1 => !word.starts_with("--") && given.contains(name),
        Some(given) => given.starts_with(name),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::program::Program;
    use super::{RUNNERS, STARTERS, is_runner, starts_another};

    const PAGE: &str = include_str!("../../docs/shell.md");

    fn words(command: &str) -> Vec<String> {
        command.split(' ').map(str::to_owned).collect()
    }

    fn starts(rule: &str, command: &str) -> bool {
        let words = words(command);
        let program = Program::new(&words[0], Path::new("/"));
        is_runner(&program) || starts_another(&program, &words, rule.split(' ').count())
    }

    /// Returns the texts in code quotes.
    fn quoted(text: &str) -> Vec<&str> {
        text.split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn the_page_of_the_tool_lists_these_programs_and_options() {
        let (_, section) = PAGE.split_once("only exactly the words of a rule are allowed:\n").unwrap();
        let (runners, table) = section.split_once("\n\n").unwrap();
        let mut listed = quoted(runners);
        listed.sort_unstable();
        let mut own = RUNNERS.to_vec();
        own.sort_unstable();
        assert_eq!(listed, own);
        let rows: Vec<_> = table.lines().filter(|line| line.starts_with("| `")).take(STARTERS.len()).collect();
        assert_eq!(rows.len(), STARTERS.len());
        for (row, starter) in rows.iter().zip(STARTERS) {
            let name = starter.words.join(" ");
            assert_eq!(quoted(row), [&[name.as_str()], starter.options].concat());
            assert_eq!(row.contains("before its command"), starter.is_before_command, "{row}");
        }
    }

    #[test]
    fn an_option_is_found_abbreviated_in_a_cluster_and_with_its_value() {
        for (rule, command) in [
            ("make", "make --ev=x"),
            ("make test", "make test CC=evil"),
            ("rsync", "rsync -ave evil"),
            ("rsync", "rsync a b -eevil"),
            ("git", "git -C folder -c core.pager=evil log"),
            ("git", "git -C folder clone -c a.b=c x"),
            ("git clone", "git clone ext::sh"),
            ("git clone", "git clone -ca.b=c x"),
            ("go test", "go test --exec=evil"),
            ("gcc-12", "gcc-12 -wrapper evil a.c"),
            ("/usr/bin/rg", "/usr/bin/rg --pre=evil x"),
        ] {
            assert!(starts(rule, command), "{command}");
        }
    }

    #[test]
    fn a_command_that_starts_nothing_may_have_further_words() {
        for (rule, command) in [
            ("make", "make test -j 4"),
            ("cargo check", "cargo check --all-features"),
            ("git push", "git push -u origin main"),
            ("git commit", "git commit -m text"),
            ("git switch", "git switch -c branch"),
            ("git cherry-pick", "git cherry-pick -x 1234"),
            ("go test", "go test ./..."),
            ("npm test", "npm test --silent"),
            ("rg", "rg -n text"),
            ("touch", "touch a b"),
        ] {
            assert!(!starts(rule, command), "{command}");
        }
    }
}
