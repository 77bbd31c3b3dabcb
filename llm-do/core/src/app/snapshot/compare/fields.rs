//! Compares the fields of objects.

use serde_json::{Map, Value};

use super::schema::{Direction, Place, Walk};
use super::types::{is_struct, properties, required};

impl<'a> Walk<'a> {
    /// Compares the fields of objects.
    pub(super) fn compare_properties(
        &mut self,
        place: &Place,
        given: &'a Map<String, Value>,
        accepting: &'a Map<String, Value>,
    ) {
        let given_fields = properties(given);
        let others = given.get("additionalProperties").unwrap_or(&Value::Bool(true));
        // A struct: a typed call sends no other fields.
        let is_struct = place.is_root() || (is_struct(given) && !self.is_any);
        self.compare_required(place, given, accepting);
        let is_any = !is_struct && given_fields.is_some();
        self.within(is_any, |walk| walk.compare_fields(place, (given, others, is_struct), accepting));
    }

    fn compare_fields(
        &mut self,
        place: &Place,
        (given, others, is_struct): (&'a Map<String, Value>, &'a Value, bool),
        accepting: &'a Map<String, Value>,
    ) {
        let (given_fields, accepted_fields) = (properties(given), properties(accepting));
        for (name, accepted) in accepted_fields.into_iter().flatten() {
            match given_fields.and_then(|fields| fields.get(name)) {
                Some(field) => self.compare(&place.field(name), field, accepted),
                None if !is_struct || self.direction == Direction::Result => {
                    self.compare_undeclared(&place.field(name), others, accepted);
                }
                None if required(accepting).contains(&name.as_str()) => {}
                None => self.note(&place.field(name), " is new"),
            }
        }
        for name in given_fields.into_iter().flatten().map(|(name, _)| name) {
            if accepted_fields.is_none_or(|fields| !fields.contains_key(name)) {
                self.undeclared(&place.field(name));
            }
        }
        let accepted = accepting.get("additionalProperties").unwrap_or(&Value::Bool(true));
        // Other fields of a result are ignored, except in a map.
        if !is_struct && (self.direction == Direction::Arguments || accepted.is_object()) {
            self.compare(&place.field("*"), others, accepted);
        }
    }

    /// Compares a field that `accepting` has and `given` does not declare.
    fn compare_undeclared(&mut self, place: &Place, others: &'a Value, accepted: &'a Value) {
        match self.direction {
            Direction::Arguments => self.compare(place, others, accepted),
            // A server that does not declare a field may still send it, but does not promise to.
            Direction::Result => self.note(place, " is not declared any longer"),
        }
    }

    /// Adds the change of a field that `given` has and `accepting` does not declare.
    fn undeclared(&mut self, place: &Place) {
        match self.direction {
            Direction::Arguments => self.error(place, " was removed"),
            Direction::Result => self.note(place, " is new"),
        }
    }

    fn compare_required(&mut self, place: &Place, given: &'a Map<String, Value>, accepting: &'a Map<String, Value>) {
        let known = required(given);
        for name in required(accepting).into_iter().filter(|name| !known.contains(name)) {
            let is_declared = properties(given).is_some_and(|fields| fields.contains_key(name));
            let difference = match (self.direction, is_declared) {
                (Direction::Arguments, true) => " is required now",
                (Direction::Arguments, false) => " is new and required",
                (Direction::Result, true) => " may be missing now",
                (Direction::Result, false) => " was removed",
            };
            self.error(&place.field(name), difference);
        }
    }
}
