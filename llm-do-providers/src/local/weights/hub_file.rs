//! The name of a file on the hub: `owner/repo/FILE.gguf`, or `owner/repo@revision/FILE.gguf`.

use std::fmt;

/// The default revision: the main branch of a repository.
const DEFAULT_REVISION: &str = "main";

/// A file in a repository on the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HubFile {
    pub(super) owner: String,
    pub(super) repo: String,
    /// A branch, a tag or a commit.
    pub(super) revision: String,
    /// The path in the repository: at least one segment, none of which escapes the directory.
    pub(super) path: Vec<String>,
}

impl HubFile {
    /// Returns whether a name looks like a hub file rather than a path: two slashes, and it starts with a word.
    pub(super) fn looks_like(name: &str) -> bool {
        name.split('/').count() >= 3 && !name.starts_with(['/', '.', '~']) && !name.contains(['\\', ':'])
    }

    /// Parses a name; the error states what is wrong.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        let mut segments = name.split('/');
        let (owner, repo) = (segments.next().unwrap_or_default(), segments.next().unwrap_or_default());
        let (repo, revision) = repo.split_once('@').unwrap_or((repo, DEFAULT_REVISION));
        for (what, word) in [("owner", owner), ("repository", repo)] {
            if !is_word(word) {
                return Err(format!("invalid {what} name `{word}`"));
            }
        }
        let revision = revision.replace("%2F", "/").replace("%2f", "/");
        if !revision.split('/').all(is_segment) {
            return Err(format!("invalid branch, tag or commit `{revision}`"));
        }
        let path: Vec<_> = segments.map(str::to_owned).collect();
        match path.iter().find(|segment| !is_segment(segment)) {
            Some(segment) => Err(format!("invalid path segment `{segment}`")),
            None => Ok(Self { owner: owner.to_owned(), repo: repo.to_owned(), revision, path }),
        }
    }

    /// Returns the command of the hub's own tool that downloads the file into the same cache.
    pub(super) fn command(&self) -> String {
        let revision =
            if self.revision == DEFAULT_REVISION { String::new() } else { format!(" --revision {}", self.revision) };
        format!("hf download {}/{} {}{revision}", self.owner, self.repo, self.path.join("/"))
    }

    /// Returns the last segment of the path.
    #[cfg(feature = "local-download")]
    pub(super) fn file_name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

impl fmt::Display for HubFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.repo)?;
        if self.revision != DEFAULT_REVISION {
            write!(f, "@{}", self.revision.replace('/', "%2F"))?;
        }
        write!(f, "/{}", self.path.join("/"))
    }
}

/// Returns whether `word` is a valid owner or repository name, which becomes part of a directory name.
fn is_word(word: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=96).contains(&word.len())
        && word.bytes().all(is_letter)
        && !word.starts_with(['-', '.'])
        && !word.ends_with(['-', '.'])
        && !word.contains("--")
        && !word.contains("..")
}

/// Returns whether a path segment is a plain name.
fn is_segment(segment: &str) -> bool {
    !matches!(segment, "" | "." | "..")
        && segment.len() <= 255
        && !segment.contains(|letter: char| letter.is_control() || "\\:*?\"<>|".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::HubFile;

    fn parsed(name: &str) -> (String, String, String, String) {
        let file = HubFile::parse(name).expect("the name is valid");
        (file.owner, file.repo, file.revision, file.path.join("/"))
    }

    fn words(owner: &str, repo: &str, revision: &str, path: &str) -> (String, String, String, String) {
        (owner.to_owned(), repo.to_owned(), revision.to_owned(), path.to_owned())
    }

    #[test]
    fn a_name_has_an_owner_a_repository_and_a_path() {
        let name = "Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf";
        let expected = words("Qwen", "Qwen2.5-0.5B-Instruct-GGUF", "main", "qwen2.5-0.5b-instruct-q4_k_m.gguf");
        assert_eq!(parsed(name), expected);
        assert_eq!(parsed("a/b/c/d.gguf"), words("a", "b", "main", "c/d.gguf"));
    }

    #[test]
    fn a_revision_may_be_given_with_its_slashes_escaped() {
        assert_eq!(parsed("a/b@v1.0/c.gguf"), words("a", "b", "v1.0", "c.gguf"));
        assert_eq!(parsed("a/b@refs%2Fpr%2F1/c.gguf"), words("a", "b", "refs/pr/1", "c.gguf"));
        let file = HubFile::parse("a/b@refs%2Fpr%2F1/c.gguf").expect("the name is valid");
        assert_eq!(file.to_string(), "a/b@refs%2Fpr%2F1/c.gguf");
        assert_eq!(file.command(), "hf download a/b c.gguf --revision refs/pr/1");
    }

    #[test]
    fn a_name_that_escapes_its_directory_is_rejected() {
        for name in [
            "a/b/../c.gguf",
            "a/b@..%2F..%2Fx/c.gguf",
            "a/b@/c.gguf",
            "a/b//c.gguf",
            "a/../c/d.gguf",
            "a--b/c/d.gguf",
            "-a/b/c.gguf",
            "a/b/c\n.gguf",
            "a b/c/d.gguf",
        ] {
            assert!(HubFile::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_path_is_not_a_hub_file_name() {
        for name in ["/a/b/c.gguf", "./a/b/c.gguf", "../a/b/c.gguf", "~/a/b/c.gguf", "a/b.gguf", r"C:\a/b/c.gguf"] {
            assert!(!HubFile::looks_like(name), "{name}");
        }
        assert!(HubFile::looks_like("a/b/c.gguf"));
    }
}
