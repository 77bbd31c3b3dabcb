//! The graph of the subschemas of a schema: those for the same value, and those for its parts.

use serde_json::{Map, Value};

use super::subschemas::Subschemas;

/// A schema and the subschemas that it applies.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Subschemas for the same value.
    pub(super) here: Vec<usize>,
    /// Subschemas for parts of the value.
    pub(super) below: Vec<(Part, usize)>,
    /// The cost of its own keywords; 1 is a comparison or two.
    pub(super) cost: u64,
}

/// The parts of a value that a schema is applied to.
#[derive(Debug)]
pub(super) enum Part {
    Property(String),
    /// Any property: `additionalProperties`, `patternProperties` and `unevaluatedProperties`.
    Properties,
    Names,
    Item(usize),
    Items,
}

/// The schemas reachable from the root, which is the first.
#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
}

/// The size of a graph.
#[derive(Debug)]
pub(super) struct Extent {
    /// The number of schemas after each reference is replaced by its target; a recursive one counts once.
    pub(super) expanded: u64,
    /// The nesting depth after the replacement.
    #[cfg_attr(not(any(feature = "json-schema", test)), expect(dead_code, reason = "a limit on foreign schemas"))]
    pub(super) height: usize,
    /// Whether a schema is recursive.
    pub(super) is_cyclic: bool,
}

/// The cost of matching a pattern that may backtrack, and of compiling a string as a pattern.
const BACKTRACKING: u64 = 1_000;

impl Graph {
    /// Builds the graph of a schema.
    ///
    /// # Errors
    ///
    /// Returns the reference that cannot be resolved.
    pub(super) fn of(root: &Value) -> Result<Self, String> {
        let mut reader = Reader { root, subschemas: Subschemas::default() };
        reader.subschemas.number(root);
        let mut nodes = Vec::new();
        while let Some(schema) = reader.subschemas.get(nodes.len()) {
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

    /// Returns the maximum depth of nested schemas for the same value; `None` if a schema applies to the same value
    /// recursively.
    #[cfg(any(feature = "json-schema", test))]
    pub(super) fn height_here(&self) -> Option<usize> {
        let extent = self.extent_by(&|node| node.here.clone());
        (!extent.is_cyclic).then_some(extent.height)
    }

    /// Returns the size of the whole graph.
    pub(super) fn extent(&self) -> Extent {
        self.extent_by(&|node| node.here.iter().copied().chain(node.below.iter().map(|(_, below)| *below)).collect())
    }

    /// Visits all schemas depth first, without recursion, since their nesting is limited only by their number.
    fn extent_by(&self, inner: &dyn Fn(&Node) -> Vec<usize>) -> Extent {
        let mut states: Vec<VisitState> = self.nodes.iter().map(|_| VisitState::New).collect();
        let (mut is_cyclic, mut total, mut highest) = (false, 0, 0);
        for root in 0..self.nodes.len() {
            let mut path = Vec::new();
            if matches!(states[root], VisitState::New) {
                states[root] = VisitState::Open;
                path.push(OpenNode { node: root, left: inner(&self.nodes[root]), expanded: 1, height: 1 });
            }
            while let Some(open) = path.last_mut() {
                let Some(next) = open.left.pop() else {
                    let (node, expanded, height) = (open.node, open.expanded, open.height);
                    states[node] = VisitState::Done { expanded, height };
                    path.pop();
                    if let Some(outer) = path.last_mut() {
                        outer.add(expanded, height);
                    }
                    continue;
                };
                match states[next] {
                    VisitState::Done { expanded, height } => open.add(expanded, height),
                    VisitState::Open => {
                        is_cyclic = true;
                        open.add(1, 1);
                    }
                    VisitState::New => {
                        states[next] = VisitState::Open;
                        path.push(OpenNode { node: next, left: inner(&self.nodes[next]), expanded: 1, height: 1 });
                    }
                }
            }
            if let VisitState::Done { expanded, height } = states[root] {
                total = if root == 0 { expanded } else { total };
                highest = highest.max(height);
            }
        }
        Extent { expanded: total, height: highest, is_cyclic }
    }
}

/// The state of a schema during the depth-first search.
enum VisitState {
    New,
    Open,
    Done { expanded: u64, height: usize },
}

/// A schema on the path of the depth-first search.
struct OpenNode {
    node: usize,
    left: Vec<usize>,
    expanded: u64,
    height: usize,
}

impl OpenNode {
    fn add(&mut self, expanded: u64, height: usize) {
        self.expanded = self.expanded.saturating_add(expanded);
        self.height = self.height.max(height + 1);
    }
}

/// Collects the subschemas of a schema, each once, even if it is referenced several times.
struct Reader<'a> {
    root: &'a Value,
    subschemas: Subschemas<'a>,
}

impl<'a> Reader<'a> {
    fn node(&mut self, schema: &'a Value) -> Result<Node, String> {
        let mut node = Node { cost: 1, ..Node::default() };
        let Value::Object(keywords) = schema else { return Ok(node) };
        for (key, value) in keywords {
            self.keyword(key, value, &mut node)?;
        }
        if ["unevaluatedProperties", "unevaluatedItems"].iter().any(|key| keywords.contains_key(*key)) {
            // The validator evaluates the adjacent subschemas again to find the properties that they cover.
            node.here.extend_from_within(..);
        }
        Ok(node)
    }

    fn keyword(&mut self, key: &str, value: &'a Value, node: &mut Node) -> Result<(), String> {
        match key {
            "$ref" => {
                let target = target(self.root, value)?;
                node.here.push(self.subschemas.number(target));
            }
            "$dynamicRef" | "$recursiveRef" => {
                return Err(format!("`{key}` is not supported; use `$ref` with a path such as `#/$defs/NAME`"));
            }
            "allOf" | "anyOf" | "oneOf" => self.list(value, |number| node.here.push(number)),
            "not" | "if" | "then" | "else" => node.here.push(self.subschemas.number(value)),
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
            "additionalProperties" | "unevaluatedProperties" => {
                node.below.push((Part::Properties, self.subschemas.number(value)));
            }
            "propertyNames" => node.below.push((Part::Names, self.subschemas.number(value))),
            "prefixItems" | "items" if value.is_array() => {
                let mut index = 0;
                self.list(value, |number| {
                    node.below.push((Part::Item(index), number));
                    index += 1;
                });
            }
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => {
                node.below.push((Part::Items, self.subschemas.number(value)));
            }
            "enum" | "required" => node.cost += size(value),
            "pattern" => node.cost += value.as_str().map_or(0, cost_of),
            "format" if value == "regex" => node.cost += BACKTRACKING,
            _ => {}
        }
        Ok(())
    }

    fn list(&mut self, schemas: &'a Value, mut take: impl FnMut(usize)) {
        schemas.as_array().into_iter().flatten().for_each(|schema| take(self.subschemas.number(schema)));
    }

    fn map(&mut self, schemas: &'a Value, mut take: impl FnMut(&'a str, usize)) {
        schemas.as_object().into_iter().flatten().for_each(|(name, schema)| take(name, self.subschemas.number(schema)));
    }
}

/// Returns the target of a reference of the schema `root`.
///
/// # Errors
///
/// Returns the reference that cannot be resolved.
pub(super) fn target<'a>(root: &'a Value, reference: &Value) -> Result<&'a Value, String> {
    let reference = reference.as_str().unwrap_or_default();
    let target = reference.strip_prefix('#').and_then(|path| root.pointer(&decoded(path)));
    target.ok_or_else(|| {
        let shown: String = reference.chars().take(80).collect();
        format!(
            "the target of `$ref: {}` is not in the schema; use a path such as `#/$defs/NAME`",
            shown.escape_debug()
        )
    })
}

/// Returns the approximate cost of searching a list or map.
fn size(value: &Value) -> u64 {
    let size = value.as_array().map(Vec::len).or_else(|| Some(value.as_object()?.len()));
    size.unwrap_or_default() as u64 / 8
}

/// Returns the cost of matching a pattern; look-around and back-references do not match in linear time.
fn cost_of(pattern: &str) -> u64 {
    let backtracks = ["(?=", "(?!", "(?<", "(?>", "(?(", "\\k", "\\G"].iter().any(|part| pattern.contains(part))
        || pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit());
    if backtracks { BACKTRACKING } else { 1 }
}

/// Decodes the percent-encoded path of a reference.
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
