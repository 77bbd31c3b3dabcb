//! One HTML file that shows the runs of a log.

use std::io::{self, BufRead, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The scripts, in the order in which they use each other: they are one script, in one scope.
const SCRIPTS: [&str; 10] = [
    include_str!("page/format.js"),
    include_str!("page/dom.js"),
    include_str!("page/model.js"),
    include_str!("page/markdown.js"),
    include_str!("page/diff.js"),
    include_str!("page/search.js"),
    include_str!("page/tree.js"),
    include_str!("page/timeline.js"),
    include_str!("page/detail.js"),
    include_str!("page/main.js"),
];
const STYLE: &str = include_str!("page/page.css");
const BODY: &str = include_str!("page/body.html");

/// Reads events, as [`JsonLines`](crate::event::JsonLines) writes them, and writes a page that shows them.
///
/// The page is one file that loads nothing: its [policy](https://www.w3.org/TR/CSP3/) allows its own script and style, and
/// images in the log. Events are data in it, so no text of a model or a tool becomes markup or a script.
///
/// Lines that are not JSON are left out.
///
/// # Errors
///
/// Returns an error if reading or writing fails.
pub fn write_page(mut events: impl BufRead, mut page: impl Write) -> io::Result<()> {
    let script = script();
    let policy = policy(&script);
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"{policy}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta \
         name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>Trace</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n{BODY}\n<script type=\"application/json\" id=\"events\">\n"
    )?;
    let mut line = Vec::new();
    while events.read_until(b'\n', &mut line)? > 0 {
        if let Ok(text) = std::str::from_utf8(&line)
            && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
        {
            page.write_all(inert(text.trim()).as_bytes())?;
            page.write_all(b"\n")?;
        }
        line.clear();
    }
    write!(page, "</script>\n<script>{script}</script>\n</body>\n</html>\n")?;
    page.flush()
}

/// Returns JSON without the character that could end the element around it. In JSON it stands in strings only, and there
/// the escape means the same.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn script() -> String {
    format!("(() => {{\n\"use strict\";\n{}}})();", SCRIPTS.concat())
}

fn policy(script: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(STYLE)
    )
}

#[cfg(test)]
mod tests {
    use super::write_page;

    #[test]
    fn no_text_of_a_log_ends_its_element() {
        let log = "{\"kind\":\"progress\",\"text\":\"</script><script>alert(1)</script><!-- <script>\"}\nnot JSON </script>\n";
        let mut page = Vec::new();
        write_page(log.as_bytes(), &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        let (_, data) = page.split_once("id=\"events\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        assert!(!data.contains('<') && !data.contains("not JSON"), "{data}");
        assert_eq!(page.matches("<script").count(), 2, "the data and ours");
    }
}
