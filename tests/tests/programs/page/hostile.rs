//! Logs are hostile input: a model's text may come from a web page that it read.

use serde_json::{Value, json};

use super::Page;
use super::log::Log;

/// Texts that run a script if they are taken for HTML, for a link or for code.
const HOSTILE: [&str; 22] = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<!--<script>window.hacked = 1</script>-->",
    "]]></script><img src=x onerror=\"window.hacked = 1\">",
    "<img src=x onerror=window.hacked=1>",
    "<svg/onload=window.hacked=1>",
    "<iframe srcdoc=\"<script>parent.hacked = 1</script>\"></iframe>",
    "\"><body onload=window.hacked=1>",
    "' onmouseover='window.hacked = 1",
    "<a href=\"javascript:window.hacked=1\">x</a>",
    "[x](javascript:window.hacked=1)",
    "[x](JaVaScRiPt:window.hacked=1)",
    "[x](data:text/html,<script>window.hacked=1</script>)",
    "![x](https://example.invalid/leak.png)",
    "[https://good.example](https://evil.example \"x\" onclick=window.hacked=1)",
    "`<img src=x onerror=window.hacked=1>`",
    "```html\n<script>window.hacked = 1</script>\n```",
    "<style>body { display: none }</style><link rel=stylesheet href=https://example.invalid/x.css>",
    "<base href=https://example.invalid/><form action=https://example.invalid/><button>x</button></form>",
    "{{constructor.constructor('window.hacked=1')()}} ${window.hacked=1}",
    "__proto__",
    "\u{202e}gnp.exe\u{2028}window.hacked=1\u{0}",
];

/// Puts each hostile text wherever a log may have a text.
fn hostile_log() -> Log {
    let mut log = Log::default();
    log.root();
    for (place, text) in HOSTILE.iter().enumerate() {
        let call = place as u64 + 1;
        let worker = (call, Some(0), *text);
        let file =
            json!({ "media_type": "image/svg+xml", "name": text, "bytes": 1, "digest": text, "data": "PHN2Zy8+" });
        let lying = json!({ "media_type": "image/png", "name": text, "bytes": 1, "digest": "d", "data": "\"><script>window.hacked=1</script>" });
        let parts = json!([{ "type": "text", "text": text }, { "type": *text, "text": text }, { "type": "attachment", "media_type": *text, "digest": text, "bytes": 1 }]);
        let message = json!({ "role": "user", "parts": parts });
        let results = json!({ "role": "tool", "results": [{ "call_id": text, "name": text, "content": text, "is_error": true, "attachments": [file, lying] }] });
        let origins = json!([{ "argument": text, "from": "result", "tool": text, "summary": text, "field": text }]);
        log.event(worker, json!({ "kind": "approval_asked", "summary": text, "arguments": { *text: text }, "position": 1, "total": 1, "origins": origins }));
        log.event(
            worker,
            json!({ "kind": "approval_decided", "approved": true, "by": text, "rule": { *text: text }, "scope": text, "reason": text, "edited": text }),
        );
        log.event(worker, json!({ "kind": "call_started", "what": text, "by": text, "arguments": { *text: [text, { *text: text }] } }));
        log.event(worker, json!({ "kind": "input_asked", "prompt": text, "choices": [text] }));
        log.event(worker, json!({ "kind": "input_answered", "answer": text }));
        for (kind, field) in [("progress", "text"), ("model_waiting", "on"), ("model_retry", "reason")] {
            log.event(worker, json!({ "kind": kind, field: text }));
        }
        log.event(
            worker,
            json!({ "kind": "guarded", "guard": text, "hook": text, "action": "refused", "reason": text }),
        );
        let tools = json!([{ "name": text, "description": text, "parameters": { *text: text } }]);
        let content = json!({
            "kept": 0, "messages": [message, results, { "role": text, "parts": parts }],
            "instructions": { "digest": text, "value": text }, "tools": { "digest": text, "value": tools }, "files": [file, lying],
        });
        log.request(worker, 1, &content);
        log.response(worker, 1, &json!({ "type": "tool_call", "id": text, "name": text, "arguments": text }));
        log.request(
            worker,
            2,
            &json!({ "kept": 1, "messages": [message], "instructions": { "digest": "x", "value": text } }),
        );
        log.response(worker, 2, &json!({ "type": "thinking", "text": text }));
        let ending = if place % 2 == 0 {
            json!({ "kind": "call_finished", "error": text, "note": text, "elapsed_ms": 1 })
        } else {
            json!({ "kind": "call_finished", "result": text, "attachments": [text], "elapsed_ms": 1 })
        };
        log.event(worker, ending);
    }
    log
}

/// Selects every call, and opens everything that folds.
const OPEN_ALL: &str = "
    const done = arguments[arguments.length - 1];
    (async () => {
        const rows = document.getElementById('rows');
        for (let at = 0; at < 40; at += 1) {
            rows.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
            for (let depth = 0; depth < 6; depth += 1) {
                for (const fold of document.querySelectorAll('details:not([open])')) fold.open = true;
                await new Promise(resolve => setTimeout(resolve, 5));
            }
            if (document.getElementById('detail').textContent.includes('cannot be shown')) throw document.getElementById('detail').textContent;
            for (const button of document.querySelectorAll('.source')) button.click();
            for (const made of document.querySelectorAll('#detail *')) made.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
        }
        return document.querySelector('#detail').textContent;
    })().then(done, fault => done(String(fault)));";

/// Returns what should not be in a page: foreign elements, attributes that run, addresses of other schemes than the web.
const FOREIGN: &str = "(() => {
    const names = 'script, iframe, object, embed, link, base, svg, form:not(.find):not([method=dialog]), style';
    const foreign = [...document.body.querySelectorAll(names)].filter(made => !(made.matches('body > script') && !made.src)).map(made => made.outerHTML.slice(0, 200));
    for (const made of document.querySelectorAll('*')) for (const { name, value } of made.attributes) {
        if (name.startsWith('on') || (name === 'href' && !/^https?:/.test(value)) || (name === 'src' && !/^data:image\\/(png|jpeg|gif|webp);base64,/.test(value))) foreign.push(`${made.tagName} ${name}=${value}`);
    }
    return foreign;
})()";

#[test]
fn no_text_of_a_log_runs_or_becomes_an_element() {
    let Some(page) = Page::open(&hostile_log().text()) else { return };
    let last = page.browser.execute_async(OPEN_ALL);
    assert!(last.as_str().unwrap().contains("window.hacked=1"), "the last call was not shown: {last}");
    assert_eq!(page.run("window.hacked === undefined"), true);
    assert_eq!(page.run("document.querySelectorAll('body > script').length"), 1, "ours");
    assert_eq!(page.run(FOREIGN), json!([]));
    assert_eq!(
        page.run("performance.getEntriesByType('resource').filter(one => !one.name.startsWith('data:')).length"),
        0
    );
    assert_eq!(page.faults(), "", "nothing was even tried");
    // The search and the names to choose from show them too.
    page.press("/<img");
    page.wait_for("document.getElementById('found').textContent !== ''");
    assert_eq!(page.run("window.hacked === undefined"), true);
}

#[test]
fn the_policy_stops_what_would_get_into_the_page() {
    let Some(page) = Page::open(&super::log::run(20).text()) else { return };
    page.browser.execute(
        "const script = document.createElement('script'); script.textContent = 'window.hacked = 1'; document.body.append(script);
         const image = document.createElement('img'); image.src = 'https://example.invalid/leak.png'; image.setAttribute('onerror', 'window.hacked = 1');
         document.body.append(image);",
    );
    page.wait_for("performance.now() > 300");
    assert_eq!(page.run("window.hacked === undefined"), true);
    let faults = page.faults();
    assert!(faults.contains("Content Security Policy"), "{faults}");
}

#[test]
fn a_line_that_is_not_an_event_does_not_stop_the_page() {
    let odd = [
        json!(null),
        json!(7),
        json!({ "kind": "__proto__", "call": 0, "time": "2026-07-28T00:00:00Z" }),
        json!({ "kind": "constructor", "call": 0, "time": "2026-07-28T00:00:00Z" }),
        json!({ "kind": "model_response", "call": 0, "time": "2026-07-28T00:00:00Z", "parts": 7 }),
        json!({ "kind": "model_request", "call": 0, "time": "2026-07-28T00:00:00Z", "content": { "messages": "no list" } }),
        json!({ "kind": "call_started", "call": 0, "time": "no time" }),
    ];
    let mut log = super::log::run(20).text();
    log.extend(odd.iter().map(|line: &Value| format!("{line}\n")));
    log.push_str("{\"kind\": \"torn");
    let Some(page) = Page::open(&log) else { return };
    page.press("jjj");
    assert!(page.run("document.getElementById('summary').textContent").as_str().unwrap().contains("not read"));
    assert_eq!(page.faults(), "");
}

#[test]
fn marks_without_an_end_do_not_stop_the_page() {
    let length = 90_000;
    let texts = [
        format!("a {}", "`".repeat(length)),
        format!("- {}x\u{2028}", " ".repeat(length)),
        format!("# {}x\u{2028}", " ".repeat(length)),
        format!("|\n{}x", "-".repeat(length)),
        format!("{}\n|-|\n{}", "|".repeat(length / 2), "|\n".repeat(length / 4)),
    ];
    let mut log = Log::default();
    log.root();
    for (call, text) in (1..).zip(&texts) {
        let worker = (call, Some(0), "write");
        log.event(worker, json!({ "kind": "call_started", "what": "worker", "by": "code", "arguments": {} }));
        log.event(worker, json!({ "kind": "call_finished", "result": text, "elapsed_ms": 1 }));
    }
    let Some(page) = Page::open(&log.text()) else { return };
    for call in 1..=texts.len() {
        page.go(&format!("#call={call}"));
        let ready = page.run("Number(document.documentElement.dataset.ready)").as_f64().unwrap();
        // Tens of seconds if the time grew with the square of the length.
        assert!(ready < 5_000.0, "call {call}: {ready} ms");
    }
}
