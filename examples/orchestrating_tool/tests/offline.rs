//! A call of the tool asks two workers until the text is approved.

use llm_do_example::Example;

const PROGRAM: &str = env!("CARGO_BIN_EXE_orchestrating_tool");

#[test]
fn each_description_is_corrected_until_the_critic_approves_it() {
    let example = Example::copy(env!("CARGO_MANIFEST_DIR"));
    let text =
        "A lamp for every evening. Do not use it in a storm.\nA kite for every evening. Do not use it in a storm.\n";
    assert_eq!(example.run_readme(PROGRAM, &["--events", "events.jsonl"]), text);
    let events = example.read("events.jsonl");
    let calls = |name: &str| {
        let name = format!("\"name\":\"{name}\"");
        events.lines().filter(|line| line.contains(r#""kind":"call_started""#) && line.contains(&name)).count()
    };
    assert_eq!((calls("describe"), calls("write_draft"), calls("check_draft")), (2, 4, 4));
}
