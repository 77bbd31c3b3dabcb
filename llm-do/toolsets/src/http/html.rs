//! HTML as text. First, the HTML is reduced to an outline with bounded size, depth and text length, since the
//! conversion to text needs time and memory for the tree and the text, which the author of the page controls.

mod budget;
mod element;
mod hidden;
mod outline;
mod scanner;
mod table;

use std::io::{self, Read};

use self::outline::Outline;
use self::scanner::{Scanner, Token};

/// The columns at which text is wrapped: wide enough for most tables.
const WIDTH: usize = 120;

/// The number of tags between two checks of the deadline.
const INTERVAL: usize = 1_000;

/// Returns HTML as text, with the link targets at the end; fails once `is_over`.
pub(super) fn to_text(html: &str, is_over: &dyn Fn() -> bool) -> Result<String, String> {
    let outline = outline(html, is_over)?;
    let config = html2text::config::plain().no_link_wrapping().allow_width_overflow();
    let read = Interruptible { rest: outline.as_bytes(), is_over };
    config.string_from_read(read, WIDTH).map_err(|error| error.to_string())
}

/// Returns the parts of HTML that affect the text.
fn outline(html: &str, is_over: &dyn Fn() -> bool) -> Result<String, String> {
    let mut outline = Outline::default();
    for (number, token) in Scanner::new(html).enumerate() {
        if number % INTERVAL == 0 && is_over() {
            return Err(too_long().to_string());
        }
        match token {
            Token::Text(text) => outline.text(text),
            Token::Raw(text) => outline.raw(text),
            Token::Start(tag) => outline.start(&tag),
            Token::End(name) => outline.end(&name),
        }
        if outline.is_full() {
            break;
        }
    }
    Ok(outline.finish())
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the conversion takes too long")
}

/// HTML that ends with an error once the deadline has passed.
struct Interruptible<'h> {
    rest: &'h [u8],
    is_over: &'h dyn Fn() -> bool,
}

impl Read for Interruptible<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.is_over)() { Err(too_long()) } else { self.rest.read(buffer) }
    }
}
