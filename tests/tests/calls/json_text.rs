//! Calls from JSON text to JSON text: the same verdict, the same words and the same result as through a value.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

use llm_do::error::chain;
use llm_do::event::{Delivery, Event, EventSink};
use llm_do::guard::Guard;
use llm_do::prelude::*;
use llm_do::testing::ScriptedModel;
use llm_do::{Value, json};
use proptest::prelude::*;
use tokio::runtime::Builder;

/// What `scalars` was given.
#[data]
struct Given {
    a: i64,
    b: Option<u8>,
    text: String,
    is_set: bool,
    ratio: f64,
    many: Vec<u32>,
    path: Option<PathBuf>,
}

/// Takes arguments that their types decide.
#[tool(effect = read_only, inline)]
fn scalars(
    a: i64,
    b: Option<u8>,
    text: String,
    #[arg(default = true)] is_set: bool,
    #[arg(default)] ratio: f64,
    #[arg(default)] many: Vec<u32>,
    path: Option<PathBuf>,
) -> Given {
    Given { a, b, text, is_set, ratio, many, path }
}

/// Takes arguments whose schema is stricter than their types.
#[tool(effect = read_only, inline)]
fn bounded(#[schemars(range(min = 1, max = 9))] a: i64, #[schemars(length(max = 3))] text: String) -> String {
    format!("{text}{a}")
}

/// Returns what text and values would write in different ways.
#[tool(effect = read_only)]
async fn numbers(a: i64) -> (f32, HashMap<String, i64>, f64, Option<()>) {
    (0.1, HashMap::from([("a".to_owned(), a)]), f64::NAN, None)
}

/// Makes a call of another tool, by text or by value.
#[entry]
async fn forward(ctx: &CallContext, name: String, arguments: String, by_value: bool) -> Result<String> {
    if by_value {
        return Ok(ctx.call_tool(&name, serde_json::from_str(&arguments)?).await?.to_string());
    }
    Ok(ctx.call_tool_json(&name, &arguments).await?)
}

/// Keeps what happened in the calls of an entry as JSON, without times.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl EventSink for Log {
    fn emit(&self, event: &Arc<Event>) {
        if event.parent.is_none() {
            return;
        }
        let mut kind = json!(event.kind);
        kind["elapsed_ms"].take();
        self.0.lock().unwrap().push(kind.to_string());
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }
}

/// Lets everything pass, and may read all of it.
#[derive(Debug)]
struct Passes;

impl Guard for Passes {
    fn name(&self) -> &'static str {
        "passes"
    }
}

/// A runtime in which nothing but sinks reads the calls.
static UNGUARDED: LazyLock<Runtime> = LazyLock::new(|| Runtime::builder().build().unwrap());
/// A runtime in which a guard reads the calls.
static GUARDED: LazyLock<Runtime> = LazyLock::new(|| Runtime::builder().guard(Passes).build().unwrap());

/// Returns the outcome of a call, after checking that it is the same when a sink, or a guard, reads its values, and by value, and
/// that all have the same events.
fn call(name: &str, arguments: &str) -> Result<String, String> {
    let tokio = Builder::new_current_thread().enable_all().build().unwrap();
    let run = |runtime: &Runtime, log: Option<&Log>, by_value| {
        let start = runtime.start(forward { name: name.to_owned(), arguments: arguments.to_owned(), by_value });
        let start = match log {
            Some(log) => start.sink(log.clone()),
            None => start,
        };
        tokio.block_on(start.into_future()).map_err(|error| chain(&error))
    };
    let unread = run(&UNGUARDED, None, false);
    let observed = |runtime: &Runtime, by_value| {
        let log = Log::default();
        assert_eq!(unread, run(runtime, Some(&log), by_value), "{name} {arguments}");
        log.0.lock().unwrap().clone()
    };
    let events = observed(&UNGUARDED, false);
    assert_eq!(events, observed(&GUARDED, false), "{name} {arguments}");
    if serde_json::from_str::<Value>(arguments).is_ok() {
        assert_eq!(events, observed(&UNGUARDED, true), "{name} {arguments}");
    }
    unread
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (-3..300_i64).prop_map(|number| number.to_string()),
        2 => "[a-z\"\\\\\u{e9}]{0,4}".prop_map(|text| json!(text).to_string()),
        2 => prop::sample::select(vec![
            "true", "null", "1.0", "-0", "-0.0", "1e2", "0.1", "1e400", "01", "18446744073709551615", "9223372036854775808",
            "[]", "[1, 2]", "[1,]", "[-1]", "{}", "\"\\u00e9\"", "\"\\ud800\"", "x", "",
        ])
        .prop_map(str::to_owned),
    ]
}

fn object() -> impl Strategy<Value = String> {
    let names = vec!["a", "b", "text", "is_set", "ratio", "many", "path", "\\u0061", "other"];
    let field = (prop::sample::select(names), value(), prop::sample::select(vec!["", " ", "\n\t", "\u{c}"]));
    let fields = prop::collection::vec(field, 0..7);
    let ends = prop::sample::select(vec!["}", "}", "}", "} ", ",}", "", "}x", "}}"]);
    (fields, ends).prop_map(|(fields, end)| {
        let fields: Vec<_> =
            fields.iter().map(|(name, value, space)| format!("{space}\"{name}\"{space}:{space}{value}")).collect();
        format!("{{{}{end}", fields.join(","))
    })
}

/// Objects with the fields of `scalars` in order, most of them valid.
fn in_order() -> impl Strategy<Value = String> {
    let fields = (
        any::<i64>(),
        any::<u8>(),
        "[a-z\"\n]{0,3}",
        any::<bool>(),
        any::<f64>(),
        prop::collection::vec(0..9_u32, 0..3),
    );
    (fields, value(), 0..7_usize).prop_map(|((a, b, text, is_set, ratio, many), odd, place)| {
        let values = [json!(a), json!(b), json!(text), json!(is_set), json!(ratio), json!(many), json!("a/b")];
        let names = ["a", "b", "text", "is_set", "ratio", "many", "path"];
        let written = names.iter().zip(values).enumerate().map(|(index, (name, value))| {
            let value = if index == place { odd.clone() } else { value.to_string() };
            format!("\"{name}\":{value}")
        });
        format!("{{{}}}", written.collect::<Vec<_>>().join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_text_has_the_outcome_of_its_value(arguments in object()) {
        drop(call("scalars", &arguments));
        drop(call("bounded", &arguments));
    }

    #[test]
    fn arguments_in_order_have_the_outcome_of_their_value(arguments in in_order()) {
        drop(call("scalars", &arguments));
    }
}

#[test]
fn arguments_are_decoded_from_text_in_any_order_and_form() {
    let given = json!({
        "a": 1, "b": null, "text": "é", "is_set": true, "ratio": 0.0, "many": [], "path": null
    });
    for arguments in [
        r#"{"a":1,"text":"é"}"#,
        r#" { "text" : "\u00e9" , "a" : 1 } "#,
        r#"{"a":1.0,"text":"é","b":null}"#,
        r#"{"\u0061":1,"text":"é"}"#,
        r#"{"a":2,"a":1,"text":"é"}"#,
    ] {
        let result: Value = serde_json::from_str(&call("scalars", arguments).unwrap()).unwrap();
        assert_eq!(result, given, "{arguments}");
    }
}

#[test]
fn faults_are_those_of_the_schema() {
    let fault = |name, arguments| call(name, arguments).unwrap_err();
    assert!(fault("scalars", r#"{"a":1}"#).ends_with("`text` is missing"));
    assert!(fault("bounded", r#"{"a":10,"text":"long"}"#).contains("the maximum of 9 at `/a`"));
    assert!(fault("scalars", r#"{"a":1,"#).contains("invalid JSON"));
    assert!(fault("scalar", "{}").contains("did you mean `scalars`?"));
}

#[test]
fn a_result_has_the_same_text_with_and_without_a_value_between() {
    assert_eq!(call("numbers", r#"{"a":7}"#).unwrap(), r#"[0.10000000149011612,{"a":7},"NaN",null]"#);
    assert_eq!(call("bounded", r#"{"a":7,"text":"x\""}"#).unwrap(), r#""x\"7""#);
}

#[test]
fn an_empty_text_means_no_arguments() {
    /// Takes nothing.
    #[tool(effect = read_only, inline)]
    fn an_empty_map() -> BTreeMap<String, i64> {
        BTreeMap::new()
    }
    for arguments in ["", " ", "null", "{}"] {
        assert_eq!(call("an_empty_map", arguments).unwrap(), "{}");
    }
}

/// Passes a text on.
#[worker(toolsets = [bounded])]
async fn pass_on(text: String) -> String;

#[tokio::test]
async fn a_model_reads_a_text_without_quotes() {
    let model = ScriptedModel::new().call("bounded", json!({ "a": 7, "text": "x\"" })).text("done");
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    runtime.run(pass_on { text: "x".into() }).await.unwrap();
    let sent = json!(model.requests()[1].messages).to_string();
    assert!(sent.contains(r#""content":"x\"7""#), "{sent}");
}
