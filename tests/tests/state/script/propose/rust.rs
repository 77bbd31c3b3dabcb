//! The Rust function to start from.

#[allow(unreachable_pub, reason = "it is the file that is written")]
mod size_of_code;

use expect_test::expect_file;
use llm_do::data;
use llm_do::harden::{Cases, Proposer};
use llm_do::journal::MemoryJournal;
use llm_do::model::Request;
use llm_do::prelude::*;
use llm_do::testing::{Answer, FunctionModel};
use llm_do::worker::WorkerSpec;

use super::super::Log;

/// A size.
#[data]
#[derive(Debug, PartialEq)]
pub(crate) enum Size {
    Small,
    Large,
}

/// A parcel.
#[data]
pub(crate) struct Parcel {
    pub(crate) grams: u32,
}

/// Return the size of a parcel.
///
/// Large parcels are heavy.
#[worker]
pub(crate) async fn size_of(parcel: Parcel, limit: Option<f64>) -> Size;

const SCRIPT: &str = r#"from typing import Literal, TypedDict

class Parcel(TypedDict):
    grams: int

def size_of_script(parcel: Parcel, limit: float | None = None) -> Literal["Small", "Large"]:
    """Return the size of a parcel."""
    return "Large" if parcel["grams"] > 9 else "Small"
"#;

fn call(grams: u32) -> size_of {
    size_of { parcel: Parcel { grams }, limit: None }
}

fn model() -> FunctionModel {
    FunctionModel::answering(|request: Request<'_>| {
        if request.instructions.is_some_and(|text| text.contains("You write a Python script")) {
            return Answer::text(SCRIPT);
        }
        let prompt = request.prompt();
        let digits: String = prompt.chars().filter(char::is_ascii_digit).collect();
        let size = if digits.parse().is_ok_and(|grams: u32| grams > 9) { "Large" } else { "Small" };
        Answer::output(llm_do::json!({ "result": size }))
    })
}

fn builder() -> llm_do::runtime::RuntimeBuilder {
    crate::own_builder().state(Log::default()).force_model(model())
}

fn proposer(worker: &str) -> Proposer {
    Proposer::new(worker).interpreter(super::INTERPRETER).gate(super::lenient())
}

async fn cases() -> Cases {
    let mut cases = Cases::of("size_of");
    for grams in 0..20 {
        let journal = MemoryJournal::new();
        builder().build().unwrap().start(call(grams)).journal(journal.clone()).await.unwrap();
        cases.add(journal.records());
    }
    cases
}

#[tokio::test]
async fn the_function_has_the_signature_of_the_worker_and_the_script_as_a_comment() {
    let proposal = proposer("size_of").propose(builder(), &cases().await).await.unwrap();
    assert!(proposal.script.is_some(), "{}", proposal.report);
    expect_file!["rust/size_of_code.rs"].assert_eq(&proposal.rust.unwrap());
}

#[tokio::test]
async fn the_function_calls_the_worker_until_it_is_written() {
    let approve = llm_do::approval::ApprovalMode::ApproveAll;
    let runtime = builder().approval_mode(approve).build().unwrap();
    let call = size_of_code::size_of_code { parcel: Parcel { grams: 12 }, limit: None };
    assert_eq!(runtime.run(call).await.unwrap(), Size::Large);
}

#[tokio::test]
async fn a_worker_of_a_file_is_called_by_name() {
    let builder = builder().worker(WorkerSpec::new("size-of", "Rate it.").description("Rate a parcel."));
    let script = "def size_of_script(input: str) -> str:\n    \"\"\"Rate it.\"\"\"\n    return \"Small\"\n";
    let writer = FunctionModel::answering(move |request: Request<'_>| {
        let writes = request.instructions.is_some_and(|text| text.contains("You write a Python script"));
        Answer::text(if writes { script } else { "Small" })
    });
    let builder = builder.force_model(writer);
    let mut cases = Cases::of("size-of");
    for input in 0..20 {
        let journal = MemoryJournal::new();
        let again = crate::own_builder().state(Log::default()).worker(WorkerSpec::new("size-of", "Rate it."));
        let again = again.force_model(FunctionModel::answering(|_| Answer::text("Small"))).build().unwrap();
        let start = again.start_named("size-of", llm_do::json!({ "input": input.to_string() }));
        start.journal(journal.clone()).await.unwrap();
        cases.add(journal.records());
    }
    let proposal = proposer("size-of").propose(builder, &cases).await.unwrap();
    let function = proposal.rust.unwrap_or_else(|| panic!("{}", proposal.report));
    assert!(
        function.contains("pub async fn size_of_code(ctx: &CallContext, input: String) -> Result<llm_do::Value> {")
    );
    assert!(
        function.contains("Ok(ctx.call_tool(\"size-of\", llm_do::json!({ \"input\": input })).await?)"),
        "{function}"
    );
}
