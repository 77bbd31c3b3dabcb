//! Each stage writes the same reports.

use llm_do_example::Example;

/// Runs a stage in a copy of the example as its README shows; returns its output and its reports, by name.
fn run(program: &str) -> (String, Vec<(String, String)>) {
    let example = Example::copy(env!("CARGO_MANIFEST_DIR"));
    let output = example.run_readme(program, &[]);
    let reports = example.list("reports").into_iter();
    let reports = reports.map(|name| (name.clone(), example.read(&format!("reports/{name}")))).collect();
    (output, reports)
}

#[test]
fn all_stages_write_the_same_reports() {
    let (summary, by_worker) = run(env!("CARGO_BIN_EXE_pitchdeck_worker"));
    assert_eq!(summary, "3 reports are in `reports`.\n");
    let names: Vec<_> = by_worker.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["bakery.md", "garden.md", "kites.md"]);
    assert!(by_worker[0].1.starts_with("# Warm Loaf\n\nScore: 5 of 5\n"), "{}", by_worker[0].1);
    assert!(by_worker[2].1.contains("## Risks\n\n- wind."), "{}", by_worker[2].1);

    let (summary, with_tools) = run(env!("CARGO_BIN_EXE_pitchdeck_tools"));
    assert_eq!(summary, "3 reports are in `reports`.\n");
    assert_eq!(with_tools, by_worker);

    let (ranking, by_code) = run(env!("CARGO_BIN_EXE_pitchdeck_code"));
    assert_eq!(ranking, "5 Warm Loaf\n3 Root & Roof\n2 Kite Post\n");
    assert_eq!(by_code, by_worker);
}

#[test]
fn each_stage_makes_the_requests_that_the_readme_names() {
    let readme = include_str!("../README.md");
    let programs = [
        ("1", env!("CARGO_BIN_EXE_pitchdeck_worker")),
        ("2", env!("CARGO_BIN_EXE_pitchdeck_tools")),
        ("3", env!("CARGO_BIN_EXE_pitchdeck_code")),
    ];
    for (stage, program) in programs {
        let row = readme.lines().find(|line| line.starts_with(&format!("| {stage} |"))).unwrap_or_default();
        let listed = row.rsplit('|').nth(1).and_then(|cell| cell.split([',', ' ']).find(|word| !word.is_empty()));
        let example = Example::copy(env!("CARGO_MANIFEST_DIR"));
        let _ = example.run_readme(program, &["--events", "events.jsonl"]);
        let events = example.read("events.jsonl");
        let requests = events.lines().filter(|line| line.contains(r#""kind":"model_request""#)).count();
        assert_eq!(listed, Some(&*requests.to_string()), "stage {stage}");
    }
}
