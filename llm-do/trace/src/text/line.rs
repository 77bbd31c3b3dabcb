//! The columns of a line.

use unicode_width::UnicodeWidthChar;

use super::duration;
use crate::Trace;
use crate::call::Call;

/// The shown columns; columns without any value are omitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    has_waits: bool,
    has_tokens: bool,
    has_cost: bool,
}

/// The width of a column, with the spaces before it.
const TIME: usize = 12;
const TOKENS: usize = 15;
const COST: usize = 11;

impl Columns {
    pub(super) fn new(trace: &Trace) -> Self {
        let roots = || trace.roots.iter().map(|root| &trace.calls[*root]);
        Self {
            has_waits: roots().any(|call| call.waiting() > 0),
            has_tokens: roots().any(|call| call.total.requests > 0),
            has_cost: roots().any(|call| !call.total.cost.is_zero()),
        }
    }

    pub(super) fn width(self) -> usize {
        let width = |has: bool, width: usize| if has { width } else { 0 };
        TIME + width(self.has_waits, TIME) + width(self.has_tokens, TOKENS) + width(self.has_cost, COST)
    }

    pub(super) fn titles(self) -> String {
        self.row("time", "waiting", "tokens in/out", "cost")
    }

    /// Returns the figures of a call and all below it.
    pub(super) fn figures(self, call: &Call) -> String {
        let waiting = if call.waiting() > 0 { duration(call.waiting()) } else { String::new() };
        let total = call.total;
        let (tokens, cost) = match total.requests {
            0 => (String::new(), String::new()),
            _ => (format!("{}/{}", total.input_tokens, total.output_tokens), total.cost.to_string()),
        };
        // The full text, such as "$0.01 and 2 requests of unknown price", does not fit.
        let cost = cost.split_once(" and ").map_or(cost.clone(), |(known, _)| format!("≥{known}"));
        self.row(&duration(call.elapsed()), &waiting, &tokens, &cost)
    }

    fn row(self, time: &str, waiting: &str, tokens: &str, cost: &str) -> String {
        let column = |has: bool, text: &str, width: usize| if has { format!("{text:>width$}") } else { String::new() };
        let waiting = column(self.has_waits, waiting, TIME);
        let tokens = column(self.has_tokens, tokens, TOKENS);
        format!("{time:>TIME$}{waiting}{tokens}{}", column(self.has_cost, cost, COST))
    }
}

/// Returns the start of a text that fits into `width` columns, and the columns that it takes.
pub(super) fn fitted(text: &str, width: usize) -> (String, usize) {
    let (mut used, mut cut) = (0, 0);
    for (start, character) in text.char_indices() {
        let next = used + character.width().unwrap_or_default();
        if next > width {
            let kept = &text[..cut];
            return if width == 0 { (String::new(), 0) } else { (format!("{kept}…"), columns(kept) + 1) };
        }
        // One column is reserved for the mark of a cut text.
        if next < width {
            cut = start + character.len_utf8();
        }
        used = next;
    }
    (text.to_owned(), used)
}

fn columns(text: &str) -> usize {
    text.chars().map(|character| character.width().unwrap_or_default()).sum()
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn a_text_is_cut_to_its_columns() {
        assert_eq!(fitted("abc", 3), ("abc".into(), 3));
        assert_eq!(fitted("abcd", 3), ("ab…".into(), 3));
        assert_eq!(fitted("日本", 3), ("日…".into(), 3));
        assert_eq!(fitted("a", 0), (String::new(), 0));
    }
}
