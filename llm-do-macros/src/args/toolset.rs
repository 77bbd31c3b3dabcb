//! The members of `toolsets = [..]` and of the groups in `toolset!`.

mod contents;
mod member;

use proc_macro2::{Span, TokenTree};
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Token, Visibility, bracketed, parenthesized, token};

pub(crate) use self::contents::Contents;
use self::member::Listed;
pub(crate) use self::member::{ALL, Member, Pick, text};
use super::approval::{self, Approval, HasApproval};
use super::on_unknown::{self, HasOnUnknown, OnUnknown};
use super::{Grammar, Key, parse, separated, skip_to_comma};
use crate::errors::Errors;

const NO_LIST: &str = "expected a list: `[path, ..]`";

/// The value of `toolsets`.
pub(crate) struct Toolsets {
    /// The whole list.
    pub(crate) span: Span,
    /// Tools and toolsets in scope.
    pub(crate) members: Vec<Member>,
    /// Registered names, which are resolved when the runtime is built.
    pub(crate) names: Vec<LitStr>,
}

impl Toolsets {
    /// Parses the list, without the invalid members.
    pub(crate) fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        if !input.peek(token::Bracket) {
            errors.combine(input.error(NO_LIST));
            skip_to_comma(input);
            return Ok(Self { span: Span::call_site(), members: Vec::new(), names: Vec::new() });
        }
        let (span, listed) = list(input, errors)?;
        let mut toolsets = Self { span, members: Vec::new(), names: Vec::new() };
        for listed in listed {
            match listed {
                Listed::Member(member) => toolsets.members.push(member),
                Listed::Name(name) => toolsets.names.push(name),
            }
        }
        Ok(toolsets)
    }

    /// Returns whether nothing is listed.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.names.is_empty()
    }
}

/// The keys in parentheses after the name of a group.
#[derive(Default)]
pub(crate) struct GroupKeys {
    /// Whether calls of its members need approval.
    pub(crate) approval: Option<Approval>,
    /// What happens to a call of its members with an unknown outcome.
    pub(crate) on_unknown: Option<OnUnknown>,
}

impl HasApproval for GroupKeys {
    fn approval(&mut self) -> &mut Option<Approval> {
        &mut self.approval
    }
}

impl HasOnUnknown for GroupKeys {
    fn on_unknown(&mut self) -> &mut Option<OnUnknown> {
        &mut self.on_unknown
    }
}

impl Grammar for GroupKeys {
    const DOCS: &'static str = "llm_do::toolset";
    const KEYS: &'static [Key<Self>] = &[approval::key(), on_unknown::key()];
}

/// One `pub name = [members];` of `toolset!`, or `pub name(keys) = [members];`, `pub name = mcp("file");` or
/// `pub name = instance(TYPE);`.
pub(crate) struct Group {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) keys: GroupKeys,
    pub(crate) contents: Contents,
}

impl Group {
    /// Parses one group, without its invalid members.
    pub(crate) fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let form = "expected `name = [path, ..];`";
        let ident: Ident = input.parse().map_err(|error| syn::Error::new(error.span(), form))?;
        if input.is_empty() {
            return Err(syn::Error::new_spanned(ident, form));
        }
        let keys = keys(input, errors)?;
        input.parse::<Token![=]>().map_err(|error| syn::Error::new(error.span(), form))?;
        let (span, contents) = Contents::parse(input, &ident, errors)?;
        let end = input.parse::<Token![;]>();
        errors.take(end.map_err(|_| syn::Error::new(span, format!("expected `;` after this {}", contents.word()))));
        Ok(Self { attrs, vis, ident, keys, contents })
    }
}

/// Parses the optional keys.
fn keys(input: ParseStream, errors: &mut Errors) -> syn::Result<GroupKeys> {
    if !input.peek(token::Paren) {
        return Ok(GroupKeys::default());
    }
    let content;
    parenthesized!(content in input);
    Ok(parse(content.parse()?, errors))
}

/// Returns the member, unless it is the group itself or a registered name.
fn checked_member(group: &Ident, listed: Listed, errors: &mut Errors) -> Option<Member> {
    match listed {
        Listed::Member(Member::Path(path)) if path.is_ident(group) => {
            errors.push(path, format!("`{group}` cannot contain itself; remove it from the list"));
            None
        }
        Listed::Member(member) => Some(member),
        Listed::Name(name) => {
            let rule = "`toolset!` takes paths, not registered names";
            errors.push(name, format!("{rule}; write the name in `toolsets = [..]` of a tool, worker or entry"));
            None
        }
    }
}

/// Parses `[member, ..]`, without the invalid members.
fn list(input: ParseStream, errors: &mut Errors) -> syn::Result<(Span, Vec<Listed>)> {
    if !input.peek(token::Bracket) {
        return Err(input.error(NO_LIST));
    }
    let content;
    let bracket = bracketed!(content in input);
    let mut members = Vec::new();
    separated(&content, errors, |input, errors| {
        let (member, tokens) = Listed::parse(input, errors)?;
        if members.iter().any(|other: &Listed| other.to_string() == member.to_string()) {
            errors.push(tokens, format!("`{member}` is listed twice; remove one"));
        } else {
            members.push(member);
        }
        Ok(())
    });
    Ok((bracket.span.join(), members))
}

/// Skips past the next `;`, after which the next group begins.
pub(crate) fn skip_group(input: ParseStream) {
    while let Ok(token) = input.parse::<TokenTree>() {
        if matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';') {
            return;
        }
    }
}
