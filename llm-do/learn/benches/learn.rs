//! Learns from the messages of a folder with `train.csv` and `test.csv`, of columns `text` and `category`, and measures the answers.
//!
//! `cargo bench -p llm-do-learn -- FOLDER [SHARE OF WRONG LABELS]`; without a folder it measures messages that it makes up.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a program for measuring")]
#![allow(clippy::cast_precision_loss, reason = "a program for measuring")]

use std::path::Path;
use std::time::Instant;

use llm_do_learn::{Example, Learned, Learner};
use serde_json::json;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let (mut train, test) = match arguments.first() {
        Some(folder) => (read(&Path::new(folder).join("train.csv")), read(&Path::new(folder).join("test.csv"))),
        None => (made_up(0..4_000), made_up(4_000..5_000)),
    };
    let noise: f64 = arguments.get(1).map_or(0.0, |share| share.parse().unwrap());
    let outputs: Vec<_> = train.iter().map(|case| case.output.clone()).collect();
    let count = train.len();
    for at in (0..count).take_while(|at| (*at as f64) < count as f64 * noise) {
        let place = at * 7919 % count;
        train[place].output = outputs[(at * 104_729 + 13) % outputs.len()].clone();
    }
    for bound in [0.02, 0.05, 0.1] {
        let start = Instant::now();
        match Learner::new().bound(bound).learn("intent", &train) {
            Ok(learned) => {
                println!("bound {bound}: learned in {:.1} s: {}", start.elapsed().as_secs_f64(), learned.evidence());
                measure(&learned, &test);
            }
            Err(error) => println!("bound {bound}: {error} ({:.1} s)", start.elapsed().as_secs_f64()),
        }
    }
}

fn measure(learned: &Learned, test: &[Example]) {
    let file = learned.to_text();
    let read = Learned::parse(&file).unwrap();
    assert!(read == *learned, "reading changes it");
    let start = Instant::now();
    let decisions: Vec<_> = test.iter().map(|case| learned.decide(&case.input)).collect();
    let micros = start.elapsed().as_secs_f64() * 1e6 / test.len() as f64;
    let answered = decisions.iter().filter(|decision| decision.is_ok()).count();
    let wrong = decisions
        .iter()
        .zip(test)
        .filter(|(decision, case)| decision.as_ref().is_ok_and(|output| *output != case.output));
    let wrong = wrong.count();
    let unlike = decisions.iter().filter(|decision| matches!(decision, Err(llm_do_learn::Unsure::Unlike(_)))).count();
    let share = answered as f64 / test.len() as f64;
    let error = wrong as f64 / answered.max(1) as f64;
    println!(
        "  test: {share:.3} answered, {error:.4} of them wrong, {unlike} unlike; {micros:.1} µs each; {} bytes",
        file.len()
    );
}

fn read(path: &Path) -> Vec<Example> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let rows = reader.records().map(|row| row.unwrap());
    rows.map(|row| case(&row[0], &row[1])).collect()
}

fn made_up(range: std::ops::Range<usize>) -> Vec<Example> {
    let words = ["refund", "parcel", "invoice", "password"];
    range.map(|at| case(&format!("please help with my {} number {at}", words[at % 4]), words[at % 4])).collect()
}

fn case(text: &str, label: &str) -> Example {
    Example { input: json!({ "message": text }), output: json!(label), is_contradicted: false }
}
