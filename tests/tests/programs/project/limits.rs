//! Limits on what the files of a project make the program read, keep and compare before the user is asked.

use std::fs;

use llm_do::project::Project;
use tempfile::TempDir;

use super::mutated::faults;
use super::{folder, write};

/// Asserts that a project has too much, which one of its faults names.
fn is_too_much(folder: &TempDir, text: &str) {
    let error = Project::open(folder.path()).unwrap_err();
    assert!(error.faults().iter().any(|fault| fault.contains(text)), "`{text}`: {:.2000}", error.to_string());
}

const TOO_LARGE: &str = "the texts of the project's workers are too large together: the limit is 67108864 bytes";

#[test]
fn the_texts_of_all_workers_have_one_limit() {
    let megabyte = "a".repeat(1_000_000);
    let of_agents = folder(&[("AGENTS.md", &megabyte)]);
    let of_skills = folder(&[]);
    for number in 0..70 {
        let worker = format!("---\nname: w{number}\ncontext: agents_md\n---\nGo.\n");
        write(of_agents.path(), &format!("workers/{number}.worker"), &worker);
    }
    is_too_much(&of_agents, TOO_LARGE);
    for number in 0..20 {
        let skill = format!("---\nname: s{number}\ndescription: d\n---\n{megabyte}");
        write(of_skills.path(), &format!("skills/s{number}/SKILL.md"), &skill);
    }
    let names: Vec<_> = (0..20).map(|number| format!("s{number}")).collect();
    for number in 0..3 {
        let text = format!("---\nname: a{number}\ndescription: d\nskills: {}\ntools: []\n---\nGo.\n", names.join(", "));
        write(of_skills.path(), &format!(".claude/agents/a{number}.md"), &text);
    }
    let warnings = Project::open(of_skills.path()).unwrap().warnings().join("\n");
    assert!(warnings.contains(TOO_LARGE), "subagents beyond the limit are left out: {warnings:.2000}");
}

#[test]
fn servers_and_their_programs_have_limits() {
    let servers = |count: usize| {
        let servers: Vec<_> = (0..count).map(|number| format!(r#""s{number}": {{ "command": "make" }}"#)).collect();
        format!(r#"{{ "mcpServers": {{ {} }} }}"#, servers.join(", "))
    };
    let worker = "---\nname: main\n---\nGo.\n";
    let many = folder(&[("main.worker", worker), (".mcp.json", &servers(5000))]);
    let warnings = Project::open(many.path()).unwrap().warnings().join("\n");
    assert!(warnings.contains("the project has too many servers: the limit is 100"), "{warnings}");
    let items: Vec<_> = (0..200).map(|number| format!("  - s{number}: {{ command: make }}\n")).collect();
    let items = items.concat();
    let own = folder(&[("main.worker", &format!("---\nname: main\nmcp_servers:\n{items}---\nGo.\n"))]);
    is_too_much(&own, "the project has too many servers: the limit is 100");
    let huge = folder(&[("main.worker", worker), (".mcp.json", &servers(2))]);
    fs::File::create(huge.path().join("Makefile")).unwrap().set_len(1 << 40).unwrap();
    let demands = Project::open(huge.path()).unwrap().demands();
    let reason = "you are asked about it for each command, since the programs are too large to be compared";
    assert!(demands.iter().all(|demand| demand.contains(reason)), "{demands:?}");
}

#[test]
fn only_the_first_of_many_unknown_names_have_suggestions() {
    let skills: Vec<_> = (0..500).map(|number| format!("- known-{number}x")).collect();
    let worker = format!("---\nname: main\nskills:\n{}\n---\nGo.\n", skills.join("\n"));
    let of_skills = folder(&[("main.worker", &worker)]);
    for number in 0..500 {
        let text = format!("---\nname: known-{number}\ndescription: d\n---\nGo.\n");
        write(of_skills.path(), &format!("skills/known-{number}/SKILL.md"), &text);
    }
    let of_tools = folder(&[("main.worker", &worker.replace("skills", "tools"))]);
    for number in 0..500 {
        write(of_tools.path(), &format!("workers/{number}.worker"), &format!("---\nname: known-{number}\n---\nGo.\n"));
    }
    for folder in [of_skills, of_tools] {
        let found = faults(folder.path());
        assert_eq!(found.len(), 500, "{:?}", &found[..5]);
        assert_eq!(found.iter().filter(|fault| fault.contains("did you mean")).count(), 100, "{:?}", &found[..5]);
    }
}
