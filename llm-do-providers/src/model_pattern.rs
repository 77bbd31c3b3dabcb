//! Patterns of models' names, as the tables of prices and of capabilities list them.

use wildmatch::WildMatch;

/// The models that a row of a table applies to, in lower case. Names must be in lower case too.
#[derive(Clone, Debug)]
pub(crate) enum ModelPattern {
    /// One model, and its dated snapshots.
    Exact(String),
    /// All models that match a pattern with `*` or `?`.
    Glob(WildMatch),
}

/// The rank of a match: the number of matched characters, and whether the pattern has no wildcard.
pub(crate) type Rank = (usize, bool);

impl ModelPattern {
    pub(crate) fn new(name: &str) -> Self {
        if name.contains(['*', '?']) { Self::Glob(WildMatch::new(name)) } else { Self::Exact(name.to_owned()) }
    }

    /// Returns the rank of the match with `name`; `None` if it does not match.
    pub(crate) fn rank(&self, name: &str) -> Option<Rank> {
        match self {
            Self::Exact(listed) => {
                let rest = name.strip_prefix(listed.as_str())?;
                let snapshot = || rest.strip_prefix(['-', '@']).is_some_and(is_day);
                (rest.is_empty() || snapshot()).then_some((listed.len(), true))
            }
            Self::Glob(pattern) => {
                let letters = || pattern.pattern_chars().iter().filter(|c| !matches!(c, '*' | '?')).count();
                pattern.matches(name).then(|| (letters(), false))
            }
        }
    }
}

/// Whether a text is a day, `2025-04-14` or `20250414`.
pub(crate) fn is_day(text: &str) -> bool {
    let digits = match text.as_bytes() {
        [year @ .., b'-', m1, m2, b'-', d1, d2] if year.len() == 4 => [year, &[*m1, *m2, *d1, *d2]].concat(),
        whole => whole.to_vec(),
    };
    let [b'2', b'0', _, _, m1, m2, d1, d2] = digits[..] else { return false };
    let month_and_day = matches!((m1, m2), (b'0', b'1'..=b'9') | (b'1', b'0'..=b'2'))
        && matches!((d1, d2), (b'0', b'1'..=b'9') | (b'1' | b'2', b'0'..=b'9') | (b'3', b'0' | b'1'));
    month_and_day && digits.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::ModelPattern;

    #[test]
    fn what_follows_a_name_is_a_date_or_another_model() {
        let is_snapshot = |rest: &str| ModelPattern::new("a:b").rank(&format!("a:b{rest}")).is_some();
        for date in ["", "-2025-04-14", "-20250414", "@20250414", "-2026-12-31"] {
            assert!(is_snapshot(date), "{date}");
        }
        let others = ["-mini", "-2025", "-0613", "-2025-13-01", "-2025-00-10", "-20250432", "20250414", "-2025-0414"];
        for other in others.into_iter().chain(["-20250414-mini", "-19990101", "-2025a414", "--20250414"]) {
            assert!(!is_snapshot(other), "{other}");
        }
    }
}
