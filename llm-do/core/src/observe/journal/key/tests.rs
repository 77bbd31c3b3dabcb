//! Keys: the same in each replay, and different for different steps.

use serde_json::json;

use super::*;

fn next(steps: &ChildSteps, name: &str, input: Value) -> (StepSpec, InFlightStep) {
    steps.next(&"main".into(), StepKind::Tool, name, input)
}

#[test]
fn a_digest_is_the_same_in_every_version_and_on_every_machine() {
    let value = json!({ "a": [null, true, -1, 1.5, "é"], "b": {} });
    assert_eq!(digest(&value), "f5813a072f9b0083");
    assert_eq!(digest(&Value::Null), "9647f6eabd4ec563");
}

#[test]
fn a_digest_depends_on_each_part_but_not_on_the_order_of_fields() {
    assert_eq!(
        digest(&json!({ "a": 1, "b": { "c": 2, "d": 3 } })),
        digest(&json!({ "b": { "d": 3, "c": 2 }, "a": 1 }))
    );
    let different = [
        json!(null),
        json!(0),
        json!(0.0),
        json!(""),
        json!("0"),
        json!([]),
        json!({}),
        json!([[], []]),
        json!([[[]]]),
    ];
    let digests: std::collections::HashSet<_> = different.iter().map(digest).collect();
    assert_eq!(digests.len(), different.len());
    assert_ne!(digest(&json!(["ab", "c"])), digest(&json!(["a", "bc"])));
    assert_ne!(digest(&json!([1, 2])), digest(&json!([2, 1])));
}

#[test]
fn only_equal_siblings_get_a_number_in_their_keys() {
    let steps = ChildSteps::default();
    let keys: Vec<_> = [("a", 1), ("a", 1), ("b", 1), ("a", 2), ("a", 1)]
        .map(|(name, input)| next(&steps, name, json!(input)).0)
        .into();
    assert_eq!(keys[1].key, format!("{}#1", keys[0].key).into());
    assert_eq!(keys[4].key, format!("{}#2", keys[0].key).into());
    assert!(keys[2].key.starts_with("main/b:") && !keys[2].key.contains('#'));
    assert!(keys[3].key.starts_with("main/a:") && !keys[3].key.contains('#'));
    assert_eq!(keys.iter().map(|step| step.place).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn keys_do_not_depend_on_the_order_of_different_siblings() {
    let keys = |order: &[&str]| {
        let steps = ChildSteps::default();
        let mut keys: Vec<_> = order.iter().map(|name| next(&steps, name, json!(0)).0.key).collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&["a", "b", "a", "c"]), keys(&["c", "a", "a", "b"]));
}

#[test]
fn sequential_calls_never_overlap() {
    let steps = ChildSteps::default();
    for n in 0..3 {
        let (step, in_flight) = next(&steps, "a", json!(n));
        drop(in_flight);
        assert!(!step.is_overlapped());
    }
    assert!(!next(&steps, "b", json!(0)).0.is_overlapped(), "no call is in flight any more");
}

#[test]
fn both_of_two_concurrent_calls_overlap() {
    let steps = ChildSteps::default();
    let (first, first_in_flight) = next(&steps, "a", json!(1));
    let approval = first.within(StepKind::Approval, "approval");
    assert!(!first.is_overlapped());
    let (second, second_in_flight) = next(&steps, "a", json!(2));
    assert!(first.is_overlapped() && second.is_overlapped() && approval.is_overlapped());
    drop(first_in_flight);
    let (third, third_in_flight) = next(&steps, "a", json!(3));
    assert!(third.is_overlapped(), "the second is still in flight");
    drop((second_in_flight, third_in_flight));
    let (fourth, _in_flight) = next(&steps, "a", json!(4));
    assert!(!fourth.is_overlapped());
}

#[test]
fn a_part_of_a_call_has_the_place_of_the_call_and_a_key_below_it() {
    let steps = ChildSteps::default();
    let (step, _in_flight) = next(&steps, "a", json!(1));
    let part = step.within(StepKind::Approval, "approval");
    assert_eq!((&part.parent, part.place), (&step.parent, step.place));
    assert_eq!(part.key, format!("{}/approval", step.key).into());
    assert_eq!(call(&part.key, &part.parent), &*step.key);
    assert_eq!(call(&step.key, &step.parent), &*step.key);
}

#[test]
fn the_steps_of_a_review_are_not_those_of_its_call() {
    let steps = ChildSteps::default();
    let (step, _in_flight) = next(&steps, "a", json!(1));
    let review = step.within(StepKind::Approval, "approval:2").within(StepKind::Approval, REVIEW);
    let asked = step_key(&review.within(StepKind::Approval, "0123").key, "judge", &json!({}));
    assert!(is_in_review(&asked, &step.key));
    for own in [
        step_key(&step.key, "approval", &json!({})),
        step_key(&step_key(&step.key, "a", &json!({})), REVIEW, &json!({})),
    ] {
        assert!(!is_in_review(&own, &step.key), "{own}");
    }
}

#[test]
fn a_place_is_described_by_the_names_of_the_calls_above_it() {
    let main = step_key("", "main", &json!({}));
    let model = step_key(&main, "local:small/100%", &json!({}));
    assert_eq!(describe_place("", 0), "1st call");
    assert_eq!(describe_place(&main, 2), "`main` → 3rd call");
    assert_eq!(describe_place(&format!("{model}#3"), 10), "`main` → `local:small/100%` → 11th call");
    assert_eq!(name(&model), "local:small/100%");
    assert_eq!(call(&model, &main), model);
    assert_eq!([2, 4, 12, 21, 102, 113].map(ordinal), ["2nd", "4th", "12th", "21st", "102nd", "113th"]);
}
