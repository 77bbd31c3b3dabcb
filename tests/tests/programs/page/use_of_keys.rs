//! How the page is used: search, folds, links, keys; and pictures of it.

use std::fs;

use serde_json::json;

use super::log::{Log, run};
use super::{Page, pictures};

const ESCAPE: &str = "\u{e00c}";
const ENTER: &str = "\u{e007}";
const LEFT: &str = "\u{e012}";
const RIGHT: &str = "\u{e014}";
const DOWN: &str = "\u{e015}";

#[test]
fn a_search_shows_the_calls_that_match_with_their_callers() {
    let Some(page) = Page::open(&run(200).text()) else { return };
    page.press("/module_5.rs");
    page.wait_for("document.querySelectorAll('.row').length === 3");
    assert_eq!(page.names(), ["review_all", "code_reviewer", "read_file"]);
    assert_eq!(page.run("document.getElementById('found').textContent"), "2 calls");
    page.press(ENTER);
    assert_eq!(page.selected(), "code_reviewer");
    page.press("/");
    page.press(ESCAPE);
    page.wait_for("document.querySelectorAll('.row').length > 20");
    // Messages are searched too; case does not matter.
    page.press("/SENIOR");
    page.wait_for("document.getElementById('found').textContent === '1 call'");
}

#[test]
fn filters_show_errors_kinds_and_names() {
    let Some(page) = Page::open(&run(200).text()) else { return };
    page.press("e");
    page.wait_for("document.getElementById('only-faults').getAttribute('aria-pressed') === 'true'");
    let names = page.names();
    assert!(
        names.len() < 10 && names.iter().filter(|name| *name == "read_file").count() == names.len() / 2,
        "{names:?}"
    );
    page.press("e");
    page.run("document.querySelector('[data-kind=entry]').click()");
    assert_eq!(page.names(), ["review_all"]);
    page.run("document.querySelector('[data-kind=entry]').click()");
    page.run("(names => { names.value = 'read_file'; names.dispatchEvent(new Event('change')); })(document.getElementById('names'))");
    assert!(page.names().contains(&"read_file".to_owned()));
    page.press(ESCAPE);
    page.wait_for("document.getElementById('names').value === ''");
}

#[test]
fn calls_fold_and_unfold_by_keys() {
    let Some(page) = Page::open(&run(60).text()) else { return };
    let all = page.names().len();
    page.press(&format!("{DOWN}{LEFT}"));
    assert_eq!(page.names().len(), all - 1, "the tool of the first worker is folded");
    page.press(RIGHT);
    assert_eq!(page.names().len(), all);
    page.press(RIGHT);
    assert_eq!(page.selected(), "read_file");
    page.press(LEFT);
    assert_eq!(page.selected(), "code_reviewer");
    page.press("-");
    assert!(page.names().iter().all(|name| name != "read_file"));
    page.press("*");
    assert_eq!(page.names().len(), all);
}

#[test]
fn an_address_selects_a_call_and_selecting_changes_the_address() {
    let Some(page) = Page::open(&run(2_000).text()) else { return };
    page.go("#call=101&request=2");
    assert_eq!((page.selected().as_str(), page.run("location.hash")), ("code_reviewer", json!("#call=101&request=2")));
    assert!(page.run("document.querySelector('.row.selected') !== null").as_bool().unwrap(), "it is in view");
    assert!(page.run("document.getElementById('request-2').open").as_bool().unwrap());
    page.press("j");
    assert_eq!((page.selected().as_str(), page.run("location.hash")), ("read_file", json!("#call=102")));
    page.run("location.hash = '#call=0'");
    page.wait_for("document.querySelector('#detail h2').textContent === 'review_all'");
    page.go("#call=99999999");
    assert_eq!(page.selected(), "review_all", "an unknown call selects nothing");
}

#[test]
fn the_details_have_messages_changes_approvals_and_figures() {
    let Some(page) = Page::open(&run(60).text()) else { return };
    page.go("#call=1");
    let text = page.run("document.getElementById('detail').innerText").as_str().unwrap().to_owned();
    for expected in [
        "senior reviewer",
        "Results of tools",
        "2 earlier messages",
        "Instructions, unchanged",
        "Findings",
        "quadratic",
        "1,800 / 160",
        "$0.006",
        "chart.png",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in {text}");
    }
    assert_eq!(page.run("document.querySelectorAll('#detail .message.new').length"), 1);
    assert_eq!(page.run("document.querySelector('#detail img').naturalWidth"), 10, "{}", page.faults());
    assert_eq!(page.run("document.querySelectorAll('#detail .markdown table td').length"), 2);
    page.run("document.querySelector('.part-call .crumb').click()");
    assert_eq!(page.selected(), "read_file");
    page.go("#call=4");
    let text = page.run("document.getElementById('detail').innerText").as_str().unwrap().to_owned();
    for expected in ["Denied by the approver after 100 ms", "not that file", "read src/module_3.rs"] {
        assert!(text.contains(expected), "`{expected}` is not in {text}");
    }
}

#[test]
fn changes_between_two_requests_of_a_worker_are_shown() {
    let mut log = Log::default();
    log.root();
    let worker = (1, Some(0), "writer");
    let message = |text: &str| json!({ "role": "user", "parts": [{ "type": "text", "text": text }] });
    let tools = json!({ "digest": "t", "value": [{ "name": "read_file", "description": "Read.", "parameters": {} }] });
    let content = |kept: u64, text: &str, instructions: &str| {
        json!({
            "kept": kept, "messages": [message(text)], "tools": tools,
            "instructions": { "digest": instructions, "value": format!("Be brief.\nWrite {instructions}.\nStop.") },
        })
    };
    log.request(worker, 1, &content(0, "the secret", "prose"));
    log.response(worker, 1, &json!({ "type": "text", "text": "a draft" }));
    log.request(worker, 2, &content(0, "[redacted]", "verse"));
    log.response(worker, 2, &json!({ "type": "text", "text": "a poem" }));
    let Some(page) = Page::open(&log.text()) else { return };
    page.go("#call=1&request=2");
    let lines =
        "(kind => [...document.querySelectorAll(`#request-2 .diff .${kind}`)].map(line => line.textContent).join())";
    assert_eq!(page.run(&format!("{lines}('gone')")), "- Write prose.");
    assert_eq!(page.run(&format!("{lines}('added')")), "+ Write verse.");
    page.run("document.querySelectorAll('#request-2 .earlier').forEach(fold => { fold.open = true; })");
    page.wait_for("document.querySelectorAll('#request-2 .message.removed').length === 2");
    let removed = page.run("document.querySelector('#request-2 .message.removed').textContent");
    assert!(removed.as_str().unwrap().contains("the secret"), "{removed}");
    assert!(
        page.run("document.querySelector('#request-2 .message.new').textContent")
            .as_str()
            .unwrap()
            .contains("[redacted]")
    );
}

#[test]
fn every_key_is_in_the_help() {
    let Some(page) = Page::open(&run(20).text()) else { return };
    page.press("?");
    assert!(page.run("document.getElementById('help').open").as_bool().unwrap());
    let keys = page.run("[...document.querySelectorAll('#keys kbd')].map(key => key.textContent).join(' ')");
    for key in ["j", "k", "/", "e", "n", "z", "t", "?", "Esc", "Enter", "]"] {
        assert!(keys.as_str().unwrap().split(' ').any(|shown| shown == key), "{key}: {keys}");
    }
    page.press(ESCAPE);
    page.wait_for("!document.getElementById('help').open");
    page.press("t");
    let theme = page.run("document.documentElement.dataset.theme");
    page.press("t");
    assert_ne!(page.run("document.documentElement.dataset.theme"), theme);
}

#[test]
fn it_fits_a_desk_and_a_phone_in_both_themes() {
    let Some(page) = Page::open(&run(200).text()) else { return };
    for theme in ["light", "dark"] {
        for (name, size, is_phone) in [("desk", (1400, 900), false), ("phone", (390, 844), true)] {
            page.browser.look(size, is_phone, theme);
            page.go("#call=1");
            for part in ["list", "details"] {
                if is_phone {
                    page.run(&format!("document.body.classList.toggle('reading', {})", part == "details"));
                }
                let is_wider = page.run("document.documentElement.scrollWidth > innerWidth || document.getElementById('detail-pane').scrollWidth > innerWidth");
                assert_eq!(is_wider, false, "{name} {theme} {part}");
                let picture = page.browser.picture();
                fs::write(pictures().join(format!("{name}-{part}-{theme}.png")), picture).unwrap();
            }
        }
    }
    assert_eq!(page.faults(), "");
}
