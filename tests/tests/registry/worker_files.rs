//! Worker files that are read while the program runs, and workers that the program adds itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use llm_do::model::{Message, Request, Response, ResponsePart, ServerSideTool, ToolCall, UserPart, WebSearch};
use llm_do::prelude::*;
use llm_do::runtime::{BuildError, RuntimeBuilder};
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use llm_do::worker::{OutputMode, WorkerSpec};
use llm_do::{Limits, Settings, json};
use tempfile::TempDir;

/// Look around.
#[tool(effect = read_only, inline)]
fn look() -> u32 {
    7
}

/// Listen.
#[tool(effect = read_only, inline)]
fn listen() -> u32 {
    8
}

toolset! {
    /// What perceives.
    senses = [look, listen];
}

/// Calls a worker that is known by name alone.
#[entry(toolsets = ["helper"])]
async fn delegate(ctx: &CallContext<delegate>, task: String) -> Result<String> {
    Ok(ctx.call_tool("helper", json!({ "input": task })).await?.to_string())
}

/// The worker that `delegate` names.
const HELPER: (&str, &str) = ("helper.worker", "---\nname: helper\ntoolsets: [look]\n---\nHelp.\n");

/// A builder with the items of this module.
fn builder() -> RuntimeBuilder {
    Runtime::builder().only(["delegate", "senses"])
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn built(files: &[(&str, &str)]) -> Result<Runtime, BuildError> {
    let folder = folder(files);
    builder().worker_dir(folder.path()).build()
}

fn read(text: &str) -> WorkerSpec {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The first fault of a file with this front matter.
fn fault(front_matter: &str) -> String {
    let text = format!("---\nname: a\n{front_matter}\n---\nDo it.\n");
    text.parse::<WorkerSpec>().unwrap_err().faults()[0].clone()
}

#[expect(clippy::unnecessary_wraps, reason = "what the function of a model returns")]
fn answer(parts: Vec<ResponsePart>) -> Result<Response, llm_do::model::ProviderError> {
    Ok(Response::new("m", parts, Usage::of_request(1, 1)))
}

fn text(text: impl Into<String>) -> ResponsePart {
    ResponsePart::Text { text: text.into() }
}

fn call(name: &str, arguments: &llm_do::Value) -> ResponsePart {
    ResponsePart::ToolCall(ToolCall::new(name, name, arguments.to_string()))
}

/// A model that calls every tool that it is offered, and then lists them and its instructions.
fn curious() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| match request.messages.last() {
        Some(Message::User { .. }) if !request.tools.is_empty() => {
            answer(request.tools.iter().map(|tool| call(&tool.name, &json!({}))).collect())
        }
        _ => answer(vec![text(format!("{} | {}", request.instructions.unwrap_or_default(), asked(&request)))]),
    })
}

fn asked(request: &Request<'_>) -> String {
    let Some(Message::User { parts }) = request.messages.first() else { return String::new() };
    let texts = parts.iter().filter_map(|part| match part {
        UserPart::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn a_worker_of_a_folder_is_called_as_if_it_was_linked() {
    let folder = folder(&[HELPER]);
    let recorder = Recorder::new();
    let builder = builder().worker_dir(folder.path()).sink(recorder.clone());
    let runtime = builder.force_model(curious()).build().unwrap();
    assert_eq!(runtime.run(delegate { task: "find it".into() }).await.unwrap(), "\"Help. | find it\"");
    let names: Vec<_> = recorder.events().iter().map(|event| (event.name.to_string(), event.depth)).collect();
    assert!(names.contains(&("helper".to_owned(), 1)) && names.contains(&("look".to_owned(), 1)), "{names:?}");
    assert_eq!(runtime.run_named("helper", json!({ "input": "now" })).await.unwrap(), "Help. | now");
}

#[test]
fn a_worker_has_the_location_of_its_file() {
    let folder = folder(&[HELPER]);
    let spec = WorkerSpec::new("added", "Add.").toolsets(["senses", "helper"]);
    let line = line!() + 1;
    let runtime = builder().worker_dir(folder.path()).worker(spec).build().unwrap();
    let (helper, added) = (runtime.registry().get("helper").unwrap(), runtime.registry().get("added").unwrap());
    assert_eq!(helper.location(), folder.path().join("helper.worker").display().to_string());
    assert_eq!(added.location(), format!("{}:{line}", file!()));
    assert_eq!(added.declared().unwrap().collect::<Vec<_>>(), ["look", "listen", "helper"]);
    assert_eq!(helper.description(), "Help.");
}

#[test]
fn folders_are_read_in_turn_and_only_worker_files_directly_inside() {
    let first = folder(&[HELPER, ("b.agent", "---\nname: b\n---\nB."), ("notes.md", "no worker"), (".worker", "no")]);
    fs::create_dir(first.path().join("deeper.worker")).unwrap();
    fs::write(first.path().join("deeper.worker/c.worker"), "no worker").unwrap();
    let second = folder(&[("a.worker", "---\nname: a\ntools: [b]\n---\nA.")]);
    let runtime = builder().worker_dir(first.path()).worker_dir(second.path()).build().unwrap();
    let has = |name| runtime.registry().get(name).is_some();
    assert!(has("helper") && has("a") && has("b") && !has("c"));
}

#[test]
fn a_folder_that_is_missing_is_named() {
    let error = builder().worker_dir("no/such/folder").build().unwrap_err().to_string();
    assert!(error.contains("the folder of worker files `no/such/folder` cannot be read"), "{error}");
}

#[test]
fn all_faults_of_a_folder_are_reported_with_their_files_and_lines() {
    let folder = folder(&[
        ("a.worker", "---\nname: a\nmodle: x\nmax_turns: many\n---\nA."),
        ("b.worker", "no front matter"),
        ("c.agent", "---\nname: [c\n---\nC."),
        ("d.worker", "---\nname: d d\n---\nD."),
    ]);
    fs::write(folder.path().join("e.worker"), b"---\nname: \xff\n---\n").unwrap();
    let missing = folder.path().join("missing");
    let error = builder().worker_dir(folder.path()).worker_dir(&missing).build().unwrap_err();
    let BuildError::WorkerFiles(error) = error else { panic!("{error}") };
    let expected = [
        "a.worker:3: unknown key `modle`; did you mean `model`?",
        "a.worker:4: `max_turns`: expected a whole number from 0 to 4294967295, found a string",
        "b.worker:1: missing front matter",
        "c.agent:3: invalid YAML",
        "d.worker:2: invalid name `d d`",
        "e.worker: cannot be read",
    ];
    for (told, expected) in error.faults().iter().zip(expected) {
        let expected = folder.path().join(expected).display().to_string();
        assert!(told.starts_with(&expected), "{told}\nin place of {expected}");
    }
    assert_eq!(error.faults().len(), expected.len() + 1, "{error}");
}

#[test]
fn of_many_faults_of_a_file_the_first_are_shown_with_the_number_of_the_rest() {
    let many = format!("---\nname: a\nhints: [{}]\n---\nx\n", "a, ".repeat(1000));
    let long = format!("---\nname: a\n? {}\n: 1\n---\nx\n", "k".repeat(500_000));
    for text in [many, long] {
        let shown = built(&[("a.worker", &text)]).unwrap_err().to_string();
        assert!(shown.lines().count() <= 25 && shown.len() < 100_000, "{} bytes", shown.len());
    }
}

#[test]
fn a_duplicate_name_is_reported_with_every_location() {
    let text = "---\nname: look\n---\nLook.";
    let folder = folder(&[HELPER, ("look.worker", text), ("senses.worker", "---\nname: senses\n---\nS.")]);
    let builder = builder().worker_dir(folder.path()).worker(WorkerSpec::new("helper", "Help, too."));
    let error = builder.build().unwrap_err().to_string();
    let place = |file: &str| format!("worker at {}", folder.path().join(file).display());
    for expected in [
        format!("tool at {}:", file!()),
        format!("toolset at {}:", file!()),
        format!("worker at {}:", file!()),
        place("look.worker"),
        place("senses.worker"),
        place("helper.worker"),
    ] {
        assert!(error.contains(&expected), "`{expected}` is not in: {error}");
    }
}

#[test]
fn two_files_of_one_name_are_both_reported() {
    let error = built(&[HELPER, ("other.agent", HELPER.1)]).unwrap_err().to_string();
    assert!(error.contains("`helper` is registered 2 times") && error.contains("other.agent"), "{error}");
}

#[test]
fn what_a_file_declares_must_be_registered() {
    let error = built(&[HELPER, ("a.worker", "---\nname: a\ntools: [lok]\n---\nA.")]).unwrap_err().to_string();
    assert!(error.contains("a.worker") && error.contains("`lok`") && error.contains("did you mean `look`?"), "{error}");
}

#[test]
fn a_worker_that_the_program_adds_is_checked_in_full() {
    let spec = WorkerSpec::new("a b", "A.").model("test:a").compatible_models(["*"]).max_turns(0);
    let spec = spec.input_schema(json!({ "type": "string" })).toolsets(["nothing"]);
    let error = builder().worker(spec).worker(WorkerSpec::new("helper", "H.")).build().unwrap_err();
    let BuildError::Registry(error) = error else { panic!("{error}") };
    assert_eq!(error.faults().len(), 5, "{error}");
    assert!(error.faults().iter().all(|fault| fault.contains("`a b`") && fault.contains(file!())), "{error}");
}

#[test]
fn check_knows_the_workers_of_its_builder() {
    let folder = folder(&[HELPER]);
    llm_do::check!(builder().worker_dir(folder.path()).model("test:any"));
    let without = std::panic::catch_unwind(|| llm_do::check!(builder()));
    let text = *without.unwrap_err().downcast::<String>().unwrap();
    let fault = "unknown tool or toolset `helper`; link its library, or load the folder";
    assert!(text.contains(fault), "{text}");
    assert!(builder().build().is_err());
}

#[test]
fn every_key_is_read() {
    let spec = read(
        "---\nname: all\ndescription: Does all.\nmodel: test:a\ntools: [look]\ntoolsets: [crate::ears::listen]\n\
         server_side_tools: [web_fetch, {tool_type: web_search, max_uses: 2, allowed_domains: [docs.rs]}]\n\
         hints: [all]\nsettings: {temperature: 1, max_tokens: 9, stop: [END]}\noutput: prompted\nmax_turns: 3\n\
         retries: 0\nlimits: {requests: 4, wall_time: 90s}\nmax_result: 2000\nbackground: true\ntimeout: 1m\n\
         input_schema: {type: object, properties: {a: {type: integer}}}\noutput_schema: {type: array}\n---\n\nDo all.\n",
    );
    let search = WebSearch::new().max_uses(2).allowed_domains(["docs.rs"]);
    let expected = WorkerSpec::new("all", "Do all.")
        .description("Does all.")
        .model("test:a")
        .toolsets(["look", "listen"])
        .server_side_tools([ServerSideTool::WebFetch, search.into()])
        .hints(["all"])
        .settings(Settings::new().temperature(1.0).max_tokens(9).stop("END"))
        .output_mode(OutputMode::Prompted)
        .max_turns(3)
        .retries(0)
        .limits(Limits::new().requests(4).wall_time(Duration::from_secs(90)))
        .max_result(2_000)
        .background()
        .timeout(Duration::from_secs(60))
        .input_schema(json!({ "type": "object", "properties": { "a": { "type": "integer" } } }))
        .output_schema(json!({ "type": "array" }));
    assert_eq!(spec.to_worker_file(), expected.to_worker_file());
}

// Conformance 54.
#[test]
fn a_mark_and_blank_lines_before_the_front_matter_do_no_harm() {
    let spec = read("\u{feff}\n\r\n---\r\nname: a\r\n---\r\n\r\n  Do it.\r\nThen rest.\n\n");
    assert_eq!(spec.to_worker_file(), "---\nname: \"a\"\n---\n\nDo it.\nThen rest.\n");
    for text in ["", "Do it.", "---\n- a\n---\nDo it.", "---\ntext\n---\nDo it.", "---\n---\nDo it."] {
        assert!(text.parse::<WorkerSpec>().is_err(), "{text}");
    }
}

// Conformance 55.
#[test]
fn a_name_is_required_and_a_text() {
    let error = "---\nmodel: test:a\n---\nDo it.".parse::<WorkerSpec>().unwrap_err();
    assert_eq!(error.faults(), ["line 1: missing `name`: add one, such as `name: reviewer`"]);
    let error = "---\nname: 123\n---\nDo it.".parse::<WorkerSpec>().unwrap_err();
    assert_eq!(error.faults(), ["line 2: `name`: expected a string, found a number"]);
}

// Conformance 56, and 47.
#[test]
fn keys_of_elsewhere_are_refused_with_the_way_out() {
    assert_eq!(fault("entry: true"), "line 3: unsupported key `entry`: the caller chooses which worker to run");
    assert!(fault("schema_in_ref: a.py:B").contains("as `input_schema`"));
    let unread =
        "line 3: `input_model_ref`: the Python class `a.py:B` cannot be read; write its fields as `input_schema`";
    assert_eq!(fault("input_model_ref: a.py:B"), unread);
    assert!(fault("input_model_ref: a.b.C").contains("the Python class `a.b.C` cannot be read"));
    // A file for both programs.
    let schema = "input_schema: { type: object, properties: { b: { type: integer } } }";
    let spec = read(&format!("---\nname: a\ninput_model_ref: a.py:B\n{schema}\n---\nDo it.\n"));
    assert!(!spec.to_worker_file().contains("input_model_ref"), "{}", spec.to_worker_file());
}

// Conformance 47.
#[test]
fn a_worker_takes_the_arguments_of_the_item_that_it_names() {
    let named = |name: &str| format!("---\nname: reader\ninput_model_ref: {name}\n---\nRead.\n");
    let schema = "input_schema: { type: object, properties: { pages: { type: integer } }, required: [pages] }";
    let typed = format!("---\nname: helper\n{schema}\n---\nHelp.\n");
    let of = |name: &str, helper: &str| built(&[("helper.worker", helper), ("reader.worker", &named(name))]);
    let parameters = |runtime: &Runtime, name: &str| runtime.registry().get(name).unwrap().parameters().clone();

    let runtime = of("helper", &typed).unwrap();
    assert_eq!(parameters(&runtime, "reader"), parameters(&runtime, "helper"));
    assert_eq!(parameters(&runtime, "reader")["required"], json!(["pages"]));
    // A linked item, and one that takes a prompt.
    let runtime = of("delegate", &typed).unwrap();
    assert_eq!(parameters(&runtime, "reader")["required"], json!(["task"]));
    assert!(of("helper", HELPER.1).unwrap().registry().get("reader").unwrap().takes_prompt());

    for (name, helper, expected) in [
        ("helpr", typed.clone(), "unknown tool, worker or entry `helpr`; did you mean `helper`?"),
        ("helper", named("delegate").replace("reader", "helper"), "`helper` takes the arguments of `delegate` itself"),
    ] {
        let error = of(name, &helper).unwrap_err().to_string();
        assert!(error.contains("reader.worker") && error.contains(expected), "{error}");
    }
    assert_eq!(
        read(&named("look")).to_worker_file(),
        "---\nname: \"reader\"\ninput_model_ref: \"look\"\n---\n\nRead.\n"
    );
}

/// Asks a worker that is defined for one call and takes the arguments of another item.
#[entry]
async fn ask_reader(ctx: &CallContext, of: String) -> Result<String> {
    let spec = read(&format!("---\nname: reader\ninput_model_ref: {of}\n---\nRead.\n"));
    Ok(ctx.llm_agent(spec).arguments(json!({ "task": "books" })).await?)
}

#[tokio::test]
async fn a_worker_of_one_call_takes_the_arguments_of_an_item_too() {
    let builder = builder().only(["ask_reader"]).worker(WorkerSpec::new("helper", "Help."));
    let runtime = builder.force_model(curious()).build().unwrap();
    let answer = runtime.run(ask_reader { of: "delegate".into() }).await.unwrap();
    assert!(answer.contains(r#""task":"books""#) || answer.contains(r#""task": "books""#), "{answer}");
    let error = runtime.run(ask_reader { of: "delegat".into() }).await.unwrap_err();
    let text = llm_do::error::chain(&error);
    assert!(text.contains("`input_model_ref`: unknown item `delegat`: did you mean `delegate`?"), "{text}");
}

// Conformance 57.
#[test]
fn tools_and_toolsets_are_lists_of_names_each_of_which_comes_once() {
    assert!(
        read("---\nname: a\ntools:\ntoolsets: ~\n---\nDo it.").to_worker_file().starts_with("---\nname: \"a\"\n---")
    );
    assert_eq!(
        fault("output_schema:\n  type: object\n  properties: { age: { type: strin } }"),
        "line 3: `output_schema` is not a JSON Schema: invalid value `\"strin\"` at `/properties/age/type`; the types are \
         `string`, `number`, `integer`, `boolean`, `array`, `object` and `null`"
    );
    assert_eq!(fault("tools: look"), "line 3: `tools`: expected a list of strings, found a string");
    assert_eq!(fault("toolsets: {a: b}"), "line 3: `toolsets`: expected a list of strings, found a map");
    assert_eq!(fault("tools: [' ']"), "line 3: `tools`: an item is blank");
    assert_eq!(fault("tools: [1]"), "line 3: `tools`: expected strings as items, found a number");
    assert_eq!(fault("tools: [look, look]"), "line 3: `tools` lists `look` twice");
    assert_eq!(
        fault("tools: [look]\ntoolsets: [look]"),
        "line 4: `look` is listed twice; list it once in `tools` or `toolsets`"
    );
}

// Conformance 58.
#[test]
fn server_side_tools_have_a_type() {
    assert!(
        read("---\nname: a\nserver_side_tools:\n---\nDo it.").to_worker_file().starts_with("---\nname: \"a\"\n---")
    );
    assert!(fault("server_side_tools: [{max_uses: 1}]").contains("missing `tool_type`"));
    assert!(fault("server_side_tools: [{tool_type: web_serch}]").contains("expected `web_search`, `web_fetch`"));
    assert!(fault("compatible_models: 'test:*'").contains("`compatible_models`: expected a list of strings"));
}

// Conformance 59.
#[tokio::test]
async fn the_model_is_the_files_or_the_runs_if_it_fits() {
    let both = fault("model: test:a\ncompatible_models: ['*']");
    assert_eq!(both, "line 4: `model` and `compatible_models` cannot be combined: remove one");
    assert!(fault("compatible_models: []").contains("is an empty list: add an item, or remove the key"));
    let folder = folder(&[
        HELPER,
        ("own.worker", "---\nname: own\nmodel: test:own\n---\nDo it."),
        ("picky.worker", "---\nname: picky\ncompatible_models: [' TEST:big* ']\n---\nDo it."),
    ]);
    let runtime = |model| builder().worker_dir(folder.path()).model(model).build().unwrap();
    let run = async |model, name| runtime(model).run_named(name, json!({ "input": "x" })).await;
    // That of the run is not asked: it has no key.
    assert!(run("groq:x", "own").await.is_ok());
    assert!(run("test:big-1", "picky").await.is_ok());
    let error = run("test:small", "picky").await.unwrap_err().to_string();
    assert!(error.contains("`test:small` matches none of its `compatible_models`"), "{error}");
}

#[tokio::test]
async fn schemas_of_a_file_are_those_of_its_arguments_and_its_result() {
    let text = "---\nname: sum\ninput_schema:\n  type: object\n  properties: {a: {type: integer}}\n  required: [a]\n\
                output: tool\noutput_schema: {type: integer}\n---\nAdd.";
    let folder = folder(&[HELPER, ("sum.worker", text)]);
    let model = FunctionModel::new(|request: Request<'_>| {
        let is_first = request.messages.len() == 1;
        answer(vec![call("final_result", &json!({ "result": if is_first { json!("many") } else { json!(5) } }))])
    });
    let runtime = builder().worker_dir(folder.path()).force_model(model).build().unwrap();
    let error = runtime.run_named("sum", json!({ "a": "x" })).await.unwrap_err().to_string();
    assert!(error.contains("invalid arguments for `sum`") && error.contains("/a"), "{error}");
    assert_eq!(runtime.run_named("sum", json!({ "a": 2 })).await.unwrap(), 5);
}

#[tokio::test]
async fn without_instructions_the_model_gets_the_description() {
    let folder = folder(&[HELPER, ("a.worker", "---\nname: a\ndescription: Do it well.\n---\n")]);
    let runtime = builder().worker_dir(folder.path()).force_model(curious()).build().unwrap();
    assert_eq!(runtime.run_named("a", json!({ "input": "x" })).await.unwrap(), "Do it well. | x");
    let error = "---\nname: a\n---\n \n".parse::<WorkerSpec>().unwrap_err();
    assert!(
        error.faults()[0].contains("missing instructions: write them below the front matter, or add a `description`"),
        "{error}"
    );
}

/// The files that the macro's own tests read, and whether the macro takes them.
fn files_of_the_macro() -> Vec<(PathBuf, bool)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = [
        ("llm-do-macros/tests/files", None),
        ("llm-do/docs", Some(true)),
        ("tests/tests/registry", Some(true)),
        ("tests/tests/state", Some(true)),
        ("ui-tests/ui/pass/worker", Some(true)),
        ("ui-tests/ui/fail/worker", Some(false)),
    ];
    let mut files = Vec::new();
    for (folder, is_taken) in folders {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "worker") {
                let is_taken = is_taken.unwrap_or(!path.ends_with("faulty.worker"));
                files.push((path, is_taken));
            }
        }
    }
    files
}

#[test]
fn files_that_the_macro_accepts_are_accepted_at_run_time_if_they_have_a_name_and_a_description() {
    // At fault only with the attribute and the signature that they are for.
    let by_signature = ["instructed.worker", "toolsets.worker", "undescribed.worker"];
    // A function has a name, and a doc comment.
    let amend =
        |text: &str| text.replacen("---\n", "---\nname: named\n", usize::from(!text.contains("\nname:"))) + "\nDo it.";
    let files = files_of_the_macro();
    assert!(files.len() > 10, "{files:?}");
    for (path, is_taken) in files {
        let is_taken = is_taken || by_signature.iter().any(|name| path.ends_with(name));
        let result = amend(&fs::read_to_string(&path).unwrap()).parse::<WorkerSpec>();
        assert_eq!(result.is_ok(), is_taken, "{}: {:?}", path.display(), result.err());
    }
}

#[test]
fn numbers_of_a_schema_are_read_as_they_were_written() {
    let schema = json!({
        "type": "object",
        "properties": { "n": { "minimum": i64::MIN, "maximum": u64::MAX, "enum": [9_223_372_036_854_775_808_u64, -0.0, 1e300] } },
    });
    let text = WorkerSpec::new("count", "Count.").input_schema(schema).to_worker_file();
    let again = text.parse::<WorkerSpec>().unwrap().to_worker_file();
    assert_eq!(again, text);
    assert!(again.contains("18446744073709551615") && again.contains("-0.0"), "{again}");
}

#[test]
fn a_file_beyond_the_limits_is_refused() {
    let large = format!("---\nname: a\n---\n{}", "é".repeat(1 << 19));
    let folder = folder(&[("a.worker", &large)]);
    let errors = [
        WorkerSpec::from_worker_file(folder.path().join("a.worker")).unwrap_err(),
        large.parse::<WorkerSpec>().unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("the file is too large: the limit is 1048576 bytes"), "{error}");
    }
    // Beyond some more levels it is the parser that refuses.
    for (levels, fault) in [(200, "lists and maps are nested deeper than 100 levels"), (10_000, "invalid YAML: ")] {
        let deep = format!("---\nname: a\nhints: {}\n---\nGo.\n", "[".repeat(levels));
        let error = deep.parse::<WorkerSpec>().unwrap_err();
        assert!(error.faults()[0].starts_with(&format!("line 3: {fault}")), "{error}");
    }
}
