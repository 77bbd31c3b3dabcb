//! An application whose worker is evaluated on three scripted models.

use std::process::ExitCode;
use std::sync::Arc;

use llm_do::cli::Cli;
use llm_do::harden::Shadow;
use llm_do::json;
use llm_do::model::model_provider;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Answer, FunctionModel};

/// Name the capital of a country.
#[worker]
async fn capital(country: String) -> String;

/// Name the capital of a country, by a model of its own.
#[worker(model = "scripted:poor")]
async fn capital_by_own_model(country: String) -> String;

/// Name the capital of a country, from the table where it has it.
#[worker]
async fn capital_or_table(country: String) -> String;

/// Name the capital of a country.
#[tool(effect = read_only)]
fn capital_by_table(country: &str) -> Result<&'static str> {
    match country {
        "France" => Ok("Paris"),
        "Italy" => Ok("Rome"),
        _ => Err("it is not in the table".into()),
    }
}

/// Name the capital of a country, and note the question.
#[tool(effect = destructive)]
fn capital_with_note(country: &str) -> Result<&'static str> {
    capital_by_table(country)
}

/// `scripted:good` knows all, `scripted:poor` one city, `scripted:none` no city, `scripted:judge` passes names of one word.
fn answer(model: &str, prompt: &str) -> Answer {
    let capitals = [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Japan", "Tokyo")];
    let known = capitals.iter().find(|(country, _)| prompt.contains(country)).map_or("nowhere", |(_, city)| city);
    match model {
        "good" => Answer::text(known),
        "judge" => {
            let pass = !prompt.contains("Paris");
            Answer::output(json!({ "reason": "not Paris", "score": if pass { 0.9 } else { 0.2 }, "pass": pass }))
        }
        "none" => Answer::text("nowhere"),
        _ => Answer::text("Paris"),
    }
}

model_provider!("scripted", |name| {
    let model = name.to_owned();
    Ok(Arc::new(FunctionModel::answering(move |request| answer(&model, &request.prompt())).named(name)))
});

fn hybrid(builder: RuntimeBuilder) -> RuntimeBuilder {
    builder.hybrid("capital_or_table", "capital_by_table").shadow(Shadow::of("capital_by_table", "capital_or_table"))
}

fn main() -> ExitCode {
    Cli::new()
        .configure(hybrid)
        .evaluate_with("short", |context, _| Ok((context.output_text().len() < 6).into()))
        .main()
}
