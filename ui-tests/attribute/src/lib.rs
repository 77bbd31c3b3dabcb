//! Attribute macros like those of other crates, without syn to compile quickly.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Returns the item unchanged.
#[proc_macro_attribute]
pub fn identity(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// Adds a statement to the function's body and gives each token a new span, as macros do that print and parse.
#[proc_macro_attribute]
pub fn record(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut tokens: Vec<_> = item.into_iter().collect();
    if let Some(TokenTree::Group(body)) = tokens.last_mut().filter(|last| is_braced(last)) {
        let statement = "::core::convert::identity(());".parse::<TokenStream>();
        let statements = statement.into_iter().flatten().chain(body.stream());
        *body = Group::new(Delimiter::Brace, statements.collect());
    }
    let item: TokenStream = tokens.into_iter().collect();
    item.to_string().parse().unwrap_or(item)
}

fn is_braced(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}
