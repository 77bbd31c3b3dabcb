//! Exact amounts of money.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use llm_do_worker_file::{InvalidAmount, parse_amount};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// The maximum number of decimal places.
const DECIMAL_PLACES: usize = 12;
/// A dollar in picodollars (10⁻¹² dollars).
const DOLLAR: u128 = 1_000_000_000_000;
/// A millionth of a dollar in picodollars, the resolution of the display.
const MICRODOLLAR: u128 = 1_000_000;
/// The number of tokens that prices refer to.
const MILLION: u128 = 1_000_000;

/// A non-negative amount of US dollars, counted in 10⁻¹² dollars, so that sums are exact.
///
/// One token at $0.01 per million costs 10⁻⁸ dollars, so nothing is lost to rounding. Arithmetic saturates at 128
/// bits.
///
/// `Display` rounds to a millionth of a dollar and shows at least two decimal places; smaller amounts are
/// `<$0.000001`. The serde form is exact: an amount is serialized as a string of dollars such as `"0.00125"`, and
/// deserialized from such a string or from a number, which is taken as written.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers as usage; }
/// use llm_do::usage::Money;
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
    /// Zero dollars.
    pub const ZERO: Self = Self(0);

    /// Creates an amount of dollars.
    #[must_use]
    pub const fn from_dollars(dollars: u64) -> Self {
        Self(dollars as u128 * DOLLAR)
    }

    /// Creates an amount of hundredths of a dollar.
    #[must_use]
    pub const fn from_cents(cents: u64) -> Self {
        Self(cents as u128 * (DOLLAR / 100))
    }

    /// Creates an amount of 10⁻¹² dollars.
    #[must_use]
    pub const fn from_picodollars(picodollars: u128) -> Self {
        Self(picodollars)
    }

    /// Returns the amount in 10⁻¹² dollars.
    #[must_use]
    pub const fn picodollars(self) -> u128 {
        self.0
    }

    /// Returns whether the amount is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns the cost of tokens, each count at a price per million.
    ///
    /// Exact for prices with at most six decimal places; otherwise the sum is rounded up.
    pub(super) fn cost_of_tokens(counted: &[(u64, Self)]) -> Self {
        let cost = |&(tokens, price): &(u64, Self)| u128::from(tokens).saturating_mul(price.0);
        let counted = counted.iter().filter(|(tokens, _)| *tokens > 0);
        Self(counted.map(cost).fold(0, u128::saturating_add).div_ceil(MILLION))
    }

    /// Returns the amount multiplied by `count`.
    pub(super) const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count as u128))
    }

    /// Returns the exact amount in dollars.
    fn decimal(self) -> String {
        let mut text = (self.0 / DOLLAR).to_string();
        let fraction = self.0 % DOLLAR;
        if fraction > 0 {
            text.push_str(format!(".{fraction:0DECIMAL_PLACES$}").trim_end_matches('0'));
        }
        text
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

    /// Parses dollars such as `2`, `0.25`, `$0.25` or `0.25 USD`, with at most 12 decimal places.
    fn from_str(text: &str) -> Result<Self, MoneyError> {
        Ok(Self(parse_amount(text)?))
    }
}

/// An error that a text is not a valid [`Money`] amount.
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
    #[inline]
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
        deserializer.deserialize_any(MoneyVisitor)
    }
}

struct MoneyVisitor;

impl Visitor<'_> for MoneyVisitor {
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

    /// A float is formatted as the shortest decimal number with its value, which is the number in the text.
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
    fn an_amount_is_displayed_with_two_to_six_decimal_places_and_never_as_zero_unless_it_is() {
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
    fn an_invalid_amount_is_rejected_with_the_reason() {
        let rejected = [
            ("", "not a decimal number"),
            ("1e3", "not a decimal number"),
            ("-1", "the amount is negative"),
            ("0.0000000000001", "more than 12 decimal places"),
            ("340282366920938463463374608", "the amount is too large"),
        ];
        for (text, reason) in rejected {
            let error = text.parse::<Money>().unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("such as `0.25`"), "{text}: {error}");
        }
    }

    #[test]
    fn a_json_number_is_taken_as_written() {
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
            let forward: Money = amounts.iter().copied().map(Money::from_picodollars).sum();
            let backward: Money = amounts.iter().rev().copied().map(Money::from_picodollars).sum();
            prop_assert_eq!(forward.picodollars(), amounts.iter().sum::<u128>());
            prop_assert_eq!(forward, backward);
        }

        #[test]
        fn serde_and_parsing_are_exact(picodollars: u128) {
            let money = Money::from_picodollars(picodollars);
            prop_assert_eq!(money.decimal().parse(), Ok(money));
            let json = serde_json::to_value(money).unwrap();
            prop_assert_eq!(serde_json::from_value::<Money>(json).unwrap(), money);
        }

        #[test]
        fn display_rounds_to_a_millionth(picodollars in 1_000_000..u128::MAX >> 1) {
            let money = Money::from_picodollars(picodollars);
            let shown = of(&money.to_string());
            prop_assert!(shown.picodollars().abs_diff(picodollars) <= 500_000);
        }
    }
}
