//! Converts values of a file to tokens of the attribute.

use llm_do_worker_file::{Content, Entry, Node, ServerSideTool, Value};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::LitStr;

use crate::args::timeout;

/// Creates tokens at the span of the file's name.
pub(super) struct Values(Span);

impl Values {
    pub(super) fn new(span: Span) -> Self {
        Self(span)
    }

    pub(super) fn span(&self) -> Span {
        self.0
    }

    pub(super) fn literal(&self, text: &str) -> LitStr {
        LitStr::new(text, self.0)
    }

    /// Returns the value of a key; `None` for a value that attributes cannot have.
    pub(super) fn tokens(&self, value: &Value) -> Option<TokenStream> {
        Some(match value {
            Value::Flag(flag) => quote!(#flag),
            Value::Count(count) => Literal::u64_unsuffixed(*count).into_token_stream(),
            Value::Number(number) => float(*number),
            Value::Text(text) => self.literal(text).into_token_stream(),
            Value::Texts(texts) => {
                let texts = texts.iter().map(|text| self.literal(&text.value));
                quote!([#(#texts),*])
            }
            Value::Duration(time) => timeout::expression(*time, self.0).into_token_stream(),
            Value::Amount(picodollars) => {
                let picodollars = Literal::u128_unsuffixed(*picodollars);
                quote!(__llm_do::Money::from_picodollars(#picodollars))
            }
            Value::Output(mode) => self.ident(mode.word()).into_token_stream(),
            Value::Effect(word) => self.ident(word).into_token_stream(),
            Value::Thinking(word) => {
                let level = self.ident(&format!("{}{}", word[..1].to_uppercase(), &word[1..]));
                quote!(__llm_do::ThinkingLevel::#level)
            }
            Value::Settings(settings) => self.built("Settings", settings),
            Value::Limits(limits) => self.built("Limits", limits),
            Value::Attachments(policy) => self.attachments(policy),
            Value::ServerSideTools(tools) => {
                let tools = tools.iter().map(|tool| self.server_side_tool(&tool.value));
                quote!([#(#tools),*])
            }
            Value::Json(_)
            | Value::InputModel(_)
            | Value::Guarantee(_)
            | Value::Shadow(_)
            | Value::Refine(_)
            | Value::Skills(_)
            | Value::Context(_)
            | Value::McpServers(_) => return None,
        })
    }

    fn ident(&self, name: &str) -> Ident {
        Ident::new(name, self.0)
    }

    fn server_side_tool(&self, ServerSideTool { kind, settings }: &ServerSideTool) -> TokenStream {
        let word = self.ident(kind.word());
        if settings.is_empty() {
            return word.into_token_stream();
        }
        let settings = settings.iter().map(|Entry { name, value, .. }| {
            let (key, value) = (self.ident(name), self.tokens(value));
            quote!(#key = #value)
        });
        quote!(#word(#(#settings),*))
    }

    /// Returns the call of a builder. Its path begins with the private name of the runtime in expanded code.
    fn built(&self, ty: &str, fields: &[Entry]) -> TokenStream {
        let span = Span::call_site().located_at(self.0);
        let ty = Ident::new(ty, span);
        let setters = fields.iter().map(|Entry { name, value, .. }| self.setters(name, value));
        quote_spanned!(span=> __llm_do::#ty::new()#(#setters)*)
    }

    /// Returns the policy, whose setters take lists as a whole.
    fn attachments(&self, policy: &[Entry]) -> TokenStream {
        let span = Span::call_site().located_at(self.0);
        let setters = policy.iter().map(|Entry { name, value, .. }| {
            let (setter, value) = (self.ident(name), self.tokens(value));
            quote!(.#setter(#value))
        });
        quote_spanned!(span=> __llm_do::AttachmentPolicy::new()#(#setters)*)
    }

    /// Returns the calls of a setter: lists and maps have one for each item.
    fn setters(&self, name: &str, value: &Value) -> TokenStream {
        let setter = self.ident(name);
        match value {
            Value::Texts(texts) => texts.iter().map(|text| &text.value).map(|text| quote!(.#setter(#text))).collect(),
            Value::Json(Node { content: Content::Map(fields), .. }) => {
                let fields = fields.iter().map(|(key, value)| (&key.name, value.to_json()));
                fields.map(|(key, json)| quote!(.#setter(#key, __llm_do::json_value(#json)))).collect()
            }
            value => {
                let value = self.tokens(value);
                quote!(.#setter(#value))
            }
        }
    }
}

/// A literal has no sign.
fn float(number: f64) -> TokenStream {
    let magnitude = Literal::f64_unsuffixed(number.abs());
    if number.is_sign_negative() { quote!(-#magnitude) } else { quote!(#magnitude) }
}
