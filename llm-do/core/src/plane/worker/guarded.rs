//! Runs guards before a request to a model and after its answer.

use std::borrow::Cow;
use std::sync::Arc;

use llm_do_providers::{Response, Settings, ToolSpec};

use super::turn::Turns;
use super::{RequestParts, WorkerRun};
use crate::base::error::CallError;
use crate::plane::context::StepOutcome;
use crate::plane::guard::{ChangeableParts, GuardedRequest, Guards};

impl WorkerRun {
    /// Sends one request, with guards before and after; returns the response, and the reason if a guard refused it.
    ///
    /// Guards run outside the journal's step, so a replay runs them again with the same input.
    pub(super) async fn guarded(
        self: &Arc<Self>,
        guards: &Guards,
        turns: &Turns,
    ) -> Result<(StepOutcome<Response>, Option<String>), CallError> {
        let changeable = ChangeableParts {
            instructions: Cow::Borrowed(&*self.instructions),
            messages: Arc::clone(turns.messages()),
            settings: Cow::Borrowed(&self.settings),
            server_side_tools: Cow::Borrowed(&self.server_side_tools),
        };
        let (turn, tools) = (turns.turn() + 1, self.parts(turns).tools);
        let mut request = GuardedRequest::new(&self.ctx, &self.model.name, turn, &tools, changeable);
        guards.before_request(&mut request).await?;
        let StepOutcome { value: mut response, is_replayed } =
            self.request(turns, request_parts(Arc::clone(&tools), request.changeable())).await?;
        let refused = guards.after_response(&request, &mut response).await?;
        if !self.streaming {
            // Emitted only now, so that no sink receives parts that a guard removes.
            self.show_pieces(&response);
        }
        Ok((StepOutcome { value: response, is_replayed }, refused))
    }
}

fn request_parts(tools: Arc<[ToolSpec]>, changeable: &ChangeableParts<'_>) -> RequestParts {
    let changed_text = |text: &Cow<'_, str>| match text {
        Cow::Owned(text) => Some(Arc::from(text.as_str())),
        Cow::Borrowed(_) => None,
    };
    let changed_settings = |settings: &Cow<'_, Settings>| match settings {
        Cow::Owned(settings) => Some(Arc::new(settings.clone())),
        Cow::Borrowed(_) => None,
    };
    let changed_server_side = match &changeable.server_side_tools {
        Cow::Owned(tools) => Some(Arc::from(tools.as_slice())),
        Cow::Borrowed(_) => None,
    };
    RequestParts {
        tools,
        server_side_tools: changed_server_side,
        messages: Arc::clone(&changeable.messages),
        instructions: changed_text(&changeable.instructions),
        settings: changed_settings(&changeable.settings),
    }
}
