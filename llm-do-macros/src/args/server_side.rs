//! `server_side_tools = [..]`: tools that the provider runs.

use llm_do_worker_file::{SERVER_SIDE_TOOLS, ServerSideKind};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Token, bracketed, parenthesized, token};

use super::{Grammar, Key, parse, separated, texts};
use crate::errors::Errors;

/// The value of `server_side_tools`.
pub(crate) struct ServerSideTools(pub(crate) Vec<ServerSideTool>);

impl ServerSideTools {
    /// Returns the name of the first tool whose effect is unknown.
    pub(crate) fn acting(&self) -> Option<&'static str> {
        self.0.iter().map(|tool| tool.kind).find(|kind| kind.runs_code()).map(ServerSideKind::word)
    }
}

/// One tool of the list.
pub(crate) struct ServerSideTool {
    pub(crate) kind: ServerSideKind,
    pub(crate) search: WebSearch,
}

/// The settings of `web_search`.
#[derive(Default)]
pub(crate) struct WebSearch {
    pub(crate) max_uses: Option<Expr>,
    pub(crate) allowed_domains: Option<Punctuated<LitStr, Token![,]>>,
    pub(crate) blocked_domains: Option<Punctuated<LitStr, Token![,]>>,
}

impl Grammar for WebSearch {
    const DOCS: &'static str = "llm_do::worker#server-side-tools";
    const KEYS: &'static [Key<Self>] = &[
        Key::new("max_uses = N", |search, value| value.fill(&mut search.max_uses)),
        Key::new("allowed_domains = [\"..\", ..]", |search, value| {
            value.fill_with(&mut search.allowed_domains, domains)
        }),
        Key::new("blocked_domains = [\"..\", ..]", |search, value| {
            value.fill_with(&mut search.blocked_domains, domains)
        }),
    ];
}

fn domains(input: ParseStream, errors: &mut Errors) -> syn::Result<Punctuated<LitStr, Token![,]>> {
    texts(input, errors, "domain")
}

impl ServerSideTools {
    /// Parses the list, without the invalid tools.
    pub(crate) fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        if !input.peek(token::Bracket) {
            return Err(input.error("expected a list, such as `[web_search, code_execution]`"));
        }
        let content;
        bracketed!(content in input);
        let mut tools = Self(Vec::new());
        separated(&content, errors, |input, errors| {
            let (span, tool) = tool(input, errors)?;
            tools.add(tool).map_err(|fault| syn::Error::new(span, fault))
        });
        Ok(tools)
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// Returns a message if the list already contains it.
    pub(crate) fn add(&mut self, tool: ServerSideTool) -> Result<(), String> {
        if self.0.iter().any(|other| other.kind == tool.kind) {
            return Err(format!("`{}` is listed twice; remove one", tool.kind.word()));
        }
        self.0.push(tool);
        Ok(())
    }
}

fn tool(input: ParseStream, errors: &mut Errors) -> syn::Result<(Span, ServerSideTool)> {
    let ident = Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), SERVER_SIDE_TOOLS))?;
    let kind = ServerSideKind::named(&ident.to_string()).map_err(|fault| syn::Error::new(ident.span(), fault))?;
    let mut search = WebSearch::default();
    if input.peek(token::Paren) {
        let content;
        let paren = parenthesized!(content in input);
        let settings = content.parse()?;
        if kind != ServerSideKind::WebSearch {
            return Err(syn::Error::new(
                paren.span.join(),
                format!("`{0}` takes no settings; write `{0}`", kind.word()),
            ));
        }
        search = parse(settings, errors);
    }
    Ok((ident.span(), ServerSideTool { kind, search }))
}
