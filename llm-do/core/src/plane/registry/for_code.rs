//! Tools as shown to code of a model, which reads their results.

use std::sync::Arc;

use llm_do_providers::ToolSpec;
use serde_json::json;

use super::Registry;
use crate::plane::declared::Declared;

impl Registry {
    /// Returns the declared tools with descriptions that contain their result types, since APIs have no common field
    /// for these.
    pub(crate) fn specs_for_code(&self, declared: &Declared) -> Arc<[ToolSpec]> {
        declared.specs().iter().map(|spec| self.for_code(declared, spec)).collect()
    }

    fn for_code(&self, declared: &Declared, spec: &ToolSpec) -> ToolSpec {
        let tool = declared.tool(&spec.name).and_then(|name| self.get(name));
        // Code receives text unchanged.
        let Some(output) = tool.and_then(|tool| tool.output()).filter(|schema| schema["type"] != json!("string"))
        else {
            return spec.clone();
        };
        let description = format!("{}\n\nReturns JSON with the schema {output}", spec.description);
        ToolSpec { description: description.trim_start().into(), ..spec.clone() }
    }
}
