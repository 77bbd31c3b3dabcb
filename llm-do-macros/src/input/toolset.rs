//! `toolset!`: named groups of tools.

use proc_macro2::{Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, Visibility};

use super::{cfgs, docs, name};
use crate::args::approval::Approval;
use crate::args::toolset::{Group, Member, skip_group};
use crate::errors::Errors;

/// One group of `toolset!`.
pub(crate) struct Toolset {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    /// The registered name.
    pub(crate) name: String,
    /// A `&'static str` expression.
    pub(crate) description: TokenStream,
    pub(crate) approval: Option<Approval>,
    /// The whole list of members.
    pub(crate) span: Span,
    pub(crate) members: Vec<Member>,
}

impl Toolset {
    /// Parses all groups in the macro, without the invalid ones.
    pub(crate) fn read_all(tokens: TokenStream, errors: &mut Errors) -> Vec<Self> {
        let mut toolsets = Vec::new();
        let groups = |input: ParseStream| {
            while !input.is_empty() {
                let group = Group::parse(input, errors);
                match errors.take(group) {
                    Some(group) => toolsets.extend(Self::read(group, errors)),
                    None => skip_group(input),
                }
            }
            Ok(())
        };
        let parsed = groups.parse2(tokens);
        errors.take(parsed);
        toolsets
    }

    fn read(group: Group, errors: &mut Errors) -> Option<Self> {
        name::check_type(&group.ident, "the toolset", "give it another name", errors).then(|| Self {
            name: name::toolset_name(&group.ident, errors),
            description: docs::text(&group.attrs),
            cfgs: cfgs(&group.attrs),
            attrs: group.attrs,
            vis: group.vis,
            ident: group.ident,
            approval: group.keys.approval,
            span: group.span,
            members: group.members,
        })
    }
}
