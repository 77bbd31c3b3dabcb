//! Where configuration files are.

use super::super::{ASSISTANT, Place};
use super::{GREETER, SHOW, User, shown};

#[test]
fn the_users_file_is_in_the_folder_that_the_system_has_for_configuration() {
    let place = Place::new(&[("main.worker", GREETER), ("home/.config/llm-do/config.yaml", "model: echo:home\n")]);
    let run = |arguments: &[&str]| {
        let mut command = place.command(env!("CARGO_BIN_EXE_stock"));
        command.env_remove("LLM_DO_CONFIG").env("HOME", place.path().join("home")).env_remove("XDG_CONFIG_HOME");
        Place::answer(command.args(arguments), "")
    };
    let file = place.path().join("home/.config/llm-do/config.yaml").display().to_string();
    if cfg!(not(windows)) {
        assert_eq!(shown(run(&SHOW), "model"), ("echo:home".into(), format!("{file}:1")));
        let expected = format!("user     exists   {file}\nproject  missing  .llm-do/config.yaml\n");
        assert_eq!(run(&["config", "path"]).output(), expected);
    }
}

#[test]
fn a_variable_names_another_file_or_none() {
    let place = Place::new(&[("main.worker", GREETER)]);
    let none = place.run(&["config", "path"]).output();
    assert!(none.starts_with("user     none, since `LLM_DO_CONFIG` is empty"), "{none}");
    let missing = place.path().join("missing.yaml").display().to_string();
    place.run_in(&[("LLM_DO_CONFIG", &missing)], &["run", "hello"]).fails(2, &format!("{missing}: cannot be read: "));
    let user = User::new("");
    let json = user.run(&place, &["config", "path", "--json"]).output();
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read[0], serde_json::json!({ "file": "user", "path": user.file, "exists": true }));
    assert_eq!(read[1]["exists"], false);
}

#[test]
fn the_file_of_a_project_elsewhere_is_in_its_folder() {
    let settings = ("notes/.llm-do/config.yaml", "model: echo:notes\n");
    let place = Place::new(&[("notes/main.worker", GREETER), settings]);
    let expected = ("echo:notes".into(), "notes/.llm-do/config.yaml:1".to_owned());
    for project in ["notes", "notes/main.worker"] {
        assert_eq!(shown(place.run(&[&SHOW[..], &["--project", project]].concat()), "model"), expected);
        assert_eq!(place.run(&["run", "--project", project, "hello"]).output(), "echo 1: hello\n");
    }
    assert_eq!(place.run(&["run", "./notes", "hello"]).output(), "echo 1: hello\n");
}

#[test]
fn relative_paths_are_those_in_the_folder_of_the_file() {
    let place = Place::new(&[("main.worker", ASSISTANT)]);
    let user = User::new("policy: allow.json\nworker_dir: [more]\nchats: talks\n");
    user.place.write("allow.json", r#"{ "tools": { "project_write_file": "pre_approved" } }"#);
    user.place.write("more/other.worker", "---\nname: other\nmodel: echo:model\n---\nOther.\n");
    user.run(&place, &["run", r#"call write_file {"path":"b.txt","content":"b"}"#]).output();
    assert_eq!(place.read("b.txt"), "b");
    assert_eq!(user.run(&place, &["call", "other", "hello"]).output(), "echo 1: hello\n");
    let mut command = place.command(env!("CARGO_BIN_EXE_stock"));
    command.arg("chat").env("LLM_DO_CONFIG", &user.file).env_remove("LLM_DO_CHATS");
    Place::answer(&mut command, "hello\n").output();
    assert_eq!(user.place.path().join("talks").read_dir().unwrap().count(), 1);
}
