//! Values of a file, as the expressions that an attribute would have.

use llm_do_worker_file::{Limits, Located, ServerSideTool as Tool, Settings, Thinking};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Expr, LitBool, LitStr, Token, parse_quote_spanned};

use crate::args::server_side::{ServerSideTool, ServerSideTools, WebSearch};
use crate::args::{Text, timeout};

/// Makes expressions at the span of the file's name.
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

    pub(super) fn text(&self, text: &str) -> Text {
        let literal = self.literal(text);
        Text(parse_quote_spanned!(self.0=> #literal))
    }

    pub(super) fn literals(&self, texts: Vec<Located<String>>) -> Punctuated<LitStr, Token![,]> {
        texts.into_iter().map(|text| self.literal(&text.value)).collect()
    }

    pub(super) fn flag(&self, flag: bool) -> LitBool {
        LitBool::new(flag, self.0)
    }

    pub(super) fn u32(&self, number: u32) -> Expr {
        let mut number = Literal::u32_unsuffixed(number);
        number.set_span(self.0);
        parse_quote_spanned!(self.0=> #number)
    }

    pub(super) fn server_side_tools(&self, tools: Vec<Located<Tool>>) -> ServerSideTools {
        ServerSideTools(tools.into_iter().map(|tool| self.server_side_tool(tool.value)).collect())
    }

    fn server_side_tool(&self, tool: Tool) -> ServerSideTool {
        let Tool { kind, max_uses, allowed_domains, blocked_domains } = tool;
        let domains = |domains: Vec<String>| {
            domains.into_iter().map(|domain| self.literal(&domain)).collect::<Punctuated<_, _>>()
        };
        let (allowed_domains, blocked_domains) = (allowed_domains.map(domains), blocked_domains.map(domains));
        let search = WebSearch { max_uses: max_uses.map(|uses| self.u32(uses)), allowed_domains, blocked_domains };
        ServerSideTool { kind, search }
    }

    /// Its paths begin with the private name that the runtime has in expanded code.
    pub(super) fn settings(&self, settings: Settings) -> Expr {
        // No `..`: a new setting does not compile until it is passed on.
        let Settings {
            temperature,
            top_p,
            max_tokens,
            seed,
            stop,
            presence_penalty,
            frequency_penalty,
            thinking,
            parallel_tool_calls,
            cache_prompt,
            service_tier,
            timeout,
            extra_body,
        } = settings;
        let setters = [
            self.setter("temperature", temperature.map(float)),
            self.setter("top_p", top_p.map(float)),
            self.setter("max_tokens", max_tokens.map(Literal::u32_unsuffixed)),
            self.setter("seed", seed.map(Literal::u64_unsuffixed)),
            stop.iter().map(|text| self.setter("stop", Some(text))).collect(),
            self.setter("presence_penalty", presence_penalty.map(float)),
            self.setter("frequency_penalty", frequency_penalty.map(float)),
            self.setter("thinking", thinking.map(level)),
            self.setter("parallel_tool_calls", parallel_tool_calls),
            self.setter("cache_prompt", cache_prompt),
            self.setter("service_tier", service_tier),
            self.setter("timeout", timeout.map(|time| timeout::expression(time, self.0))),
        ];
        let fields = extra_body.iter().map(|(name, value)| {
            let json = value.to_json();
            quote!(.extra_body(#name, __llm_do::json_value(#json)))
        });
        parse_quote_spanned!(Span::call_site().located_at(self.0)=> __llm_do::Settings::new()#(#setters)*#(#fields)*)
    }

    /// Its paths begin with the private name that the runtime has in expanded code.
    pub(super) fn limits(&self, limits: &Limits) -> Expr {
        // No `..`: a new limit does not compile until it is passed on.
        let Limits {
            requests,
            tool_calls,
            input_tokens,
            output_tokens,
            cached_tokens,
            reasoning_tokens,
            total_tokens,
            cost,
            allow_unpriced,
            wall_time,
        } = *limits;
        let counts = [
            ("requests", requests),
            ("tool_calls", tool_calls),
            ("input_tokens", input_tokens),
            ("output_tokens", output_tokens),
            ("cached_tokens", cached_tokens),
            ("reasoning_tokens", reasoning_tokens),
            ("total_tokens", total_tokens),
        ];
        let counts = counts.map(|(name, count)| self.setter(name, count.map(Literal::u64_unsuffixed)));
        let cost = cost.map(|picodollars| {
            let picodollars = Literal::u128_unsuffixed(picodollars);
            quote!(__llm_do::Money::from_picodollars(#picodollars))
        });
        let setters = [
            self.setter("cost", cost),
            self.setter("allow_unpriced", allow_unpriced),
            self.setter("wall_time", wall_time.map(|time| timeout::expression(time, self.0))),
        ];
        parse_quote_spanned!(Span::call_site().located_at(self.0)=> __llm_do::Limits::new()#(#counts)*#(#setters)*)
    }

    fn setter(&self, name: &str, value: Option<impl quote::ToTokens>) -> TokenStream {
        let setter = Ident::new(name, self.0);
        value.map(|value| quote!(.#setter(#value))).unwrap_or_default()
    }
}

/// A literal has no sign of its own.
fn float(number: f64) -> TokenStream {
    let magnitude = Literal::f64_unsuffixed(number.abs());
    if number.is_sign_negative() { quote!(-#magnitude) } else { quote!(#magnitude) }
}

fn level(level: Thinking) -> TokenStream {
    let level = match level {
        Thinking::Off => quote!(Off),
        Thinking::Minimal => quote!(Minimal),
        Thinking::Low => quote!(Low),
        Thinking::Medium => quote!(Medium),
        Thinking::High => quote!(High),
        Thinking::Tokens(tokens) => {
            let tokens = Literal::u32_unsuffixed(tokens);
            quote!(Tokens(#tokens))
        }
    };
    quote!(__llm_do::ThinkingLevel::#level)
}
