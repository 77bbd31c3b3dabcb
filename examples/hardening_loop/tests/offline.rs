//! The loop ends with code that is cheaper and not worse.

use llm_do_example::Example;

const PROGRAM: &str = env!("CARGO_BIN_EXE_hardening_loop");

/// A row of the table.
struct Rung {
    answered: u32,
    right: u32,
    /// The lower bound of the right answers, in percent.
    bound: f64,
    cost: String,
}

/// Returns the row of a rung.
fn rung(printed: &str, name: &str) -> Rung {
    let row = printed.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_default();
    let cells: Vec<_> = row.split('|').map(str::trim).collect();
    let first = |at: usize| cells.get(at).and_then(|cell| cell.split(' ').next()).unwrap_or_default();
    Rung {
        answered: first(2).parse().unwrap_or(u32::MAX),
        right: first(3).parse().unwrap_or(u32::MAX),
        bound: first(4).parse().unwrap_or_default(),
        cost: cells.get(5).copied().unwrap_or_default().to_owned(),
    }
}

#[test]
fn each_rung_is_measured_on_new_messages() {
    let printed = Example::copy(env!("CARGO_MANIFEST_DIR")).run(PROGRAM, &[]);
    for (name, answered, right) in
        [("worker", 200, 192), ("refined", 200, 200), ("script", 184, 184), ("hybrid", 200, 198), ("Rust", 200, 200)]
    {
        let rung = rung(&printed, name);
        assert_eq!((rung.answered, rung.right), (answered, right), "{name}:\n{printed}");
    }
    let [worker, refined, learned, script, hybrid, rust] =
        ["worker", "refined", "learned", "script", "hybrid", "Rust"].map(|name| rung(&printed, name));
    assert!((60..=200).contains(&learned.answered), "the gate asks for 30 %:\n{printed}");
    assert!(learned.right * 10 >= learned.answered * 9, "{printed}");
    assert!(worker.bound < 96.0 && script.bound > 98.0 && rust.bound > 98.0, "{printed}");
    assert_eq!([&learned.cost, &script.cost], [&rust.cost; 2], "code costs nothing:\n{printed}");
    assert!(worker.cost != refined.cost && hybrid.cost != worker.cost && hybrid.cost != rust.cost, "{printed}");
}
