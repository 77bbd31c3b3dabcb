//! Finds Python that would fail at run time: the clock, the environment, and `%` formatting.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Operator, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::fault::Faults;

/// Adds a fault for each use of an unsupported feature.
pub(super) fn find(body: &[Stmt], faults: &mut Faults<'_>) {
    let mut finder = Finder::default();
    finder.visit_body(body);
    for (at, message) in finder.0 {
        faults.at(&at, message);
    }
}

#[derive(Default)]
struct Finder(Vec<(TextRange, &'static str)>);

impl<'a> Visitor<'a> for Finder {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let is_os = match statement {
            Stmt::Import(import) => import.names.iter().any(|alias| alias.name.split('.').next() == Some("os")),
            Stmt::ImportFrom(import) => {
                import.module.as_ref().is_some_and(|module| module.split('.').next() == Some("os"))
            }
            _ => false,
        };
        if is_os {
            self.0.push((
                statement.range(),
                "scripts have no files, environment or processes; call a tool that has them",
            ));
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Call(call) if is_clock(&call.func) => {
                self.0.push((
                    expression.range(),
                    "scripts have no clock; take the time as a parameter, or call a tool that returns it",
                ));
            }
            Expr::BinOp(operation)
                if operation.op == Operator::Mod && matches!(&*operation.left, Expr::StringLiteral(_)) =>
            {
                self.0.push((
                    expression.range(),
                    "scripts have no `%` formatting; write an f-string, such as `f\"{x}\"`",
                ));
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// Returns whether a function is `datetime.now`, `date.today` or another one that reads the clock.
fn is_clock(function: &Expr) -> bool {
    let Expr::Attribute(attribute) = function else { return false };
    let of = match &*attribute.value {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(inner) => inner.attr.as_str(),
        _ => return false,
    };
    matches!(attribute.attr.as_str(), "now" | "today" | "utcnow") && matches!(of, "datetime" | "date")
}
