//! The approver and input handler of a service: the journal stores the questions of runs, and people answer over HTTP.

use async_trait::async_trait;

use llm_do_core::base::error::BoxError;
use llm_do_core::plane::approval::{ApprovalRequest, Approver, Decision};
use llm_do_core::plane::context::CallContext;
use llm_do_core::plane::user_input::{InputHandler, InputRequest};

/// Never answers, so that the answers to promises hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Absent;

#[async_trait]
impl Approver for Absent {
    async fn review(&self, request: &ApprovalRequest, _: &CallContext) -> Decision {
        if request.promise.is_none() {
            return Decision::undecided("the call is not recorded");
        }
        std::future::pending().await
    }

    fn max_concurrent(&self) -> usize {
        usize::MAX
    }
}

#[async_trait]
impl InputHandler for Absent {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        if request.promise.is_none() {
            return Err("the question is not recorded".into());
        }
        std::future::pending().await
    }
}
