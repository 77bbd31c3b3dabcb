//! Merges the keys of a file into those of the attribute.

use llm_do_worker_file::{
    Entry, Fault, InputModel, Keys, Located, Place, Reading, Value, WorkerFile, is_path, not_a_tool,
};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::{LitStr, Path};

use super::values::Values;
use crate::args;
use crate::args::toolset::{Member, Toolsets};
use crate::args::worker::Worker;

/// Uses the values of the file for keys that the attribute omits. Returns all faults, including those of reading, in
/// file order.
pub(super) fn into_attribute(args: &mut Worker, reading: Reading, literal: &LitStr) -> Vec<Fault> {
    let Reading { file: WorkerFile { keys, instructions, .. }, faults } = reading;
    let mut merge = Merge { args, values: Values::new(literal.span()), faults };
    merge.keys(&keys);
    merge.instructions(instructions);
    merge.faults.sort_by_key(|fault| fault.place);
    merge.faults
}

struct Merge<'a> {
    args: &'a mut Worker,
    values: Values,
    faults: Vec<Fault>,
}

impl Merge<'_> {
    fn keys(&mut self, keys: &Keys) {
        self.faults.extend(keys.outside_project());
        if let Some(Located { place, value: InputModel::Item(_) }) = keys.input_model() {
            let message = "`input_model_ref` works only at run time: the parameters of the function are the arguments";
            self.faults.push(Fault::new(place, message));
        }
        let has_toolsets = self.args.shared_keys.toolsets.is_some();
        for Entry { name, place, value } in &keys.entries {
            match *name {
                "tools" | "toolsets" if has_toolsets => {
                    let message = format!("`{name}` is given here, and `toolsets` in the attribute; remove one");
                    self.faults.push(Fault::new(*place, message));
                }
                "tools" | "toolsets" => self.toolsets(value.texts()),
                "hybrid" | "guarantee" | "shadow" | "refine" => {
                    let message = format!("`{name}` works only at run time: use `RuntimeBuilder::{name}`");
                    self.faults.push(Fault::new(*place, message));
                }
                // A file with `model` too is already reported.
                "compatible_models" if keys.place_of("model").is_some() => {}
                // A reason without an effect is already reported.
                "effect_reason" if keys.place_of("effect").is_none() => {}
                name => self.fill(name, *place, value),
            }
        }
    }

    /// Fills in a key, if an attribute can have it. A key in both places is a fault of the file.
    fn fill(&mut self, name: &str, place: Place, value: &Value) {
        let Some(tokens) = self.values.tokens(value) else { return };
        // The reader has checked the value, so the only possible error is a key that the attribute has too.
        if args::fill(self.args, name, self.values.span(), &tokens).is_err() {
            let message = format!("`{name}` is given both here and in the attribute; remove one");
            self.faults.push(Fault::new(place, message));
        }
    }

    /// The text of a file is the instructions; a function may compute them instead.
    fn instructions(&mut self, text: Option<Located<String>>) {
        match text {
            Some(Located { place, .. }) if self.args.instructions_with.is_some() => {
                let message = "the instructions are given here, and `instructions_with` in the attribute; remove one";
                self.faults.push(Fault::new(place, message));
            }
            Some(Located { place, value }) => self.fill("instructions", place, &Value::Text(value)),
            None => {}
        }
    }

    /// Adds the items of a key: the two keys of a file are one key of the attribute.
    fn toolsets(&mut self, items: &[Located<String>]) {
        let none = Toolsets { span: self.values.span(), members: Vec::new(), names: Vec::new() };
        let toolsets = self.args.shared_keys.toolsets.get_or_insert(none);
        for Located { place, value: item } in items {
            // The compiler resolves a path in the scope of the attribute; any other item is a registered name.
            if !is_path(item) {
                toolsets.names.push(self.values.literal(item));
            } else if let Some(path) = path(item, self.values.span()) {
                toolsets.members.push(Member::Path(path));
            } else {
                self.faults.push(Fault::new(*place, not_a_tool(item)));
            }
        }
    }
}

/// Parses a path whose names are resolved at `span`.
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
