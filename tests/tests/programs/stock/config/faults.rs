//! Invalid files and variables.

use super::{GREETER, Place, SHOW, User};

#[test]
fn every_fault_of_a_file_has_its_line_and_field() {
    let place = Place::new(&[("main.worker", GREETER)]);
    let user = User::new("modle: echo:model\nmax_depth: many\nlimit_cost: -1\noutput: xml\nmodel:\ntimeout: [1]\n");
    let answer = user.run(&place, &["run", "hello"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""));
    for fault in [
        ":1: unknown key `modle`; did you mean `model`?",
        ":2: `max_depth`: expected a whole number from 0 to 4294967295, found `many`",
        ":3: `limit_cost`: invalid amount `-1`",
        ":4: `output`: expected `text`, `json` or `jsonl`, found `xml`",
        ":5: `model`: expected a string, found no value",
        ":6: `timeout`: expected strings as items, found a number",
    ] {
        assert!(answer.err.contains(&format!("{}{fault}", user.file)), "`{fault}` is not in {}", answer.err);
    }
    assert!(answer.err.contains("see \"Configuration\" in the documentation of `llm_do::cli::main`"));
}

#[test]
fn a_file_that_is_not_a_map_is_an_error_with_its_line() {
    let place = Place::new(&[("main.worker", GREETER)]);
    for (text, fault) in [
        ("- model\n", "config.yaml:1: expected a map of settings, found a list"),
        ("model: echo:a\n\"model: b\n", "config.yaml:"),
        ("model: echo:a\nmodel: echo:b\n", "config.yaml:2:"),
    ] {
        place.write(".llm-do/config.yaml", text);
        place.run(&["run", "hello"]).fails(2, fault);
    }
    place.write(".llm-do/config.yaml", "# nothing is set\n");
    place.run_in(&[("LLM_DO_MODEL", "echo:model")], &["run", "hello"]).output();
}

#[test]
fn an_invalid_variable_is_named() {
    let place = Place::new(&[("main.worker", GREETER)]);
    for (name, value, fault) in [
        ("LLM_DO_VERBOSE", "loud", "`LLM_DO_VERBOSE`: expected 0, 1 or 2, found `loud`"),
        ("LLM_DO_OUTPUT", "xml", "`LLM_DO_OUTPUT`: expected `text`, `json` or `jsonl`, found `xml`"),
        (
            "LLM_DO_APPROVAL_MODE",
            "yes",
            "`LLM_DO_APPROVAL_MODE`: expected `prompt`, `approve_all` or `reject_all`, found `yes`",
        ),
        ("LLM_DO_END_ON_DENIAL", "1", "`LLM_DO_END_ON_DENIAL`: expected `true` or `false`"),
        ("LLM_DO_LIMIT_REQUESTS", "-1", "`LLM_DO_LIMIT_REQUESTS`: expected a whole number from 0 to"),
        ("LLM_DO_LIMIT_COST", "much", "`LLM_DO_LIMIT_COST`: invalid amount `much`"),
        ("LLM_DO_TIMEOUT", "0", "`LLM_DO_TIMEOUT`: expected a positive number of seconds"),
    ] {
        for command in [&["run", "hello"][..], &["chat"], &["check"], &["tools"], &SHOW] {
            place.run_in(&[(name, value)], command).fails(2, fault);
        }
    }
    // A model is looked up where it is used.
    place.run_in(&[("LLM_DO_MODEL", "ecko:model")], &["check"]).fails(1, "`LLM_DO_MODEL`: unknown provider `ecko`");
}

#[test]
fn the_error_of_an_invalid_model_names_the_line_that_sets_it() {
    let place = Place::new(&[("main.worker", GREETER)]);
    let user = User::new("\nmodel: ecko:model\n");
    user.run(&place, &["check"]).fails(1, &format!("`{}:2`: unknown provider `ecko`", user.file));
}

#[test]
fn check_reports_faults_of_files_and_commands_without_settings_ignore_them() {
    let place = Place::new(&[("main.worker", GREETER)]);
    place.write(".llm-do/config.yaml", "verbos: 1\n");
    let fault = ".llm-do/config.yaml:1: unknown key `verbos`; did you mean `verbose`?";
    place.run(&["check"]).fails(2, fault);
    place.run(&SHOW).fails(2, fault);
    place.run(&["config", "path"]).output();
    place.run(&["init", "other"]).output();
    place.run(&["man"]).output();
}
