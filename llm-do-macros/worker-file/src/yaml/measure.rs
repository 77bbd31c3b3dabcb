//! Limits of YAML, checked before it is loaded, and whole numbers that the loader rounds.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::{Fault, Place};

/// The maximum number of nested lists and maps.
const MAX_DEPTH: usize = 100;
/// The maximum number of values, once each alias is replaced by its target.
const MAX_VALUES: u64 = 100_000;
/// The maximum number of bytes of text, once each alias is replaced by its target.
const MAX_TEXT: u64 = 16 << 20;

/// Whole numbers outside of `i64`, by line and column; `None` for one that is outside of `u64` too.
pub(crate) type LargeIntegers = HashMap<(usize, usize), Option<u64>>;

/// Reads the events of YAML without loading it; syntax errors are left to the loader.
///
/// # Errors
///
/// Returns the first value that exceeds a limit.
pub(crate) fn check(yaml: &str) -> Result<LargeIntegers, Fault> {
    let mut measure = Measure::default();
    for event in Parser::new_from_str(yaml) {
        let Ok((event, span)) = event else { break };
        measure.take(&event, span)?;
    }
    Ok(measure.wholes)
}

/// The size of a value: its number of values, their bytes of text, and their nesting depth.
#[derive(Clone, Copy, Default)]
struct Size {
    values: u64,
    text: u64,
    depth: usize,
}

/// A list or map that is not closed yet.
struct OpenValue {
    anchor: usize,
    size: Size,
}

#[derive(Default)]
struct Measure {
    open: Vec<OpenValue>,
    /// The targets of aliases.
    anchors: HashMap<usize, Size>,
    wholes: LargeIntegers,
}

impl Measure {
    fn take(&mut self, event: &Event<'_>, span: Span) -> Result<(), Fault> {
        match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                self.open.push(OpenValue { anchor: *anchor, size: Size { values: 1, text: 0, depth: 1 } });
                self.add(Size::default(), span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(OpenValue { anchor, size }) = self.open.pop() {
                    self.anchors.insert(anchor, size);
                    self.add(size, span)?;
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let size = Size { values: 1, text: text.len() as u64, depth: 0 };
                self.anchors.insert(*anchor, size);
                self.add(size, span)?;
                if *style == ScalarStyle::Plain && tag.is_none() {
                    self.whole(text, span);
                }
            }
            Event::Alias(anchor) => self.add(self.anchors.get(anchor).copied().unwrap_or_default(), span)?,
            _ => {}
        }
        Ok(())
    }

    /// Adds a value to the list or map that contains it.
    fn add(&mut self, size: Size, span: Span) -> Result<(), Fault> {
        let depth = self.open.len() + size.depth;
        let Some(outer) = self.open.last_mut() else { return Ok(()) };
        outer.size.values = outer.size.values.saturating_add(size.values);
        outer.size.text = outer.size.text.saturating_add(size.text);
        outer.size.depth = outer.size.depth.max(size.depth + 1);
        let fault = |message| Err(Fault::new(Place { line: span.start.line(), column: span.start.col() + 1 }, message));
        if depth > MAX_DEPTH {
            return fault(format!("lists and maps are nested deeper than {MAX_DEPTH} levels"));
        }
        if outer.size.values > MAX_VALUES {
            return fault(format!("more than {MAX_VALUES} values after aliases are expanded; use fewer aliases"));
        }
        if outer.size.text > MAX_TEXT {
            return fault(format!("more than {MAX_TEXT} bytes of text after aliases are expanded; use fewer aliases"));
        }
        Ok(())
    }

    fn whole(&mut self, text: &str, span: Span) {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.strip_prefix('+').unwrap_or(text);
        if is_whole && number.parse::<i64>().is_err() {
            self.wholes.insert((span.start.line(), span.start.col()), number.parse().ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    fn fault(yaml: &str) -> String {
        check(yaml).unwrap_err().message
    }

    #[test]
    fn aliases_that_multiply_are_refused() {
        let nine = |inner: &str| [inner; 9].join(", ");
        let level = |level: usize| match level {
            0 => format!("a0: &a0 [{}]\n", nine("x")),
            level => format!("a{level}: &a{level} [{}]\n", nine(&format!("*a{}", level - 1))),
        };
        let yaml = (0..12).map(level).collect::<Vec<_>>().concat();
        assert!(fault(&yaml).contains("more than 100000 values after aliases are expanded"));
    }

    #[test]
    fn aliases_of_a_long_text_are_refused() {
        let yaml = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(20_000), vec!["*a"; 50_000].join(", "));
        assert!(fault(&yaml).contains("more than 16777216 bytes of text after aliases are expanded"));
    }

    #[test]
    fn nested_aliases_are_refused_beyond_the_maximum_depth() {
        let level = |level| format!("a{level}: &a{level} [*a{}]\n", level - 1);
        let levels = (1..10_000).map(level).collect::<Vec<_>>().concat();
        let yaml = format!("a0: &a0 [x]\n{levels}");
        assert!(fault(&yaml).contains("nested deeper than 100 levels"));
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert!(fault(&format!("a: {}", "[".repeat(200))).contains("nested deeper than 100 levels"));
        assert!(fault(&format!("a: {}", "{a: ".repeat(200))).contains("nested deeper than 100 levels"));
        let block = (0..300).map(|level| format!("{}a:\n", " ".repeat(level))).collect::<Vec<_>>().concat();
        assert!(fault(&block).contains("nested deeper than 100 levels"));
        assert!(check(&format!("a: {}{}", "[".repeat(99), "]".repeat(99))).is_ok());
    }

    #[test]
    fn whole_numbers_outside_of_63_bits_are_found() {
        let found = check("a: 18446744073709551615\nb: 18446744073709551616\nc: -9223372036854775809\nd: 7").unwrap();
        assert_eq!(found, [((1, 3), Some(u64::MAX)), ((2, 3), None), ((3, 3), None)].into());
    }
}
