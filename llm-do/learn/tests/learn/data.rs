//! Cases that are made up.

use llm_do_learn::Example;
use serde_json::{Value, json};

/// Random numbers by a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub(crate) fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

const TOPICS: [(&str, [&str; 6]); 6] = [
    ("refund", ["money back", "refund", "reimburse me", "return the payment", "charged twice", "credit my account"]),
    ("delivery", ["parcel", "delivery", "courier", "not arrived", "tracking number", "shipped"]),
    ("password", ["password", "log in", "sign in", "locked out", "reset code", "two factor"]),
    ("invoice", ["invoice", "bill", "receipt", "tax number", "company address", "statement"]),
    ("cancel", ["cancel", "end my contract", "close my account", "unsubscribe", "stop the plan", "quit"]),
    ("address", ["moved", "new address", "change my street", "postcode", "relocated", "different house"]),
];
const STARTS: [&str; 8] = [
    "i want my",
    "hello there",
    "can you help with",
    "why is the",
    "please",
    "good morning",
    "for the third time",
    "it is about",
];
const ENDS: [&str; 8] = [
    "please",
    "right now",
    "thank you",
    "as soon as possible",
    "because i am upset",
    "or not",
    "today",
    "what should i do",
];

/// Questions with one of six topics; some name two, or none.
pub(crate) fn questions(seed: u64, count: usize) -> Vec<Example> {
    let mut random = Random(seed);
    (0..count).map(|_| question(&mut random)).collect()
}

fn question(random: &mut Random) -> Example {
    let (topic, words) = TOPICS[random.below(TOPICS.len())];
    let mut parts = vec![random.pick(&STARTS), random.pick(&STARTS), random.pick(&words), random.pick(&ENDS)];
    match random.below(10) {
        0 => parts[2] = "something",
        1 => {
            let (_, others) = TOPICS[random.below(TOPICS.len())];
            parts.insert(1, random.pick(&others));
        }
        _ => parts.push(random.pick(&ENDS)),
    }
    Example { input: json!({ "message": parts.join(" ") }), output: json!(topic), is_contradicted: false }
}

/// Parcels with fields of all kinds, which decide together.
pub(crate) fn parcels(seed: u64, count: usize) -> Vec<Example> {
    let mut random = Random(seed);
    (0..count).map(|at| parcel(&mut random, at)).collect()
}

fn parcel(random: &mut Random, at: usize) -> Example {
    let (topic, words) = TOPICS[random.below(2)];
    let (grams, is_member) = (random.below(5_000), random.below(2) == 0);
    let country = random.pick(&["NZ", "PE", "KE", "IS"]);
    let message = format!("{} {} {}", random.pick(&STARTS), random.pick(&words), random.pick(&ENDS));
    let by_hand = grams > 3_210 || country == "IS" && !is_member;
    let output: Value = if by_hand { json!("by hand") } else { json!(topic) };
    let input = json!({
        "message": message,
        "grams": grams,
        "country": country,
        "customer": { "is_member": is_member },
        "tags": [random.pick(&["blue", "green"])],
        "order_id": format!("{}-{at}", random.below(1_000_000)),
        "at": format!("2026-03-{:02}", at % 28 + 1),
    });
    Example { input, output, is_contradicted: false }
}
