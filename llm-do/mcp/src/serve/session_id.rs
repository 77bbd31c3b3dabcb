//! The session ids that clients see: each is valid only for the principal that initialised its session.

use axum::body::Body;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use rmcp::model::{RequestStateCodec, SealOptions};
use uuid::Uuid;

use super::client::Principal;
use super::sessions::Sessions;

/// The header with the id of a session.
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Seals session ids for the principals that initialised the sessions.
#[derive(Debug)]
pub(super) struct SessionIds(RequestStateCodec);

impl Default for SessionIds {
    fn default() -> Self {
        // Each process has a new key, since sessions end with the process.
        let key = [Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4()].map(Uuid::into_bytes).concat();
        Self(RequestStateCodec::new_unchecked(key))
    }
}

impl SessionIds {
    /// Replaces the id in a response by an id that only this principal can use.
    pub(super) fn seal(&self, headers: &mut HeaderMap, principal: &Principal) {
        let Some(id) = headers.remove(SESSION_ID) else { return };
        let sealed = self.0.seal_with(id.as_bytes(), &SealOptions::new().associated_data(&bytes(principal)));
        // The encoding is Base64 with dots.
        if let Ok(sealed) = HeaderValue::from_str(&sealed) {
            headers.insert(SESSION_ID, sealed);
        }
    }

    /// Replaces the id in a request by that of the session. A forged id or the id of another principal is replaced by
    /// an unused one, so that the answer is the same as for an unknown session.
    pub(super) fn open(&self, headers: &mut HeaderMap, principal: &Principal) {
        let Some(sealed) = headers.remove(SESSION_ID) else { return };
        let sealed = sealed.to_str().unwrap_or_default();
        let opened = self.0.open_with(sealed, &bytes(principal)).ok();
        let id = opened.and_then(|id| HeaderValue::from_bytes(&id).ok()).unwrap_or_else(unknown);
        headers.insert(SESSION_ID, id);
    }
}

/// Returns whether there is a session with the id in the headers.
pub(super) fn has_session(sessions: &Sessions, headers: &HeaderMap) -> bool {
    let id = headers.get(&SESSION_ID).and_then(|id| id.to_str().ok());
    id.is_none_or(|id| sessions.has(id))
}

/// Returns the transport's answer to a message for an unknown session.
pub(super) fn unknown_session() -> Response<Body> {
    let mut response = Response::new(Body::from("Not Found: Session not found"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn bytes(principal: &Principal) -> Vec<u8> {
    serde_json::json!(principal).to_string().into_bytes()
}

/// Returns an id that no session has.
fn unknown() -> HeaderValue {
    HeaderValue::from_str(&Uuid::new_v4().to_string()).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(ids: &SessionIds, sealed: &HeaderValue, principal: &Principal) -> HeaderValue {
        let mut headers = HeaderMap::from_iter([(SESSION_ID, sealed.clone())]);
        ids.open(&mut headers, principal);
        headers.remove(SESSION_ID).unwrap()
    }

    #[test]
    fn an_id_is_that_of_the_session_only_for_who_initialised_it() {
        let (ids, id) = (SessionIds::default(), HeaderValue::from_static("b5"));
        let own = Principal::Subject("ann".to_owned());
        let mut headers = HeaderMap::from_iter([(SESSION_ID, id.clone())]);
        ids.seal(&mut headers, &own);
        let sealed = headers.remove(SESSION_ID).unwrap();
        assert_eq!(opened(&ids, &sealed, &own), id);
        for other in [Principal::Subject("bob".to_owned()), Principal::of_secret(b"ann"), Principal::Anonymous] {
            assert_ne!(opened(&ids, &sealed, &other), id, "{other:?}");
        }
        assert_ne!(opened(&SessionIds::default(), &sealed, &own), id, "another process");
        assert_ne!(opened(&ids, &id, &own), id, "the id of the session itself");
    }
}
