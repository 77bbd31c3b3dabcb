//! What a request costs, with its charges for server-side tools and its service tier.

use super::{Money, Price, Unpriced};
use crate::server_side::ServerSideTool;
use crate::usage::{ServiceTier, Usage};

/// What a request costs: the known amount, and the charges without a known price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Charge {
    /// The sum of the charges with a known price.
    pub known: Money,
    /// The charges without a known price; empty if `known` is all that the request costs.
    pub unpriced: Unpriced,
}

impl Price {
    /// Returns what one request costs, and which of its charges have no known price.
    ///
    /// Pass the usage of one request, since a long request may have another price. If a response took several
    /// requests, they are assumed to be equally long, and at the most expensive of their service tiers, of which a batch is one;
    /// tokens at a tier without a price are charged at the standard price and listed as unpriced. As in [`Usage`], cached and audio tokens
    /// are part of the input, and reasoning is part of the output.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod llm_do { pub use llm_do_providers as usage; }
    /// use llm_do::usage::{Money, Price, Unpriced, Usage};
    /// let price = Price::per_million(Money::from_dollars(2), Money::from_dollars(10)).web_search(Money::from_cents(1));
    /// let mut usage = Usage::of_request(1_000, 100);
    /// usage.web_searches = 3;
    /// assert_eq!(price.charge(&usage).known, "0.033".parse()?);
    /// usage.file_searches = 1;
    /// assert_eq!(price.charge(&usage).unpriced, Unpriced::FILE_SEARCH);
    /// # Ok::<_, llm_do_providers::MoneyError>(())
    /// ```
    #[must_use]
    pub fn charge(&self, usage: &Usage) -> Charge {
        let (tokens, mut unpriced) = match tier(usage) {
            ServiceTier::Standard => (self, Unpriced::default()),
            tier => self.at_tier(tier).map_or((self, Unpriced::SERVICE_TIER), |price| (price, Unpriced::default())),
        };
        let mut known = tokens.cost_of_tokens(usage);
        if !usage.has_fees() {
            return Charge { known, unpriced };
        }
        let searches = match self.searching_request {
            Some(price) => (usage.web_searches.min(usage.requests.max(1)), Some(price)),
            None => (usage.web_searches, self.web_search),
        };
        let fees = [
            (searches, Unpriced::WEB_SEARCH),
            ((usage.file_searches, self.file_search), Unpriced::FILE_SEARCH),
            ((usage.containers, self.container), Unpriced::CODE_EXECUTION),
            ((usage.other_charged_tools, self.is_free().then_some(Money::ZERO)), Unpriced::OTHER_TOOLS),
        ];
        for ((uses, price), charge) in fees.into_iter().filter(|((uses, _), _)| *uses > 0) {
            known += price.unwrap_or_default().times(uses);
            unpriced |= charge.if_charged(price.is_none());
        }
        Charge { known, unpriced }
    }

    /// Returns the charges without a known price that a request with these server-side tools, at this service tier, may have.
    #[must_use]
    pub fn unpriced(&self, tools: &[ServerSideTool], service_tier: Option<&str>) -> Unpriced {
        let tier = ServiceTier::parse(service_tier.unwrap_or_default());
        let is_priced = tier == ServiceTier::Standard || self.at_tier(tier).is_some();
        let has_search = self.web_search.is_some() || self.searching_request.is_some();
        let charges = tools.iter().map(|tool| match tool {
            ServerSideTool::WebSearch(_) => Unpriced::WEB_SEARCH.if_charged(!has_search),
            ServerSideTool::CodeExecution | ServerSideTool::ProgrammaticToolCalling => {
                Unpriced::CODE_EXECUTION.if_charged(self.container.is_none())
            }
            ServerSideTool::ImageGeneration => Unpriced::IMAGE_GENERATION.if_charged(!self.is_free()),
            ServerSideTool::WebFetch => Unpriced::default(),
        });
        charges.fold(Unpriced::SERVICE_TIER.if_charged(!is_priced), |all, charge| all | charge)
    }

    /// Returns the price of tokens at a tier other than the standard one.
    fn at_tier(&self, tier: ServiceTier) -> Option<&Self> {
        match tier {
            _ if self.is_free() => Some(self),
            ServiceTier::Flex => self.flex.as_deref(),
            ServiceTier::Priority => self.priority.as_deref(),
            ServiceTier::Batch => self.batch.as_deref(),
            ServiceTier::Standard | ServiceTier::Other => None,
        }
    }

    /// Returns whether tokens cost nothing, as of a model in this process or on the user's own server.
    fn is_free(&self) -> bool {
        self.input.is_zero() && self.output.is_zero()
    }
}

/// Returns the tier of the requests; of several, the one whose price is the highest or unknown.
fn tier(usage: &Usage) -> ServiceTier {
    match usage {
        Usage { other_tier_requests: 1.., .. } => ServiceTier::Other,
        Usage { priority_requests: 1.., .. } => ServiceTier::Priority,
        Usage { flex_requests: 1.., .. } if usage.flex_requests >= usage.requests => ServiceTier::Flex,
        Usage { batch_requests: 1.., .. } if usage.batch_requests >= usage.requests => ServiceTier::Batch,
        _ => ServiceTier::Standard,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Money, Price, Unpriced};
    use crate::server_side::ServerSideTool;
    use crate::usage::{ServiceTier, Usage};

    fn dollars(text: &str) -> Money {
        text.parse().unwrap()
    }

    fn price() -> Price {
        Price::per_million(dollars("2"), dollars("10"))
    }

    #[test]
    fn each_use_of_a_tool_is_charged_at_its_own_price() {
        let price = price().web_search(dollars("0.01")).file_search(dollars("0.0025")).container(dollars("0.03"));
        let usage = Usage { web_searches: 3, file_searches: 2, containers: 1, ..Usage::of_request(1_000, 0) };
        let charge = price.charge(&usage);
        assert_eq!((charge.known, charge.unpriced), (dollars("0.067"), Unpriced::default()));
    }

    #[test]
    fn a_searching_request_has_one_price_for_all_its_searches() {
        let price = price().searching_request(dollars("0.035"));
        let usage = Usage { web_searches: 4, ..Usage::of_request(0, 0) };
        assert_eq!(price.charge(&usage).known, dollars("0.035"));
        assert_eq!(price.charge(&(usage + usage)).known, dollars("0.07"));
        assert_eq!(price.charge(&Usage::of_request(0, 0)).known, Money::ZERO);
    }

    #[test]
    fn a_charge_without_a_price_is_named_and_not_free() {
        let usage = Usage { web_searches: 1, containers: 1, other_charged_tools: 1, ..Usage::of_request(1_000, 0) };
        let charge = price().charge(&usage);
        assert_eq!(charge.known, dollars("0.002"));
        assert_eq!(charge.unpriced.to_string(), "web_search, code_execution, other server-side tools");
    }

    #[test]
    fn tokens_have_the_price_of_their_tier() {
        let price = price().flex(Price::per_million(dollars("1"), dollars("5")));
        let request = Usage::of_request(1_000, 100);
        assert_eq!(price.charge(&request.at_tier(ServiceTier::Flex)).known, dollars("0.0015"));
        assert_eq!(price.charge(&request).known, dollars("0.003"));
        for tier in [ServiceTier::Priority, ServiceTier::Other] {
            let charge = price.charge(&request.at_tier(tier));
            assert_eq!((charge.known, charge.unpriced), (dollars("0.003"), Unpriced::SERVICE_TIER));
        }
    }

    #[test]
    fn a_model_without_a_price_of_tokens_is_free_at_every_tier() {
        let usage = Usage { web_searches: 1, other_charged_tools: 1, ..Usage::of_request(1_000, 100) };
        let charge = Price::free().charge(&usage.at_tier(ServiceTier::Priority));
        assert_eq!((charge.known, charge.unpriced), (Money::ZERO, Unpriced::default()));
    }

    #[test]
    fn what_a_request_may_be_charged_for_is_known_before_it() {
        let tools = [ServerSideTool::WEB_SEARCH, ServerSideTool::CodeExecution, ServerSideTool::WebFetch];
        assert_eq!(price().unpriced(&tools, None).to_string(), "web_search, code_execution");
        assert_eq!(price().unpriced(&[], Some("flex")), Unpriced::SERVICE_TIER);
        assert_eq!(price().unpriced(&[], Some("auto")), Unpriced::default());
        let priced = price().web_search(dollars("0.01")).container(dollars("0.03")).priority(price());
        assert_eq!(priced.unpriced(&tools, Some("priority")), Unpriced::default());
    }
}
