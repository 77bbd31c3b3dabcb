//! Parameters that a caller fills in.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Expr, Ident, LitStr, Meta, PatType, Token, Type};

use super::{Kind, attributes, binding};
use crate::args::{self, parameter::Arg};
use crate::errors::Errors;
use crate::input::{docs, last_segment, owned, ungrouped};

/// One field of the argument struct.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    /// The field's type; it owns what a borrowing parameter borrows.
    pub(crate) ty: Type,
    /// Whether the function takes a reference to the field.
    pub(crate) is_borrowed: bool,
    pub(crate) default: Option<Expr>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) docs: Vec<Attribute>,
    /// What serde and schemars are told about the field.
    pub(crate) attrs: Vec<Attribute>,
}

impl Argument {
    /// Reads an argument, unless its name or its type is at fault.
    pub(super) fn read(kind: Kind, typed: &PatType, errors: &mut Errors) -> Option<Self> {
        let arg = arg(&typed.attrs, errors);
        let attrs = attributes::read(kind, &typed.attrs, errors);
        let ident = name(kind, typed, errors);
        let (ty, is_borrowed) = field(kind, &typed.ty, errors)?;
        Some(Self {
            ident: ident?,
            ty,
            is_borrowed,
            default: arg.default,
            rename: arg.rename,
            description: arg.description,
            docs: docs::of(&typed.attrs),
            attrs,
        })
    }

    /// Returns the name in the schema.
    pub(crate) fn name(&self) -> String {
        self.rename.as_ref().map_or_else(|| self.ident.unraw().to_string(), LitStr::value)
    }

    /// Returns where the name in the schema is given.
    pub(super) fn name_tokens(&self) -> TokenStream {
        self.rename.as_ref().map_or_else(|| self.ident.to_token_stream(), LitStr::to_token_stream)
    }

    /// Returns whether the schema does not require it.
    pub(crate) fn may_be_absent(&self) -> bool {
        let mut has_default = self.default.is_some();
        for attr in self.attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
            // What is no list of keys is serde's to refuse.
            _ = attr.parse_nested_meta(|meta| {
                has_default |= meta.path.is_ident("default");
                if meta.input.peek(Token![=]) { meta.value()?.parse::<Expr>().map(drop) } else { Ok(()) }
            });
        }
        has_default || self.is_option()
    }

    /// Returns whether the field is spelled as an `Option`.
    pub(crate) fn is_option(&self) -> bool {
        last_segment(&self.ty).is_some_and(|segment| segment.ident == "Option")
    }
}

fn arg(attrs: &[Attribute], errors: &mut Errors) -> Arg {
    let mut given = attrs.iter().filter(|attr| attr.path().is_ident("arg"));
    let arg = given.next().map(|attr| read_arg(attr, errors)).unwrap_or_default();
    for attr in given {
        errors.push(attr, "`#[arg]` given twice: put all its keys into one");
    }
    arg
}

fn read_arg(attr: &Attribute, errors: &mut Errors) -> Arg {
    match &attr.meta {
        Meta::List(list) => args::parse(list.tokens.clone(), errors),
        Meta::Path(_) | Meta::NameValue(_) => {
            errors.push(attr, args::usage::<Arg>());
            Arg::default()
        }
    }
}

fn name(kind: Kind, typed: &PatType, errors: &mut Errors) -> Option<Ident> {
    let ident = binding(&typed.pat).cloned();
    if ident.is_none() {
        errors.push(&typed.pat, format!("{kind} needs a name for each parameter: it is the argument's name"));
    }
    ident
}

/// Returns the field's type, and whether the function borrows from it.
fn field(kind: Kind, ty: &Type, errors: &mut Errors) -> Option<(Type, bool)> {
    let lent = match ungrouped(ty) {
        Type::Reference(reference) => owned::lender(reference),
        _ => None,
    };
    let is_borrowed = lent.is_some();
    let ty = lent.unwrap_or_else(|| ty.clone());
    owned::check(kind, &ty, errors).then_some((ty, is_borrowed))
}
