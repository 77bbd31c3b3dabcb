//! Files that are not what they should be.

use llm_do_providers::{ErrorKind, ProviderError};

use super::tiny::{Tiny, Value, bytes};
use crate::{at_most, llama, open, qwen, say};

/// Returns what is said of a file.
async fn fault(tiny: &Tiny) -> ProviderError {
    let error = say(&open(tiny), "x", &at_most(1)).await.expect_err("the file is not what it should be");
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    error
}

#[tokio::test]
async fn another_family_is_told_those_that_run() {
    let error = fault(&llama().with("general.architecture", Value::Text("mamba".into()))).await;
    let text = "its architecture is `mamba`, and only these run here: `llama`, `qwen2`, `qwen3`";
    assert!(error.to_string().contains(text), "{error}");
}

#[tokio::test]
async fn another_kind_of_vocabulary_is_told_those_that_are_known() {
    let error = fault(&llama().with("tokenizer.ggml.model", Value::Text("bert".into()))).await;
    assert!(error.to_string().contains("of the kind `bert`, and only `gpt2` and `llama` are known here"), "{error}");
}

#[tokio::test]
async fn a_file_without_a_template_is_spoken_to_in_chatml_if_it_has_its_marks() {
    let marked = Tiny::of_bytes("llama", bytes(&["<|im_start|>", "<|im_end|>"], &[]));
    assert!(say(&open(&marked), "x", &at_most(1)).await.is_ok());
    let error = fault(&Tiny::of_bytes("llama", bytes(&["<s>", "</s>"], &[]))).await;
    assert!(error.to_string().contains("has no chat template (`tokenizer.chat_template`)"), "{error}");
}

#[tokio::test]
async fn a_template_that_fails_is_named_with_its_line() {
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
async fn tensors_that_are_larger_than_their_file_are_refused() {
    let error = fault(&llama().sharing()).await;
    assert!(error.to_string().contains("are larger than the file"), "{error}");
}

#[tokio::test]
async fn a_tensor_that_is_missing_is_named() {
    let error = fault(&llama().without_tensor("blk.1.ffn_up.weight")).await;
    assert!(error.to_string().contains("there is no tensor `blk.1.ffn_up.weight`"), "{error}");
    let error = fault(&qwen("qwen2").without_tensor("attn_k.bias")).await;
    assert!(error.to_string().contains("there is no tensor `blk.0.attn_k.bias`"), "{error}");
}

#[tokio::test]
async fn a_tensor_of_other_sizes_is_named() {
    let other = llama().without_tensor("output_norm.weight").with_tensor("output_norm.weight", &[3], vec![0.0; 3]);
    let error = fault(&other).await;
    assert!(error.to_string().contains("the tensor `output_norm.weight` has the sizes [3], not [32]"), "{error}");
}

#[tokio::test]
async fn a_tensor_that_nothing_reads_is_named_for_without_it_the_rest_would_say_other_things() {
    let more = llama().with_tensor("blk.1.attn_sinks.weight", &[4], vec![0.0; 4]);
    let error = fault(&more).await;
    let text = "it has a tensor `blk.1.attn_sinks.weight`, and no model of `llama` that runs here has one";
    assert!(error.to_string().contains(text), "{error}");
}

#[tokio::test]
async fn a_head_that_is_larger_than_its_tensors_takes_no_memory() {
    let keys = ["attention.key_length", "attention.value_length", "rope.dimension_count"];
    let lie = |tiny: Tiny, key| tiny.with(&format!("llama.{key}"), Value::Count(u32::MAX - 1));
    let error = fault(&keys.into_iter().fold(llama(), lie)).await;
    assert!(error.to_string().contains("the tensor `blk.0.attn_q.weight` has the sizes [32, 32]"), "{error}");
}

#[tokio::test]
async fn sizes_that_lie_are_refused() {
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
        assert!(error.to_string().contains("is not a model file that can be read"), "{key}: {error}");
    }
}

#[tokio::test]
async fn what_does_not_run_here_is_refused_not_run_otherwise() {
    let experts = fault(&llama().with("llama.expert_count", Value::Count(8))).await;
    assert!(experts.to_string().contains("it is a mixture of experts"), "{experts}");
    let scaled = fault(&llama().with("llama.rope.scaling.type", Value::Text("yarn".into()))).await;
    assert!(scaled.to_string().contains("its rotation is scaled by `yarn`"), "{scaled}");
}

#[tokio::test]
async fn the_context_is_that_of_the_file() {
    let small = llama().with("llama.context_length", Value::Count(64));
    let error = say(&open(&small), &"x".repeat(80), &at_most(1)).await.expect_err("it does not fit");
    assert_eq!(error.kind(), ErrorKind::ContextTooLong);
    assert!(error.to_string().contains("and the model can read 64; shorten"), "{error}");
}

#[tokio::test]
async fn weights_that_are_no_numbers_are_an_error() {
    let nothing = llama().without_tensor("output_norm.weight");
    let nothing = nothing.with_tensor("output_norm.weight", &[32], vec![f32::NAN; 32]);
    let error = say(&open(&nothing), "x", &at_most(5)).await.expect_err("there is nothing to choose from");
    assert!(error.to_string().contains("gives no token a chance"), "{error}");
}
