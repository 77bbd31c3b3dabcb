//! The fields of a struct under `#[data]` that may arrive one by one, with their names in JSON.

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::{
    Attribute, DeriveInput, Expr, ExprLit, Field, Fields, Ident, Lit, Token, Type, Visibility, parenthesized, token,
};

/// The keys of serde that read a type in another way than by its fields.
const OTHER_FORMS: [&str; 5] = ["transparent", "from", "try_from", "into", "remote"];

/// The keys of serde that read a field in another way than by its type, or not at all.
const OTHER_FIELDS: [&str; 6] =
    ["flatten", "skip", "skip_serializing", "skip_deserializing", "with", "deserialize_with"];

/// A struct whose fields may arrive one by one.
pub(crate) struct PartialStruct {
    /// Its conditions: `#[cfg(..)]`.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) fields: Vec<PartialField>,
}

pub(crate) struct PartialField {
    /// Its conditions: `#[cfg(..)]`.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// Its name in JSON.
    pub(crate) name: String,
}

/// What `#[serde(..)]` attributes state.
#[derive(Default)]
struct Serde {
    /// The keys, without their values.
    keys: Vec<String>,
    rename: Option<String>,
    rename_all: Option<String>,
}

impl PartialStruct {
    /// Reads a struct with named fields; `None` for another type, for a generic one, and for one that serde reads in another way.
    pub(super) fn read(item: &DeriveInput) -> Option<Self> {
        let syn::Data::Struct(data) = &item.data else { return None };
        let Fields::Named(fields) = &data.fields else { return None };
        let serde = Serde::of(&item.attrs)?;
        if !item.generics.params.is_empty() || serde.has(&OTHER_FORMS) {
            return None;
        }
        let rule = serde.rename_all.as_deref().unwrap_or("snake_case");
        let fields = fields.named.iter().filter_map(|field| PartialField::read(field, rule)).collect();
        Some(Self {
            conditions: conditions(&item.attrs),
            visibility: item.vis.clone(),
            name: item.ident.clone(),
            fields,
        })
    }
}

impl PartialField {
    fn read(field: &Field, rule: &str) -> Option<Self> {
        let serde = Serde::of(&field.attrs).filter(|serde| !serde.has(&OTHER_FIELDS))?;
        let ident = field.ident.clone()?;
        let written = ident.unraw().to_string();
        Some(Self {
            conditions: conditions(&field.attrs),
            visibility: field.vis.clone(),
            ty: field.ty.clone(),
            name: serde.rename.or_else(|| renamed(&written, rule))?,
            ident,
        })
    }
}

impl Serde {
    /// Reads the attributes; `None` if serde would refuse them, or if they are conditional.
    fn of(attrs: &[Attribute]) -> Option<Self> {
        let mut serde = Self::default();
        if attrs.iter().any(|attr| attr.path().is_ident("cfg_attr")) {
            return None;
        }
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
            attr.parse_nested_meta(|meta| serde.add(&meta)).ok()?;
        }
        Some(serde)
    }

    fn has(&self, keys: &[&str]) -> bool {
        self.keys.iter().any(|key| keys.contains(&key.as_str()))
    }

    fn add(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let value = value_of(meta)?;
        match key.as_str() {
            "rename" => self.rename = value,
            "rename_all" => self.rename_all = value,
            _ => {}
        }
        self.keys.push(key);
        Ok(())
    }
}

pub(super) fn conditions(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect()
}

/// Returns the text of `key = ".."` or `key(deserialize = "..")`.
fn value_of(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<String>> {
    if meta.input.peek(Token![=]) {
        return Ok(match meta.value()?.parse::<Expr>()? {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        });
    }
    let mut found = None;
    if meta.input.peek(token::Paren) {
        let content;
        parenthesized!(content in meta.input);
        while !content.is_empty() {
            let key: Ident = content.parse()?;
            content.parse::<Token![=]>()?;
            let value: Expr = content.parse()?;
            if let (true, Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) = (key == "deserialize", value) {
                found = Some(text.value());
            }
            content.parse::<Option<Token![,]>>()?;
        }
    }
    Ok(found)
}

/// Returns the name of a field by a rule of serde; `None` for an unknown rule.
fn renamed(field: &str, rule: &str) -> Option<String> {
    Some(match rule {
        "snake_case" | "lowercase" => field.to_owned(),
        "UPPERCASE" | "SCREAMING_SNAKE_CASE" => field.to_ascii_uppercase(),
        "kebab-case" => field.replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => field.to_ascii_uppercase().replace('_', "-"),
        "PascalCase" => pascal(field),
        "camelCase" => {
            let name = pascal(field);
            let first = name.chars().next().map_or(0, char::len_utf8);
            name[..first].to_ascii_lowercase() + &name[first..]
        }
        _ => return None,
    })
}

fn pascal(field: &str) -> String {
    let mut name = String::new();
    for word in field.split('_') {
        let first = word.chars().next().map_or(0, char::len_utf8);
        name.push_str(&word[..first].to_ascii_uppercase());
        name.push_str(&word[first..]);
    }
    name
}

/// Returns tokens with `Self` replaced by the name of the struct.
pub(crate) fn named(tokens: TokenStream, name: &Ident) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Ident(ident) if ident == "Self" => TokenTree::Ident(name.clone()),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), named(group.stream(), name));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        other => other,
    };
    tokens.into_iter().map(replace).collect()
}
