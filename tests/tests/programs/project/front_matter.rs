//! Front matter that YAML refuses, or reads as another type, as other programs read it.

use llm_do::json;
use llm_do::prelude::*;
use llm_do::testing::ScriptedModel;

use super::{builder, folder, open, warnings};

/// Builds a runtime with one subagent, whose file has these lines of front matter; it must have no warnings of its files.
fn built(lines: &str) -> Runtime {
    let text = format!("---\n{lines}---\nDo it.\n");
    let folder = folder(&[(".claude/agents/a.md", &text)]);
    let project = open(&folder);
    assert_eq!(warnings(&folder, &project), Vec::<String>::new(), "{lines}");
    builder().project(project).build().unwrap()
}

fn description(lines: &str) -> String {
    built(lines).registry().get("a").unwrap().description().to_owned()
}

#[test]
fn a_value_that_yaml_refuses_is_a_text() {
    let values = [
        "[beta] Checks code: twice",
        "{draft} of a check",
        "> 3 files",
        "\"Check\" it, please",
        "'Check' it, please",
        "Use it for these:",
        "Fix: issue #12, always # here",
        "@all, `now`",
    ];
    for value in values {
        assert_eq!(description(&format!("name: a\ndescription: {value}\ntools: Read\n")), value);
    }
    assert_eq!(description("name: a\ndescription: 'It's so'\n"), "It's so");
}

#[test]
fn unindented_lines_join_the_description() {
    let lines = "name: a\ndescription: Use it. Examples:\n<example>\nuser: \"Hi\"\n</example>\nmodel: inherit\n";
    assert_eq!(description(lines), "Use it. Examples: <example> user: \"Hi\" </example>");
}

#[tokio::test]
async fn items_with_colons_are_names() {
    for lines in [
        "tools:\n  - Read\n  - Bash(git: *)\n",
        "tools: [Read, Bash(git: *)]\n",
        "tools:\n  - Read\n  - Bash(git: status)\n",
    ] {
        let text = format!("---\nname: a\ndescription: A.\n{lines}---\nDo it.\n");
        let folder = folder(&[(".claude/agents/a.md", &text)]);
        let model = ScriptedModel::new().text("done");
        let runtime = builder().project(open(&folder)).force_model(model.clone()).build().unwrap();
        runtime.run_named("a", json!({ "input": "Go." })).await.unwrap();
        let tools: Vec<_> = model.requests()[0].tools.iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(tools, ["project_read_file", "shell"], "{lines}");
    }
}

#[test]
fn keys_without_effect_may_have_any_value() {
    let text = "---\nname: a\ndescription: A.\ncolor: [\nhooks: {{ x\nodd: 'a' b\nbackground: 7\n---\nDo it.\n";
    let folder = folder(&[(".claude/agents/a.md", text)]);
    let project = open(&folder);
    assert_eq!(project.workers().collect::<Vec<_>>(), ["a"]);
    assert!(warnings(&folder, &project).iter().all(|warning| warning.contains("has no effect here")));
}

#[test]
fn numbers_and_flags_are_texts() {
    assert_eq!(description("name: a\ndescription: 42\n"), "42");
    let folder = folder(&[(".claude/agents/a.md", "---\nname: 7\ndescription: true\n---\nGo.\n")]);
    assert_eq!(open(&folder).workers().collect::<Vec<_>>(), ["7"]);
}

#[test]
fn short_names_of_models_may_have_capitals_and_a_window() {
    for (given, expected) in [
        ("opus[1m]", "anthropic:claude-opus-5-5"),
        ("Sonnet", "anthropic:claude-sonnet-5-5"),
        ("claude-opus-5[1m]", "anthropic:claude-opus-5"),
    ] {
        let runtime = built(&format!("name: a\ndescription: A.\nmodel: {given}\n"));
        assert_eq!(runtime.registry().get("a").unwrap().model(), Some(expected), "{given}");
    }
    assert_eq!(built("name: a\ndescription: A.\nmodel: Inherit\n").registry().get("a").unwrap().model(), None);
}

#[test]
fn a_subagent_may_have_any_name_and_be_the_entry_by_it() {
    let text = "---\nname: \"审查员\"\ndescription: Reviews.\n---\nDo it.\n";
    let project = "{ \"version\": 1, \"entry\": { \"agent\": \"审查员\" } }";
    let folder = folder(&[(".claude/agents/reviewer.md", text), ("project.json", project)]);
    let project = open(&folder);
    let name = project.entry().unwrap().to_owned();
    assert!(name.starts_with("reviewer-"), "{name}");
    let expected = format!("`审查员` is registered as `{name}`");
    assert!(warnings(&folder, &project)[0].contains(&expected), "{:?}", project.warnings());
    assert!(builder().project(project).build().unwrap().registry().get(&name).is_some());
}

#[tokio::test]
async fn skills_are_read_as_other_programs_read_them() {
    let long = format!("---\nname: Long Name\ndescription: {}\n---\nText.\n", "x".repeat(1025));
    let folder = folder(&[
        ("main.worker", "---\nname: main\nskills: [long, größe, plain]\n---\nDo it.\n"),
        ("skills/long/SKILL.md", &long),
        ("skills/größe/SKILL.md", "---\nname: größe\ndescription: [beta] Measures: all\nargument-hint: [a] [b]\n---\n"),
        ("skills/plain/SKILL.md", "# Plain\n\nFor plain texts.\n\nMore.\n"),
    ]);
    let expected = [
        "skills/long/SKILL.md:2: `name`: other programs expect that of its folder, `long`, instead of `Long Name`",
        "skills/long/SKILL.md:3: `description` has 1025 characters: other programs allow 1024",
        "skills/größe/SKILL.md:4: `argument-hint` has no effect here",
        "skills/plain/SKILL.md:1: missing `name`: it is that of its folder, `plain`",
        "skills/plain/SKILL.md:1: missing `description`: it is the first paragraph of the text",
    ];
    let mut found = warnings(&folder, &open(&folder));
    found.sort();
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
    let model = ScriptedModel::new().text("done");
    let runtime = builder().project(open(&folder)).force_model(model.clone()).build().unwrap();
    runtime.run_named("main", json!({ "input": "Go." })).await.unwrap();
    let system = &model.requests()[0].instructions;
    for skill in ["- `Long Name`: xxx", "- `größe`: [beta] Measures: all", "- `plain`: For plain texts."] {
        assert!(system.contains(skill), "{system}");
    }
}
