//! Which schemas a schema consists of, and which of them a value is held to beside each other and below.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// A schema, and the schemas that it applies.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Applied to the same value.
    pub(super) here: Vec<usize>,
    /// Applied to parts of the value.
    pub(super) below: Vec<(Part, usize)>,
    /// How much work its own keywords are, where 1 is a comparison or two.
    pub(super) cost: u64,
}

/// The parts of a value that a schema is applied to.
#[derive(Debug)]
pub(super) enum Part {
    Property(String),
    /// Any property: schemas of the others, and of names by pattern.
    Properties,
    Names,
    Item(usize),
    Items,
}

/// The schemas that are reached from the root, which is the first.
#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
}

/// What is known of a graph as a whole.
#[derive(Debug)]
pub(super) struct Extent {
    /// How many schemas there are once each reference is replaced by its target; one within itself counts once.
    pub(super) expanded: u64,
    /// How many schemas are inside each other then.
    pub(super) height: usize,
    /// Whether a schema is inside itself.
    pub(super) is_cyclic: bool,
}

/// The work of a comparison with a pattern that may backtrack, and of compiling a text as a pattern.
const BACKTRACKING: u64 = 1_000;

impl Graph {
    /// Takes a schema apart.
    ///
    /// # Errors
    ///
    /// Returns what cannot be followed.
    pub(super) fn of(root: &Value) -> Result<Self, String> {
        let mut reader = Reader { root, numbers: HashMap::new(), queue: Vec::new() };
        reader.number(root);
        let mut nodes = Vec::new();
        while let Some(schema) = reader.queue.get(nodes.len()).copied() {
            nodes.push(reader.node(schema)?);
        }
        Ok(Self { nodes })
    }

    pub(super) fn node(&self, number: usize) -> &Node {
        &self.nodes[number]
    }

    /// Returns the number of schemas.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns how many schemas are at most applied to the same value, one inside the other; none, if one is inside itself.
    pub(super) fn height_here(&self) -> Option<usize> {
        let extent = self.extent_by(&|node| node.here.clone());
        (!extent.is_cyclic).then_some(extent.height)
    }

    /// Returns what is known of the whole.
    pub(super) fn extent(&self) -> Extent {
        self.extent_by(&|node| node.here.iter().copied().chain(node.below.iter().map(|(_, below)| *below)).collect())
    }

    /// Walks through all schemas without recursion: there may be as many inside each other as there are.
    fn extent_by(&self, inner: &dyn Fn(&Node) -> Vec<usize>) -> Extent {
        let mut known: Vec<Known> = self.nodes.iter().map(|_| Known::New).collect();
        let (mut is_cyclic, mut total, mut highest) = (false, 0, 0);
        for root in 0..self.nodes.len() {
            let mut path = Vec::new();
            if matches!(known[root], Known::New) {
                known[root] = Known::Open;
                path.push(Open { node: root, left: inner(&self.nodes[root]), expanded: 1, height: 1 });
            }
            while let Some(open) = path.last_mut() {
                let Some(next) = open.left.pop() else {
                    let (node, expanded, height) = (open.node, open.expanded, open.height);
                    known[node] = Known::Done { expanded, height };
                    path.pop();
                    if let Some(outer) = path.last_mut() {
                        outer.add(expanded, height);
                    }
                    continue;
                };
                match known[next] {
                    Known::Done { expanded, height } => open.add(expanded, height),
                    Known::Open => {
                        is_cyclic = true;
                        open.add(1, 1);
                    }
                    Known::New => {
                        known[next] = Known::Open;
                        path.push(Open { node: next, left: inner(&self.nodes[next]), expanded: 1, height: 1 });
                    }
                }
            }
            if let Known::Done { expanded, height } = known[root] {
                total = if root == 0 { expanded } else { total };
                highest = highest.max(height);
            }
        }
        Extent { expanded: total, height: highest, is_cyclic }
    }
}

/// What is known of a schema while the graph is walked through.
enum Known {
    New,
    Open,
    Done { expanded: u64, height: usize },
}

/// A schema that is being walked through.
struct Open {
    node: usize,
    left: Vec<usize>,
    expanded: u64,
    height: usize,
}

impl Open {
    fn add(&mut self, expanded: u64, height: usize) {
        self.expanded = self.expanded.saturating_add(expanded);
        self.height = self.height.max(height + 1);
    }
}

/// Takes a schema apart, each part once, however often it is referred to.
struct Reader<'a> {
    root: &'a Value,
    /// By where they are in memory.
    numbers: HashMap<*const Value, usize>,
    queue: Vec<&'a Value>,
}

impl<'a> Reader<'a> {
    fn number(&mut self, schema: &'a Value) -> usize {
        *self.numbers.entry(std::ptr::from_ref(schema)).or_insert_with(|| {
            self.queue.push(schema);
            self.queue.len() - 1
        })
    }

    fn node(&mut self, schema: &'a Value) -> Result<Node, String> {
        let mut node = Node { cost: 1, ..Node::default() };
        let Value::Object(keywords) = schema else { return Ok(node) };
        for (key, value) in keywords {
            self.keyword(key, value, &mut node)?;
        }
        if ["unevaluatedProperties", "unevaluatedItems"].iter().any(|key| keywords.contains_key(*key)) {
            // What is beside it is evaluated once more, to see what it evaluates.
            node.here.extend_from_within(..);
        }
        Ok(node)
    }

    fn keyword(&mut self, key: &str, value: &'a Value, node: &mut Node) -> Result<(), String> {
        match key {
            "$ref" => {
                let target = self.target(value)?;
                node.here.push(self.number(target));
            }
            "$dynamicRef" | "$recursiveRef" => {
                return Err(format!("`{key}` is not supported; write `$ref` with a path such as `#/$defs/NAME`"));
            }
            "allOf" | "anyOf" | "oneOf" => self.list(value, |number| node.here.push(number)),
            "not" | "if" | "then" | "else" => node.here.push(self.number(value)),
            "dependentSchemas" | "dependencies" => self.map(value, |_, number| node.here.push(number)),
            "properties" => {
                node.cost += size(value);
                self.map(value, |name, number| node.below.push((Part::Property(name.to_owned()), number)));
            }
            "patternProperties" => {
                let fields = value.as_object();
                node.cost += fields.into_iter().flat_map(Map::keys).map(|pattern| cost_of(pattern)).sum::<u64>();
                self.map(value, |_, number| node.below.push((Part::Properties, number)));
            }
            "additionalProperties" | "unevaluatedProperties" => node.below.push((Part::Properties, self.number(value))),
            "propertyNames" => node.below.push((Part::Names, self.number(value))),
            "prefixItems" | "items" if value.is_array() => {
                let mut place = 0;
                self.list(value, |number| {
                    node.below.push((Part::Item(place), number));
                    place += 1;
                });
            }
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => {
                node.below.push((Part::Items, self.number(value)));
            }
            "enum" | "required" => node.cost += size(value),
            "pattern" => node.cost += value.as_str().map_or(0, cost_of),
            "format" if value == "regex" => node.cost += BACKTRACKING,
            _ => {}
        }
        Ok(())
    }

    fn list(&mut self, schemas: &'a Value, mut take: impl FnMut(usize)) {
        schemas.as_array().into_iter().flatten().for_each(|schema| take(self.number(schema)));
    }

    fn map(&mut self, schemas: &'a Value, mut take: impl FnMut(&'a str, usize)) {
        schemas.as_object().into_iter().flatten().for_each(|(name, schema)| take(name, self.number(schema)));
    }

    fn target(&self, reference: &Value) -> Result<&'a Value, String> {
        let reference = reference.as_str().unwrap_or_default();
        let target = reference.strip_prefix('#').and_then(|path| self.root.pointer(&decoded(path)));
        target.ok_or_else(|| {
            let shown: String = reference.chars().take(80).collect();
            format!(
                "`$ref` of `{}` leads to nothing within the schema; write a path such as `#/$defs/NAME`",
                shown.escape_debug()
            )
        })
    }
}

/// About how much work it is to look through a list or map.
fn size(value: &Value) -> u64 {
    let size = value.as_array().map(Vec::len).or_else(|| Some(value.as_object()?.len()));
    size.unwrap_or_default() as u64 / 8
}

/// Patterns with look-around or references back are not matched in linear time.
fn cost_of(pattern: &str) -> u64 {
    let backtracks = ["(?=", "(?!", "(?<", "(?>", "(?(", "\\k", "\\G"].iter().any(|part| pattern.contains(part))
        || pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit());
    if backtracks { BACKTRACKING } else { 1 }
}

/// Returns the path of a reference, which may be written as in a URL.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
