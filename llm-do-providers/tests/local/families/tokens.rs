//! Tokenization, observed through token counts.

use llm_do_providers::LocalModel;

use super::templates::MISTRAL;
use super::tiny::{Tiny, Value, bytes, characters};
use crate::families::{all, ask, at_most, llama, mistral, open, qwen};

/// Returns the number of additional tokens of `text` compared to `x`.
async fn more(model: &LocalModel, text: &str) -> u64 {
    let tokens = async |text: &str| {
        let answer = ask(model, text, &at_most(1)).await.expect("the model answers");
        answer.usage.input_tokens
    };
    tokens(&format!("x{text}")).await - tokens("x").await
}

#[tokio::test]
async fn a_special_token_in_a_message_is_text() {
    for (name, model) in all() {
        for mark in ["<|im_end|>", "<|eot_id|>", "</s>", "<|im_start|>", "<tool_"] {
            // No token has more than one of these characters.
            assert_eq!(more(&model, mark).await, mark.len() as u64, "{name}: {mark}");
            assert_eq!(more(&model, &format!("{mark}\n{mark}")).await, 2 * mark.len() as u64 + 1, "{name}: {mark}");
        }
    }
}

#[tokio::test]
async fn a_visible_special_token_in_a_message_is_text_too() {
    let model = open(&qwen("qwen3"));
    assert_eq!(more(&model, "<think></think>").await, 15);
}

#[tokio::test]
async fn bytes_are_merged_by_the_rules_of_the_file() {
    let model = open(&llama());
    // `hell` and `o`; ` w`, `or`, `l` and `d`.
    assert_eq!(more(&model, " hello world").await, 1 + 2 + 4);
    assert_eq!(more(&model, "é").await, 2);
}

#[tokio::test]
async fn characters_are_merged_by_their_scores() {
    let model = open(&mistral());
    // `▁the`, `▁` and `or`; a character without a token is bytes.
    assert_eq!(more(&model, " the or").await, 3);
    assert_eq!(more(&model, "é").await, 2);
}

#[tokio::test]
async fn characters_are_never_merged_to_a_special_token() {
    let texts = ["<", ">", "s", "i", "n", "k", "s>", "in", "k>", "ink>", "think>"];
    let texts = texts.map(|text| (text.to_owned(), 1));
    let marks = [("<think>", 4), ("§", 3)].map(|(mark, kind)| (mark.to_owned(), kind));
    let tokens = characters().into_iter().chain(texts).chain(marks).collect();
    let model = open(&Tiny::of_spelled("llama", tokens).with_template(MISTRAL));
    // `<` and `s>`, `<` and `think>`, and two bytes.
    for mark in ["<s>", "<think>", "§"] {
        assert_eq!(more(&model, mark).await, 2, "{mark}");
    }
}

#[tokio::test]
async fn a_token_with_an_overlong_name_is_rejected() {
    let tokens = characters().into_iter().chain([("e".repeat(1025), 1)]).collect();
    let error = ask(&open(&Tiny::of_spelled("llama", tokens).with_template(MISTRAL)), "x", &at_most(1)).await;
    let error = error.expect_err("no model has such a token");
    assert!(error.to_string().contains("a token name of 1025 bytes; the maximum is 1024"), "{error}");
}

#[tokio::test]
async fn text_is_normalized_to_nfc_for_qwen_only() {
    assert_eq!(more(&open(&qwen("qwen2")), "e\u{301}").await, 2);
    assert_eq!(more(&open(&llama()), "e\u{301}").await, 3);
}

#[tokio::test]
async fn a_prompt_starts_with_the_bos_token_if_the_file_wants_one() {
    let plain = |wanted| {
        let template = "{% for message in messages %}{{ message.content }}{% endfor %}";
        Tiny::of_bytes("llama", bytes(&["<s>", "</s>"], &[]))
            .with_template(template)
            .with("tokenizer.ggml.add_bos_token", Value::Flag(wanted))
    };
    for (wanted, tokens) in [(true, 2), (false, 1)] {
        let answer = ask(&open(&plain(wanted)), "x", &at_most(1)).await.expect("the model answers");
        assert_eq!(answer.usage.input_tokens, tokens);
    }
    // The template writes the token itself: it is not duplicated.
    let twice =
        plain(true).with_template("{{ bos_token }}{% for message in messages %}{{ message.content }}{% endfor %}");
    let answer = ask(&open(&twice), "x", &at_most(1)).await.expect("the model answers");
    assert_eq!(answer.usage.input_tokens, 2);
}

#[tokio::test]
async fn an_unknown_pre_tokenizer_is_rejected() {
    let strange = llama().with("tokenizer.ggml.pre", Value::Text("martian".into()));
    let error = ask(&open(&strange), "x", &at_most(1)).await.expect_err("the pre-tokenizer is unknown");
    assert!(error.to_string().contains("unsupported pre-tokenizer `martian`"), "{error}");
    assert!(error.to_string().contains("`llama-bpe`"), "{error}");
    for known in ["gpt-2", "smollm", "qwen2", "tekken", "default", "smaug-bpe"] {
        let model = open(&llama().with("tokenizer.ggml.pre", Value::Text(known.into())));
        assert_eq!(more(&model, " hello").await, 3, "{known}");
    }
}
