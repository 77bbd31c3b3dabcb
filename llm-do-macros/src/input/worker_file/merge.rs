//! The keys of a file, put where those of the attribute are.

use llm_do_worker_file::{Fault, InputModel, Keys, Located, Reading, WorkerFile, is_path, not_a_tool};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::{LitStr, Path};

use super::values::Values;
use crate::args::timeout;
use crate::args::toolset::{Member, Toolsets};
use crate::args::worker::{Globs, Hints, Worker};

/// Puts what the file gives where the attribute gives nothing. Returns all faults, also those of reading, in file order.
pub(super) fn into_attribute(args: &mut Worker, reading: Reading, literal: &LitStr) -> Vec<Fault> {
    let Reading { file: WorkerFile { keys, instructions, .. }, faults } = reading;
    let mut merge = Merge { values: Values::new(literal.span()), faults };
    merge.keys(args, keys);
    merge.instructions(args, instructions);
    merge.faults.sort_by_key(|fault| fault.place);
    merge.faults
}

struct Merge {
    values: Values,
    faults: Vec<Fault>,
}

impl Merge {
    fn keys(&mut self, args: &mut Worker, keys: Keys) {
        self.faults.extend(keys.outside_project());
        let has_model = keys.place_of("model").is_some();
        let has_schema = keys.place_of("input_schema").is_some();
        // No `..`: a new key does not compile until it is passed on.
        let Keys {
            given: _,
            name,
            description,
            model,
            compatible_models,
            tools,
            toolsets,
            code,
            server_side_tools,
            hints,
            settings,
            output,
            max_turns,
            retries,
            limits,
            timeout,
            // The attribute has no schemas.
            input_schema: _,
            input_model_ref,
            output_schema: _,
            // Reported above.
            skills: _,
            context: _,
            mcp_servers: _,
        } = keys;
        // A file with both keys is reported already.
        if let Some(Located { place, value: InputModel::Item(_) }) = input_model_ref.filter(|_| !has_schema) {
            let message = "`input_model_ref` works only at run time: the parameters of the function are the arguments";
            self.faults.push(Fault::new(place, message));
        }
        self.toolsets(args, tools, toolsets);
        let shared_keys = &mut args.shared_keys;
        self.fill("name", &mut shared_keys.name, name, |values, name| values.literal(&name));
        self.fill("description", &mut shared_keys.description, description, |values, text| values.text(&text));
        self.fill("timeout", &mut shared_keys.timeout, timeout, |values, time| {
            timeout::expression(time, values.span())
        });
        self.fill("model", &mut args.model, model, |values, model| values.literal(&model));
        // A file with both keys is reported already.
        let globs = compatible_models.filter(|_| !has_model);
        self.fill("compatible_models", &mut args.compatible_models, globs, |values, globs| {
            Globs(values.literals(globs))
        });
        self.fill("code", &mut args.code, code, Values::flag);
        let tools = server_side_tools;
        self.fill("server_side_tools", &mut args.server_side_tools, tools, Values::server_side_tools);
        self.fill("settings", &mut args.settings, settings, Values::settings);
        self.fill("hints", &mut args.hints, hints, |values, hints| Hints(values.literals(hints)));
        self.fill("output", &mut args.output, output, |_, mode| mode);
        self.fill("max_turns", &mut args.max_turns, max_turns, Values::u32);
        self.fill("retries", &mut args.retries, retries, Values::u32);
        self.fill("limits", &mut args.limits, limits, |values, limits| values.limits(&limits));
    }

    /// Fills an empty slot. A key in both places is a fault of the file; the attribute's value stays.
    fn fill<T, V>(&mut self, key: &str, slot: &mut Option<T>, given: Option<Located<V>>, to: fn(&Values, V) -> T) {
        let Some(Located { place, value }) = given else { return };
        if slot.is_some() {
            let message = format!("`{key}` is given both here and in the attribute; remove one");
            self.faults.push(Fault::new(place, message));
        } else {
            *slot = Some(to(&self.values, value));
        }
    }

    /// The text of a file is the instructions, which a function may compute instead.
    fn instructions(&mut self, args: &mut Worker, text: Option<Located<String>>) {
        match text {
            Some(Located { place, .. }) if args.instructions_with.is_some() => {
                let message = "the instructions are given here, and `instructions_with` in the attribute; remove one";
                self.faults.push(Fault::new(place, message));
            }
            text => self.fill("instructions", &mut args.instructions, text, |values, text| values.text(&text)),
        }
    }

    /// The two keys of a file are one of the attribute.
    fn toolsets(&mut self, args: &mut Worker, tools: Option<List>, toolsets: Option<List>) {
        let is_given = args.shared_keys.toolsets.is_some();
        for (key, list) in [("tools", tools), ("toolsets", toolsets)] {
            let Some(Located { place, value }) = list else { continue };
            if is_given {
                let message = format!("`{key}` is given here, and `toolsets` in the attribute; remove one");
                self.faults.push(Fault::new(place, message));
                continue;
            }
            let span = self.values.span();
            let none = Toolsets { span, members: Vec::new(), names: Vec::new() };
            let toolsets = args.shared_keys.toolsets.get_or_insert(none);
            for item in value {
                self.tool(toolsets, &item);
            }
        }
    }

    /// Adds a path, which the compiler resolves where the attribute stands, or a registered name.
    fn tool(&mut self, toolsets: &mut Toolsets, item: &Located<String>) {
        if !is_path(&item.value) {
            toolsets.names.push(self.values.literal(&item.value));
        } else if let Some(path) = path(&item.value, self.values.span()) {
            toolsets.members.push(Member::Path(path));
        } else {
            self.faults.push(Fault::new(item.place, not_a_tool(&item.value)));
        }
    }
}

type List = Located<Vec<Located<String>>>;

/// Parses a path whose names are resolved where `span` is.
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
