//! A hundred small scripts of the kind that models write: each runs, or is refused with what to write instead.

use std::fmt::Write;

use crate::script::{run_body, text_of};

#[tokio::test]
async fn each_of_a_hundred_scripts_runs_or_is_refused_in_these_words() {
    let mut outcomes = String::new();
    let scripts: Vec<_> = include_str!("hundred.txt").split("=== ").skip(1).collect();
    assert_eq!(scripts.len(), 100);
    for script in scripts {
        let (name, body) = script.split_once('\n').unwrap();
        match run_body(body).await {
            Ok(value) => writeln!(outcomes, "{name}\n    -> {value}").unwrap(),
            Err(error) => {
                let text = text_of(&error).replace('\n', "\n       ");
                writeln!(outcomes, "{name}\n    !! {text}").unwrap();
            }
        }
    }
    expect_test::expect_file!["hundred.outcomes.txt"].assert_eq(&outcomes);
}
