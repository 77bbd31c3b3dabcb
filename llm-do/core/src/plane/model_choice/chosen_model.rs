//! A model with data that is looked up once for all its runs.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use llm_do_providers::{Model, Price, PriceTable};

/// A model of a session.
#[derive(Debug)]
pub(crate) struct ChosenModel {
    model: Arc<dyn Model>,
    /// `provider:model`.
    pub(crate) name: Arc<str>,
    price: OnceLock<Option<Price>>,
    prices: Arc<PriceTable>,
}

impl ChosenModel {
    pub(super) fn new(model: Arc<dyn Model>, prices: &Arc<PriceTable>) -> Self {
        Self { name: model.name().into(), model, price: OnceLock::new(), prices: Arc::clone(prices) }
    }

    /// Returns the price in the session's table, if the model is there.
    pub(crate) fn price(&self) -> Option<&Price> {
        self.price.get_or_init(|| self.prices.price(&self.name).cloned()).as_ref()
    }
}

impl Deref for ChosenModel {
    type Target = dyn Model;

    fn deref(&self) -> &Self::Target {
        &*self.model
    }
}
