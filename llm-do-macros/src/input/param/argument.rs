//! Arguments: the parameters that a caller passes.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Expr, Ident, LitStr, Meta, PatType, Type};

use super::{Kind, attributes, binding};
use crate::args::parameter::{Arg, Default};
use crate::args::{self, Text};
use crate::errors::Errors;
use crate::input::{docs, last_segment, name, owned, ungrouped};

/// One field of the argument struct.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    /// The type of the field; it owns its data even if the parameter borrows.
    pub(crate) ty: Type,
    /// Whether the function takes a reference to the field.
    pub(crate) is_borrowed: bool,
    pub(crate) default: Option<Default>,
    pub(crate) example: Option<Expr>,
    pub(crate) rename: Option<LitStr>,
    /// Whether it is omitted if it is `None`, instead of being `null`.
    pub(crate) skips_none: bool,
    /// Whether the fields of the value replace the argument.
    pub(crate) is_flat: bool,
    /// A `&'static str` expression, unless there is no description.
    pub(crate) description: Option<TokenStream>,
    pub(crate) docs: Vec<Attribute>,
    /// The `#[schemars]` attributes.
    pub(crate) schemars: Vec<Attribute>,
}

impl Argument {
    /// Reads an argument; returns `None` if its name or type is invalid.
    pub(super) fn read(kind: Kind, typed: &PatType, errors: &mut Errors) -> Option<Self> {
        let arg = arg(&typed.attrs, errors);
        let schemars = attributes::read(&typed.attrs, errors);
        check_flatten(&arg, &typed.attrs, errors);
        let ident = binding_of(kind, typed, errors);
        let (ty, is_borrowed) = field(kind, &typed.ty, errors)?;
        let argument = Self {
            ident: ident?,
            ty,
            is_borrowed,
            default: arg.default,
            example: arg.example,
            rename: arg.rename,
            skips_none: false,
            is_flat: arg.flatten.is_some(),
            description: arg.description.map(Text::into_token_stream).or_else(|| docs::non_blank_text(&typed.attrs)),
            docs: docs::attributes(&typed.attrs),
            schemars,
        };
        argument.check_name(errors);
        Some(argument)
    }

    fn check_name(&self, errors: &mut Errors) {
        if !self.is_flat && !name::is_valid_argument(&self.name()) {
            let rule = format!("invalid argument name `{}`: {}", self.name(), name::ARGUMENT_RULE);
            let way_out = if self.rename.is_some() { "" } else { "; set another with `#[arg(rename = \"..\")]`" };
            errors.push(self.name_tokens(), format!("{rule}{way_out}"));
        }
    }

    /// Returns the name in the schema.
    pub(crate) fn name(&self) -> String {
        self.rename.as_ref().map_or_else(|| self.ident.unraw().to_string(), LitStr::value)
    }

    /// Returns the tokens of its name in the schema.
    pub(super) fn name_tokens(&self) -> TokenStream {
        self.rename.as_ref().map_or_else(|| self.ident.to_token_stream(), LitStr::to_token_stream)
    }

    /// Returns whether the schema does not require it.
    pub(crate) fn may_be_absent(&self) -> bool {
        self.default.is_some() || self.is_option()
    }

    /// Returns whether the field is spelled as an `Option`.
    pub(crate) fn is_option(&self) -> bool {
        last_segment(&self.ty).is_some_and(|segment| segment.ident == "Option" && !segment.arguments.is_none())
    }
}

/// Adds errors for other keys beside `flatten`: a flattened argument is not a property of the schema.
fn check_flatten(arg: &Arg, attrs: &[Attribute], errors: &mut Errors) {
    if arg.flatten.is_none() {
        return;
    }
    let default = arg.default.as_ref().map(|default| match default {
        Default::OfType(key) => key.to_token_stream(),
        Default::Value(value) => value.to_token_stream(),
    });
    let keys = [
        ("default", default),
        ("rename", arg.rename.as_ref().map(LitStr::to_token_stream)),
        ("description", arg.description.as_ref().map(Text::to_token_stream)),
        ("example", arg.example.as_ref().map(Expr::to_token_stream)),
    ];
    for (key, value) in keys.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        errors.push(value, format!("`{key}` cannot be combined with `flatten`; set it on the fields of the struct"));
    }
    if let Some(attr) = attrs.iter().find(|attr| attr.path().is_ident("schemars")) {
        errors.push(attr, "`#[schemars]` cannot be combined with `flatten`; put it on the fields of the struct");
    }
}

fn arg(attrs: &[Attribute], errors: &mut Errors) -> Arg {
    let mut given = attrs.iter().filter(|attr| attr.path().is_ident("arg"));
    let arg = given.next().map(|attr| read_arg(attr, errors)).unwrap_or_default();
    for attr in given {
        errors.push(attr, "duplicate `#[arg]`; put all keys in one attribute");
    }
    arg
}

fn read_arg(attr: &Attribute, errors: &mut Errors) -> Arg {
    match &attr.meta {
        Meta::List(list) => args::parse(list.tokens.clone(), errors),
        Meta::Path(_) | Meta::NameValue(_) => {
            errors.push(attr, format!("expected `#[arg(key, ..)]`\n{}", args::expected_key::<Arg>()));
            <Arg as std::default::Default>::default()
        }
    }
}

fn binding_of(kind: Kind, typed: &PatType, errors: &mut Errors) -> Option<Ident> {
    let ident = binding(&typed.pat).cloned();
    if ident.is_none() {
        errors.push(&typed.pat, format!("the parameter of {kind} must be a plain name, since it names the argument"));
    }
    ident
}

/// Returns the type of the field, and whether the function borrows from it.
fn field(kind: Kind, ty: &Type, errors: &mut Errors) -> Option<(Type, bool)> {
    let borrowed = match ungrouped(ty) {
        Type::Reference(reference) => owned::field_type(reference),
        _ => None,
    };
    let is_borrowed = borrowed.is_some();
    let ty = borrowed.unwrap_or_else(|| owned::with_static_lifetimes(ty));
    owned::check(kind, &ty, errors).then_some((ty, is_borrowed))
}
