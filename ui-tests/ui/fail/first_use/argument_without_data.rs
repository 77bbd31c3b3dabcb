//! The type of an argument derives nothing.

use llm_do::prelude::*;

struct Place {
    city: String,
}

/// Say what the weather is like.
#[tool(effect = read_only)]
fn weather(place: Place) -> String {
    place.city
}

fn main() {}
