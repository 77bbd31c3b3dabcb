//! Checks the types of a script against the stubs of its tools, before it runs.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use llm_do_worker_file::Place;
use monty_type_checking::{SourceFile, TypeChecker};
use monty_types::{TypeCheckingConfig, TypeCheckingFormat};

use super::fault::at;
use super::stubs::Stubs;
use crate::base::mutex::IgnorePoison;
use crate::observe::journal::digest;

/// The maximum number of scripts with cached findings.
const MAX_KEPT: usize = 1024;
/// Built-in functions that scripts do not have, for individual reasons.
const DYNAMIC: [&str; 6] = ["`open`", "`input`", "`eval`", "`exec`", "`compile`", "`__import__`"];
const STUBS: &str = "stubs.pyi";
const SCRIPT: &str = "main.py";

/// The only checker of the process, since it caches the standard library.
static CHECKER: LazyLock<Mutex<TypeChecker>> = LazyLock::new(Mutex::default);
/// The findings, by the digest of the script and its stubs.
static FOUND: LazyLock<Mutex<HashMap<String, Arc<[Finding]>>>> = LazyLock::new(Mutex::default);

/// A fault that the checker found.
#[derive(Debug)]
struct Finding {
    place: Place,
    message: String,
}

/// Checks the text of a script against its stubs: returns the output of the checker, or the reason of its failure.
pub(crate) type CheckTypes<'a> = dyn FnMut(&str, &str) -> Result<String, String> + 'a;

/// Returns the faults of a script, each with its place in `file`.
///
/// `dict_classes` are the classes of the script that are dictionaries when it runs.
pub(super) fn check(
    file: &str,
    text: &str,
    stubs: &Stubs,
    dict_classes: &[String],
    check_types: &mut CheckTypes<'_>,
) -> Vec<String> {
    faults(file, text, "", stubs, dict_classes, check_types)
}

/// Checks code that runs after the code `before`, which ends with a line end and whose names it may use; needs a large
/// stack.
pub(super) fn check_after(file: &str, text: &str, before: &str, stubs: &Stubs, dict_classes: &[String]) -> Vec<String> {
    faults(file, text, before, stubs, dict_classes, &mut in_process)
}

fn faults(
    file: &str,
    text: &str,
    before: &str,
    stubs: &Stubs,
    dict_classes: &[String],
    check_types: &mut CheckTypes<'_>,
) -> Vec<String> {
    let (module, text) = (stubs.module(), format!("{before}{text}"));
    let key = digest(&serde_json::json!([text, module]));
    let known = FOUND.lock().ignore_poison().get(&key).cloned();
    let found = match known {
        Some(found) => found,
        None => match check_types(&text, &module) {
            Ok(reported) => {
                let names: Vec<&str> = stubs.class_names().chain(dict_classes.iter().map(String::as_str)).collect();
                let found = findings(&reported, &names);
                keep(key, &found);
                found
            }
            Err(why) => return vec![format!("{file}: its types cannot be checked: {why}")],
        },
    };
    let lines_before = before.matches('\n').count();
    let own = found.iter().filter_map(|Finding { place, message }| {
        let line = place.line.checked_sub(lines_before).filter(|line| *line > 0)?;
        Some(at(file, Place { line, ..*place }, message))
    });
    own.collect()
}

fn keep(key: String, found: &Arc<[Finding]>) {
    let mut kept = FOUND.lock().ignore_poison();
    if kept.len() >= MAX_KEPT {
        kept.clear();
    }
    kept.insert(key, Arc::clone(found));
}

/// Checks in this process, without a timeout; needs a large stack.
pub(crate) fn in_process(text: &str, module: &str) -> Result<String, String> {
    let mut checker = CHECKER.lock().ignore_poison();
    // The JSON format also contains proposed changes, and panics if one begins inside a character.
    let config = TypeCheckingConfig { format: TypeCheckingFormat::Concise, color: false };
    let (script, stubs_file) = (SourceFile::new(text, SCRIPT), SourceFile::new(module, STUBS));
    let found = checker.run(&script, Some(&stubs_file), config)?.map(|found| found.to_string()).unwrap_or_default();
    checker.reset()?;
    Ok(found)
}

/// Returns the findings in the output of the checker.
fn findings(found: &str, typed_dicts: &[&str]) -> Arc<[Finding]> {
    diagnostics(found).into_iter().filter_map(|found| found.into_finding(typed_dicts)).collect()
}

/// A fault in the output of the checker.
#[derive(Debug)]
struct Diagnostic {
    code: String,
    message: String,
    place: Place,
}

/// Parses the output of the checker; a line that begins no diagnostic continues the last one.
fn diagnostics(found: &str) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for line in found.lines() {
        match (Diagnostic::parse(line), diagnostics.last_mut()) {
            (Some(diagnostic), _) => diagnostics.push(diagnostic),
            (None, Some(last)) => last.message.extend(["\n", line]),
            (None, None) => {}
        }
    }
    diagnostics
}

impl Diagnostic {
    /// Reads `main.py:3:5: error[unresolved-reference] message`.
    fn parse(line: &str) -> Option<Self> {
        let heads = ["error", "warning", "info", "fatal"].map(|severity| format!(": {severity}["));
        let (place, rest) =
            heads.iter().filter_map(|head| line.split_once(head)).min_by_key(|(place, _)| place.len())?;
        let (code, message) = rest.split_once("] ")?;
        let mut numbers = place.rsplit(':').map(str::parse);
        let place = match (numbers.next(), numbers.next()) {
            (Some(Ok(column)), Some(Ok(line))) => Place { line, column },
            _ => Place::line(1),
        };
        Some(Self { code: code.to_owned(), message: message.to_owned(), place })
    }

    /// Returns the finding in the words of this crate; `None` for a false alarm.
    fn into_finding(self, typed_dicts: &[&str]) -> Option<Finding> {
        if is_wrong_alarm(&self.message, typed_dicts) {
            return None;
        }
        let hint = match &*self.code {
            "unresolved-reference" if DYNAMIC.iter().any(|name| self.message.contains(name)) => {
                "; scripts have no files, no input and no dynamic code: call a tool"
            }
            "unresolved-reference" => {
                "; a script calls its own functions, the built-in ones and the tools of its `toolsets`"
            }
            "unresolved-import" => {
                "; scripts have asyncio, base64, collections, dataclasses, datetime, functools, itertools, json, math, re and typing"
            }
            _ => "",
        };
        Some(Finding { place: self.place, message: format!("{}{hint}", self.message.trim_end_matches('.')) })
    }
}

/// Returns whether a message is only about a `TypedDict` in place of `dict[str, Any]`, which are the same type at run
/// time.
fn is_wrong_alarm(message: &str, typed_dicts: &[&str]) -> bool {
    let mut quoted = message.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let (Some(found), Some(expected)) = (quoted.pop(), quoted.pop()) else { return false };
    let plain = |ty: &str| {
        let words = ty.replace("dict[str, object]", "dict[str, Any]").replace("dict[str, Unknown]", "dict[str, Any]");
        with_dicts(&words, typed_dicts)
    };
    let is_about_dicts = typed_dicts.iter().any(|name| found.contains(name) || expected.contains(name));
    is_about_dicts && plain(&found) == plain(&expected)
}

/// Replaces the names of classes in a type by `dict[str, Any]`.
fn with_dicts(ty: &str, names: &[&str]) -> String {
    let (mut replaced, mut word) = (String::new(), String::new());
    for letter in ty.chars().chain(['\0']) {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
            continue;
        }
        replaced.push_str(if names.contains(&word.as_str()) { "dict[str, Any]" } else { &word });
        word.clear();
        replaced.push(letter);
    }
    replaced
}
