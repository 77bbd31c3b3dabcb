//! The line of an event: what `serde_json` writes, for less.

use std::io::Write;
use std::sync::Arc;

use jiff::Timestamp;

use super::serializer::{write_json, write_text};
use crate::observe::event::{ApprovalScope, DecidedBy, Event, EventKind, Outcome};

/// Writes events, each as one line of JSON. It keeps the texts of the last run and second, which most events share.
#[derive(Default)]
pub(in crate::observe::event) struct LineWriter {
    run: RunText,
    time: TimeText,
}

/// The start of a line, up to the run.
#[derive(Default)]
struct RunText {
    run: Arc<str>,
    text: Vec<u8>,
}

/// A second as text.
#[derive(Default)]
struct TimeText {
    second: Option<i64>,
    /// Such as `2026-07-28T12:00:00`.
    text: String,
}

impl LineWriter {
    /// Adds the line of an event, with its line break.
    pub(in crate::observe::event) fn write(&mut self, line: &mut Vec<u8>, event: &Event) -> serde_json::Result<()> {
        let Event { run, call, parent, seq, depth, name, time, kind } = event;
        self.run.write(line, run);
        line.extend_from_slice(b",\"call\":");
        write_number(line, *call)?;
        line.extend_from_slice(b",\"parent\":");
        match parent {
            Some(parent) => write_number(line, *parent)?,
            None => line.extend_from_slice(b"null"),
        }
        line.extend_from_slice(b",\"seq\":");
        write_number(line, *seq)?;
        line.extend_from_slice(b",\"depth\":");
        write_number(line, u64::from(*depth))?;
        line.extend_from_slice(b",\"name\":");
        write_text(line, name);
        line.extend_from_slice(b",\"time\":\"");
        self.time.write(line, *time);
        line.push(b'"');
        write_kind(line, kind)?;
        line.push(b'\n');
        Ok(())
    }
}

/// Adds the fields of a kind, and closes the object of the event.
fn write_kind(line: &mut Vec<u8>, kind: &EventKind) -> serde_json::Result<()> {
    match kind {
        // The events of every call, for which serde would take half of the time of the line.
        EventKind::CallStarted { what, by, arguments } => {
            line.extend_from_slice(b",\"kind\":\"call_started\",\"what\":\"");
            line.extend_from_slice(what.as_str().as_bytes());
            line.extend_from_slice(b"\",\"by\":");
            write_json(line, by)?;
            line.extend_from_slice(b",\"arguments\":");
            write_json(line, arguments)?;
            line.push(b'}');
            Ok(())
        }
        EventKind::CallFinished {
            outcome: Outcome::Result(result),
            attachments,
            note: None,
            elapsed_ms,
            replayed: false,
        } if attachments.is_empty() => {
            line.extend_from_slice(b",\"kind\":\"call_finished\",\"result\":");
            write_json(line, result)?;
            line.extend_from_slice(b",\"elapsed_ms\":");
            write_number(line, *elapsed_ms)?;
            line.push(b'}');
            Ok(())
        }
        EventKind::ApprovalDecided {
            approved: true,
            by: DecidedBy::Policy,
            rule,
            reason: None,
            edited: None,
            scope: ApprovalScope::Call,
        } => {
            line.extend_from_slice(b",\"kind\":\"approval_decided\",\"approved\":true,\"by\":\"policy\",\"rule\":");
            write_json(line, rule)?;
            line.extend_from_slice(b",\"scope\":\"call\"}");
            Ok(())
        }
        kind => {
            // Its object continues that of the event.
            let brace = line.len();
            write_json(line, kind)?;
            line[brace] = b',';
            Ok(())
        }
    }
}

fn write_number(line: &mut Vec<u8>, number: u64) -> serde_json::Result<()> {
    match u8::try_from(number) {
        Ok(digit @ 0..=9) => line.push(b'0' + digit),
        _ => write_json(line, &number)?,
    }
    Ok(())
}

impl RunText {
    fn write(&mut self, line: &mut Vec<u8>, run: &Arc<str>) {
        if self.text.is_empty() || !Arc::ptr_eq(&self.run, run) {
            self.run = Arc::clone(run);
            self.text.clear();
            self.text.extend_from_slice(b"{\"run\":");
            write_text(&mut self.text, run);
        }
        line.extend_from_slice(&self.text);
    }
}

impl TimeText {
    /// Adds a time as RFC 3339, with as many digits of the second as it has.
    fn write(&mut self, line: &mut Vec<u8>, time: Timestamp) {
        let second = time.as_second();
        let Ok(mut nanoseconds) = u32::try_from(time.subsec_nanosecond()) else {
            // Before 1970.
            let _ = write!(line, "{time}");
            return;
        };
        if self.second != Some(second) {
            let text = Timestamp::from_second(second).unwrap_or_default().to_string();
            (self.second, self.text) = (Some(second), text.trim_end_matches('Z').to_owned());
        }
        line.extend_from_slice(self.text.as_bytes());
        if nanoseconds > 0 {
            let mut digits = *b".000000000";
            let mut end = digits.len();
            while nanoseconds % 10 == 0 {
                nanoseconds /= 10;
                end -= 1;
            }
            for digit in digits[1..end].iter_mut().rev() {
                *digit += u8::try_from(nanoseconds % 10).unwrap_or_default();
                nanoseconds /= 10;
            }
            line.extend_from_slice(&digits[..end]);
        }
        line.push(b'Z');
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::TimeText;

    #[test]
    fn a_time_is_written_as_jiff_writes_it() {
        let mut written = TimeText::default();
        for (second, nanoseconds) in
            [(0, 0), (0, 1), (-1, -5), (1_700_000_000, 120_000_000), (1_700_000_000, 999_999_999)]
        {
            let time = Timestamp::new(second, nanoseconds).unwrap();
            let mut line = Vec::new();
            written.write(&mut line, time);
            assert_eq!(String::from_utf8(line).unwrap(), time.to_string());
        }
    }
}
