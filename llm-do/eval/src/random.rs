//! Random numbers that are the same in every version and on every machine.

/// `SplitMix64`: small, and sufficient for drawing samples.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns an index below `length`, which must not be 0.
    pub(super) fn index(&mut self, length: usize) -> usize {
        // The bias of the remainder is below 2^-32 for every list that fits in memory here.
        usize::try_from(self.draw() % length as u64).unwrap_or_default()
    }

    pub(super) fn flag(&mut self) -> bool {
        self.draw() & 1 == 1
    }
}
