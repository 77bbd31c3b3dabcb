//! Finds calls of tools at places where the interpreter cannot wait, before the script runs: they would fail after
//! other calls had effects.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Identifier, ModModule, Stmt};
use ruff_python_parser::parse_module;
use ruff_text_size::{Ranged, TextRange};

use super::fault::Faults;
use super::names::Callees;

/// The built-in functions that call their argument, with the argument's position or keyword.
const CALLING: [(&str, Option<usize>, Option<&str>); 8] = [
    ("map", Some(0), None),
    ("filter", Some(0), None),
    ("reduce", Some(0), None),
    ("sorted", None, Some("key")),
    ("min", None, Some("key")),
    ("max", None, Some("key")),
    ("sort", None, Some("key")),
    ("groupby", Some(1), Some("key")),
];

/// Returns a fault for each tool that is called inside a `key=` function, `map`, `filter` or a method such as `__repr__`.
///
/// The script has been parsed without faults before; needs a large stack.
pub(super) fn faults(file: &str, text: &str, callees: &Callees) -> Vec<String> {
    let mut faults = Faults::new(text);
    if let Ok(parsed) = parse_module(text) {
        find(parsed.syntax(), callees, &mut faults);
    }
    faults.in_file(file)
}

fn find(module: &ModModule, callees: &Callees, faults: &mut Faults<'_>) {
    let mut functions = Functions { callees, calls: BTreeMap::new(), around: Vec::new() };
    functions.visit_body(&module.body);
    let reaching = functions.reaching();
    let mut finder = Finder { callees, reaching: &reaching, found: Vec::new() };
    finder.visit_body(&module.body);
    for (at, tool, place) in finder.found {
        let message = format!(
            "`{tool}` cannot be called inside {place}: call it before, in a loop, and keep the results in a list"
        );
        faults.at(&at, message);
    }
}

/// Collects the functions of the script, with the names that they call.
struct Functions<'a> {
    callees: &'a Callees,
    calls: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// The functions around the visited node, outermost first.
    around: Vec<&'a str>,
}

impl<'a> Functions<'a> {
    /// Returns the functions that call a tool, directly or not, each with a tool.
    fn reaching(&self) -> BTreeMap<&'a str, &'a str> {
        let mut reaching = BTreeMap::new();
        loop {
            let before = reaching.len();
            for (function, called) in &self.calls {
                let tool =
                    |name: &&'a str| self.callees.get(name).map(|_| *name).or_else(|| reaching.get(name).copied());
                if let Some(tool) = called.iter().find_map(tool) {
                    reaching.insert(*function, tool);
                }
            }
            if reaching.len() == before {
                return reaching;
            }
        }
    }
}

impl<'a> Visitor<'a> for Functions<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let Stmt::FunctionDef(function) = statement else { return walk_stmt(self, statement) };
        self.around.push(function.name.as_str());
        walk_stmt(self, statement);
        self.around.pop();
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Name(name) = &*call.func
        {
            for function in &self.around {
                self.calls.entry(*function).or_default().insert(name.id.as_str());
            }
        }
        walk_expr(self, expression);
    }
}

struct Finder<'a> {
    callees: &'a Callees,
    reaching: &'a BTreeMap<&'a str, &'a str>,
    found: Vec<(TextRange, String, String)>,
}

impl<'a> Finder<'a> {
    fn call(&mut self, call: &'a ExprCall) {
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return,
        };
        for (calling, position, keyword) in CALLING.iter().filter(|(calling, ..)| *calling == name) {
            if let Some(function) = position.and_then(|at| call.arguments.args.get(at)) {
                self.function(function, &format!("`{calling}`"));
            }
            let named = call.arguments.keywords.iter();
            for argument in
                named.filter(|given| given.arg.as_ref().map(Identifier::as_str) == *keyword && keyword.is_some())
            {
                self.function(&argument.value, &format!("the `{}=` of `{calling}`", keyword.unwrap_or_default()));
            }
        }
    }

    /// Visits a function that a built-in calls.
    fn function(&mut self, function: &'a Expr, place: &str) {
        match function {
            Expr::Name(name) => {
                if let Some(tool) = self.tool(name.id.as_str()) {
                    self.found.push((function.range(), tool.to_owned(), place.to_owned()));
                }
            }
            Expr::Lambda(lambda) => self.body(place, |inner| inner.visit_expr(&lambda.body)),
            _ => {}
        }
    }

    /// Finds the tools that are called in a body.
    fn body(&mut self, place: &str, visit: impl FnOnce(&mut CallVisitor<'a>)) {
        let mut calls = CallVisitor::default();
        visit(&mut calls);
        for (range, name) in calls.0 {
            if let Some(tool) = self.tool(name) {
                self.found.push((range, tool.to_owned(), place.to_owned()));
            }
        }
    }

    /// Returns the tool that a function with this name calls, directly or not.
    fn tool(&self, name: &str) -> Option<&str> {
        self.callees.get_key(name).or_else(|| self.reaching.get(name).copied())
    }
}

impl<'a> Visitor<'a> for Finder<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::ClassDef(class) = statement {
            for member in &class.body {
                if let Stmt::FunctionDef(method) = member
                    && is_called_by_interpreter(method.name.as_str())
                {
                    self.body(&format!("`{}`", method.name), |inner| inner.visit_body(&method.body));
                }
            }
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression {
            self.call(call);
        }
        walk_expr(self, expression);
    }
}

/// Returns whether a method is called by the interpreter itself, such as `__repr__`, and not in an expression of the script.
fn is_called_by_interpreter(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__") && name != "__init__" && name != "__call__"
}

/// The names that are called, with their places.
#[derive(Default)]
struct CallVisitor<'a>(Vec<(TextRange, &'a str)>);

impl<'a> Visitor<'a> for CallVisitor<'a> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Name(name) = &*call.func
        {
            self.0.push((call.range(), name.id.as_str()));
        }
        walk_expr(self, expression);
    }
}
