//! The subschemas that references identify by URIs and anchors.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{BOOLEAN, LISTS, NAMED, SCHEMA};
use crate::schema::draft::Draft;

/// The paths of the subschemas that have a URI or an anchor.
pub(super) struct Addresses<'a> {
    root: &'a Value,
    /// Paths in the converted schema, by URI, with `#` and the anchor if there is one.
    paths: BTreeMap<String, String>,
    /// The number of subschemas with each dynamic anchor; `#` is `$recursiveAnchor`.
    dynamic: BTreeMap<String, usize>,
}

impl<'a> Addresses<'a> {
    pub(super) fn from_schema(root: &'a Value, draft: Draft) -> Self {
        let mut addresses = Self { root, paths: BTreeMap::new(), dynamic: BTreeMap::new() };
        addresses.paths.insert(String::new(), String::new());
        addresses.collect(root, draft, "", "");
        addresses
    }

    fn collect(&mut self, schema: &Value, draft: Draft, base: &str, path: &str) {
        let Value::Object(keywords) = schema else { return };
        let draft = draft.within(keywords);
        let mut base = base.to_owned();
        match id(keywords, draft) {
            Some(id) if !id.starts_with('#') => {
                base = joined(&base, without_fragment(id));
                self.paths.entry(base.clone()).or_insert_with(|| path.to_owned());
            }
            Some(anchor) if draft <= Draft::Seven => self.name(&base, anchor.trim_start_matches('#'), path),
            _ => {}
        }
        if draft > Draft::Seven {
            for key in ["$anchor", "$dynamicAnchor"] {
                if let Some(anchor) = keywords.get(key).and_then(Value::as_str) {
                    self.name(&base, anchor, path);
                    *self.dynamic.entry(anchor.to_owned()).or_default() += usize::from(key == "$dynamicAnchor");
                }
            }
            if keywords.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
                *self.dynamic.entry("#".to_owned()).or_default() += 1;
            }
        }
        for (step, part) in parts(keywords) {
            self.collect(part, draft, &base, &format!("{path}/{step}"));
        }
    }

    fn name(&mut self, base: &str, anchor: &str, path: &str) {
        if !anchor.is_empty() {
            self.paths.entry(format!("{base}#{anchor}")).or_insert_with(|| path.to_owned());
        }
    }

    /// Returns a reference as a path from the root, with its keyword; a reference to another document stays unchanged.
    pub(super) fn reference<'k>(&self, key: &'k str, reference: &str, base: &str) -> (&'k str, String) {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let dynamic = if key == "$recursiveRef" { "#" } else { fragment };
        if key != "$ref" && self.dynamic.get(dynamic).is_some_and(|parts| *parts > 1) {
            return (key, reference.to_owned());
        }
        let absolute = if uri.is_empty() { base.to_owned() } else { joined(base, uri) };
        let path = if fragment.is_empty() || fragment.starts_with('/') {
            // Below a subschema with its own URI, many programs still read a path as starting at the root.
            let is_from_root = |part: &str| uri.is_empty() && !self.leads(part, fragment) && self.leads("", fragment);
            let part = self.paths.get(&absolute).map(String::as_str);
            let part = part.map(|part| if is_from_root(part) { "" } else { part });
            part.map(|part| self.converted(part, fragment))
        } else {
            self.paths.get(&format!("{absolute}#{fragment}")).cloned()
        };
        path.map_or_else(|| (key, reference.to_owned()), |path| ("$ref", format!("#{path}")))
    }

    /// Whether the path `below` a subschema exists.
    fn leads(&self, part: &str, below: &str) -> bool {
        self.part(part).is_some_and(|part| below.split('/').skip(1).try_fold(part, step_into).is_some())
    }

    fn part(&self, path: &str) -> Option<&'a Value> {
        path.split('/').skip(1).try_fold(self.root, step_into)
    }

    /// Returns the path `below` a subschema in the converted schema, in which tuples and dependencies have other
    /// keywords.
    fn converted(&self, part: &str, below: &str) -> String {
        let stays = |key: &str| !matches!(key, "items" | "additionalItems" | "dependencies");
        if below.split('/').all(stays) {
            return format!("{part}{below}");
        }
        let mut schema = self.part(part);
        let mut path = part.to_owned();
        let mut is_name = false;
        for step in below.split('/').skip(1) {
            let has_tuple = schema.is_some_and(|schema| schema.get("items").is_some_and(Value::is_array));
            let is_dependency = schema.is_some_and(|schema| schema.get("dependencies").is_some_and(Value::is_object));
            path += "/";
            path += match step {
                name if is_name => name,
                "items" if has_tuple => "prefixItems",
                "additionalItems" if has_tuple => "items",
                "dependencies" if is_dependency => "dependentSchemas",
                step => step,
            };
            // The step after these keywords is a name, which may equal a keyword.
            is_name = !is_name && (step == "dependencies" || NAMED.contains(&step));
            schema = schema.and_then(|schema| step_into(schema, step));
        }
        path
    }
}

fn step_into<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    let step = step.replace("~1", "/").replace("~0", "~");
    match value {
        Value::Object(fields) => fields.get(&step).or_else(|| match step.as_str() {
            "prefixItems" => fields.get("items"),
            "dependentSchemas" => fields.get("dependencies"),
            _ => None,
        }),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Returns the direct subschemas, with their paths in the converted schema.
fn parts(keywords: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut parts = Vec::new();
    for (key, value) in keywords {
        match (key.as_str(), value) {
            ("items", Value::Array(schemas)) => parts.extend(listed("prefixItems", schemas)),
            ("additionalItems", schema) => parts.push(("items".to_owned(), schema)),
            ("dependencies", Value::Object(named)) => parts.extend(each("dependentSchemas", named)),
            (key, schema) if SCHEMA.contains(&key) || BOOLEAN.contains(&key) => parts.push((key.to_owned(), schema)),
            (key, Value::Array(schemas)) if LISTS.contains(&key) => parts.extend(listed(key, schemas)),
            (key, Value::Object(named)) if NAMED.contains(&key) => parts.extend(each(key, named)),
            _ => {}
        }
    }
    parts
}

fn listed<'v>(key: &str, schemas: &'v [Value]) -> impl Iterator<Item = (String, &'v Value)> {
    schemas.iter().enumerate().map(move |(index, schema)| (format!("{key}/{index}"), schema))
}

fn each<'v>(key: &str, named: &'v Map<String, Value>) -> impl Iterator<Item = (String, &'v Value)> {
    named.iter().map(move |(name, schema)| (format!("{key}/{}", name.replace('~', "~0").replace('/', "~1")), schema))
}

/// Returns the base URI of references in a schema.
pub(super) fn base(keywords: &Map<String, Value>, draft: Draft, outer: &str) -> String {
    let id = id(keywords, draft).filter(|id| !id.starts_with('#'));
    id.map_or_else(|| outer.to_owned(), |id| joined(outer, without_fragment(id)))
}

/// Returns the URI that a schema declares, or its anchor with `#`.
fn id(keywords: &Map<String, Value>, draft: Draft) -> Option<&str> {
    let key = if draft == Draft::Four { "id" } else { "$id" };
    keywords.get(key).and_then(Value::as_str).filter(|_| !draft.is_only_reference(keywords))
}

fn without_fragment(uri: &str) -> &str {
    uri.split_once('#').map_or(uri, |(uri, _)| uri)
}

/// Resolves `reference`, which has no fragment, against `base`.
fn joined(base: &str, reference: &str) -> String {
    let has_scheme = reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if has_scheme || base.is_empty() {
        return reference.to_owned();
    }
    let authority =
        base.find("://").map_or(0, |scheme| base[scheme + 3..].find('/').map_or(base.len(), |end| scheme + 3 + end));
    if reference.starts_with('/') {
        return format!("{}{reference}", &base[..authority]);
    }
    let mut folder = match base[authority..].rfind('/') {
        Some(last) => &base[..=authority + last],
        None if authority > 0 => return format!("{base}/{reference}"),
        None => "",
    };
    let mut reference = reference;
    loop {
        if let Some(same) = reference.strip_prefix("./") {
            reference = same;
        } else if let Some(outer) = reference.strip_prefix("../") {
            reference = outer;
            let above = folder.strip_suffix('/').and_then(|folder| folder[authority..].rfind('/'));
            folder = above.map_or(folder, |last| &folder[..=authority + last]);
        } else {
            return format!("{folder}{reference}");
        }
    }
}
