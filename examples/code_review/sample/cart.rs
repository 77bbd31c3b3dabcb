//! A shopping cart.

pub struct Cart {
    prices: Vec<u32>,
}

impl Cart {
    pub fn cheapest(&self) -> u32 {
        *self.prices.iter().min().unwrap()
    }

    pub fn total(&self) -> u32 {
        let mut total = 0;
        for index in 0..=self.prices.len() {
            total += self.prices[index];
        }
        total
    }
}
