//! Amounts of money as text.

use std::error::Error;
use std::fmt;

/// The number of decimal places that an amount may have.
const DECIMAL_PLACES: usize = 12;
const PICODOLLARS_PER_DOLLAR: u128 = 1_000_000_000_000;

/// A text that is not an amount of money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidAmount {
    text: String,
    reason: &'static str,
}

impl fmt::Display for InvalidAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid amount `{}`: {}; write US dollars, such as `0.25`", self.text, self.reason)
    }
}

impl Error for InvalidAmount {}

/// Parses an amount of US dollars such as `2`, `0.25`, `$0.25` or `0.25 USD`; returns it in 10⁻¹² dollars.
///
/// # Errors
///
/// Returns an error for a negative amount, more than 12 decimal places, more than `u128::MAX` times 10⁻¹² dollars, and
/// any other text.
pub fn parse_amount(text: &str) -> Result<u128, InvalidAmount> {
    let number = match text.strip_suffix("USD") {
        Some(number) => number.trim_end(),
        None => text.strip_prefix('$').unwrap_or(text),
    };
    picodollars(number).map_err(|reason| InvalidAmount { text: text.to_owned(), reason })
}

fn picodollars(number: &str) -> Result<u128, &'static str> {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if number.starts_with('-') {
        return Err("the amount is negative");
    }
    if !is_number(whole) || !is_number(fraction) {
        return Err("not a decimal number");
    }
    if fraction.len() > DECIMAL_PLACES {
        return Err("more than 12 decimal places");
    }
    // 12 digits always fit.
    let fraction: u128 = format!("{fraction:0<DECIMAL_PLACES$}").parse().unwrap_or_default();
    let whole = whole.parse::<u128>().ok().and_then(|dollars| dollars.checked_mul(PICODOLLARS_PER_DOLLAR));
    whole.and_then(|whole| whole.checked_add(fraction)).ok_or("the amount is too large")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_parsed_exactly() {
        for (text, picodollars) in [
            ("2", 2_000_000_000_000),
            ("0.25", 250_000_000_000),
            ("$0.25", 250_000_000_000),
            ("0.10 USD", 100_000_000_000),
            ("3USD", 3_000_000_000_000),
            ("$0.000000000001", 1),
            ("340282366920938463463374607.431768211455", u128::MAX),
        ] {
            assert_eq!(parse_amount(text), Ok(picodollars), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        for (text, reason) in [
            ("", "not a decimal number"),
            ("$", "not a decimal number"),
            ("USD", "not a decimal number"),
            ("$1 USD", "not a decimal number"),
            ("1 EUR", "not a decimal number"),
            ("1e3", "not a decimal number"),
            (".5", "not a decimal number"),
            ("5.", "not a decimal number"),
            ("1,000", "not a decimal number"),
            ("+1", "not a decimal number"),
            ("-1", "the amount is negative"),
            ("0.0000000000001", "more than 12 decimal places"),
            ("340282366920938463463374608", "the amount is too large"),
        ] {
            let error = parse_amount(text).unwrap_err().to_string();
            assert_eq!(error, format!("invalid amount `{text}`: {reason}; write US dollars, such as `0.25`"));
        }
    }
}
