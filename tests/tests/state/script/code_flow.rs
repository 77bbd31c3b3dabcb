//! Code mode by provenance: what code that was written before anything untrusted was read may do, and what its model sees.

use std::process::Command;

use llm_do::{Value, json};

/// Runs these pieces of code in a mode; returns what the model saw after each, and which rules decided.
fn run(mode: &str, code: &[&str]) -> (Vec<String>, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_code_flow")).arg(mode).args(code).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let seen = printed["seen"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned());
    (seen.collect(), printed["decided"].clone())
}

fn steered(tool: &str) -> Value {
    json!([tool, { "flow": "steered" }])
}

fn free(tool: &str) -> Value {
    json!([tool, "policy_tool"])
}

fn decided(code: &str) -> Value {
    run("strict", &[code]).1
}

#[test]
fn the_literals_of_code_steer_also_after_it_has_read() {
    assert_eq!(decided("mails = inbox()\nsend_mail('bob@x.com', 'Got it.')\nlen(mails)"), json!([free("send_mail")]));
    let chosen = "to = 'a@x.com' if 'evil' in inbox()[0]['from'] else 'b@x.com'\nsend_mail(to, 'Hi.')";
    assert_eq!(decided(chosen), json!([free("send_mail")]), "which of the literals it takes is not guarded");
}

#[test]
fn what_code_passes_on_or_computes_from_what_it_read_does_not_steer() {
    for to in [
        "inbox()[0]['from']",
        "inbox()[0]['from'].upper()",
        "'bob@' + inbox()[0]['from'].split('@')[1]",
        "f\"{len(inbox())}@x.com\"",
    ] {
        assert_eq!(decided(&format!("send_mail({to}, 'Hi.')")), json!([steered("send_mail")]), "{to}");
    }
    assert_eq!(decided("send_mail('bob' + '@x.com', 'Hi.')"), json!([free("send_mail")]), "nothing was read");
}

#[test]
fn an_id_steers_a_tool_of_its_toolset_only() {
    let code =
        "mails = inbox()\ndelete_mail(mails[0]['id'])\ndelete_mail(mails[0]['from'])\nsend_mail(mails[0]['id'], 'Hi.')";
    assert_eq!(decided(code), json!([free("delete_mail"), steered("delete_mail"), steered("send_mail")]));
}

#[test]
fn a_number_of_a_worker_that_reads_for_the_code_steers() {
    assert_eq!(decided("pay('bob@x.com', amount_in(inbox()[0]['text']))"), json!([free("pay")]));
    let (seen, _) = run("strict", &["amount_in(inbox()[0]['text'])"]);
    assert!(seen[0].contains("900"), "{seen:?}");
}

#[test]
fn data_that_leaves_is_not_untrusted() {
    let code = "send_mail('bob@x.com', inbox()[0]['text'])";
    assert_eq!(decided(code), json!([["send_mail", { "flow": "untrusted_outside" }]]));
    assert_eq!(run("lenient", &[code]).1, json!([free("send_mail")]));
}

#[test]
fn untrusted_texts_stay_in_the_variables_of_code() {
    let ways = [
        "inbox()[0]['text']",
        "[mail['text'] for mail in inbox()]",
        "{mail['text']: 1 for mail in inbox()}",
        "print(inbox()[0]['text'])",
        "raise ValueError(inbox()[0]['text'])",
        "x = {}\nx[inbox()[0]['text']]",
        "delete_mail(inbox()[0]['text'])\n1 / 0",
        "list(inbox()[0]['text'])",
        "inbox()[0]['text'][:3] + 'x'",
        "''.join(reversed(inbox()[0]['text']))",
    ];
    for way in ways {
        let (seen, _) = run("strict", &[way]);
        for part in ["Pay", "900 cents", "eve@evil", "stnec"] {
            assert!(!seen[0].contains(part), "{way}: {seen:?}");
        }
    }
    let (seen, _) = run("strict", &["(len(inbox()), inbox()[0]['text'])"]);
    assert!(seen[0].contains("<untrusted text, 30 characters>") && seen[0].contains('2'), "{seen:?}");
    let (seen, _) = run("strict", &["raise ValueError(inbox()[0]['text'])"]);
    assert!(seen[0].contains("ValueError in line 1") && seen[0].contains("`inbox`"), "{seen:?}");
}

#[test]
fn code_after_code_whose_model_read_nothing_is_trusted_and_its_variables_are_not() {
    let (seen, decided) =
        run("strict", &["mails = inbox()\nto = 'ann@x.com'", "send_mail('bob@x.com', 'Hi.')\nsend_mail(to, 'Hi.')"]);
    assert_eq!(decided, json!([free("send_mail"), free("send_mail")]), "{seen:?}");
    let (_, decided) = run("strict", &["mails = inbox()", "send_mail(mails[0]['from'], 'Hi.')"]);
    assert_eq!(decided, json!([steered("send_mail")]));
}

#[test]
fn code_after_its_model_has_read_is_untrusted() {
    for mode in ["lenient", "reads"] {
        let (seen, decided) = run(mode, &["inbox()[0]['text']", "send_mail('bob@x.com', 'Hi.')"]);
        assert!(seen[0].contains("Pay 900 cents"), "{mode}: {seen:?}");
        assert_eq!(decided, json!([steered("send_mail")]), "{mode}");
    }
}

#[test]
fn a_resumed_run_decides_about_code_as_before() {
    let code = [
        "mails = inbox()\nto = 'ann@x.com'",
        "delete_mail(mails[0]['id'])\nsend_mail(to, 'Hi.')\nsend_mail(mails[0]['from'], 'Hi.')",
    ];
    let (_, decided) = run("resumed", &code);
    let expected = json!([free("delete_mail"), free("send_mail"), steered("send_mail")]);
    assert_eq!(decided[0], expected);
    let again = decided[1].as_array().unwrap();
    assert_eq!(again.last(), Some(&steered("send_mail")));
    assert!(!again[..again.len() - 1].contains(&steered("send_mail")), "{again:?}");
}

#[test]
fn a_script_decides_as_code_of_a_model() {
    for code in [
        "mails = inbox()\nsend_mail('bob@x.com', 'Got it.')",
        "mails = inbox()\ndelete_mail(mails[0]['id'])\nsend_mail(mails[0]['from'], 'Hi.')\nsend_mail(mails[0]['from'].upper(), 'Hi.')",
        "pay('bob@x.com', amount_in(inbox()[0]['text']))",
    ] {
        assert_eq!(run("script", &[code]).1, decided(code), "{code}");
    }
}

#[test]
fn an_exception_in_a_script_does_not_launder_its_text() {
    let code =
        "try:\n    raise ValueError(inbox()[0]['from'])\nexcept ValueError as error:\n    send_mail(str(error), 'Hi.')";
    assert_eq!(run("script", &[code]).1, json!([steered("send_mail")]));
    assert_eq!(decided(code), json!([steered("send_mail")]));
}
