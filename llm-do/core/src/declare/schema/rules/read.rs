//! Reads a schema as rules.

use serde_json::{Map, Value};

use super::fields::{Fields, KeyPattern, Others};
use super::types::Types;
use super::{Bound, Counted, Rule, Rules, SizeBound};
use crate::declare::schema::format::{Format, FormatError};
use crate::declare::schema::graph::target;
use crate::declare::schema::subschemas::Subschemas;

/// The largest divisor that floating-point numbers represent, like all integers below it.
const MAX_DIVISOR: u64 = 1 << 53;

/// Represents `properties`, `patternProperties` and `additionalProperties`, which are one rule.
const FIELDS: &str = "properties";

/// The keywords, in the order in which they are checked: cheap ones first.
///
/// Faults are reported in this order.
const ORDER: [&str; 26] = [
    "type",
    "const",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "required",
    "format",
    "uniqueItems",
    FIELDS,
    "items",
    "prefixItems",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "unevaluatedProperties",
    "$ref",
];

/// Keywords that the rules do not support. A name in neither list is only descriptive.
const UNSUPPORTED: [&str; 18] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "additionalItems",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "maxContains",
    "minContains",
    "pattern",
    "propertyNames",
    "unevaluatedItems",
];

impl Rules {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// Returns the keyword that is invalid, or that the rules do not support.
    pub(in crate::declare::schema) fn of(root: &Value) -> Result<Self, String> {
        let mut reader = Reader { root, subschemas: Subschemas::default() };
        reader.subschemas.number(root);
        let mut nodes = Vec::new();
        while let Some(schema) = reader.subschemas.get(nodes.len()) {
            nodes.push(reader.node(schema)?);
        }
        Ok(Self { nodes })
    }
}

/// Reads the subschemas of a schema, each once, even if it is referenced several times.
struct Reader<'a> {
    root: &'a Value,
    subschemas: Subschemas<'a>,
}

impl<'a> Reader<'a> {
    fn node(&mut self, schema: &'a Value) -> Result<Vec<Rule>, String> {
        let keywords = match schema {
            Value::Bool(true) => return Ok(Vec::new()),
            Value::Bool(false) => return Ok(vec![Rule::Never]),
            Value::Object(keywords) => keywords,
            _ => return Err(format!("`{schema}`, which is not a schema")),
        };
        if let Some(keyword) = UNSUPPORTED.iter().find(|keyword| keywords.contains_key(**keyword)) {
            return Err(format!("`{keyword}`"));
        }
        let mut rules = Vec::new();
        for keyword in ORDER {
            if keyword == FIELDS {
                rules.extend(self.fields(keywords)?.map(Rule::Fields));
            } else if let Some(value) = keywords.get(keyword) {
                rules.extend(self.rule(keyword, value, keywords)?);
            }
        }
        Ok(rules)
    }

    /// Reads a keyword; returns `None` if it has no effect.
    fn rule(
        &mut self,
        keyword: &str,
        value: &'a Value,
        keywords: &'a Map<String, Value>,
    ) -> Result<Option<Rule>, String> {
        let rule = match keyword {
            "type" => Types::of(value).map(Rule::Type),
            "const" => Some(Rule::Const(value.clone())),
            "enum" => value.as_array().cloned().map(Rule::Enum),
            "multipleOf" => value.as_u64().filter(|divisor| (1..=MAX_DIVISOR).contains(divisor)).map(Rule::MultipleOf),
            "required" if is_last(keywords) => return Ok(None),
            "required" => names(value).map(Rule::Required),
            "format" => return format(value),
            "uniqueItems" if *value == false => return Ok(None),
            "uniqueItems" => (*value == true).then_some(Rule::UniqueItems),
            "prefixItems" => self.list(value).map(Rule::PrefixItems),
            "items" => {
                let after = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                Some(Rule::Items { after, each: self.subschemas.number(value) })
            }
            "allOf" => self.list(value).map(Rule::AllOf),
            "anyOf" => self.list(value).map(Rule::AnyOf),
            "oneOf" => self.list(value).map(Rule::OneOf),
            "not" => Some(Rule::Not(self.subschemas.number(value), value.clone())),
            "unevaluatedProperties" => Some(Rule::UnevaluatedProperties(self.subschemas.number(value))),
            "$ref" => Some(Rule::Reference(self.subschemas.number(target(self.root, value)?))),
            _ => bound(keyword, value).or_else(|| size(keyword, value)),
        };
        rule.map(Some).ok_or_else(|| invalid(keyword))
    }

    fn list(&mut self, schemas: &'a Value) -> Option<Vec<usize>> {
        let schemas = schemas.as_array().filter(|schemas| !schemas.is_empty())?;
        Some(schemas.iter().map(|schema| self.subschemas.number(schema)).collect())
    }

    fn map(&mut self, keywords: &'a Map<String, Value>, keyword: &str) -> Result<Vec<(&'a str, usize)>, String> {
        let Some(schemas) = keywords.get(keyword) else { return Ok(Vec::new()) };
        let schemas = schemas.as_object().ok_or_else(|| invalid(keyword))?;
        Ok(schemas.iter().map(|(name, schema)| (name.as_str(), self.subschemas.number(schema))).collect())
    }

    /// Reads the keywords for fields; returns `None` without them.
    fn fields(&mut self, keywords: &'a Map<String, Value>) -> Result<Option<Fields>, String> {
        let declared = self.map(keywords, "properties")?;
        let patterns = self.map(keywords, "patternProperties")?;
        let by_pattern = patterns.into_iter().map(|(pattern, node)| match KeyPattern::of(pattern) {
            Some(pattern) => Ok((pattern, node)),
            None => Err(format!("the pattern `{pattern}` in `patternProperties`")),
        });
        let by_pattern: Vec<_> = by_pattern.collect::<Result<_, _>>()?;
        let others = match keywords.get("additionalProperties") {
            None if declared.is_empty() && by_pattern.is_empty() => return Ok(None),
            None => Others::Any,
            Some(Value::Bool(true)) => Others::Described,
            Some(Value::Bool(false)) if by_pattern.is_empty() && !keywords.contains_key("properties") => {
                Others::Forbidden
            }
            Some(Value::Bool(false)) => Others::Unknown,
            Some(schema) => Others::Each(self.subschemas.number(schema)),
        };
        let last = keywords.get("required").filter(|_| is_last(keywords)).and_then(|names| names[0].as_str());
        Ok(Some(Fields::new(declared, by_pattern, others, last)))
    }
}

fn invalid(keyword: &str) -> String {
    format!("`{keyword}` with a value that is not supported")
}

/// Returns whether the only required field of a closed object is reported after its other faults.
fn is_last(keywords: &Map<String, Value>) -> bool {
    keywords.get("additionalProperties") == Some(&Value::Bool(false))
        && keywords.contains_key("properties")
        && !keywords.contains_key("patternProperties")
        && keywords
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|names| names.len() == 1 && names[0].is_string())
}

fn names(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Reads a format; an unknown format is only descriptive.
fn format(value: &Value) -> Result<Option<Rule>, String> {
    let name = value.as_str().ok_or_else(|| invalid("format"))?;
    match Format::of(name) {
        Ok(format) => Ok(Some(Rule::Format(name.to_owned(), format))),
        Err(FormatError::Unknown) => Ok(None),
        Err(FormatError::Unsupported) => Err(format!("`format: {name}`")),
    }
}

fn bound(keyword: &str, limit: &Value) -> Option<Rule> {
    let bound = match keyword {
        "minimum" => Bound::Minimum,
        "maximum" => Bound::Maximum,
        "exclusiveMinimum" => Bound::ExclusiveMinimum,
        "exclusiveMaximum" => Bound::ExclusiveMaximum,
        _ => return None,
    };
    Some(Rule::Bound(bound, limit.as_number()?.clone()))
}

fn size(keyword: &str, limit: &Value) -> Option<Rule> {
    let (of, bound) = match keyword {
        "minLength" => (Counted::Characters, SizeBound::Min),
        "maxLength" => (Counted::Characters, SizeBound::Max),
        "minItems" => (Counted::Items, SizeBound::Min),
        "maxItems" => (Counted::Items, SizeBound::Max),
        "minProperties" => (Counted::Properties, SizeBound::Min),
        "maxProperties" => (Counted::Properties, SizeBound::Max),
        _ => return None,
    };
    Some(Rule::Size { of, bound, limit: limit.as_u64()? })
}
