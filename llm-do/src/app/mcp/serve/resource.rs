//! Files that a program offers to clients, by URI.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use llm_do_providers::Attachment;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceTemplate};

use super::{McpService, ServeError, Shared, result};
use crate::base::error::{BoxError, chain};

/// Finds the file of a URI; `None` for an unknown one.
type Find = dyn Fn(String) -> BoxFuture<'static, Result<Option<Attachment>, BoxError>> + Send + Sync;

/// The files that clients may read.
#[derive(Clone, Default)]
pub(super) struct Resources {
    files: Vec<(String, Attachment)>,
    families: Vec<Family>,
}

/// Files with similar URIs.
#[derive(Clone)]
struct Family {
    template: String,
    name: String,
    find: Arc<Find>,
}

impl Resources {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.families.is_empty()
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uris = self.files.iter().map(|(uri, _)| uri).chain(self.families.iter().map(|family| &family.template));
        f.debug_list().entries(uris).finish()
    }
}

impl McpService {
    /// Offers a file as a resource of this URI. Default: no resources.
    ///
    /// # Errors
    ///
    /// Returns an error if the URI has no scheme, or is offered twice.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::prelude::*;
    /// use llm_do::Attachment;
    /// use llm_do::mcp::McpService;
    ///
    /// # fn main() -> Result<()> {
    /// let service = McpService::new(Runtime::builder().build()?);
    /// let service = service.resource("notes://today", Attachment::new("text/plain", b"call Ann".to_vec()))?;
    /// # let _ = service;
    /// # Ok(())
    /// # }
    /// ```
    pub fn resource(mut self, uri: impl Into<String>, file: Attachment) -> Result<Self, ServeError> {
        let uri = uri.into();
        if !uri.contains(':') {
            return Err(ServeError::new(format!("the URI of a resource needs a scheme, such as `notes:`: `{uri}`")));
        }
        if self.resources.files.iter().any(|(other, _)| *other == uri) {
            return Err(ServeError::new(format!("the resource `{uri}` is offered twice")));
        }
        self.resources.files.push((uri, file));
        Ok(self)
    }

    /// Offers files whose URIs match a template, such as `notes://{day}`; the function finds the file of a URI. Default:
    /// none.
    ///
    /// A name in braces stands for one or more characters other than `/`. The URI is a text of the client: it may be
    /// anything that matches.
    pub fn resources<F, R>(mut self, template: impl Into<String>, name: impl Into<String>, find: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Option<Attachment>, BoxError>> + Send + 'static,
    {
        let find: Arc<Find> = Arc::new(move |uri| Box::pin(find(uri)));
        self.resources.families.push(Family { template: template.into(), name: name.into(), find });
        self
    }
}

impl Shared {
    pub(super) fn listed_resources(&self) -> Vec<Resource> {
        let resource = |(uri, file): &(String, Attachment)| {
            let size = u64::try_from(file.data().len()).unwrap_or(u64::MAX);
            let name = file.name().unwrap_or(uri);
            Resource::new(uri, name).with_mime_type(file.media_type()).with_size(size)
        };
        self.resources.files.iter().map(resource).collect()
    }

    pub(super) fn resource_templates(&self) -> Vec<ResourceTemplate> {
        self.resources.families.iter().map(|family| ResourceTemplate::new(&family.template, &family.name)).collect()
    }

    pub(super) async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let resources = &self.resources;
        if let Some((_, file)) = resources.files.iter().find(|(known, _)| known == uri) {
            return Ok(ReadResourceResult::new(vec![result::resource(file, uri)]));
        }
        for family in resources.families.iter().filter(|family| matches(&family.template, uri)) {
            let found = (family.find)(uri.to_owned()).await;
            // The text is for the operator: it may name files.
            let found = found.map_err(|error| ErrorData::internal_error(chain(&*error), None))?;
            if let Some(file) = found {
                return Ok(ReadResourceResult::new(vec![result::resource(&file, uri)]));
            }
        }
        Err(ErrorData::resource_not_found(format!("unknown resource `{uri}`"), Some(serde_json::json!({ "uri": uri }))))
    }
}

/// Returns whether a URI has the form of a template.
fn matches(template: &str, uri: &str) -> bool {
    let Some((before, rest)) = template.split_once('{') else { return template == uri };
    let (Some(uri), Some((_, after))) = (uri.strip_prefix(before), rest.split_once('}')) else { return false };
    let segment = uri.find('/').unwrap_or(uri.len());
    let ends = uri.char_indices().map(|(index, char)| index + char.len_utf8()).take_while(|end| *end <= segment);
    ends.into_iter().any(|end| matches(after, &uri[end..]))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_name_in_braces_stands_for_characters_of_one_segment() {
        for (template, uri, expected) in [
            ("notes://{day}", "notes://monday", true),
            ("notes://{day}", "notes://", false),
            ("notes://{day}", "notes://a/b", false),
            ("t://{id}/data", "t://1/data", true),
            ("t://{id}/data", "t://1/data/x", false),
            ("t://{a}-{b}", "t://x-y-z", true),
            ("t://{a}-{b}", "t://xy", false),
            ("t://fixed", "t://fixed", true),
            ("t://é{x}", "t://éß", true),
        ] {
            assert_eq!(matches(template, uri), expected, "{template} {uri}");
        }
    }
}
