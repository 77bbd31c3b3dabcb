//! Checks a configuration of git: only listed keys are allowed, none of which starts a program while a repository is
//! read.

/// Keys without a subsection, in lower case, including keys of `core` that the settings of a reading command override.
const KEYS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "checkstat",
            "commentchar",
            "commitgraph",
            "compression",
            "editor",
            "eol",
            "filemode",
            "fscache",
            "fsmonitor",
            "hookspath",
            "ignorecase",
            "logallrefupdates",
            "longpaths",
            "loosecompression",
            "multipackindex",
            "packedgitlimit",
            "pager",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "splitindex",
            "sshcommand",
            "symlinks",
            "trustctime",
            "untrackedcache",
            "whitespace",
        ],
    ),
    ("branch", &["autosetupmerge", "autosetuprebase", "sort"]),
    ("color", &["ui", "diff", "status", "branch"]),
    ("commit", &["gpgsign", "verbose"]),
    ("credential", &["helper", "usehttppath", "username"]),
    (
        "diff",
        &[
            "algorithm",
            "colormoved",
            "context",
            "indentheuristic",
            "mnemonicprefix",
            "noprefix",
            "renamelimit",
            "renames",
        ],
    ),
    ("extensions", &["objectformat", "refstorage", "relativeworktrees", "worktreeconfig"]),
    ("feature", &["experimental", "manyfiles"]),
    ("fetch", &["prune", "prunetags", "parallel"]),
    ("gc", &["auto", "autodetach", "pruneexpire"]),
    ("index", &["skiphash", "threads", "version"]),
    ("init", &["defaultbranch"]),
    ("lfs", &["repositoryformatversion"]),
    ("log", &["abbrevcommit", "date", "decorate", "follow", "showsignature"]),
    ("maintenance", &["auto", "strategy"]),
    ("merge", &["conflictstyle", "ff", "renamelimit"]),
    ("pack", &["threads", "windowmemory"]),
    ("pull", &["ff", "rebase"]),
    ("push", &["autosetupremote", "default", "followtags"]),
    ("rebase", &["autosquash", "autostash"]),
    ("rerere", &["enabled", "autoupdate"]),
    ("status", &["aheadbehind", "branch", "relativepaths", "short", "showstash", "showuntrackedfiles"]),
    ("submodule", &["active", "recurse"]),
    ("tag", &["gpgsign", "sort"]),
    ("user", &["email", "name", "signingkey", "useconfigonly"]),
];

/// Keys with a subsection.
const NAMED: &[(&str, &[&str])] = &[
    ("branch", &["description", "merge", "pushremote", "rebase", "remote"]),
    ("remote", &["fetch", "mirror", "prune", "pushurl", "tagopt", "url"]),
    ("submodule", &["active", "url"]),
    ("url", &["insteadof", "pushinsteadof"]),
];

/// Sections that are unused when a local repository is read, or that only affect text.
const HARMLESS: &[&str] = &["advice", "alias", "column", "gui", "http", "i18n"];

/// A section of a configuration, in lower case, and whether it has a subsection.
type Section = (String, bool);

/// Returns the first line or key of a configuration that may start a program; `None` if it has only known keys.
pub(super) fn fault(text: &str) -> Option<String> {
    let mut section: Option<Section> = None;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line).trim_matches([' ', '\t']);
        // A continued value would hide the meaning of the next line.
        if line.contains(|character: char| character.is_control() && character != '\t') || line.ends_with('\\') {
            return Some(format!("the unusual line {line:?}"));
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('[') {
            section = header(line);
            if section.is_none() {
                return Some(format!("the unusual line {line:?}"));
            }
        } else if !section.as_ref().is_some_and(|section| is_plain(section, line)) {
            let name = section.map(|(name, _)| name).unwrap_or_default();
            return Some(format!("`{}` in the section `{name}`", key(line)));
        }
    }
    None
}

/// Parses `[section]` or `[section "subsection"]`; returns `None` for any other line.
fn header(line: &str) -> Option<Section> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|it| it.is_ascii_alphanumeric() || it == '-');
    let Some((name, subsection)) = inner.split_once(' ') else {
        return is_word(inner).then(|| (inner.to_ascii_lowercase(), false));
    };
    let subsection = subsection.strip_prefix('"')?.strip_suffix('"')?;
    let is_plain = is_word(name) && !subsection.contains(['"', '\\']);
    is_plain.then(|| (name.to_ascii_lowercase(), true))
}

fn is_plain((section, is_named): &Section, line: &str) -> bool {
    let key = key(line);
    let keys = if *is_named { NAMED } else { KEYS };
    HARMLESS.contains(&section.as_str())
        || keys.iter().any(|(name, keys)| name == section && keys.contains(&key.as_str()))
}

/// Returns the key of a line, in lower case.
fn key(line: &str) -> String {
    line.split_once('=').map_or(line, |(key, _)| key).trim_end_matches([' ', '\t']).to_ascii_lowercase()
}
