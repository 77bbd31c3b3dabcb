//! Finds out from a server's text whether the conversation does not fit into the model's context.
//!
//! Only some servers have a code for it. The text of each is different, but has the same meaning: that something of the request (its
//! prompt, its input, its tokens) is more than something of the model (its context, its maximum).

use serde_json::Value;

use super::words::messages;

/// What only the model's context is called.
const CONTEXT: [&str; 13] = [
    "context length",
    "context limit",
    "context overflow",
    "context size",
    "context window",
    "context_length",
    "context_window",
    "max_model_len",
    "max_seq_len",
    "maximum input length",
    "maximum model length",
    "maximum prompt length",
    "model token limit",
];
/// Words for too much, or for what to do about it.
const TOO_MUCH: [&str; 22] = [
    "beyond",
    "but the request",
    "exceed",
    "fewer",
    "greater than",
    "however",
    "is not enough",
    "larger than",
    "longer than",
    "maximum",
    "more than",
    "not fit",
    "only support",
    "overflow",
    "reached",
    "reduce",
    "shorten",
    "shorter",
    "smaller",
    "too large",
    "too long",
    "too many",
];
/// What the request has too much of: the words that begin such a statement, and how it goes on within a few words.
const SUBJECTS: [&str; 14] = [
    "conversation",
    "history",
    "input",
    "inputs",
    "length",
    "message",
    "messages",
    "prompt",
    "request",
    "sequence",
    "text",
    "token",
    "tokens",
    "transcript",
];
const STATEMENTS: [&[&str]; 13] = [
    &["too", "long"],
    &["too", "large"],
    &["longer", "than"],
    &["larger", "than"],
    &["greater", "than"],
    &["exceed"],
    &["exceeds"],
    &["exceeded"],
    &["exceeding"],
    &["must", "have", "less"],
    &["must", "have", "at", "most"],
    &["must", "be"],
    &["should", "be", "1"],
];
/// How many words may be between the two.
const BETWEEN: usize = 10;
/// Words of a limit on something over time.
const RATE: [&str; 11] = [
    "per minute",
    "per min",
    "per day",
    "per hour",
    "per second",
    "rate limit",
    "ratelimit",
    "rate-limit",
    "quota",
    "(tpm)",
    "(rpm)",
];
/// Words for what is not the whole conversation.
const OTHER: [&str; 22] = [
    "array",
    "attachment",
    "audio",
    "batch",
    "bytes",
    "description",
    "document",
    "enum",
    "file",
    "function",
    "image",
    "images",
    "logprobs",
    "mb",
    "name",
    "names",
    "pdf",
    "property",
    "schema",
    "stop",
    "string",
    "tool",
];
/// The names of the limit on the answer.
const OUTPUT: [&str; 6] =
    ["max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens", "maxoutputtokens", "num_predict"];

/// Returns whether the text of an error reports so.
pub(super) fn is_reported(error: &Value) -> bool {
    let is_of_output = error["param"].as_str().is_some_and(|param| OUTPUT.contains(&param));
    !is_of_output && messages(error).iter().any(|message| reports(message))
}

fn reports(message: &str) -> bool {
    let message = without_quotes(&message.to_ascii_lowercase());
    if RATE.iter().any(|phrase| message.contains(phrase)) || limits_output(&message) {
        return false;
    }
    let names_context = CONTEXT.iter().any(|phrase| message.contains(phrase));
    if names_context && TOO_MUCH.iter().any(|phrase| message.contains(phrase)) {
        return true;
    }
    let text = message.split_once(": ").filter(|(path, _)| !path.contains(' ') && path.contains('.'));
    states(text.map_or(&*message, |(_, text)| text))
}

/// Returns whether a text reports that the request has too much of something that is counted in tokens.
fn states(text: &str) -> bool {
    let words: Vec<_> = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').collect();
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    if words.iter().any(|word| OTHER.contains(word)) {
        return false;
    }
    let is_of_tokens =
        words.iter().any(|word| matches!(*word, "token" | "tokens" | "context" | "prompt" | "input" | "inputs"));
    is_of_tokens && (too_many_tokens(&words) || words.iter().enumerate().any(|(place, _)| begins(&words[place..])))
}

/// Whether words are "too many tokens", perhaps with words between them.
fn too_many_tokens(words: &[&str]) -> bool {
    words.windows(2).enumerate().any(|(place, pair)| {
        pair == ["too", "many"] && words[place + 2..].iter().take(3).any(|word| word.starts_with("token"))
    })
}

/// Whether words begin with a subject that a statement follows.
fn begins(words: &[&str]) -> bool {
    let is_subject = words.first().is_some_and(|word| SUBJECTS.contains(word));
    is_subject
        && (1..words.len().min(BETWEEN + 2))
            .any(|place| STATEMENTS.iter().any(|statement| words[place..].starts_with(statement)))
}

/// Whether it is the limit on the answer that is too high, and not the input together with it.
fn limits_output(message: &str) -> bool {
    let Some((name, place)) =
        OUTPUT.iter().filter_map(|name| Some((name, message.find(name)?))).min_by_key(|(_, at)| *at)
    else {
        return false;
    };
    let (before, after) = (&message[..place], &message[place + name.len()..]);
    let stands_with_input = ["input", "prompt", "message", "and ", "+"].iter().any(|word| before.contains(word));
    // Up to the end of the sentence, so that what follows is of the same limit.
    let sentence = after.split(". ").next().unwrap_or(after);
    let is_too_high =
        ["too large", "too high", "must be", "should be", "exceed", "cannot be", " > ", "at most", "less than"];
    !stands_with_input && is_too_high.iter().any(|words| sentence.contains(words))
}

/// Returns a message without sentences in quotation marks, which may be of the prompt; words in them are names of fields.
fn without_quotes(message: &str) -> String {
    let mut text = message.to_owned();
    for mark in ['"', '`', '\''] {
        let parts: Vec<_> = text.split(mark).collect();
        let kept = parts.iter().enumerate().map(|(place, part)| {
            let is_sentence = place % 2 == 1 && place + 1 < parts.len() && part.split_whitespace().count() > 3;
            if is_sentence { "" } else { part }
        });
        text = kept.collect::<Vec<_>>().join(" ");
    }
    // What a server repeats behind a colon after "got" or "received" is of the request.
    match text.find(" received: ").or_else(|| text.find(" got: ")) {
        Some(place) => text[..place].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_reported;

    /// What servers and gateways write, by their documentation and by reports of their users, with our own numbers.
    const FULL: [&str; 62] = [
        // OpenAI, Azure, DeepSeek
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
        "This model's maximum context length is 65536 tokens. However, you requested 70001 tokens (70000 in the messages, 1 in the completion).",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        // Anthropic
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again",
        // Bedrock
        "Input is too long for requested model.",
        "The model returned the following errors: Input is too long for requested model.",
        "Too many input tokens. Max input tokens: 8192, request input token count: 9001",
        // Google
        "The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).",
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        "Unable to submit request because the input token count is 40000 but model only supports up to 32768. Reduce the input token count and try again.",
        // Mistral
        "Prompt contains 40001 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "Prompt contains 40001 tokens, too large for model with 32768 maximum context length",
        // Groq, Cerebras
        "Please reduce the length of the messages or completion. Current context length exceeded.",
        // Together, TGI
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 512 `max_new_tokens`",
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 2001",
        // Fireworks
        "The prompt is too long: 140001, model maximum context length: 131071",
        // xAI
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        // Cohere
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5001. Try using a shorter prompt",
        "too many tokens: size limit exceeded by 1234 tokens. Try using shorter or fewer inputs, or setting prompt_truncation='AUTO'.",
        // llama.cpp
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        "request (10001 tokens) exceeds the available context size (4096 tokens), try increasing it",
        // Ollama
        "prompt too long; exceeded max context length by 1234 tokens",
        "the input length exceeds the context length",
        // LM Studio
        "Trying to keep the first 5001 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
        "Reached context length of 4096 tokens, but this model does not currently support mid-generation context overflow.",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        // vLLM
        "The decoder prompt (length 5001) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
        "The prompt (total length 5001) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller than the number of text tokens.",
        "You passed 5001 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens. Please reduce the length of the input prompt.",
        "Input length (5001) exceeds model's maximum context length (4096).",
        // SGLang
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5001 tokens: 4001 tokens from the input messages and 1000 tokens for the completion.",
        "The input (5001 tokens) is longer than the model's context length (4096 tokens).",
        "Input length (5001 tokens) exceeds the maximum allowed length (4090 tokens). Use a shorter input or enable --allow-auto-truncate.",
        // TensorRT-LLM
        "Prompt length (5001) exceeds maximum input length (4096). Set log level to info and check TRTGptModel logs",
        "The sum of prompt length (5001), query length (0) and max_tokens should not exceed max_seq_len (4096)",
        // LiteLLM
        "litellm.ContextWindowExceededError: litellm.BadRequestError: this model's context window was exceeded",
        // OpenRouter
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 140001 tokens (140000 of text input, 1 in the output). Please reduce the length of either one, or use the middle-out transform.",
        // Copilot
        "prompt token count of 66001 exceeds the limit of 64000",
        // Kimi
        "Invalid request: Your request exceeded model token limit: 8192 (requested: 9001)",
        // GLM, Qwen, MiniMax
        "Prompt exceeds max length",
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
        "invalid params, context window exceeds limit (2013)",
        // Cloudflare
        "AiError: The estimated number of input and maximum output tokens (7001) exceeded this model context window limit (4096).",
        // watsonx
        "the number of input tokens 5001 cannot exceed the total tokens limit 4096 for this model",
        // Databricks, AI21, Writer, mistral.rs
        "Input is too long. Please shorten the input.",
        "prompt is too long for this model",
        "The prompt sequence length is greater than 4096, perhaps consider using truncate_sequence",
        "The conversation is too long: 9001 tokens, maximum 8192",
        // Further texts of the same kind
        "Total tokens in request exceed model limit of 32768",
        "The request was 40000 tokens, which exceeds the model's limit of 32768 tokens",
        "Maximum context length exceeded",
        "context_length_exceeded",
        "Messages have 9001 tokens, which exceeds the max limit of 8192 tokens",
        "Your prompt of 9001 tokens is longer than the 8192 tokens that the model takes",
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280000 tokens. Please reduce the length of the messages.",
        "context window of this model is exceeded; shorten the conversation",
        "The total number of input tokens is too large for this model",
        "input exceeds context window",
        "Context size has been exceeded.",
        "The input you provided has too many tokens",
        "Sequence length of 9001 tokens exceeds the maximum of 8192",
    ];

    const NOT_FULL: [&str; 30] = [
        "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku",
        "max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.",
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 20 input tokens",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
        "max_output_tokens must be at least 16",
        "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced.",
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute",
        "Rate limit reached for model in organization on tokens per day (TPD): Limit 100000, Used 99999",
        "You exceeded your current quota, please check your plan: input tokens per model per minute",
        "messages.5.content.2.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
        "Invalid 'messages[0].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 46 instead.",
        "tools.0.custom.name: String should have at most 64 characters",
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.",
        "Invalid schema for function 'a': enum has too many values, which exceeds the limit of 500",
        "The request was refused: the user wrote \"why is the prompt too long for the context window of this model?\"",
        "Invalid value, got: the context length is exceeded and the prompt is too long",
        "Unknown name \"contextLength\" at 'generation_config': Cannot find field.",
        "`temperature` must be between 0 and 2",
        "messages: at least one message is required",
        "messages.1.content: Input should be a valid list",
        "The PDF has too many pages: the maximum is 100",
        "thinking.budget_tokens: Input should be greater than or equal to 1024",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "The model does not support a context window parameter",
        "Internal error",
        "No endpoints found that support image input",
        "The tool description is too long: 2000 > 1024",
        "Too many images in request: the maximum is 20",
        "tool_use ids were found without tool_result blocks immediately after",
    ];

    #[test]
    fn a_full_context_is_recognised_in_the_words_of_each_server() {
        let missed: Vec<_> = FULL.iter().filter(|message| !is_reported(&json!({ "message": message }))).collect();
        assert!(missed.is_empty(), "{missed:#?}");
    }

    #[test]
    fn other_faults_are_not_taken_for_a_full_context() {
        let taken: Vec<_> = NOT_FULL.iter().filter(|message| is_reported(&json!({ "message": message }))).collect();
        assert!(taken.is_empty(), "{taken:#?}");
    }

    #[test]
    fn the_limit_on_the_answer_is_not_the_context() {
        let message = "This model's maximum context length is 4096 tokens, which is exceeded";
        assert!(!is_reported(&json!({"param": "max_tokens", "message": message})));
        assert!(is_reported(&json!({"param": "messages", "message": message})));
    }
}
