//! Commands that are known to only read, each with all its permitted options.
//!
//! Options are listed, not excluded: GNU programs accept abbreviations, so `sort --outp=F` writes a file too. Options
//! that follow symbolic links below a folder are not listed, since they may leave the project without an argument that
//! shows it.

/// A program or a subcommand, and its harmless options.
struct ReadingCommand {
    words: &'static [&'static str],
    /// Letters of options without a value; digits for options such as `-5`.
    flags: &'static str,
    /// Letters of options with a value.
    valued: &'static str,
    /// Names of long options, which may be followed by `=value`.
    long: &'static [&'static str],
    max_operands: usize,
}

const ANY: usize = usize::MAX;
const GIT_DIFF: &[&str] =
    &["stat", "shortstat", "numstat", "name-only", "name-status", "cached", "staged", "no-color", "patch", "word-diff"];

const READERS: &[ReadingCommand] = &[
    ReadingCommand {
        words: &["cat"],
        flags: "AbeEnstTuv",
        valued: "",
        long: &["number", "show-all"],
        max_operands: ANY,
    },
    ReadingCommand {
        words: &["ls"],
        flags: "aAbBcCdfFghGiklmnNopqQrRsStuUvxXZ1",
        valued: "",
        long: &["all", "almost-all", "human-readable", "recursive", "reverse"],
        max_operands: ANY,
    },
    ReadingCommand {
        words: &["head"],
        flags: "qv0123456789",
        valued: "nc",
        long: &["lines", "bytes"],
        max_operands: ANY,
    },
    ReadingCommand {
        words: &["tail"],
        flags: "qv0123456789",
        valued: "nc",
        long: &["lines", "bytes"],
        max_operands: ANY,
    },
    ReadingCommand {
        words: &["wc"],
        flags: "clmwL",
        valued: "",
        long: &["bytes", "chars", "lines", "words"],
        max_operands: ANY,
    },
    ReadingCommand {
        words: &["grep"],
        flags: "EFGPivwxcLloqsbHhnraIzTU0123456789",
        valued: "emABCf",
        long: &[
            "include",
            "exclude",
            "exclude-dir",
            "ignore-case",
            "line-number",
            "count",
            "recursive",
            "fixed-strings",
        ],
        max_operands: ANY,
    },
    ReadingCommand {
        words: &["sort"],
        flags: "bdfghiMnRrVcCmsuz",
        valued: "kt",
        long: &["reverse", "unique", "numeric-sort"],
        max_operands: ANY,
    },
    // The second operand is an output file.
    ReadingCommand {
        words: &["uniq"],
        flags: "cdDiuz",
        valued: "fsw",
        long: &["count", "repeated", "unique"],
        max_operands: 1,
    },
    ReadingCommand { words: &["pwd"], flags: "LP", valued: "", long: &[], max_operands: 0 },
    ReadingCommand {
        words: &["git", "status"],
        flags: "sbvz",
        valued: "",
        long: &["short", "branch", "porcelain", "ignored"],
        max_operands: ANY,
    },
    ReadingCommand { words: &["git", "diff"], flags: "pwbuRz", valued: "U", long: GIT_DIFF, max_operands: ANY },
    ReadingCommand { words: &["git", "show"], flags: "pswbuz", valued: "U", long: GIT_DIFF, max_operands: ANY },
    ReadingCommand {
        words: &["git", "log"],
        flags: "pswbu0123456789",
        valued: "nU",
        long: &[
            "oneline",
            "stat",
            "graph",
            "all",
            "decorate",
            "name-only",
            "name-status",
            "follow",
            "no-merges",
            "since",
            "until",
            "author",
            "grep",
            "max-count",
            "reverse",
            "no-color",
        ],
        max_operands: ANY,
    },
];

/// The tests of `find` that neither run, delete nor write.
const FIND: &[&str] = &[
    "name", "iname", "path", "ipath", "regex", "iregex", "type", "maxdepth", "mindepth", "size", "mtime", "mmin",
    "newer", "empty", "print", "print0", "not", "a", "and", "o", "or", "perm", "prune", "true", "false", "xdev", "H",
    "P",
];

/// Returns whether a command, with all its options, is known to only read.
pub(super) fn is_read_only(words: &[String]) -> bool {
    if words.first().is_some_and(|program| program == "find") {
        return words[1..].iter().all(|word| is_harmless_in_find(word));
    }
    READERS.iter().any(|reader| reader.rest(words).is_some_and(|rest| reader.accepts(rest)))
}

/// Returns whether the options of a program are listed for these words after its name.
pub(super) fn is_listed(program: &str, words: &[String]) -> bool {
    let is_reader = |reader: &ReadingCommand| {
        let (name, command) = (reader.words[0], &reader.words[1..]);
        name == program && words.iter().zip(command).filter(|(word, own)| word == own).count() == command.len()
    };
    program == "find" || READERS.iter().any(is_reader)
}

/// Returns the index of the word that is a text for its program, and not a path: the pattern of `grep`.
pub(super) fn pattern(words: &[String]) -> Option<usize> {
    let reader = READERS.iter().find(|reader| reader.words == ["grep"])?;
    let parsed = reader.parse(reader.rest(words)?)?;
    // With `-e` or `-f`, all operands are files.
    let pattern = parsed.operands.first().filter(|_| !parsed.letters.contains(['e', 'f']))?;
    Some(pattern + reader.words.len())
}

fn is_harmless_in_find(word: &str) -> bool {
    let Some(test) = word.strip_prefix('-') else { return true };
    // `-size -5k`: a number.
    FIND.contains(&test) || test.starts_with(|first: char| first.is_ascii_digit())
}

/// The parsed words after those of the reader.
#[derive(Default)]
struct Parsed {
    /// The indices of the operands.
    operands: Vec<usize>,
    /// The letters of options, including values in the same word.
    letters: String,
}

impl ReadingCommand {
    /// Returns the words after those of the reader.
    fn rest<'w>(&self, words: &'w [String]) -> Option<&'w [String]> {
        let (start, rest) = words.split_at_checked(self.words.len())?;
        (start == self.words).then_some(rest)
    }

    fn accepts(&self, rest: &[String]) -> bool {
        self.parse(rest).is_some_and(|parsed| parsed.operands.len() <= self.max_operands)
    }

    /// Parses the words after those of the reader; `None` for an unlisted option.
    fn parse(&self, rest: &[String]) -> Option<Parsed> {
        let mut parsed = Parsed::default();
        let mut words = rest.iter().enumerate();
        while let Some((at, word)) = words.next() {
            if word == "--" {
                parsed.operands.extend(words.map(|(at, _)| at));
                break;
            }
            if let Some(long) = word.strip_prefix("--") {
                let name = long.split_once('=').map_or(long, |(name, _)| name);
                self.long.contains(&name).then_some(())?;
            } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                parsed.letters.push_str(letters);
                // A value that looks like an option must be one too, since the program may parse the cluster
                // differently.
                if self.cluster(letters)? {
                    words.next().filter(|(_, value)| !value.starts_with('-'))?;
                }
            } else {
                parsed.operands.push(at);
            }
        }
        Some(parsed)
    }

    /// Returns whether the next word is the value of these options; `None` for an unlisted option.
    fn cluster(&self, letters: &str) -> Option<bool> {
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                return Some(at + letter.len_utf8() == letters.len());
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(false)
    }
}
