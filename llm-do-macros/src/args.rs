//! Parses the arguments of the attributes: keys in any order, each at most once.

pub(crate) mod approval;
pub(crate) mod data;
pub(crate) mod entry;
pub(crate) mod on_unknown;
pub(crate) mod parameter;
pub(crate) mod server_side;
pub(crate) mod shared_keys;
pub(crate) mod stateful;
pub(crate) mod timeout;
pub(crate) mod tool;
pub(crate) mod toolset;
pub(crate) mod worker;

pub(crate) use llm_do_worker_file::did_you_mean;
use llm_do_worker_file::nearest;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Token, bracketed, token};

use crate::errors::Errors;

/// The arguments of an attribute.
pub(crate) trait Grammar: Default + 'static {
    /// The keys, in the order in which an error lists them.
    const KEYS: &'static [Key<Self>];
    /// The page that documents the keys, as a path for rustdoc.
    const DOCS: &'static str;
}

/// A key of an attribute: how it is written, and how its value is parsed.
pub(crate) struct Key<A> {
    form: &'static str,
    read: fn(&mut A, Value<'_>) -> syn::Result<()>,
}

impl<A> Key<A> {
    /// Returns a key that is written as `form`, such as `name = ".."`.
    pub(crate) const fn new(form: &'static str, read: fn(&mut A, Value<'_>) -> syn::Result<()>) -> Self {
        Self { form, read }
    }

    fn name(&self) -> &'static str {
        self.form.split_once(' ').map_or(self.form, |(name, _)| name)
    }
}

/// The position after a key, where its value is parsed.
pub(crate) struct Value<'a> {
    key: &'a Ident,
    form: &'static str,
    input: ParseStream<'a>,
    errors: &'a mut Errors,
}

impl Value<'_> {
    /// Parses a value; every error shows how the key is written.
    pub(crate) fn fill<T: Parse>(self, slot: &mut Option<T>) -> syn::Result<()> {
        let value = self.value()?;
        self.set_once(slot, value)
    }

    /// Parses a value with a function that has its own error messages and can add errors without returning one.
    pub(crate) fn fill_with<T>(
        self,
        slot: &mut Option<T>,
        read: fn(ParseStream, &mut Errors) -> syn::Result<T>,
    ) -> syn::Result<()> {
        self.equals()?;
        let value = read(self.input, self.errors)?;
        self.set_once(slot, value)
    }

    /// Parses a key whose value is optional.
    pub(crate) fn fill_or<T, V: Parse>(
        self,
        slot: &mut Option<T>,
        bare: fn(Ident) -> T,
        with: fn(V) -> T,
    ) -> syn::Result<()> {
        if self.is_bare() {
            return self.set_once(slot, bare(self.key.clone()));
        }
        let value = self.value()?;
        self.set_once(slot, with(value))
    }

    /// Parses a key without a value.
    pub(crate) fn flag(self, slot: &mut Option<Ident>) -> syn::Result<()> {
        if self.is_bare() {
            return self.set_once(slot, self.key.clone());
        }
        Err(syn::Error::new_spanned(self.key, format!("`{}` takes no value", self.key)))
    }

    fn value<T: Parse>(&self) -> syn::Result<T> {
        self.equals()?;
        self.input.parse().map_err(|error| syn::Error::new(error.span(), self.expected()))
    }

    fn equals(&self) -> syn::Result<()> {
        let equals = self.input.parse::<Token![=]>();
        if equals.is_err() || self.is_bare() {
            return Err(syn::Error::new_spanned(self.key, self.expected()));
        }
        Ok(())
    }

    fn is_bare(&self) -> bool {
        self.input.is_empty() || self.input.peek(Token![,])
    }

    fn set_once<T>(&self, slot: &mut Option<T>, value: T) -> syn::Result<()> {
        if slot.replace(value).is_some() {
            return Err(syn::Error::new_spanned(self.key, format!("duplicate key `{}`; remove one", self.key)));
        }
        Ok(())
    }

    fn expected(&self) -> String {
        format!("expected `{}`", self.form)
    }
}

/// An expression of type `&'static str`: a literal, a constant, or a macro such as `include_str!`.
pub(crate) struct Text(pub(crate) Expr);

impl Parse for Text {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        match input.parse()? {
            Expr::Lit(ExprLit { lit, .. }) if !matches!(lit, Lit::Str(_)) => {
                Err(syn::Error::new_spanned(lit, "expected a string"))
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

/// Parses one of the words of a key; `what` is what another word would be.
fn word<T: Copy>(input: ParseStream, what: &str, words: &[(&str, T)]) -> syn::Result<T> {
    let expected = format!("expected {}", alternatives(words.iter().map(|(word, _)| *word)));
    let ident: Ident = input.parse().map_err(|error| syn::Error::new(error.span(), &expected))?;
    let given = ident.to_string();
    words.iter().find(|(word, _)| *word == given).map(|(_, value)| *value).ok_or_else(|| {
        let hint = did_you_mean(&given, words.iter().map(|(word, _)| *word));
        syn::Error::new_spanned(ident, format!("unknown {what} `{given}`{hint}\n{expected}"))
    })
}

/// Parses `["..", ..]`: at least one string literal, none of them blank. `what` describes an element in errors.
fn texts(input: ParseStream, errors: &mut Errors, what: &str) -> syn::Result<Punctuated<LitStr, Token![,]>> {
    let form = |span| syn::Error::new(span, format!("expected a list of {what}s as string literals: `[\"..\", ..]`"));
    if !input.peek(token::Bracket) {
        return Err(form(input.span()));
    }
    let content;
    let bracket = bracketed!(content in input);
    let listed = Punctuated::<LitStr, Token![,]>::parse_terminated.parse2(content.parse()?);
    let texts = listed.map_err(|error| form(error.span()))?;
    if texts.is_empty() {
        errors.push_at(bracket.span.join(), format!("empty list; add a {what} or remove the key"));
    }
    for text in texts.iter().filter(|text| text.value().trim().is_empty()) {
        errors.push(text, format!("blank {what}; write a text or remove it"));
    }
    Ok(texts)
}

/// Parses the arguments of an attribute, without the invalid ones.
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

/// Parses elements up to the end. After an invalid element, parsing continues after the next comma.
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

/// Skips past the next comma, after which the next element begins.
pub(crate) fn skip_past_comma(input: ParseStream) {
    skip_to_comma(input);
    let _: syn::Result<Token![,]> = input.parse();
}

fn skip_to_comma(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        // Cannot fail: the input is not empty.
        let _: syn::Result<TokenTree> = input.parse();
    }
}

fn argument<A: Grammar>(args: &mut A, input: ParseStream, errors: &mut Errors) -> syn::Result<()> {
    let ident = Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), expected_key::<A>()))?;
    if let Some(key) = key::<A>(&ident.to_string()) {
        return (key.read)(args, Value { key: &ident, form: key.form, input, errors });
    }
    errors.combine(unknown::<A>(&ident));
    // The suggested key is parsed, so that it is not reported as missing. Errors in its value are ignored.
    let suggested = nearest(&ident.to_string(), A::KEYS.iter().map(Key::name)).and_then(key::<A>);
    let _ = suggested.map(|key| (key.read)(args, Value { key: &ident, form: key.form, input, errors }));
    skip_to_comma(input);
    Ok(())
}

/// Parses the value of a key from a worker file; returns an error if the attribute has the key too.
pub(crate) fn fill<A: Grammar>(args: &mut A, name: &str, span: Span, value: &TokenStream) -> syn::Result<()> {
    let ident = Ident::new(name, span);
    let key = key::<A>(name).ok_or_else(|| unknown::<A>(&ident))?;
    // The parser of the file reports faults: here, a list without its invalid items may be empty.
    let mut errors = Errors::default();
    let read = |input: ParseStream| (key.read)(args, Value { key: &ident, form: key.form, input, errors: &mut errors });
    read.parse2(quote!(= #value))
}

fn key<A: Grammar>(name: &str) -> Option<&'static Key<A>> {
    A::KEYS.iter().find(|key| key.name() == name)
}

fn unknown<A: Grammar>(ident: &Ident) -> syn::Error {
    let word = ident.to_string();
    let hint = did_you_mean(&word, A::KEYS.iter().map(Key::name));
    syn::Error::new_spanned(ident, format!("unknown key `{word}`{hint}\n{}", expected_key::<A>()))
}

/// Returns the names of all keys and the link to their documentation, for an error.
pub(crate) fn expected_key<A: Grammar>() -> String {
    let one_of = if A::KEYS.len() > 1 { "one of " } else { "" };
    let keys = alternatives(A::KEYS.iter().map(Key::name));
    format!("expected {one_of}{keys}\nsee the documentation of `{}`", A::DOCS)
}

/// Returns `` `a`, `b` or `c` ``, or the only name.
fn alternatives<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Grammar, Key, data, entry, parameter, stateful, tool, worker};

    /// Checks that a table in the documentation of the attributes has a row for each key.
    fn check<A: Grammar>(heading: &str) {
        let lines = include_str!("lib.rs").lines();
        let rows = lines.skip_while(|line| *line != heading).skip(2).map_while(|line| line.strip_prefix("/// | `"));
        let mut listed: Vec<_> = rows.filter_map(|row| row.split([' ', '`']).next()).collect();
        // A key whose value is optional has two rows.
        listed.dedup();
        listed.sort_unstable();
        let mut known: Vec<_> = A::KEYS.iter().map(Key::name).collect();
        known.sort_unstable();
        assert_eq!(listed, known, "{heading}");
    }

    #[test]
    fn the_documentation_of_an_attribute_lists_its_keys() {
        check::<tool::Tool>("/// | Key of `#[tool(..)]` | Meaning |");
        check::<parameter::Arg>("/// | Key of `#[arg(..)]` | Meaning |");
        check::<stateful::Stateful>("/// | Key | Meaning |");
        check::<worker::Worker>("/// | Key of `#[worker(..)]` | Meaning |");
        check::<entry::Entry>("/// | Key of `#[entry(..)]` | Meaning |");
        check::<data::Data>("/// | Key of `#[data(..)]` | Meaning |");
    }
}
