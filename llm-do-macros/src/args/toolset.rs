//! What a declaration may call: `toolsets = [..]`, and the groups of `toolset!`.

use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Attribute, Ident, LitStr, Path, Token, Visibility, bracketed, token};

use super::{separated, skip_to_comma};
use crate::errors::Errors;

const NO_LIST: &str = "expected a list: `[path, ..]`";

/// The value of `toolsets`: what the compiler checks, and what is known by name only.
pub(crate) struct Toolsets {
    /// The whole list.
    pub(crate) span: Span,
    /// Tools and toolsets in scope.
    pub(crate) paths: Vec<Path>,
    /// Tools and toolsets that are looked up when the runtime is built.
    pub(crate) names: Vec<LitStr>,
}

impl Toolsets {
    /// Reads the list; a member at fault is noted and left out.
    pub(crate) fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        if !input.peek(token::Bracket) {
            errors.combine(input.error(NO_LIST));
            skip_to_comma(input);
            return Ok(Self { span: Span::call_site(), paths: Vec::new(), names: Vec::new() });
        }
        let (span, members) = list(input, errors)?;
        let mut toolsets = Self { span, paths: Vec::new(), names: Vec::new() };
        for member in members {
            match member {
                Member::Path(path) => toolsets.paths.push(path),
                Member::Name(name) => toolsets.names.push(name),
            }
        }
        Ok(toolsets)
    }
}

/// One `pub name = [members];` of `toolset!`.
pub(crate) struct Group {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    /// The whole list.
    pub(crate) span: Span,
    pub(crate) members: Vec<Path>,
}

impl Group {
    /// Reads one group; a member at fault is noted and left out.
    pub(crate) fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let ident = input.parse().map_err(|error| syn::Error::new(error.span(), "expected `name = [path, ..];`"))?;
        input.parse::<Token![=]>()?;
        let (span, members) = list(input, errors)?;
        let end = input.parse::<Token![;]>();
        errors.take(end.map_err(|_| syn::Error::new(span, "a toolset ends with `;`")));
        let members = members.into_iter().filter_map(|member| member.path(errors)).collect();
        Ok(Self { attrs, vis, ident, span, members })
    }
}

/// One member of a list.
enum Member {
    Path(Path),
    Name(LitStr),
}

impl Member {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let ahead = input.fork();
        let member = match ahead.parse::<LitStr>() {
            Ok(name) => Ok(Self::Name(name)),
            Err(_) => ahead.call(Path::parse_mod_style).map(Self::Path),
        };
        let is_whole = ahead.is_empty() || ahead.peek(Token![,]);
        if member.is_err() || !is_whole {
            return Err(input.error("expected the path of a tool or toolset, or its name as a string"));
        }
        input.advance_to(&ahead);
        member
    }

    /// Returns the path; a group is checked by the compiler, so a name is a fault.
    fn path(self, errors: &mut Errors) -> Option<Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Name(name) => {
                errors.push(name, "a toolset lists paths: names of run time belong in `toolsets = [..]` of an item");
                None
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Path(path) => path.to_token_stream().to_string().replace(' ', ""),
            Self::Name(name) => format!("\"{}\"", name.value()),
        }
    }

    fn tokens(&self) -> &dyn ToTokens {
        match self {
            Self::Path(path) => path,
            Self::Name(name) => name,
        }
    }
}

/// Reads `[member, ..]`; a member at fault is noted and left out.
fn list(input: ParseStream, errors: &mut Errors) -> syn::Result<(Span, Vec<Member>)> {
    if !input.peek(token::Bracket) {
        return Err(input.error(NO_LIST));
    }
    let content;
    let bracket = bracketed!(content in input);
    let mut members = Vec::new();
    separated(&content, errors, |input, errors| {
        let member = Member::parse(input)?;
        if members.iter().any(|other: &Member| other.text() == member.text()) {
            errors.push(member.tokens(), format!("`{}` listed twice", member.text()));
        } else {
            members.push(member);
        }
        Ok(())
    });
    Ok((bracket.span.join(), members))
}

/// Skips to behind the next `;`, where another group may begin.
pub(crate) fn skip_group(input: ParseStream) {
    while let Ok(token) = input.parse::<TokenTree>() {
        if matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';') {
            return;
        }
    }
}
