//! The grammar of the attributes: keys in any order, each at most once.

pub(crate) mod approval;
pub(crate) mod entry;
pub(crate) mod heading;
pub(crate) mod parameter;
pub(crate) mod server_side;
pub(crate) mod stateful;
pub(crate) mod timeout;
pub(crate) mod tool;
pub(crate) mod toolset;
pub(crate) mod worker;

pub(crate) use llm_do_worker_file::did_you_mean;
use llm_do_worker_file::nearest;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Token, bracketed, token};

use crate::errors::Errors;

/// What an attribute may say.
pub(crate) trait Grammar: Default + 'static {
    /// The attribute's name, as users write it.
    const ATTRIBUTE: &'static str;
    /// Its keys, in the order in which a fault lists them.
    const KEYS: &'static [Key<Self>];

    /// Returns how it is written with these keys.
    fn usage(keys: &str) -> String {
        format!("#[{}({keys})]", Self::ATTRIBUTE)
    }
}

/// One key of an attribute: how it is written, and how its value is read.
pub(crate) struct Key<A> {
    form: &'static str,
    read: fn(&mut A, Value<'_>) -> syn::Result<()>,
}

impl<A> Key<A> {
    /// A key written as `form`, such as `name = ".."`.
    pub(crate) const fn new(form: &'static str, read: fn(&mut A, Value<'_>) -> syn::Result<()>) -> Self {
        Self { form, read }
    }

    fn name(&self) -> &'static str {
        self.form.split_once(' ').map_or(self.form, |(name, _)| name)
    }
}

/// The place behind a key, where its value is to be read.
pub(crate) struct Value<'a> {
    key: &'a Ident,
    form: &'static str,
    input: ParseStream<'a>,
    errors: &'a mut Errors,
}

impl Value<'_> {
    /// Reads a value whose only possible fault is to be of another form.
    pub(crate) fn fill<T: Parse>(self, slot: &mut Option<T>) -> syn::Result<()> {
        let value = self.value()?;
        self.put(slot, value)
    }

    /// Reads a value that words its own faults, and may note some and go on.
    pub(crate) fn fill_with<T>(
        self,
        slot: &mut Option<T>,
        read: fn(ParseStream, &mut Errors) -> syn::Result<T>,
    ) -> syn::Result<()> {
        self.equals()?;
        let value = read(self.input, self.errors)?;
        self.put(slot, value)
    }

    /// Reads a key that may stand alone.
    pub(crate) fn fill_or<T, V: Parse>(
        self,
        slot: &mut Option<T>,
        alone: fn(Ident) -> T,
        with: fn(V) -> T,
    ) -> syn::Result<()> {
        if self.stands_alone() {
            return self.put(slot, alone(self.key.clone()));
        }
        let value = self.value()?;
        self.put(slot, with(value))
    }

    /// Reads a key that stands alone.
    pub(crate) fn flag(self, slot: &mut Option<Ident>) -> syn::Result<()> {
        if self.stands_alone() {
            return self.put(slot, self.key.clone());
        }
        Err(syn::Error::new_spanned(self.key, format!("`{}` takes no value", self.key)))
    }

    fn value<T: Parse>(&self) -> syn::Result<T> {
        self.equals()?;
        self.input.parse().map_err(|error| syn::Error::new(error.span(), self.expected()))
    }

    fn equals(&self) -> syn::Result<()> {
        let equals = self.input.parse::<Token![=]>();
        if equals.is_err() || self.stands_alone() {
            return Err(syn::Error::new_spanned(self.key, self.expected()));
        }
        Ok(())
    }

    fn stands_alone(&self) -> bool {
        self.input.is_empty() || self.input.peek(Token![,])
    }

    fn put<T>(&self, slot: &mut Option<T>, value: T) -> syn::Result<()> {
        if slot.replace(value).is_some() {
            return Err(syn::Error::new_spanned(self.key, format!("`{}` given twice", self.key)));
        }
        Ok(())
    }

    fn expected(&self) -> String {
        format!("expected `{}`", self.form)
    }
}

/// A text of `&'static str`: a literal, a constant, or a macro such as `include_str!`.
pub(crate) struct Text(pub(crate) Expr);

impl Parse for Text {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        match input.parse()? {
            Expr::Lit(ExprLit { lit, .. }) if !matches!(lit, Lit::Str(_)) => {
                Err(syn::Error::new_spanned(lit, "expected a text"))
            }
            text => Ok(Self(text)),
        }
    }
}

impl ToTokens for Text {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

/// Reads `["..", ..]`: one text or more, none of which is blank.
fn texts(input: ParseStream, errors: &mut Errors, what: &str) -> syn::Result<Punctuated<LitStr, Token![,]>> {
    let form = |span| syn::Error::new(span, format!("expected a list of texts, each {what}: `[\"..\", ..]`"));
    if !input.peek(token::Bracket) {
        return Err(form(input.span()));
    }
    let content;
    let bracket = bracketed!(content in input);
    let listed = Punctuated::<LitStr, Token![,]>::parse_terminated.parse2(content.parse()?);
    let texts = listed.map_err(|error| form(error.span()))?;
    if texts.is_empty() {
        errors.push_at(bracket.span.join(), format!("the list is empty: name {what}, or leave out the key"));
    }
    for text in texts.iter().filter(|text| text.value().trim().is_empty()) {
        errors.push(text, format!("{what} cannot be blank"));
    }
    Ok(texts)
}

/// Reads the arguments of an attribute; what is at fault is noted and left out.
pub(crate) fn parse<A: Grammar>(tokens: TokenStream, errors: &mut Errors) -> A {
    let mut args = A::default();
    let arguments = |input: ParseStream| {
        separated(input, errors, |input, errors| argument(&mut args, input, errors));
        Ok(())
    };
    let parsed = arguments.parse2(tokens);
    errors.take(parsed);
    args
}

/// Reads elements up to the end; one at fault is noted and skipped up to the next comma.
fn separated(
    input: ParseStream,
    errors: &mut Errors,
    mut element: impl FnMut(ParseStream, &mut Errors) -> syn::Result<()>,
) {
    while !input.is_empty() {
        let read = element(input, errors).and_then(|()| comma_or_end(input));
        if errors.take(read).is_none() {
            skip_past_comma(input);
        }
    }
}

fn comma_or_end(input: ParseStream) -> syn::Result<()> {
    if !input.is_empty() && input.parse::<Token![,]>().is_err() {
        return Err(input.error("expected `,`"));
    }
    Ok(())
}

/// Skips to behind the next comma, where another element may begin.
pub(crate) fn skip_past_comma(input: ParseStream) {
    skip_to_comma(input);
    let _: syn::Result<Token![,]> = input.parse();
}

fn skip_to_comma(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        // A token is there, and any token is a tree.
        let _: syn::Result<TokenTree> = input.parse();
    }
}

fn argument<A: Grammar>(args: &mut A, input: ParseStream, errors: &mut Errors) -> syn::Result<()> {
    let ident = Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), usage::<A>()))?;
    if let Some(key) = key::<A>(&ident.to_string()) {
        return (key.read)(args, Value { key: &ident, form: key.form, input, errors });
    }
    errors.combine(unknown::<A>(&ident));
    // What was meant is read, so that its absence is no further fault; nor is its value one before it is known.
    let meant = nearest(&ident.to_string(), A::KEYS.iter().map(Key::name)).and_then(key::<A>);
    let _ = meant.map(|key| (key.read)(args, Value { key: &ident, form: key.form, input, errors }));
    skip_to_comma(input);
    Ok(())
}

fn key<A: Grammar>(name: &str) -> Option<&'static Key<A>> {
    A::KEYS.iter().find(|key| key.name() == name)
}

fn unknown<A: Grammar>(ident: &Ident) -> syn::Error {
    let word = ident.to_string();
    let hint = did_you_mean(&word, A::KEYS.iter().map(Key::name));
    syn::Error::new_spanned(ident, format!("unknown key `{word}`{hint}\n{}", usage::<A>()))
}

/// Returns the whole grammar of an attribute, for a fault.
pub(crate) fn usage<A: Grammar>() -> String {
    let forms: Vec<_> = A::KEYS.iter().map(|key| key.form).collect();
    format!("expected `{}`", A::usage(&forms.join(", ")))
}
