::core::compile_error! {
    "`#[data]` already derives `Deserialize`; remove it from `#[derive(..)]`"
}
#[derive(
    ::llm_do::__private::serde::Serialize,
    ::llm_do::__private::schemars::JsonSchema
)]
#[serde(crate = "::llm_do::__private::serde")]
#[schemars(crate = "::llm_do::__private::schemars")]
#[derive(Debug, serde::Deserialize)]
pub struct Range {
    from: u32,
}
