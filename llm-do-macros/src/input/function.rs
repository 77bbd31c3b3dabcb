//! Parses the function under an attribute without its body.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Path, PathSegment, Signature, Token, Visibility, token};

use crate::errors::Errors;

/// A function as written, with or, for a worker, without a body.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) signature: Signature,
    /// The braces with their content, which is not parsed, so that an incomplete body expands too.
    pub(crate) body: Option<Group>,
    end: Option<Token![;]>,
}

impl Parse for Function {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let signature = signature(input)?;
        let body = if input.peek(token::Brace) { body(input.parse()?) } else { None };
        Ok(Self { attrs, vis, signature, body, end: input.parse()? })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.attrs.iter().map(ToTokens::to_token_stream));
        self.vis.to_tokens(tokens);
        self.signature.to_tokens(tokens);
        self.body.to_tokens(tokens);
        self.end.to_tokens(tokens);
    }
}

impl Function {
    /// Removes other attributes that would register the function, with an error for each.
    pub(crate) fn take_registrations(&mut self, errors: &mut Errors) {
        self.attrs.retain(|attr| {
            let is_duplicate = is_registration(attr.path());
            if is_duplicate {
                errors.push(
                    attr,
                    "a function can have only one of `#[tool]`, `#[worker]` and `#[entry]`; remove this one",
                );
            }
            !is_duplicate
        });
    }

    /// Removes the attributes of the macros from the parameters.
    pub(crate) fn cleaned(mut self) -> Self {
        for input in &mut self.signature.inputs {
            parameter_attrs(input).retain(|attr| !is_helper(attr));
        }
        self
    }
}

/// Returns whether the path refers to `#[tool]`, `#[worker]` or `#[entry]`.
fn is_registration(path: &Path) -> bool {
    let is_ours = path.segments.len() == 1 || path.segments.first().is_some_and(|first| first.ident == "llm_do");
    let is_named = |last: &PathSegment| ["tool", "worker", "entry"].iter().any(|word| last.ident == word);
    is_ours && path.segments.last().is_some_and(is_named)
}

/// Returns the braces without the invisible group that a `$body:block` of a macro adds.
fn body(token: TokenTree) -> Option<Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => body(group.stream().into_iter().next()?),
        TokenTree::Group(group) => Some(group),
        _ => None,
    }
}

fn signature(input: ParseStream) -> syn::Result<Signature> {
    let ahead = input.fork();
    if ahead.parse::<Signature>().is_err() && !looks_like_function(input) {
        return Err(input.error("expected a function"));
    }
    input.parse()
}

pub(super) fn looks_like_function(input: ParseStream) -> bool {
    input.peek(Token![fn])
        || input.peek2(Token![fn])
        || input.peek(Token![async])
        || input.peek(Token![unsafe])
        || input.peek(Token![extern])
}

fn parameter_attrs(input: &mut FnArg) -> &mut Vec<Attribute> {
    match input {
        FnArg::Receiver(receiver) => &mut receiver.attrs,
        FnArg::Typed(typed) => &mut typed.attrs,
    }
}

/// Returns whether the macro or the argument struct uses the attribute.
pub(super) fn is_helper(attr: &Attribute) -> bool {
    ["doc", "arg", "ctx", "serde", "schemars"].iter().any(|name| attr.path().is_ident(name))
}
