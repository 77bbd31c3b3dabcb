//! `timeout = ..`: the maximum duration of a call.

use std::time::Duration;

use llm_do_worker_file::{ZERO_TIMEOUT, parse_duration};
use proc_macro2::{Literal, Span};
use syn::parse::ParseStream;
use syn::{Expr, ExprLit, Lit, parse_quote_spanned};

use crate::errors::Errors;

const EXPECTED: &str = "expected a string such as `\"30s\"`, or a constant `Duration`";

/// Parses a string, or an expression whose type the compiler checks.
pub(super) fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Expr> {
    let value: Expr = input.parse().map_err(|error| syn::Error::new(error.span(), EXPECTED))?;
    let Expr::Lit(ExprLit { lit, .. }) = &value else { return Ok(value) };
    match lit {
        Lit::Str(text) => {
            let time = parse_duration(&text.value()).map_err(|fault| syn::Error::new_spanned(text, fault))?;
            if time.is_zero() {
                errors.push(text, ZERO_TIMEOUT);
            }
            Ok(expression(time, text.span()))
        }
        Lit::Int(number) => {
            let seconds = number.base10_digits();
            let way_out = format!("write `\"{seconds}s\"` or `Duration::from_secs({seconds})`");
            Err(syn::Error::new_spanned(number, format!("missing unit: {way_out}")))
        }
        _ => Err(syn::Error::new_spanned(lit, EXPECTED)),
    }
}

/// Returns an expression for a duration.
pub(crate) fn expression(time: Duration, span: Span) -> Expr {
    let seconds = Literal::u64_unsuffixed(time.as_secs());
    let nanos = Literal::u32_unsuffixed(time.subsec_nanos());
    parse_quote_spanned!(span=> ::core::time::Duration::new(#seconds, #nanos))
}
