//! Converts regular expressions to those that the grammar supports.
//!
//! The grammar supports groups, alternatives, repetitions and character classes, matches a class against the JSON text
//! between the quotes, and ignores an expression that it does not support. So everything is written as classes of
//! characters that JSON does not escape.

use std::fmt::Write as _;

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    Assertion, AssertionKind, Ast, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem, Group, GroupKind,
    Repetition, RepetitionKind, RepetitionRange,
};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::limits::MOST;

/// The maximum length of the result.
const LONGEST: usize = 4000;
/// The characters that JSON strings do not escape.
const PLAIN: [(char, char); 4] = [(' ', '!'), ('#', '['), (']', '~'), ('\u{a0}', char::MAX)];
/// The white space of ECMAScript.
const SPACES: [(char, char); 10] = [
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{feff}', '\u{feff}'),
];
const WORDS: [(char, char); 4] = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

/// Returns an expression that matches a whole string only if `pattern` does; `None` if such an expression does not
/// exist.
pub(super) fn whole(pattern: &str) -> Option<String> {
    let expression = Parser::new().parse(pattern).ok()?;
    let branches = match &expression {
        Ast::Alternation(branches) => branches.asts.iter().map(branch).collect::<Option<Vec<_>>>()?,
        single => vec![branch(single)?],
    };
    let text = match branches.as_slice() {
        [single] => format!("^{single}$"),
        several => format!("^({})$", several.join("|")),
    };
    (text.len() <= LONGEST).then_some(text)
}

/// Converts an alternative: without an anchor, any characters may precede or follow it.
fn branch(expression: &Ast) -> Option<String> {
    let mut parts = match expression {
        Ast::Concat(parts) => parts.asts.as_slice(),
        single => std::slice::from_ref(single),
    };
    let anything = || Some(class(&plain())? + "*");
    let (mut before, mut after) = (anything()?, anything()?);
    if let [first, rest @ ..] = parts
        && is_one_of(first, &[AssertionKind::StartLine, AssertionKind::StartText])
    {
        (before, parts) = (String::new(), rest);
    }
    if let [rest @ .., last] = parts
        && is_one_of(last, &[AssertionKind::EndLine, AssertionKind::EndText])
    {
        (after, parts) = (String::new(), rest);
    }
    let parts = parts.iter().map(translated).collect::<Option<String>>()?;
    Some(before + &parts + &after)
}

fn is_one_of(expression: &Ast, kinds: &[AssertionKind]) -> bool {
    matches!(expression, Ast::Assertion(assertion) if matches!(&**assertion, Assertion { kind, .. } if kinds.contains(kind)))
}

fn translated(expression: &Ast) -> Option<String> {
    match expression {
        Ast::Empty(_) => Some(String::new()),
        Ast::Literal(literal) => class(&class_of(&[(literal.c, literal.c)])),
        Ast::Dot(_) => class(&plain()),
        Ast::ClassPerl(perl) => class(&perl_class(perl)),
        Ast::ClassBracketed(brackets) => class(&bracketed(brackets)?),
        Ast::Repetition(repetition) => repeated(repetition),
        Ast::Group(group) => grouped(group),
        Ast::Concat(parts) => parts.asts.iter().map(translated).collect(),
        Ast::Alternation(branches) => {
            let branches = branches.asts.iter().map(translated).collect::<Option<Vec<_>>>()?;
            Some(format!("({})", branches.join("|")))
        }
        // Flags change the meaning of the rest; assertions and scripts have no counterpart.
        Ast::Flags(_) | Ast::Assertion(_) | Ast::ClassUnicode(_) => None,
    }
}

fn grouped(group: &Group) -> Option<String> {
    let has_flags = matches!(&group.kind, GroupKind::NonCapturing(flags) if !flags.items.is_empty());
    let inner = if has_flags { None } else { translated(&group.ast) }?;
    // Alternatives have their own group.
    Some(if inner.is_empty() || matches!(&*group.ast, Ast::Alternation(_)) { inner } else { format!("({inner})") })
}

fn repeated(repetition: &Repetition) -> Option<String> {
    let mut inner = translated(&repetition.ast)?;
    if inner.is_empty() {
        return Some(inner);
    }
    if matches!(&*repetition.ast, Ast::Repetition(_)) {
        inner = format!("({inner})");
    }
    let within = |times: u32| u64::from(times) <= MOST;
    let times = match &repetition.op.kind {
        RepetitionKind::ZeroOrOne => "?".to_owned(),
        RepetitionKind::ZeroOrMore => "*".to_owned(),
        RepetitionKind::OneOrMore => "+".to_owned(),
        RepetitionKind::Range(RepetitionRange::Exactly(times)) if within(*times) => format!("{{{times}}}"),
        RepetitionKind::Range(RepetitionRange::AtLeast(least)) if within(*least) => format!("{{{least},}}"),
        RepetitionKind::Range(RepetitionRange::Bounded(least, most)) if within(*most) => format!("{{{least},{most}}}"),
        RepetitionKind::Range(_) => return None,
    };
    Some(inner + &times)
}

fn perl_class(perl: &ClassPerl) -> ClassUnicode {
    let mut set = match perl.kind {
        ClassPerlKind::Digit => class_of(&[('0', '9')]),
        ClassPerlKind::Space => class_of(&SPACES),
        ClassPerlKind::Word => class_of(&WORDS),
    };
    if perl.negated {
        set.negate();
    }
    set
}

fn bracketed(brackets: &ClassBracketed) -> Option<ClassUnicode> {
    let ClassSet::Item(item) = &brackets.kind else { return None };
    let mut set = item_set(item)?;
    if brackets.negated {
        set.negate();
    }
    Some(set)
}

fn item_set(item: &ClassSetItem) -> Option<ClassUnicode> {
    Some(match item {
        ClassSetItem::Empty(_) => class_of(&[]),
        ClassSetItem::Literal(literal) => class_of(&[(literal.c, literal.c)]),
        ClassSetItem::Range(range) => class_of(&[(range.start.c, range.end.c)]),
        ClassSetItem::Perl(perl) => perl_class(perl),
        ClassSetItem::Bracketed(brackets) => bracketed(brackets)?,
        ClassSetItem::Union(union) => {
            let mut set = class_of(&[]);
            for item in &union.items {
                set.union(&item_set(item)?);
            }
            set
        }
        ClassSetItem::Ascii(_) | ClassSetItem::Unicode(_) => return None,
    })
}

fn class_of(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(first, last)| ClassUnicodeRange::new(*first, *last)))
}

fn plain() -> ClassUnicode {
    class_of(&PLAIN)
}

/// Returns the class of the plain characters in a set; `None` if it has none.
fn class(set: &ClassUnicode) -> Option<String> {
    let mut set = set.clone();
    set.intersect(&plain());
    if set.ranges().is_empty() {
        return None;
    }
    let mut text = "[".to_owned();
    for range in set.ranges() {
        text += &character(range.start());
        if range.start() != range.end() {
            text.push('-');
            text += &character(range.end());
        }
    }
    Some(text + "]")
}

fn character(character: char) -> String {
    let mut text = String::new();
    let written = match u32::from(character) {
        _ if character.is_ascii_alphanumeric() => write!(text, "{character}"),
        code @ ..=0xff => write!(text, "\\x{code:02X}"),
        code @ ..=0xffff => write!(text, "\\u{code:04X}"),
        code => write!(text, "\\U{code:08X}"),
    };
    // Writing into a `String` never fails.
    written.map(|()| text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::whole;

    /// Everything that stands for itself.
    const ANY: &str = r"[\x20-\x21\x23-\x5B\x5D-\x7E\xA0-\U0010FFFF]";

    #[test]
    fn characters_and_classes_become_classes() {
        assert_eq!(whole(r"^[A-Z]{2}-\d{3}$").as_deref(), Some(r"^[A-Z]{2}[\x2D][0-9]{3}$"));
        assert_eq!(whole(r"^é\w+$").as_deref(), Some(r"^[\xE9][0-9A-Z\x5Fa-z]+$"));
    }

    #[test]
    fn a_pattern_without_ends_matches_anywhere() {
        assert_eq!(whole("a"), Some(format!("^{ANY}*[a]{ANY}*$")));
        assert_eq!(whole("^a|b$"), Some(format!("^([a]{ANY}*|{ANY}*[b])$")));
    }

    #[test]
    fn groups_and_alternatives_stay() {
        assert_eq!(whole("^(0|[1-9]?x*)(?:ab)+$").as_deref(), Some("^([0]|[1-9]?[x]*)([a][b])+$"));
        assert_eq!(whole("^(a|)b$").as_deref(), Some("^([a]|)[b]$"));
        assert_eq!(whole("^()*$").as_deref(), Some("^$"));
    }

    #[test]
    fn what_json_escapes_is_left_out_of_a_class() {
        assert_eq!(whole(r#"^["'\\]$"#).as_deref(), Some(r"^[\x27]$"));
        assert_eq!(whole(r"^[^,\n]$").as_deref(), Some(r"^[\x20-\x21\x23-\x2B\x2D-\x5B\x5D-\x7E\xA0-\U0010FFFF]$"));
    }

    #[test]
    fn an_expression_without_a_counterpart_is_refused() {
        for pattern in [
            "(",
            "(?i)a",
            "(?i:a)",
            r"\bfoo",
            "a^b",
            r"\p{Greek}",
            "[[:alpha:]]",
            "[a&&b]",
            "a{1001}",
            "(?=a)b",
            "^\"$",
        ] {
            assert_eq!(whole(pattern), None, "{pattern}");
        }
        assert_eq!(whole(&format!("^{}$", "a".repeat(4000))), None);
    }
}
