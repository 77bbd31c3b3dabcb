//! What is valid stays so.

use proptest::prelude::*;

use crate::schema::gemini::translate;
use crate::schema::samples::{schemas, values};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_a_schema_allows_its_form_does(schema in schemas(), values in prop::collection::vec(values(), 24)) {
        if let Ok(form) = translate(&schema) {
            let (before, after) =
                (jsonschema::draft202012::new(&schema).unwrap(), jsonschema::draft202012::new(&form).unwrap());
            let is_told = form.to_string().contains("Has no property");
            for value in values {
                let (is_valid, is_allowed) = (before.is_valid(&value), after.is_valid(&value));
                prop_assert!(is_allowed || !is_valid, "{}\nis refused by\n{:#}", value, form);
                prop_assert!(is_valid || !is_allowed || is_told, "{}\nis allowed by\n{:#}", value, form);
            }
        }
    }
}
