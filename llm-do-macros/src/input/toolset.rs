//! `toolset!`: named groups of tools.

use proc_macro2::{Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, LitStr, Path, Visibility};

use super::{McpToolset, cfgs, docs, name};
use crate::args::approval::Approval;
use crate::args::on_unknown::OnUnknown;
use crate::args::toolset::{Contents, Group, GroupKeys, Member, skip_group};
use crate::errors::Errors;

/// One item of `toolset!`.
pub(crate) enum ToolsetItem {
    Group(Toolset),
    Mcp(McpToolset),
}

/// A group of members.
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
    pub(crate) on_unknown: Option<OnUnknown>,
    pub(crate) members: GroupMembers,
}

/// The members of a group.
pub(crate) enum GroupMembers {
    /// The whole list, and its members.
    Listed { span: Span, members: Vec<Member> },
    /// The tools of a type with methods, of which the group is a named instance.
    OfInstance(Path),
}

impl ToolsetItem {
    /// Parses all items in the macro, without the invalid ones.
    pub(crate) fn read_all(tokens: TokenStream, errors: &mut Errors) -> Vec<Self> {
        let mut items = Vec::new();
        let groups = |input: ParseStream| {
            while !input.is_empty() {
                let group = Group::parse(input, errors);
                match errors.take(group) {
                    Some(group) => items.extend(Self::read(group, errors)),
                    None => skip_group(input),
                }
            }
            Ok(())
        };
        let parsed = groups.parse2(tokens);
        errors.take(parsed);
        items
    }

    fn read(group: Group, errors: &mut Errors) -> Option<Self> {
        if !name::check_type(&group.ident, "the toolset", "give it another name", errors) {
            return None;
        }
        let Group { attrs, vis, ident, keys, contents } = group;
        let members = match contents {
            Contents::Mcp(file) => return Some(Self::mcp(attrs, vis, ident, &keys, &file, errors)),
            Contents::List { span, members } => GroupMembers::Listed { span, members },
            Contents::Instance(ty) => GroupMembers::OfInstance(ty),
        };
        Some(Self::Group(Toolset {
            name: name::toolset_name(&ident, errors),
            description: docs::text(&attrs),
            cfgs: cfgs(&attrs),
            attrs,
            vis,
            ident,
            approval: keys.approval,
            on_unknown: keys.on_unknown,
            members,
        }))
    }

    fn mcp(
        attrs: Vec<Attribute>,
        vis: Visibility,
        ident: Ident,
        keys: &GroupKeys,
        file: &LitStr,
        errors: &mut Errors,
    ) -> Self {
        let given = [("approval", keys.approval.is_some()), ("on_unknown", keys.on_unknown.is_some())];
        for (key, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
            let way_out = "set rules for the tools of a server with `RuntimeBuilder::policy`";
            errors.push(&ident, format!("a toolset of an MCP server takes no `{key}`; {way_out}"));
        }
        Self::Mcp(McpToolset::read(attrs, vis, ident, file, errors))
    }
}
