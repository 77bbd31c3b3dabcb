//! Estimates the sizes of a script's types before they are checked in this process, where a check cannot be stopped.
//!
//! A type that holds another one twice is twice as large: a few dozen such lines make types that take hours.

use std::collections::HashMap;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Comprehension, Expr, Operator, Stmt, StmtFunctionDef};
use ruff_python_parser::parse_module;

/// The maximum size of a type, which is the number of types in it.
const MAX_SIZE: u64 = 100_000;
/// The maximum depth of functions that call each other in their results; deeper sizes are not added.
const MAX_DEPTH: usize = 100;

type Definitions<'a> = HashMap<&'a str, Vec<&'a StmtFunctionDef>>;

/// Returns an error if a type of a script may be too large; needs a large stack.
pub(super) fn check(text: &str) -> Result<(), String> {
    let Ok(parsed) = parse_module(text) else { return Ok(()) };
    let mut functions = Functions::default();
    functions.visit_body(&parsed.syntax().body);
    let mut sizes = Sizes { functions: functions.0, ..Sizes::default() };
    sizes.visit_body(&parsed.syntax().body);
    if sizes.largest <= MAX_SIZE {
        return Ok(());
    }
    let advice =
        "begin `main` with `llm_do::script::interpreter_process()`, so that they are checked in a process of their own";
    Err(format!("they may have more than {MAX_SIZE} parts, which is too many to check in this process; {advice}"))
}

/// Collects the functions of a script, also nested ones.
#[derive(Default)]
struct Functions<'a>(Definitions<'a>);

impl<'a> Visitor<'a> for Functions<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::FunctionDef(function) = statement {
            self.0.entry(function.name.as_str()).or_default().push(function);
        }
        walk_stmt(self, statement);
    }
}

/// The sizes of the types of names.
#[derive(Default)]
struct Sizes<'a> {
    functions: Definitions<'a>,
    /// The largest sizes so far of the variables of the module and of the function that is being measured.
    variables: HashMap<&'a str, u64>,
    /// The largest sizes so far of attributes, of any object.
    attributes: HashMap<&'a str, u64>,
    /// The sizes of the results of functions; 1 for a function that is being measured.
    results: HashMap<&'a str, u64>,
    /// The number of functions that are being measured.
    depth: usize,
    /// The largest result so far of the function that is being measured.
    returned: u64,
    largest: u64,
}

impl<'a> Sizes<'a> {
    fn size_of(&mut self, expression: &'a Expr) -> u64 {
        let mut sum = Sum { sizes: self, size: 0 };
        sum.visit_expr(expression);
        let size = sum.size;
        self.largest = self.largest.max(size);
        size
    }

    fn size_of_variable(&mut self, name: &'a str) -> u64 {
        let size = self.variables.get(name).copied().unwrap_or(1);
        size.max(self.size_of_result(name))
    }

    fn size_of_attribute(&mut self, name: &'a str) -> u64 {
        let size = self.attributes.get(name).copied().unwrap_or(1);
        size.max(self.size_of_result(name))
    }

    /// Returns the size of a function's result; 1 if the name is not that of a function.
    fn size_of_result(&mut self, name: &'a str) -> u64 {
        if let Some(size) = self.results.get(name) {
            return *size;
        }
        let functions = self.functions.get(name).cloned().unwrap_or_default();
        if functions.is_empty() || self.depth >= MAX_DEPTH {
            return 1;
        }
        self.results.insert(name, 1);
        self.depth += 1;
        let around = std::mem::replace(&mut self.returned, 1);
        for function in functions {
            if let Some(returns) = &function.returns {
                self.add_result(returns);
            }
            let outer = self.variables.clone();
            self.visit_body(&function.body);
            self.variables = outer;
        }
        self.depth -= 1;
        let size = std::mem::replace(&mut self.returned, around);
        self.results.insert(name, size);
        size
    }

    fn add_result(&mut self, expression: &'a Expr) {
        let size = self.size_of(expression);
        self.returned = self.returned.max(size);
    }

    /// Sets the size of the names of a target to that of the assigned value.
    fn define(&mut self, target: &'a Expr, size: u64) {
        let known = match target {
            Expr::Name(name) => self.variables.entry(name.id.as_str()).or_insert(1),
            Expr::Attribute(attribute) => self.attributes.entry(attribute.attr.as_str()).or_insert(1),
            Expr::Starred(starred) => return self.define(&starred.value, size),
            Expr::Tuple(tuple) => return self.define_all(&tuple.elts, size),
            Expr::List(list) => return self.define_all(&list.elts, size),
            _ => return,
        };
        *known = size.max(*known);
    }

    fn define_all(&mut self, targets: &'a [Expr], size: u64) {
        for target in targets {
            self.define(target, size);
        }
    }

    fn define_from(&mut self, target: &'a Expr, value: &'a Expr) {
        let size = self.size_of(value);
        self.define(target, size);
    }
}

impl<'a> Visitor<'a> for Sizes<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                self.size_of_result(function.name.as_str());
                return;
            }
            Stmt::Assign(assigned) => {
                let size = self.size_of(&assigned.value);
                self.define_all(&assigned.targets, size);
            }
            Stmt::AnnAssign(assigned) => {
                self.define_from(&assigned.target, &assigned.annotation);
                if let Some(value) = &assigned.value {
                    self.define_from(&assigned.target, value);
                }
            }
            Stmt::AugAssign(assigned) => {
                let size = self.size_of(&assigned.target).saturating_add(self.size_of(&assigned.value));
                self.define(&assigned.target, size);
            }
            Stmt::TypeAlias(alias) => self.define_from(&alias.name, &alias.value),
            Stmt::For(repeated) => self.define_from(&repeated.target, &repeated.iter),
            Stmt::Return(returned) => {
                if let Some(value) = &returned.value {
                    self.add_result(value);
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Named(named) = expression {
            self.define_from(&named.target, &named.value);
        }
        walk_expr(self, expression);
    }
}

/// The sum of the sizes in an expression.
struct Sum<'s, 'a> {
    sizes: &'s mut Sizes<'a>,
    size: u64,
}

impl<'a> Visitor<'a> for Sum<'_, 'a> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        let size = match expression {
            Expr::Name(name) => self.sizes.size_of_variable(name.id.as_str()),
            Expr::Attribute(attribute) => self.sizes.size_of_attribute(attribute.attr.as_str()),
            _ => 1,
        };
        self.size = self.size.saturating_add(size);
        let has_small_type = match expression {
            // Other operators return numbers, texts, or one of their operands.
            Expr::BinOp(operation) => !matches!(operation.op, Operator::Add | Operator::BitOr),
            Expr::Compare(_) => true,
            _ => false,
        };
        if !has_small_type {
            walk_expr(self, expression);
        }
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        // The names are counted where they are used.
        self.sizes.define_from(&comprehension.target, &comprehension.iter);
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::check;

    /// Sixty functions, variables or both, each of which holds the one before twice.
    fn doubled(line: impl Fn(usize) -> String, first: &str) -> String {
        let mut text = format!("{first}\n");
        for number in 1..60 {
            writeln!(text, "{}", line(number)).unwrap();
        }
        text
    }

    #[test]
    fn types_that_grow_with_each_line_are_refused() {
        let variables = doubled(|number| format!("a{number} = (a{}, a{})", number - 1, number - 1), "a0 = 1");
        let one = doubled(|_| "a = [a, a]".to_owned(), "a = 1");
        let added = doubled(|_| "a += a".to_owned(), "a = (1,)");
        let functions = doubled(
            |number| format!("def f{number}():\n    return (f{}(), f{}())", number - 1, number - 1),
            "def f0():\n    return 1",
        );
        let reversed = doubled(
            |number| format!("def g{number}():\n    return (g{}(), g{}())", number + 1, number + 1),
            "def g60():\n    return 1",
        );
        let attributes = doubled(|number| format!("x.a{number} = (x.a{}, x.a{})", number - 1, number - 1), "x.a0 = 1");
        let methods = doubled(
            |number| {
                format!("    def m{number}(self):\n        return (self.m{}(), self.m{}())", number - 1, number - 1)
            },
            "class C:\n    def m0(self):\n        return 1",
        );
        for text in [variables, one, added, functions, reversed, attributes, methods] {
            assert!(check(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn types_of_ordinary_scripts_are_checked() {
        let sums = doubled(|number| format!("total = total + item[{number}] * rate - rate"), "total = 0");
        let rows = doubled(|_| "rows = [clean(row) for row in rows if row]".to_owned(), "rows = []");
        let recursive = "def fib(n: int) -> int:\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n".to_owned();
        let separate = doubled(|number| format!("def f{number}():\n    x = 1\n    x = (x, x)"), "x = 1");
        let fields = doubled(|_| "self.a = self.a + self.b".to_owned(), "self = C()");
        for text in [sums, rows, recursive, separate, fields] {
            assert_eq!(check(&text), Ok(()), "{text}");
        }
    }
}
