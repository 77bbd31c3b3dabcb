//! Files that a program offers to clients, by URI.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use llm_do_core::base::error::BoxError;
#[cfg(feature = "tracing")]
use llm_do_core::base::error::chain;
use llm_do_providers::Attachment;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceTemplate};

use super::{McpService, ServeError, Shared, result};

/// The maximum length of a URI, in bytes.
const MAX_URI: usize = 2048;

/// Finds the file of a URI; `None` for an unknown one.
type Find = dyn Fn(String) -> BoxFuture<'static, Result<Option<Attachment>, BoxError>> + Send + Sync;

/// The files that clients may read.
#[derive(Clone, Default)]
pub(super) struct Resources {
    files: Vec<(String, Attachment)>,
    templates: Vec<Template>,
}

/// Files with similar URIs.
#[derive(Clone)]
struct Template {
    uri: String,
    name: String,
    find: Arc<Find>,
}

impl Resources {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.templates.is_empty()
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uris = self.files.iter().map(|(uri, _)| uri).chain(self.templates.iter().map(|template| &template.uri));
        f.debug_list().entries(uris).finish()
    }
}

impl McpService {
    /// Offers a file as the resource of this URI. Default: no resources.
    ///
    /// # Errors
    ///
    /// Returns an error if the URI has no scheme, or is already offered.
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
            return Err(ServeError::new(format!("invalid resource URI `{uri}`: expected a scheme, such as `notes:`")));
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
    /// A name in braces stands for one or more characters other than `/`. The client chooses the URI: it may be any
    /// matching text of at most 2048 bytes. An error of the function is not sent to the client; with the feature
    /// `tracing`, it is an event for the operator.
    pub fn resources<F, R>(mut self, template: impl Into<String>, name: impl Into<String>, find: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Option<Attachment>, BoxError>> + Send + 'static,
    {
        let find: Arc<Find> = Arc::new(move |uri| Box::pin(find(uri)));
        self.resources.templates.push(Template { uri: template.into(), name: name.into(), find });
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
        self.resources.templates.iter().map(|template| ResourceTemplate::new(&template.uri, &template.name)).collect()
    }

    pub(super) async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let resources = &self.resources;
        if uri.len() > MAX_URI {
            let text = format!("the URI has {} bytes, more than the limit of {MAX_URI}", uri.len());
            return Err(ErrorData::invalid_params(text, None));
        }
        if let Some((_, file)) = resources.files.iter().find(|(known, _)| known == uri) {
            return Ok(ReadResourceResult::new(vec![result::resource(file, uri)]));
        }
        for template in resources.templates.iter().filter(|template| matches(&template.uri, uri)) {
            let found = (template.find)(uri.to_owned()).await;
            let found = found.map_err(|error| failed(uri, &error))?;
            if let Some(file) = found {
                return Ok(ReadResourceResult::new(vec![result::resource(&file, uri)]));
            }
        }
        Err(ErrorData::resource_not_found(format!("unknown resource `{uri}`"), Some(serde_json::json!({ "uri": uri }))))
    }
}

/// Returns the error for the client, without the text for the operator, which may name files.
fn failed(uri: &str, error: &BoxError) -> ErrorData {
    #[cfg(feature = "tracing")]
    tracing::error!(target: "llm_do", uri, error = chain(&**error), "the function for a resource failed");
    #[cfg(not(feature = "tracing"))]
    let _ = error;
    ErrorData::internal_error(format!("the resource `{uri}` could not be read"), None)
}

/// Returns whether a URI matches a template, in time proportional to the product of their lengths.
fn matches(template: &str, uri: &str) -> bool {
    // Whether the template so far can end before each byte, and at the end.
    let mut ends = vec![false; uri.len() + 1];
    ends[0] = true;
    let mut rest = template;
    while let Some((text, name)) = rest.split_once('{') {
        let Some((_, after)) = name.split_once('}') else { return false };
        ends = after_name(&after_text(&ends, text, uri), uri);
        rest = after;
    }
    after_text(&ends, rest, uri)[uri.len()]
}

/// Returns the possible ends of a text that begins at `starts`.
fn after_text(starts: &[bool], text: &str, uri: &str) -> Vec<bool> {
    let uri = uri.as_bytes();
    let is_end = |end: usize| {
        end.checked_sub(text.len()).is_some_and(|start| starts[start] && uri[start..end] == *text.as_bytes())
    };
    (0..=uri.len()).map(is_end).collect()
}

/// Returns the possible ends of one or more characters of a segment that begin at `starts`.
fn after_name(starts: &[bool], uri: &str) -> Vec<bool> {
    let mut ends = vec![false; starts.len()];
    let mut is_within = false;
    for (start, char) in uri.char_indices() {
        is_within = char != '/' && (is_within || starts[start]);
        ends[start + char.len_utf8()] = is_within;
    }
    ends
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
            ("t://{a}-{b}", "t://x/y-z", false),
            ("t://{a}{b}", "t://xy", true),
            ("t://{a}{b}", "t://é", false),
            ("t://{a}{b}", "t://x", false),
            ("t://{a", "t://{a", false),
            ("t://fixed", "t://fixed", true),
            ("t://é{x}", "t://éß", true),
        ] {
            assert_eq!(matches(template, uri), expected, "{template} {uri}");
        }
    }
}
