//! The contents of a group of `toolset!`: the members of a list, the tools of an MCP server, or those of a type with methods.

use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, LitStr, Path, token};

use super::{Member, checked_member, list};
use crate::errors::Errors;

const MCP: &str = "expected `mcp(\"NAME.mcp.json\")`";
const INSTANCE: &str = "expected `instance(TYPE)`, with a type under `#[tool]`";

/// The contents of a group.
pub(crate) enum Contents {
    /// The whole list, and its valid members.
    List { span: Span, members: Vec<Member> },
    /// The file of a snapshot of an MCP server.
    Mcp(LitStr),
    /// The type with methods of which the group is a named instance.
    Instance(Path),
}

impl Contents {
    /// Parses the contents after the `=`, and returns them with their span.
    pub(super) fn parse(input: ParseStream, group: &Ident, errors: &mut Errors) -> syn::Result<(Span, Self)> {
        if input.peek(Ident::peek_any) && input.peek2(token::Paren) {
            return source(input, errors);
        }
        let (span, listed) = list(input, errors)?;
        let members = listed.into_iter().filter_map(|listed| checked_member(group, listed, errors)).collect();
        Ok((span, Self::List { span, members }))
    }

    /// Returns the description of the contents, for an error.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::List { .. } => "list",
            Self::Mcp(_) => "`mcp(..)`",
            Self::Instance(_) => "`instance(..)`",
        }
    }
}

/// Parses `mcp("file")` or `instance(TYPE)`.
fn source(input: ParseStream, errors: &mut Errors) -> syn::Result<(Span, Contents)> {
    let word = input.call(Ident::parse_any)?;
    let arguments: proc_macro2::Group = input.parse()?;
    let span = arguments.to_token_stream().into_iter().next().map_or(word.span(), |group| group.span());
    if word == "instance" {
        let ty = Path::parse_mod_style.parse2(arguments.stream());
        return Ok((span, Contents::Instance(ty.map_err(|_| syn::Error::new(arguments.span(), INSTANCE))?)));
    }
    if word != "mcp" {
        errors.push(&word, format!("unknown source `{word}`\n{MCP}, `instance(TYPE)`, or a list: `[path, ..]`"));
    }
    let file = |input: ParseStream| input.parse::<LitStr>();
    let file = file.parse2(arguments.stream()).map_err(|_| syn::Error::new(arguments.span(), MCP))?;
    Ok((span, Contents::Mcp(file)))
}
