//! Literals of Python as JSON.

use ruff_python_ast::{Expr, Number, UnaryOp};
use serde_json::{Map, Value};

/// Returns the value of a literal; `None` for an expression that must be evaluated, or that JSON cannot express.
pub(super) fn value_of(expression: &Expr) -> Option<Value> {
    match expression {
        Expr::NoneLiteral(_) => Some(Value::Null),
        Expr::BooleanLiteral(literal) => Some(literal.value.into()),
        Expr::StringLiteral(literal) => Some(literal.value.to_str().into()),
        Expr::NumberLiteral(literal) => number(&literal.value, false),
        Expr::UnaryOp(unary) => match (unary.op, &*unary.operand) {
            (UnaryOp::USub, Expr::NumberLiteral(literal)) => number(&literal.value, true),
            (UnaryOp::UAdd, Expr::NumberLiteral(literal)) => number(&literal.value, false),
            _ => None,
        },
        Expr::List(list) => list.elts.iter().map(value_of).collect::<Option<Vec<_>>>().map(Value::Array),
        Expr::Tuple(tuple) => tuple.elts.iter().map(value_of).collect::<Option<Vec<_>>>().map(Value::Array),
        Expr::Dict(dict) => {
            let entry = |item: &ruff_python_ast::DictItem| {
                let key = item.key.as_ref()?.as_string_literal_expr()?;
                Some((key.value.to_str().to_owned(), value_of(&item.value)?))
            };
            dict.items.iter().map(entry).collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        _ => None,
    }
}

fn number(number: &Number, is_negative: bool) -> Option<Value> {
    match number {
        Number::Int(int) => match (int.as_u64(), is_negative) {
            (Some(positive), false) => Some(positive.into()),
            (Some(positive), true) => 0_i64.checked_sub_unsigned(positive).map(Value::from),
            (None, _) => None,
        },
        Number::Float(float) => {
            serde_json::Number::from_f64(if is_negative { -float } else { *float }).map(Value::Number)
        }
        Number::Complex { .. } => None,
    }
}
