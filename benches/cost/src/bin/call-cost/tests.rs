//! Checks the cases and their table.

use crate::by_hand;
use crate::case::Case;
use crate::recorded::recorded;

#[test]
fn the_call_by_hand_returns_the_sum_as_text() {
    assert_eq!(by_hand::result(), r#"{"sum":42}"#);
}

#[test]
fn each_case_has_a_recorded_cost() {
    for case in Case::all() {
        assert!(recorded(&case.name()).is_some(), "{case:?}");
    }
}
