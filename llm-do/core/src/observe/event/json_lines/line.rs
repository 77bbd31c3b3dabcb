//! Writes the line of an event, with the same text as `serde_json`.

mod kind;

use std::fmt::Write;
use std::sync::Arc;

use jiff::Timestamp;

use self::kind::write_kind;
use crate::base::json::{write_integer, write_text};
use crate::observe::event::Event;

/// Writes events, each as one line of JSON. Caches the texts that most consecutive events have in common.
#[derive(Default)]
pub(in crate::observe::event) struct LineWriter {
    call: CallText,
    name: NameText,
    second: SecondText,
}

/// The start of a line up to the sequence number, which the events of a call share.
#[derive(Default)]
struct CallText {
    run: Arc<str>,
    call: u64,
    parent: Option<u64>,
    text: String,
    /// The length of the text before the id of the call.
    before_call: usize,
}

/// The text between the sequence number and the time.
#[derive(Default)]
struct NameText {
    depth: u32,
    name: Arc<str>,
    text: String,
}

/// The second of a time, with the point after it, such as `2026-07-28T12:00:00.`.
#[derive(Default)]
struct SecondText {
    second: i64,
    text: String,
}

impl LineWriter {
    /// Adds the line of an event, with its line break.
    pub(in crate::observe::event) fn write(&mut self, line: &mut String, event: &Event) -> serde_json::Result<()> {
        self.call.write(line, event);
        write_integer(line, event.seq);
        self.name.write(line, event);
        self.second.write(line, event.time);
        write_kind(line, &event.kind)?;
        line.push_str("}\n");
        Ok(())
    }
}

impl CallText {
    /// Adds the start of a line, before the number of the event.
    fn write(&mut self, line: &mut String, event: &Event) {
        let Event { run, call, parent, .. } = event;
        let is_same_run = !self.text.is_empty() && Arc::ptr_eq(&self.run, run);
        if !is_same_run {
            self.run = Arc::clone(run);
            self.text.clear();
            self.text.push_str("{\"run\":");
            write_text(&mut self.text, run);
            self.text.push_str(",\"call\":");
            self.before_call = self.text.len();
        }
        if !is_same_run || self.call != *call || self.parent != *parent {
            (self.call, self.parent) = (*call, *parent);
            self.text.truncate(self.before_call);
            write_integer(&mut self.text, *call);
            self.text.push_str(",\"parent\":");
            match parent {
                Some(parent) => write_integer(&mut self.text, *parent),
                None => self.text.push_str("null"),
            }
            self.text.push_str(",\"seq\":");
        }
        line.push_str(&self.text);
    }
}

impl NameText {
    /// Adds the middle of a line, after the number of the event.
    fn write(&mut self, line: &mut String, event: &Event) {
        let Event { depth, name, .. } = event;
        if self.text.is_empty() || !Arc::ptr_eq(&self.name, name) || self.depth != *depth {
            (self.name, self.depth) = (Arc::clone(name), *depth);
            self.text.clear();
            self.text.push_str(",\"depth\":");
            write_integer(&mut self.text, *depth);
            self.text.push_str(",\"name\":");
            write_text(&mut self.text, name);
            self.text.push_str(",\"time\":\"");
        }
        line.push_str(&self.text);
    }
}

impl SecondText {
    /// Adds a time, and the quote after it.
    fn write(&mut self, line: &mut String, time: Timestamp) {
        let Ok(nanoseconds @ 1..) = u32::try_from(time.subsec_nanosecond()) else {
            // The time is a whole second, or before 1970.
            let _ = write!(line, "{time}\"");
            return;
        };
        let second = time.as_second();
        if self.text.is_empty() || self.second != second {
            self.second = second;
            self.text.clear();
            let _ = write!(self.text, "{}", Timestamp::from_second(second).unwrap_or_default());
            // A point replaces the `Z` before the fraction.
            self.text.pop();
            self.text.push('.');
        }
        line.push_str(&self.text);
        let mut digits = itoa::Buffer::new();
        // The leading digit keeps the zeros of the nine digits after it.
        let fraction = &digits.format(1_000_000_000 + nanoseconds)[1..];
        line.push_str(fraction.trim_end_matches('0'));
        line.push_str("Z\"");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;

    use super::LineWriter;
    use crate::observe::event::{Event, EventKind};

    #[test]
    fn lines_after_another_are_written_as_serde_json_writes_them() {
        let mut writer = LineWriter::default();
        let (runs, names) = ([Arc::from("0198"), Arc::from("0199")], [Arc::from("copy"), Arc::from("\"c\"")]);
        let times = [(0, 0), (0, 1), (-1, -5), (1_700_000_000, 120_000_000), (1_700_000_000, 999_999_999)];
        for seq in 0..2000 {
            let of = |changes_after: usize, kinds: usize| seq / changes_after % kinds;
            let (second, nanoseconds) = times[of(1, 5)];
            let event = Event {
                run: Arc::clone(&runs[of(80, 2)]),
                call: [3, 12][of(5, 2)],
                parent: [None, Some(0)][of(10, 2)],
                seq: seq.try_into().unwrap(),
                depth: [0, 17][of(20, 2)],
                name: Arc::clone(&names[of(40, 2)]),
                time: Timestamp::new(second, nanoseconds).unwrap(),
                kind: EventKind::Progress { text: "half of it".to_owned() },
            };
            let mut line = String::new();
            writer.write(&mut line, &event).unwrap();
            assert_eq!(line, serde_json::to_string(&event).unwrap() + "\n");
        }
    }
}
