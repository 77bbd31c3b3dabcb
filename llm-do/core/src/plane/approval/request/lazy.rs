//! A request that is built on first use: most rules do not depend on the arguments.

use super::ApprovalRequest;
use crate::base::error::Fault;
use crate::observe::event::RuleSource;

/// Builds a request; fails if the arguments cannot be written as JSON.
type Build<'a> = &'a dyn Fn() -> Result<ApprovalRequest, Fault>;

/// A request that is built on first use.
pub(crate) struct LazyRequest<'a> {
    build: Build<'a>,
    built: Option<ApprovalRequest>,
}

impl<'a> LazyRequest<'a> {
    pub(crate) fn new(build: Build<'a>) -> Self {
        Self { build, built: None }
    }

    pub(in super::super) fn get(&mut self) -> Result<&ApprovalRequest, Fault> {
        let request = match self.built.take() {
            Some(request) => request,
            None => (self.build)()?,
        };
        Ok(self.built.insert(request))
    }

    /// Returns the request for the approval that the rule from `rule` requires.
    pub(crate) fn into_request(self, rule: RuleSource) -> Result<Box<ApprovalRequest>, Fault> {
        let request = self.built.map_or_else(self.build, Ok)?;
        Ok(Box::new(ApprovalRequest { rule, ..request }))
    }
}
