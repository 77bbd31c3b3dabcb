//! The texts that code contains: what it passes on besides them is computed.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, Stmt};

/// Returns the texts of the literals in code, without spaces around them.
pub(super) fn of_body(body: &[Stmt]) -> BTreeSet<String> {
    let mut literals = Literals::default();
    literals.visit_body(body);
    literals.0
}

#[derive(Default)]
struct Literals(BTreeSet<String>);

impl<'a> Visitor<'a> for Literals {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::StringLiteral(literal) = expression {
            self.0.insert(literal.value.to_str().trim().to_owned());
        }
        walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::parse_module;

    use super::of_body;

    #[test]
    fn literals_are_whole_texts_and_not_parts_of_computed_ones() {
        let code = "to = 'Ann '\nmail = f'Dear {to}, yours'\nitems = {'a': ['b' 'c', to + 'd']}\n";
        let parsed = parse_module(code).unwrap();
        let found: Vec<_> = of_body(&parsed.syntax().body).into_iter().collect();
        assert_eq!(found, ["Ann", "a", "bc", "d"]);
    }
}
