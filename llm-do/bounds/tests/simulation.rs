//! Bounds keep their promise in simulated streams, looked at after every value.

use fastrand::Rng;
use llm_do_bounds::{ChangeDetector, Evidence, Guarantee, UpperSequence};

const STREAMS: u32 = 10_000;
const RISK: f64 = 0.05;

/// The most failures of streams at this risk, with four standard deviations of chance.
fn allowed(risk: f64) -> u32 {
    let expected = risk * f64::from(STREAMS);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
    let most = (expected + 4.0 * (expected * (1.0 - risk)).sqrt()) as u32;
    most
}

/// Counts the streams in which the bound is ever below the average of the conditional means so far.
fn failures(values: usize, seed: u64, draw: impl Fn(usize, &mut Rng) -> (f64, f64)) -> u32 {
    let mut rng = Rng::with_seed(seed);
    let fails = |rng: &mut Rng| {
        let (mut sequence, mut sum) = (UpperSequence::default(), 0.0);
        (0..values).any(|at| {
            let (value, mean) = draw(at, rng);
            sequence.add(value);
            sum += mean;
            #[expect(clippy::cast_precision_loss, reason = "streams are short")]
            let average = sum / sequence.count() as f64;
            // As `upper(RISK) < average`, without the search for the bound.
            sequence.log_capital(average) >= -RISK.ln()
        })
    };
    (0..STREAMS).map(|_| u32::from(fails(&mut rng))).sum()
}

fn hit(rng: &mut Rng, chance: f64) -> f64 {
    f64::from(u8::from(rng.f64() < chance))
}

#[test]
fn the_bound_of_rare_events_fails_no_more_often_than_promised() {
    let failed = failures(400, 1, |_, rng| (hit(rng, 0.02), 0.02));
    assert!(failed <= allowed(RISK), "{failed}");
    assert!(failed > 20, "the bound is not needlessly loose: {failed}");
}

#[test]
fn the_bound_of_other_values_fails_no_more_often_than_promised() {
    let failed = failures(300, 2, |_, rng| (rng.f64(), 0.5));
    assert!(failed <= allowed(RISK), "{failed}");
    let failed = failures(300, 3, |_, rng| (0.9 * hit(rng, 0.3) + 0.05, 0.32));
    assert!(failed <= allowed(RISK), "{failed}");
}

#[test]
fn the_bound_of_an_average_that_changes_fails_no_more_often_than_promised() {
    let chance = |at: usize| if (at / 50).is_multiple_of(2) { 0.0 } else { 0.1 };
    let failed = failures(400, 4, |at, rng| (hit(rng, chance(at)), chance(at)));
    assert!(failed <= allowed(RISK), "{failed}");
}

#[test]
fn a_mean_within_the_limit_seldom_counts_as_risen() {
    let mut rng = Rng::with_seed(5);
    let alarms = (0..STREAMS).map(|_| {
        let mut detector = ChangeDetector::default();
        u32::from((0..1_000).any(|_| {
            detector.add(hit(&mut rng, 0.02), 0.02);
            detector.log_capital() >= -RISK.ln()
        }))
    });
    let alarms: u32 = alarms.sum();
    assert!(alarms <= allowed(RISK), "{alarms}");
}

/// Calls that are compared at the rate that the evidence asks for, which thus depends on what was seen.
fn calls(evidence: &mut Evidence, guarantee: &Guarantee, rng: &mut Rng, number: u32, chance: f64) -> Vec<bool> {
    let call = |_| {
        let may_answer = evidence.holds();
        if rng.f64() < evidence.rate(guarantee) {
            evidence.observe(guarantee, rng.f64() < chance);
        }
        may_answer
    };
    (0..number).map(call).collect()
}

#[test]
fn code_that_breaks_the_guarantee_seldom_ever_answers() {
    let guarantee = Guarantee::new(0.05, 0.95).expect("both numbers are between 0 and 1");
    let mut rng = Rng::with_seed(6);
    let answered = (0..STREAMS).map(|_| {
        let answers = calls(&mut Evidence::default(), &guarantee, &mut rng, 500, 0.052);
        u32::from(answers.contains(&true))
    });
    let answered: u32 = answered.sum();
    assert!(answered <= allowed(RISK), "{answered}");
}

#[test]
fn code_that_keeps_the_guarantee_answers_most_calls_and_is_compared_in_few() {
    let guarantee = Guarantee::new(0.05, 0.95).expect("both numbers are between 0 and 1");
    let mut rng = Rng::with_seed(7);
    for _ in 0..100 {
        let mut evidence = Evidence::default();
        let answers = calls(&mut evidence, &guarantee, &mut rng, 10_000, 0.005);
        assert!(answers.iter().filter(|answered| **answered).count() > 9_000);
        assert!(evidence.comparisons() < 2_000, "{}", evidence.comparisons());
    }
}

#[test]
fn code_that_begins_to_disagree_is_stopped() {
    let guarantee = Guarantee::new(0.05, 0.95).expect("both numbers are between 0 and 1");
    let mut rng = Rng::with_seed(8);
    for _ in 0..200 {
        let mut evidence = Evidence::default();
        calls(&mut evidence, &guarantee, &mut rng, 5_000, 0.0);
        let compared = evidence.comparisons();
        let mut comparisons = 0;
        while evidence.holds() {
            calls(&mut evidence, &guarantee, &mut rng, 1, 0.4);
            comparisons = evidence.comparisons().max(compared) - compared;
        }
        assert!(comparisons < 150, "{comparisons}");
    }
}
