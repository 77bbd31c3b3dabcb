//! What runs ask people: the question goes to the inbox, the answer comes from there, perhaps days later.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::app::serve::ask::{decision, digest, shown_approval, shown_question};
use crate::base::error::BoxError;
use crate::observe::journal::{EngineJournal, Question};
use crate::plane::approval::{ApprovalRequest, Approver, Decision};
use crate::plane::user_input::{InputHandler, InputRequest};

/// The kinds of questions.
pub(super) const APPROVAL: &str = "approval";
pub(super) const QUESTION: &str = "question";

/// Asks people on behalf of one run.
#[derive(Clone, Debug)]
pub(super) struct EngineAsker(EngineJournal);

impl EngineAsker {
    pub(super) fn new(journal: EngineJournal) -> Self {
        Self(journal)
    }

    async fn ask(&self, kind: &'static str, key: &Arc<str>, shown: Value) -> Value {
        let digest = digest(&shown);
        self.0.ask(Question { key: Arc::clone(key), shown, digest, kind }).await
    }
}

#[async_trait]
impl Approver for EngineAsker {
    async fn review(&self, request: &ApprovalRequest) -> Decision {
        let Some(key) = &request.key else { return Decision::undecided("the call is not recorded") };
        decision(self.ask(APPROVAL, key, shown_approval(request)).await)
    }

    fn max_concurrent(&self) -> usize {
        usize::MAX
    }
}

#[async_trait]
impl InputHandler for EngineAsker {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        let key = request.key.as_ref().ok_or("the question is not recorded")?;
        let answer = self.ask(QUESTION, key, shown_question(request)).await;
        answer.as_str().map(str::to_owned).ok_or_else(|| "the stored answer is not a text".into())
    }
}
