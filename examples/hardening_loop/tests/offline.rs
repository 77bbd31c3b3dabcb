//! The loop ends with a script that is cheaper and not worse.

use llm_do_example::Example;

const PROGRAM: &str = env!("CARGO_BIN_EXE_hardening_loop");

/// Returns the numbers of right, wrong and unsure answers of a rung, and its cost.
fn rung(printed: &str, name: &str) -> (usize, usize, usize, String) {
    let row = printed.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_default();
    let cells: Vec<_> = row.split('|').map(str::trim).collect();
    let count = |at: usize| cells.get(at).and_then(|cell| cell.parse().ok()).unwrap_or(usize::MAX);
    (count(2), count(3), count(4), cells.get(5).copied().unwrap_or_default().to_owned())
}

#[test]
fn each_rung_is_measured_on_new_messages() {
    let printed = Example::copy(env!("CARGO_MANIFEST_DIR")).run(PROGRAM, &[]);
    let (worker, script) = (rung(&printed, "worker"), rung(&printed, "script"));
    let hybrid = rung(&printed, "hybrid");
    assert_eq!((worker.0, worker.1, worker.2), (58, 2, 0), "{printed}");
    assert_eq!((script.0, script.1, script.2), (46, 0, 14), "{printed}");
    assert_eq!((hybrid.0, hybrid.1, hybrid.2), (60, 0, 0), "{printed}");
    assert_ne!(worker.3, hybrid.3, "the script costs nothing:\n{printed}");
    assert_eq!(rung(&printed, "Rust").3, script.3, "{printed}");
}
