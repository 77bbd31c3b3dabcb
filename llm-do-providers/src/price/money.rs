//! An exact amount of money.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use llm_do_worker_file::{InvalidAmount, parse_amount};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Digits after the point that an amount may have.
const DIGITS: usize = 12;
/// What a dollar is, in the unit that is counted.
const DOLLAR: u128 = 1_000_000_000_000;
/// What a millionth of a dollar is, the finest that is shown.
const MICRODOLLAR: u128 = 1_000_000;
/// The number of tokens that prices are said for.
const MILLION: u128 = 1_000_000;

/// An amount of US dollars, none or more, counted in 10⁻¹² dollars: sums are exact.
///
/// One token at $0.01 per million costs 10⁻⁸ dollars, so nothing that is charged is lost to rounding. An amount that
/// would not fit 128 bits stays at the largest.
///
/// It is shown to the millionth of a dollar, rounded, with two digits at least; what is smaller as `<$0.000001`. As
/// data it is exact both ways: written as a string of dollars such as `"0.00125"`, and read from such a string or from
/// a number, which is taken as it is written.
///
/// # Examples
///
/// ```
/// # use llm_do_providers::Money;
/// let sum = "0.10".parse::<Money>()? + "$0.20".parse()?;
/// assert_eq!(sum, Money::from_cents(30));
/// assert_eq!(sum.to_string(), "$0.30");
/// assert_eq!(Money::from_picodollars(1_234_499_999).to_string(), "$0.001234");
/// assert_eq!(Money::from_picodollars(1).to_string(), "<$0.000001");
/// assert_eq!(serde_json::to_string(&sum)?, r#""0.3""#);
/// assert_eq!(serde_json::from_str::<Money>("0.3")?, sum);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(u128);

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Returns that many dollars.
    #[must_use]
    pub const fn from_dollars(dollars: u64) -> Self {
        Self(dollars as u128 * DOLLAR)
    }

    /// Returns that many hundredths of a dollar.
    #[must_use]
    pub const fn from_cents(cents: u64) -> Self {
        Self(cents as u128 * (DOLLAR / 100))
    }

    /// Returns that many times 10⁻¹² dollars.
    #[must_use]
    pub const fn from_picodollars(picodollars: u128) -> Self {
        Self(picodollars)
    }

    /// Returns the amount in 10⁻¹² dollars.
    #[must_use]
    pub const fn picodollars(self) -> u128 {
        self.0
    }

    /// Returns whether it is nothing.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns what tokens cost, each number of them at a price for a million.
    ///
    /// Exact for prices of at most six digits after the point; of others the sum is rounded up.
    pub(super) fn of_tokens(counted: &[(u64, Self)]) -> Self {
        let cost = |&(tokens, price): &(u64, Self)| u128::from(tokens).saturating_mul(price.0);
        Self(counted.iter().map(cost).fold(0, u128::saturating_add).div_ceil(MILLION))
    }

    /// The amount in dollars, exactly.
    fn decimal(self) -> String {
        let fraction = format!("{:0DIGITS$}", self.0 % DOLLAR);
        match fraction.trim_end_matches('0') {
            "" => (self.0 / DOLLAR).to_string(),
            digits => format!("{}.{digits}", self.0 / DOLLAR),
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if (1..MICRODOLLAR).contains(&self.0) {
            return f.pad("<$0.000001");
        }
        let micros = self.0.saturating_add(MICRODOLLAR / 2) / MICRODOLLAR;
        let fraction = format!("{:06}", micros % MILLION);
        f.pad(&format!("${}.{:0<2}", micros / MILLION, fraction.trim_end_matches('0')))
    }
}

impl FromStr for Money {
    type Err = MoneyError;

    /// Reads dollars such as `2`, `0.25`, `$0.25` or `0.25 USD`, with at most 12 digits after the point.
    fn from_str(text: &str) -> Result<Self, MoneyError> {
        Ok(Self(parse_amount(text)?))
    }
}

/// A text that is not an amount of money.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct MoneyError(#[from] InvalidAmount);

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.decimal())
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Dollars)
    }
}

struct Dollars;

impl Visitor<'_> for Dollars {
    type Value = Money;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount of dollars, such as \"0.25\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Money, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, dollars: u64) -> Result<Money, E> {
        Ok(Money::from_dollars(dollars))
    }

    fn visit_i64<E: de::Error>(self, dollars: i64) -> Result<Money, E> {
        self.visit_str(&dollars.to_string())
    }

    /// A float is shown by the shortest decimal number that it stands for: the one that was written.
    fn visit_f64<E: de::Error>(self, dollars: f64) -> Result<Money, E> {
        self.visit_str(&dollars.to_string())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Money;

    fn of(text: &str) -> Money {
        text.parse().unwrap()
    }

    #[test]
    fn an_amount_is_shown_with_two_to_six_digits_and_never_as_nothing_when_it_is_something() {
        let shown = [
            ("0", "$0.00"),
            ("12", "$12.00"),
            ("0.5", "$0.50"),
            ("0.0123", "$0.0123"),
            ("0.001234", "$0.001234"),
            ("0.0012344", "$0.001234"),
            ("0.0012345", "$0.001235"),
            ("0.9999999", "$1.00"),
            ("0.000001", "$0.000001"),
            ("0.000000999999", "<$0.000001"),
            ("0.000000000001", "<$0.000001"),
            ("12345678.9", "$12345678.90"),
        ];
        for (amount, text) in shown {
            assert_eq!(of(amount).to_string(), text, "{amount}");
        }
        assert_eq!(format!("{:>8}", of("0.5")), "   $0.50");
        assert_eq!(Money::from_picodollars(u128::MAX).to_string().chars().next(), Some('$'));
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        let refused = [
            ("", "not a decimal number"),
            ("1e3", "not a decimal number"),
            ("-1", "the amount is negative"),
            ("0.0000000000001", "more than 12 decimal places"),
            ("340282366920938463463374608", "the amount is too large"),
        ];
        for (text, reason) in refused {
            let error = text.parse::<Money>().unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("such as `0.25`"), "{text}: {error}");
        }
    }

    #[test]
    fn a_number_is_taken_as_it_is_written() {
        for (json, text) in
            [("0.1", "0.1"), ("2", "2"), ("1e-7", "0.0000001"), ("2.675", "2.675"), ("\"0.07\"", "0.07")]
        {
            assert_eq!(serde_json::from_str::<Money>(json).unwrap(), of(text), "{json}");
        }
        for json in ["-1", "-0.5", "0.30000000000000004", "true", "null", "\"free\""] {
            assert!(serde_json::from_str::<Money>(json).is_err(), "{json}");
        }
    }

    proptest! {
        #[test]
        fn sums_are_exact_in_any_order(amounts in prop::collection::vec(0..u128::MAX >> 16, 0..64)) {
            let there: Money = amounts.iter().copied().map(Money::from_picodollars).sum();
            let back: Money = amounts.iter().rev().copied().map(Money::from_picodollars).sum();
            prop_assert_eq!(there.picodollars(), amounts.iter().sum::<u128>());
            prop_assert_eq!(there, back);
        }

        #[test]
        fn data_and_text_are_exact_both_ways(picodollars: u128) {
            let money = Money::from_picodollars(picodollars);
            prop_assert_eq!(money.decimal().parse(), Ok(money));
            let json = serde_json::to_value(money).unwrap();
            prop_assert_eq!(serde_json::from_value::<Money>(json).unwrap(), money);
        }

        #[test]
        fn what_is_shown_is_as_near_as_a_millionth(picodollars in 1_000_000..u128::MAX >> 1) {
            let money = Money::from_picodollars(picodollars);
            let shown = of(&money.to_string());
            prop_assert!(shown.picodollars().abs_diff(picodollars) <= 500_000);
        }
    }
}
