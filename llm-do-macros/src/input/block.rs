//! Parses an `impl` block without the bodies of its functions.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Generics, ImplItem, Path, Token, Type, Visibility, braced, token};

use super::Function;
use super::function::looks_like_function;

/// An `impl` block as written.
pub(crate) struct Block {
    pub(crate) attrs: Vec<Attribute>,
    keyword: Token![impl],
    pub(crate) generics: Generics,
    /// The implemented trait, if any.
    pub(crate) of: Option<(Path, Token![for])>,
    pub(crate) ty: Box<Type>,
    brace: token::Brace,
    pub(crate) members: Vec<Member>,
}

/// An item of an `impl` block.
pub(crate) enum Member {
    Function(Box<Function>),
    Other(Box<ImplItem>),
}

/// Returns whether the item is an `impl`.
pub(crate) fn is_block(item: &TokenStream) -> bool {
    let keyword = |input: ParseStream| {
        input.call(Attribute::parse_outer)?;
        let is_impl = input.peek(Token![impl]);
        input.parse::<TokenStream>()?;
        Ok(is_impl)
    };
    syn::parse::Parser::parse2(keyword, item.clone()).unwrap_or_default()
}

impl Parse for Block {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let keyword = input.parse()?;
        let mut generics: Generics = if input.peek(Token![<]) { input.parse()? } else { Generics::default() };
        let of = implemented(input);
        let ty = input.parse()?;
        generics.where_clause = input.parse()?;
        let content;
        let brace = braced!(content in input);
        let mut members = Vec::new();
        while !content.is_empty() {
            members.push(content.parse()?);
        }
        Ok(Self { attrs, keyword, generics, of, ty, brace, members })
    }
}

fn implemented(input: ParseStream) -> Option<(Path, Token![for])> {
    let ahead = input.fork();
    let of = (ahead.parse().ok()?, ahead.parse().ok()?);
    input.advance_to(&ahead);
    Some(of)
}

impl Parse for Member {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        if looks_like_function(&ahead) {
            return input.parse().map(Box::new).map(Self::Function);
        }
        input.parse().map(Box::new).map(Self::Other)
    }
}

impl Block {
    /// Returns the span for errors of the whole block.
    pub(crate) fn span(&self) -> Span {
        self.keyword.span
    }

    /// Returns the functions of the block.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &Function> {
        self.members.iter().filter_map(|member| match member {
            Member::Function(function) => Some(&**function),
            Member::Other(_) => None,
        })
    }
}

impl ToTokens for Block {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.attrs.iter().map(ToTokens::to_token_stream));
        self.keyword.to_tokens(tokens);
        self.generics.to_tokens(tokens);
        if let Some((path, keyword)) = &self.of {
            path.to_tokens(tokens);
            keyword.to_tokens(tokens);
        }
        self.ty.to_tokens(tokens);
        self.generics.where_clause.to_tokens(tokens);
        self.brace.surround(tokens, |tokens| {
            for member in &self.members {
                match member {
                    Member::Function(function) => function.to_tokens(tokens),
                    Member::Other(item) => item.to_tokens(tokens),
                }
            }
        });
    }
}
