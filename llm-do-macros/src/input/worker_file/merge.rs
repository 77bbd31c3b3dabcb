//! A file's keys, put where the attribute's are.

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, LitStr, Path, Token, parse_quote_spanned};

use crate::args::server_side::{ServerSideTool, ServerSideTools, WebSearch};
use crate::args::toolset::{Member, Toolsets};
use crate::args::worker::{Globs, Hints, Worker};
use crate::args::{Text, timeout};
use crate::input::name;
use crate::worker_file::{At, Fault, Keys, Limits, Sampling, ServerSide, WorkerFile};

/// Puts what a file says where the attribute says nothing.
pub(super) struct Merge<'a> {
    literal: &'a LitStr,
    faults: Vec<Fault>,
}

impl<'a> Merge<'a> {
    /// Goes on from the faults that reading the file found.
    pub(super) fn new(literal: &'a LitStr, faults: Vec<Fault>) -> Self {
        Self { literal, faults }
    }

    /// Puts the file into the attribute's keys; returns all faults, by line.
    pub(super) fn into_faults(mut self, args: &mut Worker, file: WorkerFile) -> Vec<Fault> {
        self.keys(args, file.keys);
        self.fill("instructions", &mut args.instructions, file.instructions, |merge, text| merge.text(&text));
        self.faults.sort_by_key(|fault| fault.line);
        self.faults
    }

    fn keys(&mut self, args: &mut Worker, keys: Keys) {
        let heading = &mut args.heading;
        let name = keys.name.filter(|name| self.is_name(name));
        self.fill("name", &mut heading.name, name, |merge, name| merge.literal(&name));
        self.fill("description", &mut heading.description, keys.description, |merge, text| merge.text(&text));
        self.fill("toolsets", &mut heading.toolsets, keys.toolsets, Self::toolsets);
        self.fill("model", &mut args.model, keys.model, |merge, model| merge.literal(&model));
        self.fill("compatible_models", &mut args.compatible_models, keys.compatible_models, |merge, globs| {
            Globs(merge.literals(globs))
        });
        self.fill("server_side_tools", &mut args.server_side_tools, keys.server_side_tools, Self::server_side_tools);
        self.fill("settings", &mut args.settings, keys.settings, |merge, settings| merge.settings(&settings));
        self.fill("hints", &mut args.hints, keys.hints, |merge, hints| Hints(merge.literals(hints)));
        self.fill("output", &mut args.output, keys.output, |_, mode| mode);
        self.fill("max_turns", &mut args.max_turns, keys.max_turns, |merge, turns| {
            merge.number(Literal::u32_unsuffixed(turns))
        });
        self.fill("retries", &mut args.retries, keys.retries, |merge, retries| {
            merge.number(Literal::u32_unsuffixed(retries))
        });
        self.fill("limits", &mut args.limits, keys.limits, |merge, limits| merge.limits(&limits));
        let timeout = &mut args.heading.timeout;
        self.fill("timeout", timeout, keys.timeout, |merge, time| timeout::expression(time, merge.span()));
    }

    /// Fills an empty slot; of what is said twice, the attribute's counts and the file's is a fault.
    fn fill<T, V>(&mut self, key: &str, slot: &mut Option<T>, given: Option<At<V>>, to: fn(&mut Self, V) -> T) {
        let Some(At { line, value }) = given else { return };
        if slot.is_some() {
            self.fault(line, format!("`{key}` is given here and in the attribute; give it once"));
        } else {
            *slot = Some(to(self, value));
        }
    }

    fn fault(&mut self, line: usize, message: String) {
        self.faults.push(Fault { line, message });
    }

    fn is_name(&mut self, name: &At<String>) -> bool {
        let is_valid = name::is_valid(&name.value);
        if !is_valid {
            self.fault(name.line, name::RULE.to_owned());
        }
        is_valid
    }

    fn span(&self) -> Span {
        self.literal.span()
    }

    fn literal(&mut self, text: &str) -> LitStr {
        LitStr::new(text, self.span())
    }

    fn text(&mut self, text: &str) -> Text {
        let literal = self.literal(text);
        Text(parse_quote_spanned!(self.span()=> #literal))
    }

    fn literals(&mut self, texts: Vec<At<String>>) -> Punctuated<LitStr, Token![,]> {
        texts.into_iter().map(|text| self.literal(&text.value)).collect()
    }

    fn number(&mut self, mut number: Literal) -> Expr {
        number.set_span(self.span());
        parse_quote_spanned!(self.span()=> #number)
    }

    /// Paths are resolved by the compiler, where the attribute stands.
    fn toolsets(&mut self, paths: Vec<At<String>>) -> Toolsets {
        let paths = paths.into_iter().filter_map(|At { line, value }| {
            let path = path(&value, self.span());
            if path.is_none() {
                self.fault(
                    line,
                    format!("`{value}` is no path of a tool or toolset, such as `read_file` or `crate::fs::read_file`"),
                );
            }
            path
        });
        let members = paths.map(Member::Path).collect();
        Toolsets { span: self.span(), members, names: Vec::new() }
    }

    fn server_side_tools(&mut self, tools: Vec<At<ServerSide>>) -> ServerSideTools {
        ServerSideTools(tools.into_iter().map(|tool| self.server_side_tool(tool.value)).collect())
    }

    fn server_side_tool(&mut self, tool: ServerSide) -> ServerSideTool {
        let ServerSide { kind, max_uses, allowed_domains, blocked_domains } = tool;
        let mut domains = |list: Option<Vec<String>>| {
            list.map(|domains| domains.into_iter().map(|domain| self.literal(&domain)).collect())
        };
        let (allowed_domains, blocked_domains) = (domains(allowed_domains), domains(blocked_domains));
        let max_uses = max_uses.map(|uses| self.number(Literal::u32_unsuffixed(uses)));
        ServerSideTool { kind, search: WebSearch { max_uses, allowed_domains, blocked_domains } }
    }

    /// The expression that the attribute would have; it stands where the runtime has its private name.
    fn settings(&mut self, settings: &Sampling) -> Expr {
        let span = self.span();
        let setters: TokenStream = [
            settings.temperature.map(|value| ("temperature", Literal::f64_unsuffixed(value))),
            settings.top_p.map(|value| ("top_p", Literal::f64_unsuffixed(value))),
            settings.max_tokens.map(|value| ("max_tokens", Literal::u32_unsuffixed(value))),
            settings.seed.map(|value| ("seed", Literal::u64_unsuffixed(value))),
        ]
        .into_iter()
        .flatten()
        .map(|(setter, value)| {
            let setter = Ident::new(setter, span);
            quote!(.#setter(#value))
        })
        .collect();
        parse_quote_spanned!(Span::call_site().located_at(span)=> __llm_do::Settings::new()#setters)
    }

    /// The expression that the attribute would have; it stands where the runtime has its private name.
    fn limits(&mut self, limits: &Limits) -> Expr {
        let span = self.span();
        let counts = limits.counts.iter().map(|(name, count)| {
            let (setter, count) = (Ident::new(name, span), Literal::u64_unsuffixed(*count));
            quote!(.#setter(#count))
        });
        let cost = limits.cost.map(|picodollars| {
            let amount = Literal::u128_unsuffixed(picodollars);
            quote!(.cost(__llm_do::Money::from_picodollars(#amount)))
        });
        let allow = limits.allow_unpriced.map(|allow| quote!(.allow_unpriced(#allow)));
        let time = limits.wall_time.map(|time| timeout::expression(time, span)).map(|time| quote!(.wall_time(#time)));
        let setters = quote!(#(#counts)* #cost #allow #time);
        parse_quote_spanned!(Span::call_site().located_at(span)=> __llm_do::Limits::new()#setters)
    }
}

/// Reads a path; its names are found where `span` is.
fn path(text: &str, span: Span) -> Option<Path> {
    let tokens: TokenStream = text.parse().ok()?;
    Path::parse_mod_style.parse2(spanned(tokens, span)).ok()
}

fn spanned(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                token = Group::new(group.delimiter(), spanned(group.stream(), span)).into();
            }
            token.set_span(span);
            token
        })
        .collect()
}
