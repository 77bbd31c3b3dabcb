//! What a person sees of the page of a service, and types into it.

use serde_json::json;

use super::service::Service;
use super::tab::Tab;

const TOKEN: &str = "a-token-of-a-test";
const SIZES: [((u32, u32), bool); 2] = [((1280, 700), false), ((390, 700), true)];
const ENTER: char = '\u{e007}';
const SHIFT: char = '\u{e008}';

/// Returns an expression: whether all that a selector finds can be seen whole, and clicked.
fn in_view(selector: &str) -> String {
    format!(
        "[...document.querySelectorAll({})].every(made => {{
            const {{ left, right, top, width, height }} = made.getBoundingClientRect();
            const hit = document.elementFromPoint(left + width / 2, top + height / 2);
            return width > 0 && left >= 0 && right <= innerWidth && made.contains(hit);
        }})",
        json!(selector)
    )
}

fn holds(tab: &Tab, expression: &str) -> bool {
    tab.0.execute(&format!("return {expression}")) == json!(true)
}

#[test]
fn the_sign_in_greets_without_an_error_and_its_field_has_a_label() {
    let service = Service::start_in(&[("LLM_DO_TEST_TOKEN", TOKEN)]);
    let Some(tab) = Tab::open(&service.url, "/") else { return };
    let is_greeting =
        "document.querySelector('#page .error') === null && document.getElementById('status').textContent === ''";
    assert!(holds(&tab, is_greeting), "{}", tab.text("header"));
    assert_eq!(tab.0.execute("return document.getElementById('token').labels[0].textContent"), "Token");
    tab.fill("#token", "not-the-token-of-a-client");
    tab.click("Sign in");
    tab.wait_for("document.querySelector('#sign-in .error')?.textContent === 'The token is not valid.'");
    tab.0.go(&service.url);
    tab.wait_for("document.getElementById('token') !== null");
    assert!(holds(&tab, is_greeting), "a refused token is forgotten: {}", tab.text("#page"));
    tab.fill("#token", TOKEN);
    tab.click("Sign in");
    tab.wait_for("document.getElementById('runs') !== null && document.getElementById('sign-in') === null");
}

#[test]
fn on_a_phone_the_tabs_are_whole_beside_the_sign_out_and_a_fault() {
    let service = Service::start_in(&[("LLM_DO_TEST_TOKEN", TOKEN)]);
    let Some(tab) = Tab::open(&service.url, "/") else { return };
    tab.fill("#token", TOKEN);
    tab.click("Sign in");
    tab.wait_for("document.getElementById('runs') !== null && !document.getElementById('sign-out').hidden");
    tab.0.look((390, 700), true, "light");
    let fault = "the service cannot read or write its database; try again later";
    tab.0.execute(&format!("document.getElementById('status').textContent = {}", json!(fault)));
    assert!(holds(&tab, "document.querySelectorAll('#nav a').length === 5"));
    assert!(holds(&tab, &in_view("#nav a, #sign-out, #page-theme")));
    assert!(holds(&tab, "document.documentElement.scrollWidth <= innerWidth"));
}

/// Has the page show this cost of each run.
const WITH_COST: &str = "
    const own = window.fetch;
    window.fetch = async (path, options) => {
        const answer = await own(path, options);
        if (!String(path).startsWith('/runs?')) return answer;
        const list = await answer.json();
        for (const run of list.runs) Object.assign(run.usage, { cost: '0.001234', unpriced_requests: 1 });
        return new Response(JSON.stringify(list));
    };";

#[test]
fn no_cost_of_a_run_is_cut_off() {
    let service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=start") else { return };
    tab.start_run("report");
    let cell = "document.querySelector('.run td:last-child')";
    for (size, is_phone) in SIZES {
        tab.0.look(size, is_phone, "light");
        tab.0.go(&service.url);
        tab.0.execute(WITH_COST);
        tab.wait_for(&format!("{cell}?.textContent === '≥ $0.001234'"));
        let is_whole = format!("{cell}.offsetWidth > 0 && {cell}.scrollWidth <= {cell}.clientWidth");
        assert!(holds(&tab, &is_whole), "{size:?}");
    }
}

#[test]
fn the_buttons_of_an_approval_and_of_its_edit_are_in_view() {
    let service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=start") else { return };
    tab.start_run("report");
    let run = tab.0.execute("return location.href").as_str().unwrap().to_owned();
    for page in [run, format!("{}/?view=inbox", service.url)] {
        for (size, is_phone) in SIZES {
            tab.0.look(size, is_phone, "light");
            tab.0.go(&page);
            tab.wait_for("document.querySelectorAll('.wait-foot > button').length === 4");
            assert!(holds(&tab, &in_view(".wait-foot > button")), "{page} {size:?}");
            tab.click("Edit…");
            assert!(holds(&tab, "document.querySelectorAll('.ask .wait-buttons button').length === 2"));
            assert!(holds(&tab, &in_view(".ask .wait-buttons button")), "{page} {size:?}");
        }
    }
}

#[test]
fn enter_sends_a_message_of_a_chat_and_shift_adds_a_line() {
    let service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=chats") else { return };
    tab.fill("select[aria-label=Entry]", "work");
    tab.click("New chat");
    tab.wait_for("document.getElementById('argument-name') !== null");
    tab.0.execute("document.getElementById('argument-name').focus()");
    tab.0.press("one");
    tab.0.press_with(SHIFT, ENTER);
    tab.0.press("two");
    assert_eq!(tab.0.execute("return document.getElementById('argument-name').value"), "one\ntwo");
    assert!(holds(&tab, "document.querySelector('.message') === null"), "nothing is sent yet");
    tab.0.press(&ENTER.to_string());
    tab.wait_for("document.querySelectorAll('.message.own').length === 1");
    let text = tab.text(".message.own");
    assert!(text.contains("one") && text.contains("two"), "{text}");
    tab.wait_for("document.getElementById('argument-name').value === ''");
}
