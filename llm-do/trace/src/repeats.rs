//! The items of a call's lists that a later attempt of a run repeats, in order.

use super::call::Call;

/// The items of each list of a call that the current attempt has repeated.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    pub(super) approvals: Repeated,
    pub(super) questions: Repeated,
    /// The number of the following answers that an earlier attempt has.
    pub(super) answers: usize,
    pub(super) requests: Repeated,
    pub(super) retries: Repeated,
    pub(super) remarks: Repeated,
}

/// The items of a list that the current attempt has repeated.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    /// The number of items of earlier attempts.
    earlier: usize,
    /// The number of items that this attempt has repeated.
    repeated: usize,
}

impl Repeated {
    fn new(made: usize) -> Self {
        Self { earlier: made, repeated: 0 }
    }

    /// Returns the index of the next item that this attempt can repeat, if it is equal, and advances.
    pub(super) fn next(&mut self, is_same: impl FnOnce(usize) -> bool) -> Option<usize> {
        let place = self.repeated;
        let is_repeated = place < self.earlier && is_same(place);
        self.repeated += usize::from(is_repeated);
        is_repeated.then_some(place)
    }

    /// Returns whether this attempt made an item.
    pub(super) fn is_new(&self, place: usize) -> bool {
        place >= self.earlier
    }
}

impl Call {
    /// Records that an attempt begins to make the call again.
    pub(super) fn begin_attempt(&mut self) {
        self.repeats = Repeats {
            approvals: Repeated::new(self.approvals.len()),
            questions: Repeated::new(self.questions.len()),
            answers: 0,
            requests: Repeated::new(self.requests.len()),
            retries: Repeated::new(self.retries.len()),
            remarks: Repeated::new(self.remarks.len()),
        };
        self.asked_again = None;
    }

    /// Adds a remark, unless this attempt repeats it.
    pub(super) fn remark(&mut self, text: String) {
        if self.repeats.remarks.next(|place| self.remarks[place] == text).is_none() {
            self.remarks.push(text);
        }
    }

    /// Records why the model was asked again, unless this attempt repeats it.
    pub(super) fn retry(&mut self, reason: &str) {
        if self.repeats.retries.next(|place| self.retries[place] == reason).is_none() {
            self.retries.push(reason.to_owned());
        }
    }
}
