//! What is learned from cases, tried on cases that were not among them.
#![expect(clippy::cast_precision_loss, reason = "counts of cases are small")]

#[path = "learn/data.rs"]
mod data;

use data::{Random, parcels, questions};
use llm_do_learn::{Decision, Example, LearnError, Learned, Learner, Unsure};
use serde_json::{Value, json};

fn example(input: Value, output: Value) -> Example {
    Example { input, output, is_contradicted: false }
}

/// The share of cases that are answered, and the share of these that are wrong.
fn shares(learned: &Learned, cases: &[Example]) -> (f64, f64) {
    let decisions: Vec<_> = cases.iter().map(|case| learned.decide(&case.input)).collect();
    let answered = decisions.iter().filter(|decision| decision.is_ok()).count();
    let is_wrong =
        |(decision, case): &(&Decision, &Example)| decision.as_ref().is_ok_and(|output| *output != case.output);
    let wrong = decisions.iter().zip(cases).filter(is_wrong).count();
    (answered as f64 / cases.len() as f64, wrong as f64 / answered.max(1) as f64)
}

#[test]
fn most_questions_are_answered_and_few_answers_are_wrong() {
    let cases = questions(1, 3_000);
    let learned = Learner::new().bound(0.03).learn("topic", &cases[..2_000]).unwrap();
    let (share, wrong) = shares(&learned, &cases[2_000..]);
    assert!(share > 0.6 && wrong < 0.03, "{share} {wrong} {}", learned.evidence());
}

#[test]
fn the_promise_holds_in_new_cases_about_as_often_as_promised() {
    let mut broken = 0;
    for seed in 0..40 {
        let cases = questions(100 + seed, 3_000);
        if let Ok(learned) = Learner::new().bound(0.1).confidence(0.9).learn("topic", &cases[..400]) {
            broken += u32::from(shares(&learned, &cases[400..]).1 > 0.1);
        }
    }
    assert!(broken <= 6, "{broken} of 40, and 4 are expected at most");
}

#[test]
fn fields_of_all_kinds_decide_together() {
    let cases = parcels(2, 3_000);
    let learned = Learner::new().bound(0.05).learn("parcel", &cases[..2_000]).unwrap();
    let (share, wrong) = shares(&learned, &cases[2_000..]);
    assert!(share > 0.7 && wrong < 0.05, "{share} {wrong} {}", learned.evidence());
    let left_out: Vec<_> = learned.evidence().left_out.iter().map(|field| field.field.as_str()).collect();
    assert_eq!(left_out, ["/at", "/order_id"]);
}

#[test]
fn an_object_is_answered_as_a_whole_or_not_at_all() {
    let with_flag = |case: Example| {
        let text = case.input["message"].as_str().unwrap();
        let output = json!({ "topic": case.output, "more": { "urgent": text.contains("now"), "version": 1 } });
        Example { output, ..case }
    };
    let cases: Vec<_> = questions(3, 3_000).into_iter().map(with_flag).collect();
    let learned = Learner::new().bound(0.05).learn("both", &cases[..2_000]).unwrap();
    let (share, wrong) = shares(&learned, &cases[2_000..]);
    assert!(share > 0.5 && wrong < 0.05, "{share} {wrong}");
    let answered = cases.iter().filter_map(|case| learned.decide(&case.input).ok());
    assert!(answered.into_iter().all(|output| output["more"]["version"] == 1 && output["more"]["urgent"].is_boolean()));
}

#[test]
fn a_missing_or_empty_output_is_a_choice() {
    let output = |at: usize| match at % 3 {
        0 => json!({ "team": "north" }),
        1 => json!({ "team": null }),
        _ => json!({}),
    };
    let words = ["snow", "rain", "wind"];
    let case =
        |at: usize| example(json!({ "text": format!("there is {} today", words[at % 3]), "n": at % 7 }), output(at));
    let cases: Vec<_> = (0..300).map(case).collect();
    let learned = Learner::new().learn("team", &cases).unwrap();
    assert_eq!(learned.decide(&cases[0].input), Ok(json!({ "team": "north" })));
    assert_eq!(learned.decide(&cases[1].input), Ok(json!({ "team": null })));
    assert_eq!(learned.decide(&cases[2].input), Ok(json!({})));
}

#[test]
fn wrong_labels_are_noise_below_which_no_bound_is_accepted() {
    let mut cases = questions(4, 4_000);
    let outputs: Vec<_> = cases.iter().map(|case| case.output.clone()).collect();
    let mut random = Random(9);
    for case in &mut cases {
        if random.below(100) < 6 {
            case.output = outputs[random.below(4_000)].clone();
        }
    }
    let error = Learner::new().bound(0.02).learn("topic", &cases).unwrap_err();
    assert!(matches!(error, LearnError::Noise { .. }), "{error}");
    assert!(error.to_string().contains("is below the noise"), "{error}");
    assert!(Learner::new().bound(0.1).learn("topic", &cases).is_ok());
}

#[test]
fn contradicted_cases_are_not_evidence() {
    let mut cases = questions(5, 1_000);
    cases.iter_mut().step_by(5).for_each(|case| case.is_contradicted = true);
    let error = Learner::new().learn("topic", &cases).unwrap_err();
    assert!(matches!(error, LearnError::Noise { .. }), "{error}");
}

#[test]
fn identifiers_teach_nothing() {
    // Only the identifier separates the outputs, and that in these cases alone.
    let mut random = Random(6);
    let mut cases = questions(6, 600);
    for (at, case) in cases.iter_mut().enumerate() {
        case.input["ticket"] = json!(format!("T-{at:05}"));
        case.input["row_id"] = json!(at);
        case.output = json!(random.below(2) == 0);
    }
    let error = Learner::new().learn("flag", &cases).unwrap_err();
    assert!(matches!(error, LearnError::Noise { .. }), "{error}");
    for case in &mut cases {
        case.input["message"] = json!("please look at this ticket");
    }
    let error = Learner::new().learn("flag", &cases).unwrap_err().to_string();
    assert!(error.contains("`/ticket` is left out, since its values are identifiers"), "{error}");
}

#[test]
fn what_is_known_of_a_subject_is_not_evidence_for_others() {
    // Each customer always asks for the same, so known customers could be answered, and new ones could not.
    let mut random = Random(6);
    let wants: Vec<_> = (0..40).map(|_| random.below(2) == 0).collect();
    let case = |customer: usize| {
        let message = format!("{} {}", random.pick(&["hello", "please", "so", "well"]), random.pick(&["look", "help"]));
        let input = json!({ "customer": format!("c{customer}"), "message": message });
        example(input, json!(wants[customer]))
    };
    let cases: Vec<_> = (0..400).map(|at| at % 40).map(case).collect();
    assert!(Learner::new().learn("flag", &cases).is_ok());
    let error = Learner::new().subject("customer").learn("flag", &cases).unwrap_err();
    assert!(matches!(error, LearnError::Noise { .. }), "{error}");
}

#[test]
fn too_few_cases_are_refused_with_the_number_that_is_needed() {
    let error = Learner::new().bound(0.02).learn("topic", &questions(7, 100)).unwrap_err();
    assert!(matches!(error, LearnError::TooFew { cases: 100, needed: 149, .. }), "{error}");
    let same: Vec<_> = questions(7, 100).into_iter().map(|case| Example { output: json!("a"), ..case }).collect();
    let error = Learner::new().learn("topic", &same).unwrap_err();
    assert!(matches!(error, LearnError::Same { cases: 100, .. }), "{error}");
}

#[test]
fn what_is_unlike_all_cases_is_not_answered() {
    let learned = Learner::new().bound(0.05).learn("parcel", &parcels(8, 2_000)).unwrap();
    let known = &parcels(8, 2_000)[..200];
    let mut known = known.iter().filter(|case| learned.decide(&case.input).is_ok());
    let input = &known.next().unwrap().input;
    let changed = |field: &str, value: Value| {
        let mut input = input.clone();
        input[field] = value;
        learned.decide(&input)
    };
    for (field, value, reason) in [
        ("country", json!("XX"), "no case has a value like \"XX\" in `/country`"),
        ("grams", json!(1e9), "no case has a value like 1000000000 in `/grams`"),
        ("colour", json!("red"), "no case has the field `/colour`"),
        (
            "message",
            json!("quantum chromodynamics forbids isolated quarks"),
            "5 of 5 words in `/message` are in no case",
        ),
        ("message", json!(null), "every case has the field `/message`"),
    ] {
        assert_eq!(changed(field, value), Err(Unsure::Unlike(reason.to_owned())));
    }
}

#[test]
fn languages_without_spaces_are_learned() {
    let subjects = ["包裹", "退款", "密码", "发票"];
    let forms = ["我的", "请问一下", "你好想问", "为什么"];
    let ends = ["在哪里", "怎么还没有到", "有问题", "请帮忙看看"];
    let case = |at: usize| {
        let text = format!("{}{}{}{}", forms[at / 4 % 4], subjects[at % 4], ends[at / 16 % 4], at / 64);
        example(json!({ "message": text }), json!(subjects[at % 4]))
    };
    let cases: Vec<_> = (0..600).map(case).collect();
    let learned = Learner::new().learn("topic", &cases).unwrap();
    assert_eq!(learned.decide(&json!({ "message": "请问一下发票有问题8" })), Ok(json!("发票")));
}

#[test]
fn an_explanation_names_what_spoke_for_which_answer() {
    let learned = Learner::new().bound(0.03).learn("topic", &questions(1, 2_000)).unwrap();
    let explanation = learned.explain(&json!({ "message": "i want my money back for the refund please" }));
    assert_eq!(explanation.output, Some(json!("refund")));
    let first = &explanation.spoke[0];
    assert_eq!(first.value, "refund");
    assert!(first.feature.starts_with("/message has"), "{first:?}");
    assert!(explanation.confidence >= explanation.threshold);
}

#[test]
fn the_same_cases_give_the_same_file_on_every_machine() {
    let text = Learner::new().bound(0.05).learn("parcel", &parcels(2, 800)).unwrap().to_text();
    let digest = text.lines().rev().nth(1).unwrap().trim();
    assert_eq!(digest, "\"digest\": \"9c01743c1940bcfa7e9afb1f039f7cae\"");
}

#[test]
fn few_rules_are_found_where_they_suffice() {
    let words = ["refund", "parcel", "invoice"];
    let ends = ["please help", "can you explain it", "i have waited a week", "thanks"];
    let case = |at: usize| {
        let text = format!("{} about my {} number {at}", ends[at / 3 % 4], words[at % 3].to_uppercase());
        example(json!({ "message": text, "is_new": at.is_multiple_of(2) }), json!(words[at % 3]))
    };
    let cases: Vec<_> = (0..400).map(case).collect();
    let few = Learner::new().bound(0.05);
    let learned = few.learn("topic", &cases).unwrap();
    let short = few.short(&learned, &cases).unwrap();
    assert!(cases.iter().all(|case| short.decide(&case.input) == Some(&case.output)), "{short:?}");
    let body = short.python_body();
    assert!(body.starts_with("    message_lower = message.lower()\n    if "), "{body}");
    assert!(body.contains("\"parcel\" in message_lower"), "{body}");
    assert!(body.ends_with("    raise Unsure(\"no rule applies\")\n"), "{body}");
}

#[test]
fn few_rules_are_not_found_where_they_do_not_suffice() {
    let cases = questions(1, 2_000);
    let few = Learner::new().bound(0.03);
    let learned = few.learn("topic", &cases).unwrap();
    assert_eq!(few.short(&learned, &cases), None);
}
