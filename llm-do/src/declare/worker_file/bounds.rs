//! Limits of worker files, kept before anything is made of their YAML, and whole numbers that the YAML reader rounds.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::Fault;

/// The largest worker file, in bytes.
pub(super) const MAX_SIZE: usize = 1 << 20;
/// How many lists and maps may be inside each other.
const MAX_DEPTH: usize = 100;
/// How many values there may be, once each alias is replaced by what it stands for.
const MAX_VALUES: u64 = 100_000;
/// How many bytes of text there may be then: each alias of a text is a text of its own.
const MAX_TEXT: u64 = 16 << 20;

/// Whole numbers beyond 63 bits, by line and column.
pub(super) type Wholes = HashMap<(usize, usize), u64>;

/// Reads YAML once without making anything of it; the faults of its syntax are left to the reader.
///
/// # Errors
///
/// Returns the first value that is beyond the limits.
pub(super) fn check(yaml: &str) -> Result<Wholes, Fault> {
    let mut seen = Seen::default();
    for event in Parser::new_from_str(yaml) {
        let Ok((event, span)) = event else { break };
        seen.take(&event, span)?;
    }
    Ok(seen.wholes)
}

/// How many values something is, how many bytes of text they hold, and how many of them are inside each other.
#[derive(Clone, Copy, Default)]
struct Extent {
    values: u64,
    text: u64,
    depth: usize,
}

/// A list or map that has begun.
struct Open {
    anchor: usize,
    extent: Extent,
}

#[derive(Default)]
struct Seen {
    open: Vec<Open>,
    /// What aliases stand for.
    anchors: HashMap<usize, Extent>,
    wholes: Wholes,
}

impl Seen {
    fn take(&mut self, event: &Event<'_>, span: Span) -> Result<(), Fault> {
        match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                self.open.push(Open { anchor: *anchor, extent: Extent { values: 1, text: 0, depth: 1 } });
                self.add(Extent::default(), span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { anchor, extent }) = self.open.pop() {
                    self.anchors.insert(anchor, extent);
                    self.add(extent, span)?;
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let extent = Extent { values: 1, text: text.len() as u64, depth: 0 };
                self.anchors.insert(*anchor, extent);
                self.add(extent, span)?;
                if *style == ScalarStyle::Plain && tag.is_none() {
                    self.whole(text, span)?;
                }
            }
            Event::Alias(anchor) => self.add(self.anchors.get(anchor).copied().unwrap_or_default(), span)?,
            _ => {}
        }
        Ok(())
    }

    /// Adds a value to the list or map that it is in.
    fn add(&mut self, extent: Extent, span: Span) -> Result<(), Fault> {
        let depth = self.open.len() + extent.depth;
        let Some(outer) = self.open.last_mut() else { return Ok(()) };
        outer.extent.values = outer.extent.values.saturating_add(extent.values);
        outer.extent.text = outer.extent.text.saturating_add(extent.text);
        outer.extent.depth = outer.extent.depth.max(extent.depth + 1);
        let line = span.start.line();
        if depth > MAX_DEPTH {
            return Err(Fault::new(
                line,
                format!("lists and maps are nested deeper than {MAX_DEPTH} levels; make them flatter"),
            ));
        }
        if outer.extent.values > MAX_VALUES {
            let message = format!("more than {MAX_VALUES} values once each alias is replaced; use fewer aliases");
            return Err(Fault::new(line, message));
        }
        if outer.extent.text > MAX_TEXT {
            let message = format!("more than {MAX_TEXT} bytes of text once each alias is replaced; use fewer aliases");
            return Err(Fault::new(line, message));
        }
        Ok(())
    }

    fn whole(&mut self, text: &str, span: Span) -> Result<(), Fault> {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_whole || text.strip_prefix('+').unwrap_or(text).parse::<i64>().is_ok() {
            return Ok(());
        }
        let whole = text.strip_prefix('+').unwrap_or(text).parse().map_err(|_| {
            let message =
                "a whole number beyond 64 bits; write it with a fraction, such as `1e30`, or as a text in quotes";
            Fault::new(span.start.line(), message)
        })?;
        self.wholes.insert((span.start.line(), span.start.col()), whole);
        Ok(())
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
        assert!(fault(&yaml).contains("more than 100000 values once each alias is replaced"));
    }

    #[test]
    fn aliases_of_a_long_text_are_refused() {
        let yaml = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(20_000), vec!["*a"; 50_000].join(", "));
        assert!(fault(&yaml).contains("more than 16777216 bytes of text once each alias is replaced"));
    }

    #[test]
    fn aliases_inside_each_other_are_refused_beyond_the_depth() {
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
    fn whole_numbers_beyond_64_bits_are_refused() {
        assert!(fault("a: 1\nb: 18446744073709551616").contains("beyond 64 bits"));
        assert!(fault("a: -9223372036854775809").contains("beyond 64 bits"));
        assert_eq!(check("a: 18446744073709551615").unwrap()[&(1, 3)], u64::MAX);
    }
}
