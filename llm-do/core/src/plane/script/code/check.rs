//! Checks code before it runs: its size, its syntax, its types, and where it calls tools.

use std::collections::BTreeSet;

use monty_types::MontyException;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};

use super::super::fault::{Faults, at};
use super::super::names::Callees;
use super::super::parse::parse;
use super::super::stubs::Stubs;
use super::super::{checker, classes, literals, nested_calls, outside, program, read};

/// The name of the code in faults.
pub(super) const FILE: &str = "code";

/// Code without faults.
#[derive(Debug)]
pub(super) struct Checked {
    /// The program for the interpreter.
    pub(super) program: String,
    /// Whether it awaits its calls.
    pub(super) is_async: bool,
    /// The texts that it contains.
    pub(super) literals: BTreeSet<String>,
}

/// The code that ran before, for the checker.
#[derive(Debug, Default)]
pub(super) struct Before {
    text: String,
    /// Whether some of it called tools as plain functions.
    has_plain: bool,
}

impl Before {
    /// Adds code that ran; with `has_failed`, only a part of it ran.
    pub(super) fn add(&mut self, code: &str, is_async: bool, has_failed: bool) {
        self.has_plain |= !is_async;
        if !has_failed {
            self.text.push_str(code);
            self.text.push('\n');
            return;
        }
        // Without this, the checker would treat code after an exception as unreachable, and not check it.
        self.text.push_str("try:\n");
        for line in code.lines() {
            self.text.extend(["    ", line, "\n"]);
        }
        self.text.push_str("    pass\nexcept BaseException:\n    pass\n");
    }
}

/// Checks code against the tools and against the code that ran before.
pub(super) fn check(code: &str, before: &Before, callees: &Callees) -> Result<Checked, Vec<String>> {
    let mut faults = Faults::new(code);
    let Some(parsed) = parse(code, "the code", &mut faults) else { return Err(faults.in_file(FILE)) };
    let body = &parsed.syntax().body;
    outside::find(body, &mut faults);
    let is_async = awaits(body);
    let dicts = classes::dict_classes(body);
    let names: Vec<_> = dicts.iter().map(|class| class.name.clone()).collect();
    let stubs = Stubs::new(callees, is_async);
    let mut found = faults.in_file(FILE);
    let of_types = checker::check_after(FILE, code, &before.text, &stubs, &names);
    // The checker treats results of earlier plain calls as coroutines too.
    let is_wrong = |fault: &String| is_async && before.has_plain && fault.contains("CoroutineType");
    found.extend(of_types.into_iter().filter(|fault| !is_wrong(fault)));
    found.extend(nested_calls::faults(FILE, code, callees));
    if !found.is_empty() {
        return Err(found);
    }
    Ok(Checked { program: program::runnable(code, body, &dicts), is_async, literals: literals::of_body(body) })
}

/// Returns whether code has `await` or a coroutine: its tools are then coroutines too.
fn awaits(body: &[Stmt]) -> bool {
    let mut finder = Awaits(false);
    finder.visit_body(body);
    finder.0
}

struct Awaits(bool);

impl<'a> Visitor<'a> for Awaits {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.0 |= matches!(statement, Stmt::FunctionDef(function) if function.is_async);
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.0 |= expression.is_await_expr();
        walk_expr(self, expression);
    }
}

/// Returns the error for code that the interpreter does not support.
pub(super) fn unsupported(exception: &MontyException) -> String {
    let (place, message) = read::unsupported(exception);
    at(FILE, place, message)
}
