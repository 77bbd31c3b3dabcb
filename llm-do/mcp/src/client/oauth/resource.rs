//! The name of a server in its metadata (RFC 9728) and in requests for tokens (RFC 8707).
//!
//! Servers differ in whether it ends with a slash. The library demands the URL of the connection, and authorization servers demand
//! the name of the metadata.

use std::sync::Mutex;

use reqwest::Url;
use serde_json::Value;

use llm_do_core::base::mutex::IgnorePoison;

/// The field and the parameter with the name.
const RESOURCE: &str = "resource";
/// Fields that metadata of a server have.
const SERVERS: [&str; 2] = ["authorization_servers", "authorization_server"];

/// What a server is called.
#[derive(Debug)]
pub(super) struct Resource {
    server: Url,
    /// Its name in its metadata, if that differs by a slash.
    name: Mutex<Option<String>>,
}

impl Resource {
    pub(super) fn new(server: Url) -> Self {
        Self { server, name: Mutex::default() }
    }

    /// Returns metadata with the URL of the server in place of a name that differs by a slash at the end; `None` for others.
    pub(super) fn renamed(&self, body: &[u8]) -> Option<Vec<u8>> {
        let Ok(Value::Object(mut metadata)) = serde_json::from_slice(body) else { return None };
        if !SERVERS.iter().any(|field| metadata.contains_key(*field)) {
            return None;
        }
        let name = metadata.get(RESOURCE)?.as_str()?.to_owned();
        let url: Url = name.parse().ok()?;
        if url == self.server || without_slash(&url) != without_slash(&self.server) {
            return None;
        }
        metadata.insert(RESOURCE.to_owned(), self.server.as_str().into());
        *self.name.lock().ignore_poison() = Some(name);
        serde_json::to_vec(&metadata).ok()
    }

    /// Returns a URL whose query has the name of the metadata; `None` if it has that already.
    pub(super) fn named(&self, url: &Url) -> Option<Url> {
        let name = self.name.lock().ignore_poison().clone()?;
        let is_server = |(key, value): &(String, String)| key == RESOURCE && *value == self.server.as_str();
        let mut pairs: Vec<_> = url.query_pairs().into_owned().collect();
        let found = pairs.iter_mut().find(|pair| is_server(pair))?;
        found.1 = name;
        let mut named = url.clone();
        named.query_pairs_mut().clear().extend_pairs(pairs);
        Some(named)
    }

    /// Returns the body of a form with the name of the metadata; `None` if it has that already.
    pub(super) fn named_form(&self, body: &[u8]) -> Option<Vec<u8>> {
        let mut form = self.server.clone();
        form.set_query(Some(str::from_utf8(body).ok()?));
        Some(self.named(&form)?.query()?.as_bytes().to_vec())
    }
}

fn without_slash(url: &Url) -> Url {
    let mut url = url.clone();
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    url
}
