//! One HTML file that shows the runs of a log.

use std::io::{self, BufRead, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::lines::{Next, next};

/// The scripts that show a model, in the order of their dependencies; a page is one script, in one scope.
const SCRIPTS: [&str; 14] = [
    include_str!("page/format.js"),
    include_str!("page/dom.js"),
    include_str!("page/attempts.js"),
    include_str!("page/times.js"),
    include_str!("page/handlers.js"),
    include_str!("page/model.js"),
    include_str!("page/markdown.js"),
    include_str!("page/diff.js"),
    include_str!("page/search.js"),
    include_str!("page/tree.js"),
    include_str!("page/timeline.js"),
    include_str!("page/requests.js"),
    include_str!("page/detail.js"),
    include_str!("page/view.js"),
];
/// The script that fills the model of the page of a log.
const MAIN: &str = include_str!("page/main.js");
const STYLE: &str = include_str!("page/page.css");
/// The elements that the scripts use.
#[doc(hidden)]
pub const BODY: &str = include_str!("page/body.html");

/// A page that is one file: its policy allows its own script and style.
#[doc(hidden)]
#[derive(Debug)]
pub struct Page {
    script: String,
    style: String,
    #[doc(hidden)]
    pub policy: String,
}

impl Page {
    /// Creates a page from the scripts and the style of this module, and more; `policy` is added to its policy.
    #[doc(hidden)]
    #[must_use]
    pub fn new(scripts: &[&str], style: &str, policy: &str) -> Self {
        let script = format!("(() => {{\n\"use strict\";\n{}{}}})();", SCRIPTS.concat(), scripts.concat());
        let style = format!("{STYLE}{style}");
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'{policy}",
            hash(&script),
            hash(&style)
        );
        Self { script, style, policy }
    }

    /// Returns the text before the content of the body.
    #[doc(hidden)]
    #[must_use]
    pub fn begin(&self, title: &str) -> String {
        let Self { style, policy, .. } = self;
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
             content=\"{policy}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta \
             name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta \
             http-equiv=\"x-dns-prefetch-control\" content=\"off\">\n<title>{title}</title>\n\
             <style>{style}</style>\n</head>\n<body>\n"
        )
    }

    /// Returns the text after the content of the body.
    #[doc(hidden)]
    #[must_use]
    pub fn end(&self) -> String {
        format!("<script>{}</script>\n</body>\n</html>\n", self.script)
    }
}

/// Reads events, as [`JsonLines`](llm_do_core::observe::event::JsonLines) writes them, and writes a page that shows them.
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
    let html = Page::new(&[MAIN], "", "");
    page.write_all(html.begin("Trace").as_bytes())?;
    write!(page, "{BODY}\n<script type=\"application/json\" id=\"events\">\n")?;
    let mut line = Vec::new();
    while next(&mut events, &mut line)? == Next::Line {
        if let Ok(text) = std::str::from_utf8(&line)
            && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
        {
            page.write_all(inert(text.trim()).as_bytes())?;
            page.write_all(b"\n")?;
        }
    }
    write!(page, "</script>\n{}", html.end())?;
    page.flush()
}

/// Returns JSON without the character that could end the element around it. In JSON it occurs only in strings, where
/// the escape has the same meaning.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
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
