//! What a form allows is valid, and what is valid stays so.

use proptest::prelude::*;
use serde_json::Value;

use crate::schema::llama_cpp::translate;
use crate::schema::samples::{opened, schemas, values};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_form_allows_what_its_schema_does_but_for_properties_that_neither_names(
        schema in schemas(),
        values in prop::collection::vec(values(), 24),
    ) {
        if let Ok(form) = translate(&schema) {
            let validator = |schema: &Value| jsonschema::draft202012::new(schema).unwrap();
            let (before, after, opened) = (validator(&schema), validator(&form), validator(&opened(&form)));
            for value in values {
                prop_assert!(before.is_valid(&value) || !after.is_valid(&value), "{}\nis allowed by\n{:#}", value, form);
                prop_assert!(opened.is_valid(&value) || !before.is_valid(&value), "{}\nis refused by\n{:#}", value, form);
            }
        }
    }
}
