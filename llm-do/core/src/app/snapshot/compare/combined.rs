//! Schemas that combine further schemas with `anyOf`, `oneOf` and `allOf`.

use serde_json::{Map, Value};

use super::schema::{Direction, Place, Walk, resolved};
use super::types::are_apart;

/// The keywords that combine schemas.
pub(super) const COMBINING: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Returns whether one of the schemas is a combination.
pub(super) fn are_combined(given: &Map<String, Value>, accepting: &Map<String, Value>) -> bool {
    COMBINING.iter().any(|keyword| given.contains_key(*keyword) || accepting.contains_key(*keyword))
}

/// Returns the parts of a combination.
fn parts<'a>(schema: &'a Map<String, Value>, keyword: &str) -> Option<&'a Vec<Value>> {
    schema.get(keyword)?.as_array()
}

impl<'a> Walk<'a> {
    /// Compares schemas of which one is a combination; a difference is not located within them.
    pub(super) fn combined(&mut self, place: &Place, given: &'a Map<String, Value>, accepting: &'a Map<String, Value>) {
        let is_typed_as_any = self.direction == Direction::Result && !has_type(accepting);
        if is_typed_as_any && COMBINING.iter().any(|keyword| accepting.contains_key(*keyword)) {
            return;
        }
        let is_any = COMBINING.iter().any(|keyword| given.contains_key(*keyword)) && !has_type(given);
        let mut is_accepted = self.are_same_objects(given, accepting);
        self.within(is_any, |walk| is_accepted = is_accepted || walk.accepts_combined(place, given, accepting));
        if is_accepted {
            return;
        }
        let changed = COMBINING.iter().find(|keyword| given.get(**keyword) != accepting.get(**keyword));
        let word = changed.map_or_else(String::new, |keyword| format!(" (`{keyword}` changed)"));
        let difference = match self.direction {
            Direction::Arguments => format!(": some values are not accepted any longer{word}"),
            Direction::Result => format!(": there are values that its type does not accept{word}"),
        };
        self.error(place, &difference);
    }

    fn accepts_combined(
        &mut self,
        place: &Place,
        given: &'a Map<String, Value>,
        accepting: &'a Map<String, Value>,
    ) -> bool {
        // All parts of the accepting schema must accept, each of them all alternatives of the given schema.
        let own = self.with_alternatives(given, &mut |walk, given| walk.accepts_own(place, given, accepting));
        let all_of = parts(accepting, "allOf").into_iter().flatten();
        let all_of = all_of
            .into_iter()
            .all(|part| self.with_alternatives(given, &mut |walk, given| walk.accepted_by(place, given, part)));
        own && all_of
            && ["anyOf", "oneOf"].iter().all(|keyword| {
                parts(accepting, keyword).is_none_or(|parts| {
                    self.with_alternatives(given, &mut |walk, given| walk.accepted_by_one(place, given, parts, keyword))
                })
            })
    }

    /// Returns whether `check` holds for the schema itself, for another schema that values must meet too, or for all
    /// its alternatives.
    fn with_alternatives(
        &mut self,
        given: &'a Map<String, Value>,
        check: &mut dyn FnMut(&mut Self, &'a Map<String, Value>) -> bool,
    ) -> bool {
        if check(self, given) {
            return true;
        }
        let root = self.roots.0;
        let objects = |keyword| {
            let parts = parts(given, keyword)?;
            parts.iter().map(|part| resolved(root, part).as_object()).collect::<Option<Vec<_>>>()
        };
        let (all_of, any_of, one_of) = (objects("allOf"), objects("anyOf"), objects("oneOf"));
        if all_of.into_iter().flatten().any(|part| check(self, part)) {
            return true;
        }
        [any_of, one_of].into_iter().flatten().any(|parts| parts.into_iter().all(|part| check(self, part)))
    }

    fn accepted_by(&mut self, place: &Place, given: &'a Map<String, Value>, part: &'a Value) -> bool {
        match resolved(self.roots.1, part) {
            Value::Bool(accepts) => *accepts,
            Value::Object(part) if COMBINING.iter().any(|keyword| part.contains_key(*keyword)) => {
                self.accepts_combined(place, given, part)
            }
            Value::Object(part) => self.accepts_own(place, given, part),
            _ => false,
        }
    }

    /// Returns whether one of the alternatives accepts; with `oneOf`, only that one.
    fn accepted_by_one(
        &mut self,
        place: &Place,
        given: &'a Map<String, Value>,
        parts: &'a [Value],
        keyword: &str,
    ) -> bool {
        let root = self.roots.1;
        let is_apart = |part: &Value| resolved(root, part).as_object().is_some_and(|part| are_apart(given, part));
        parts.iter().enumerate().any(|(index, part)| {
            let others = || parts.iter().enumerate().filter(|(other, _)| *other != index);
            self.accepted_by(place, given, part) && (keyword == "anyOf" || others().all(|(_, other)| is_apart(other)))
        })
    }

    /// Returns whether the keywords besides combinations accept.
    fn accepts_own(&mut self, place: &Place, given: &'a Map<String, Value>, accepting: &'a Map<String, Value>) -> bool {
        self.try_out(|walk| walk.keywords(place, given, accepting))
    }
}

/// Returns whether the generated type of a combination is narrower than any value: an `Option` or an enum.
fn has_type(schema: &Map<String, Value>) -> bool {
    let Some(parts) = parts(schema, "anyOf").or_else(|| parts(schema, "oneOf")) else { return false };
    let is_null = |part: &&Value| part.get("type").is_some_and(|name| name == "null");
    let others: Vec<_> = parts.iter().filter(|part| !is_null(part)).collect();
    let is_listed = |part: &&Value| part.get("enum").is_some() || part.get("const").is_some();
    others.len() == 1 || others.iter().all(is_listed)
}
