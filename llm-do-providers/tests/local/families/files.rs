//! Invalid and unsupported model files.

use llm_do_providers::{ErrorKind, ProviderError};

use super::tiny::{Tiny, Value, bytes};
use crate::families::{ask, at_most, llama, open, qwen};

/// Returns the error for a file.
async fn fault(tiny: &Tiny) -> ProviderError {
    let error = ask(&open(tiny), "x", &at_most(1)).await.expect_err("the file is invalid");
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    error
}

#[tokio::test]
async fn an_unsupported_architecture_error_lists_the_supported_ones() {
    let error = fault(&llama().with("general.architecture", Value::Text("mamba".into()))).await;
    let text = "unsupported architecture `mamba`: expected one of `llama`, `qwen2`, `qwen3`";
    assert!(error.to_string().contains(text), "{error}");
}

#[tokio::test]
async fn an_unsupported_vocabulary_error_lists_the_supported_types() {
    let error = fault(&llama().with("tokenizer.ggml.model", Value::Text("bert".into()))).await;
    assert!(
        error
            .to_string()
            .contains("unsupported vocabulary type `bert` in the model's file: expected `gpt2` or `llama`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_file_without_a_template_uses_chatml_if_it_has_its_tokens() {
    let marked = Tiny::of_bytes("llama", bytes(&["<|im_start|>", "<|im_end|>"], &[]));
    assert!(ask(&open(&marked), "x", &at_most(1)).await.is_ok());
    let error = fault(&Tiny::of_bytes("llama", bytes(&["<s>", "</s>"], &[]))).await;
    assert!(error.to_string().contains("has no chat template (`tokenizer.chat_template`)"), "{error}");
}

#[tokio::test]
async fn a_failing_template_is_an_error_with_its_line() {
    let broken = fault(&llama().with_template("\n{% if %}")).await;
    assert!(broken.to_string().contains("(`tokenizer.chat_template`) failed in line 2"), "{broken}");
    let refusing = fault(&llama().with_template("{{ raise_exception('no chats on Sundays') }}")).await;
    assert!(refusing.to_string().contains("no chats on Sundays"), "{refusing}");
}

#[tokio::test]
async fn a_template_that_never_ends_is_stopped() {
    let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}\
        {% endfor %}{% endfor %}";
    let error = fault(&llama().with_template(endless)).await;
    assert!(error.to_string().contains("(`tokenizer.chat_template`) failed"), "{error}");
}

#[tokio::test]
async fn a_template_that_calls_itself_is_stopped() {
    let deep = "{% macro deeper(text) %}{{ deeper(text) }}{% endmacro %}{{ deeper('a') }}";
    let error = fault(&llama().with_template(deep)).await;
    assert!(error.to_string().contains("(`tokenizer.chat_template`) failed"), "{error}");
}

#[tokio::test]
async fn tensors_larger_than_the_file_are_rejected() {
    let error = fault(&llama().sharing()).await;
    assert!(error.to_string().contains("are larger than the file"), "{error}");
}

#[tokio::test]
async fn a_missing_tensor_is_named() {
    let error = fault(&llama().without_tensor("blk.1.ffn_up.weight")).await;
    assert!(error.to_string().contains("missing tensor `blk.1.ffn_up.weight`"), "{error}");
    let error = fault(&qwen("qwen2").without_tensor("attn_k.bias")).await;
    assert!(error.to_string().contains("missing tensor `blk.0.attn_k.bias`"), "{error}");
}

#[tokio::test]
async fn a_tensor_with_a_wrong_shape_is_named() {
    let other = llama().without_tensor("output_norm.weight").with_tensor("output_norm.weight", &[3], vec![0.0; 3]);
    let error = fault(&other).await;
    assert!(error.to_string().contains("the tensor `output_norm.weight` has the shape [3], expected [32]"), "{error}");
}

#[tokio::test]
async fn an_unknown_tensor_is_rejected_by_name() {
    let more = llama().with_tensor("blk.1.attn_sinks.weight", &[4], vec![0.0; 4]);
    let error = fault(&more).await;
    let text = "unknown tensor `blk.1.attn_sinks.weight`: the supported `llama` models have no such tensor";
    assert!(error.to_string().contains(text), "{error}");
}

#[tokio::test]
async fn an_oversized_head_dimension_allocates_nothing() {
    let keys = ["attention.key_length", "attention.value_length", "rope.dimension_count"];
    let lie = |tiny: Tiny, key| tiny.with(&format!("llama.{key}"), Value::Count(u32::MAX - 1));
    let error = fault(&keys.into_iter().fold(llama(), lie)).await;
    assert!(error.to_string().contains("the tensor `blk.0.attn_q.weight` has the shape [32, 32]"), "{error}");
}

#[tokio::test]
async fn inconsistent_sizes_are_rejected() {
    let lies = [
        ("llama.block_count", u32::MAX),
        ("llama.embedding_length", u32::MAX),
        ("llama.embedding_length", 0),
        ("llama.attention.head_count", u32::MAX),
        ("llama.attention.head_count", 0),
        ("llama.attention.head_count_kv", 3),
        ("llama.attention.head_count_kv", 0),
        ("llama.attention.key_length", u32::MAX),
        ("llama.attention.key_length", 7),
        ("llama.rope.dimension_count", 0),
        ("llama.feed_forward_length", u32::MAX),
        ("llama.context_length", 0),
        ("general.alignment", 0),
    ];
    for (key, lie) in lies {
        let error = fault(&llama().with(key, Value::Count(lie))).await;
        assert!(error.to_string().contains("is not a supported model file"), "{key}: {error}");
    }
}

#[tokio::test]
async fn unsupported_features_are_rejected() {
    let experts = fault(&llama().with("llama.expert_count", Value::Count(8))).await;
    assert!(experts.to_string().contains("it is a mixture of experts"), "{experts}");
    let scaled = fault(&llama().with("llama.rope.scaling.type", Value::Text("yarn".into()))).await;
    assert!(scaled.to_string().contains("unsupported RoPE scaling `yarn`"), "{scaled}");
}

#[tokio::test]
async fn the_context_length_is_that_of_the_file() {
    let small = llama().with("llama.context_length", Value::Count(64));
    let error = ask(&open(&small), &"x".repeat(80), &at_most(1)).await.expect_err("it does not fit");
    assert_eq!(error.kind(), ErrorKind::ContextTooLong);
    assert!(error.to_string().contains("but the context length of the model is 64; shorten"), "{error}");
}

#[tokio::test]
async fn nan_weights_are_an_error() {
    let nothing = llama().without_tensor("output_norm.weight");
    let nothing = nothing.with_tensor("output_norm.weight", &[32], vec![f32::NAN; 32]);
    let error = ask(&open(&nothing), "x", &at_most(5)).await.expect_err("no token can be sampled");
    assert!(error.to_string().contains("no token can be sampled"), "{error}");
}
