//! What a later attempt of a run repeats: the items of a call's lists, in their order.

use super::call::Call;

/// What the current attempt has repeated of each list of a call.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    pub(super) approvals: Repeated,
    pub(super) questions: Repeated,
    /// How many answers follow that an earlier attempt has.
    pub(super) answers: usize,
    pub(super) requests: Repeated,
    pub(super) retries: Repeated,
    pub(super) remarks: Repeated,
}

/// What the current attempt has repeated of a list.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    /// How many items earlier attempts made.
    earlier: usize,
    /// How many of them this attempt has repeated.
    repeated: usize,
}

impl Repeated {
    fn of(made: usize) -> Self {
        Self { earlier: made, repeated: 0 }
    }

    /// Returns the place of the next item that this attempt can repeat, if it is the same, and steps over it.
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
    /// Notes that an attempt begins to make the call again.
    pub(super) fn begin_attempt(&mut self) {
        self.repeats = Repeats {
            approvals: Repeated::of(self.approvals.len()),
            questions: Repeated::of(self.questions.len()),
            answers: 0,
            requests: Repeated::of(self.requests.len()),
            retries: Repeated::of(self.retries.len()),
            remarks: Repeated::of(self.remarks.len()),
        };
        self.asked_again = None;
    }

    /// Adds a remark, unless this attempt repeats it.
    pub(super) fn remark(&mut self, text: String) {
        if self.repeats.remarks.next(|place| self.remarks[place] == text).is_none() {
            self.remarks.push(text);
        }
    }

    /// Notes why the model was asked again, unless this attempt repeats it.
    pub(super) fn retry(&mut self, reason: &str) {
        if self.repeats.retries.next(|place| self.retries[place] == reason).is_none() {
            self.retries.push(reason.to_owned());
        }
    }
}
