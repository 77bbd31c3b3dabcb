//! One member of a list: a path, a registered name, or a form around another member.

use std::fmt::{self, Display};

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::ToTokens;
use syn::buffer::Cursor;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Path, PathSegment, Token, token};

use crate::args::{did_you_mean, separated};
use crate::errors::Errors;

/// The list of all kinds of members, for an error.
const EXPECTED: &str = "expected `path`, `\"name\"`, `prefixed(..)`, `member.only(..)` or `member.except(..)`\n\
                        see the documentation of `llm_do::tool#members`";
/// The forms, each with its syntax.
const FORMS: [(&str, &str); 3] = [
    ("prefixed", "prefixed(\"prefix_\", member)"),
    ("only", "member.only([path, ..])"),
    ("except", "member.except([path, ..])"),
];

/// Other names for the forms, for which the error suggests the form.
const SYNONYMS: [(&str, &[&str]); 3] = [
    ("prefixed", &["prefix", "with_prefix", "rename", "renamed", "namespace", "namespaced"]),
    ("only", &["include", "including", "just", "pick", "select", "with", "keep", "allow", "filter"]),
    ("except", &["exclude", "excluding", "without", "but", "not", "minus", "omit", "remove", "deny"]),
];

/// The type in the module of an MCP server that stands for all of its tools; written as `*` in a path.
pub(crate) const ALL: &str = "__McpToolset";

/// An element of a list.
pub(super) enum Listed {
    Member(Member),
    /// A registered name, which is resolved at run time.
    Name(LitStr),
}

/// A member that the compiler checks.
pub(crate) enum Member {
    /// A tool or toolset in scope.
    Path(Path),
    /// The tools of the member, with a prefix in front of their names.
    Prefixed { prefix: LitStr, member: Box<Member> },
    /// Only the tools in `paths`, or all except them.
    Picked { member: Box<Member>, pick: Pick, paths: Vec<Path> },
}

/// Whether the listed tools are included or excluded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    Only,
    Except,
}

impl Pick {
    fn word(self) -> &'static str {
        match self {
            Self::Only => "only",
            Self::Except => "except",
        }
    }
}

impl Listed {
    /// Parses an element, and returns it with its tokens.
    pub(super) fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<(Self, TokenStream)> {
        let start = input.cursor();
        let listed =
            if input.peek(LitStr) { Self::Name(input.parse()?) } else { Self::Member(Member::parse(input, errors)?) };
        if input.is_empty() || input.peek(Token![,]) {
            return Ok((listed, between(start, input.cursor())));
        }
        Err(input.error(if input.peek(Ident::peek_any) || input.peek(LitStr) { "expected `,`" } else { EXPECTED }))
    }
}

fn between(mut start: Cursor, end: Cursor) -> TokenStream {
    let mut tokens = Vec::new();
    while start != end {
        let Some((token, next)) = start.token_tree() else { break };
        tokens.push(token);
        start = next;
    }
    tokens.into_iter().collect()
}

impl Member {
    /// Returns the path inside the forms.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Prefixed { member, .. } | Self::Picked { member, .. } => member.path(),
        }
    }

    fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        let mut member = Self::first(input, errors)?;
        while input.peek(Token![.]) {
            member = member.picked(input, errors)?;
        }
        Ok(member)
    }

    /// Parses a path or `prefixed(..)`.
    fn first(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        if input.peek(LitStr) {
            return Err(
                input.error("a registered name cannot be used here, since it is resolved at run time; write a path")
            );
        }
        let path = path(input).map_err(|error| syn::Error::new(error.span(), EXPECTED))?;
        let Some(arguments) = arguments(input) else {
            return Ok(Self::Path(path));
        };
        let content = arguments.stream();
        if path.is_ident("prefixed") {
            let read = |input: ParseStream| Self::prefixed(input, arguments.span(), errors);
            return read.parse2(content);
        }
        Err(unknown(&path))
    }

    /// Parses the parentheses of `prefixed`.
    fn prefixed(input: ParseStream, whole_span: Span, errors: &mut Errors) -> syn::Result<Self> {
        let form = "expected `prefixed(\"prefix_\", member)`";
        if input.is_empty() {
            return Err(syn::Error::new(whole_span, form));
        }
        let Ok(prefix) = input.parse::<LitStr>() else {
            return Err(input.error(format!("the prefix must be a string literal: {form}")));
        };
        check_prefix(&prefix, errors);
        if input.parse::<Token![,]>().is_err() || input.is_empty() {
            return Err(syn::Error::new(whole_span, form));
        }
        let member = Box::new(Self::parse(input, errors)?);
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            return Err(input.error(format!("`prefixed` takes one member: {form}")));
        }
        Ok(Self::Prefixed { prefix, member })
    }

    /// Parses `.only([..])` or `.except([..])` after the member.
    fn picked(self, input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        input.parse::<Token![.]>()?;
        let word = Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), EXPECTED))?;
        let pick = [Pick::Only, Pick::Except].into_iter().find(|pick| word == pick.word());
        let Some(pick) = pick else {
            return Err(unknown(&word));
        };
        let form = || format!("expected `.{word}([path, ..])`");
        let list = arguments(input).ok_or_else(|| syn::Error::new_spanned(&word, form()))?;
        let list = only_list(&list).ok_or_else(|| syn::Error::new(list.span(), form()))?;
        let paths = paths(&list, errors)?;
        if paths.is_empty() && list.stream().is_empty() {
            return Err(syn::Error::new(list.span(), format!("empty list: {}", form())));
        }
        Ok(Self::Picked { member: Box::new(self), pick, paths })
    }
}

/// Parses a path of a tool or toolset, or `module::*`.
fn path(input: ParseStream) -> syn::Result<Path> {
    let ahead = input.fork();
    match all_of_module(&ahead) {
        Some(path) => {
            input.advance_to(&ahead);
            Ok(path)
        }
        None => input.call(Path::parse_mod_style),
    }
}

/// Parses `module::*`, as the path of the type that stands for all tools of the module.
fn all_of_module(input: ParseStream) -> Option<Path> {
    let mut path = Path { leading_colon: input.parse().ok()?, segments: Punctuated::new() };
    while !input.peek(Token![*]) {
        path.segments.push_value(PathSegment::from(Ident::parse_any(input).ok()?));
        path.segments.push_punct(input.parse().ok()?);
    }
    let star: Token![*] = input.parse().ok()?;
    let is_below_module = !path.segments.is_empty();
    path.segments.push_value(PathSegment::from(Ident::new(ALL, star.span)));
    is_below_module.then_some(path)
}

/// Returns the parentheses that follow, if any.
fn arguments(input: ParseStream) -> Option<Group> {
    if input.peek(token::Paren) { input.parse().ok() } else { None }
}

/// Returns the list in brackets, if it is the only argument.
fn only_list(arguments: &Group) -> Option<Group> {
    let read = |input: ParseStream| {
        let list: Group = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(list)
    };
    read.parse2(arguments.stream()).ok().filter(|list| list.delimiter() == Delimiter::Bracket)
}

/// Parses the paths in the brackets of `only` or `except`, without the invalid ones.
fn paths(list: &Group, errors: &mut Errors) -> syn::Result<Vec<Path>> {
    let mut paths: Vec<Path> = Vec::new();
    let read = |input: ParseStream| {
        separated(input, errors, |input, errors| {
            let form = "expected the path of a tool or toolset";
            let path = path(input).map_err(|error| syn::Error::new(error.span(), form))?;
            if !input.is_empty() && !input.peek(Token![,]) {
                return Err(input.error(form));
            }
            if paths.iter().any(|other| text(other) == text(&path)) {
                errors.push(&path, format!("`{}` is listed twice; remove one", text(&path)));
            } else {
                paths.push(path);
            }
            Ok(())
        });
        Ok(())
    };
    read.parse2(list.stream())?;
    Ok(paths)
}

/// Adds an error if no tool name can begin with the prefix.
fn check_prefix(prefix: &LitStr, errors: &mut Errors) {
    let text = prefix.value();
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if text.is_empty() {
        errors.push(prefix, "empty prefix; write a prefix or remove `prefixed`");
    } else if !text.bytes().all(is_allowed) {
        errors.push(prefix, format!("invalid prefix `{text}`: expected ASCII letters, digits, `_` or `-`"));
    }
}

/// Returns the error for a form that is unknown, or known but with other syntax.
fn unknown(word: &impl ToTokens) -> syn::Error {
    let text = text(word);
    let last = text.rsplit("::").next().unwrap_or_default();
    if let Some((_, form)) = FORMS.iter().find(|(name, _)| *name == last) {
        return syn::Error::new_spanned(word, format!("expected `{form}`"));
    }
    let hint = match SYNONYMS.iter().find(|(_, words)| words.contains(&last)) {
        Some((form, _)) => format!("; did you mean `{form}`?"),
        None => did_you_mean(last, FORMS.iter().map(|(name, _)| *name)),
    };
    syn::Error::new_spanned(word, format!("unknown operation `{text}`{hint}\n{EXPECTED}"))
}

/// Returns a path as the user wrote it.
pub(crate) fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(' ', "").replace(ALL, "*")
}

impl Display for Listed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(member) => member.fmt(formatter),
            Self::Name(name) => write!(formatter, "\"{}\"", name.value()),
        }
    }
}

impl Display for Member {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => formatter.write_str(&text(path)),
            Self::Prefixed { prefix, member } => write!(formatter, "prefixed(\"{}\", {member})", prefix.value()),
            Self::Picked { member, pick, paths } => {
                let paths: Vec<_> = paths.iter().map(text).collect();
                write!(formatter, "{member}.{}([{}])", pick.word(), paths.join(", "))
            }
        }
    }
}
