//! A model with data that is looked up once for all its runs.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use llm_do_providers::{ContextWindow, Model, Price, PriceTable};
use tokio::sync::OnceCell;

/// A model of a session.
#[derive(Debug)]
pub(crate) struct ChosenModel {
    model: Arc<dyn Model>,
    /// `provider:model`.
    pub(crate) name: Arc<str>,
    price: OnceLock<Option<Price>>,
    prices: Arc<PriceTable>,
    /// What the server reports of its window, once it was asked.
    window: OnceCell<Option<ContextWindow>>,
}

impl ChosenModel {
    pub(super) fn new(model: Arc<dyn Model>, prices: &Arc<PriceTable>) -> Self {
        let prices = Arc::clone(prices);
        Self { name: model.name().into(), model, price: OnceLock::new(), prices, window: OnceCell::new() }
    }

    /// Returns the window that the server reports, which it is asked for once; `None` if it does not answer.
    pub(crate) async fn asked_window(&self) -> Option<ContextWindow> {
        *self.window.get_or_init(|| async { self.model.ask_window().await.ok().flatten() }).await
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
