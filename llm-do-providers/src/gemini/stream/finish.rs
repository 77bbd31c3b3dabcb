//! Why an answer ended.

use crate::message::FinishReason;

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateFinish {
    As(FinishReason),
    /// The server could not parse a call, or the answer.
    Malformed,
    /// The model called a tool although none was offered or allowed.
    UnexpectedCall,
}

impl CandidateFinish {
    /// Converts a finish reason of <https://ai.google.dev/api/generate-content#FinishReason>; `None` if it is absent.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "" | "FINISH_REASON_UNSPECIFIED" => return None,
            "STOP" => Self::As(FinishReason::Stop),
            "MAX_TOKENS" => Self::As(FinishReason::Length),
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "MODEL_ARMOR" => Self::As(FinishReason::ContentFilter),
            "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" => Self::Malformed,
            "UNEXPECTED_TOOL_CALL" => Self::UnexpectedCall,
            _ => Self::As(FinishReason::Other),
        })
    }
}
