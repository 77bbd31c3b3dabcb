//! Runs that other services start, by signed requests.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use sha2::Sha256;

use super::{Client, ServiceError};

/// The maximum difference between the clocks of the sender and the service, as in the libraries of Standard Webhooks.
const TOLERANCE: SignedDuration = SignedDuration::from_mins(5);
/// The maximum length of the type of an event, in bytes.
const MAX_EVENT: usize = 64;
/// The prefix of a secret in Base64, by Standard Webhooks.
const SECRET_PREFIX: &str = "whsec_";

/// A webhook of a service: requests of another service to `/webhooks/NAME`, each of which starts a run.
///
/// A request must be signed with the shared secret, by one of two schemes: [Standard Webhooks] (`webhook-id`,
/// `webhook-timestamp`, `webhook-signature`), whose requests are valid for 5 minutes, or GitHub's
/// (`x-hub-signature-256`). A secret that begins with `whsec_` is for the first scheme only. Each webhook has a
/// different secret, so that a request is valid at one path only.
///
/// The body is JSON, or a form with JSON in the field `payload`, as GitHub sends by default.
///
/// A repeated message does not start a run while the run of the first one is stored. In Standard Webhooks, a message is
/// identified by its id. In GitHub's scheme, which signs neither id, time nor type, it is identified by its body and
/// the type of its event (`x-github-event`). GitHub's `ping` is answered without a run.
///
/// [Standard Webhooks]: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
#[derive(Clone)]
#[must_use]
pub struct Webhook {
    pub(super) name: Arc<str>,
    pub(super) entry: String,
    pub(super) argument: Option<String>,
    pub(super) type_argument: Option<String>,
    pub(super) tenant: Arc<str>,
    secret: Vec<u8>,
    /// Whether the secret is for Standard Webhooks, so that the other scheme is refused.
    is_standard: bool,
}

impl Webhook {
    /// Creates a webhook with this name, which starts `entry`.
    ///
    /// A secret that begins with `whsec_` is Base64; any other secret is used unchanged.
    ///
    /// # Errors
    ///
    /// Returns an error for a secret of less than 16 bytes, or one that is not Base64 although it begins with `whsec_`.
    pub fn new(name: impl Into<Arc<str>>, secret: &str, entry: impl Into<String>) -> Result<Self, ServiceError> {
        let name = name.into();
        let fault = |text: &str| ServiceError::new(format!("webhook `{name}`: {text}"));
        let is_standard = secret.starts_with(SECRET_PREFIX);
        let secret = match secret.strip_prefix(SECRET_PREFIX) {
            Some(encoded) => STANDARD.decode(encoded).map_err(|_| fault("the secret after `whsec_` is not Base64"))?,
            None => secret.as_bytes().to_vec(),
        };
        if secret.len() < 16 {
            return Err(fault("the secret has less than 16 bytes: use at least 16, chosen at random"));
        }
        Ok(Self {
            tenant: Arc::clone(&name),
            name,
            entry: entry.into(),
            argument: None,
            type_argument: None,
            secret,
            is_standard,
        })
    }

    /// Passes the body of a request, which is JSON, as this argument. Default: the body is the object of all arguments.
    pub fn argument(mut self, name: impl Into<String>) -> Self {
        self.argument = Some(name.into());
        self
    }

    /// Passes the type of GitHub's event, such as `push`, as this argument. Default: it is not passed.
    pub fn type_argument(mut self, name: impl Into<String>) -> Self {
        self.type_argument = Some(name.into());
        self
    }

    /// Sets the tenant that the runs belong to. Default: the name of the webhook.
    pub fn tenant(mut self, tenant: impl Into<Arc<str>>) -> Self {
        self.tenant = tenant.into();
        self
    }

    /// Returns whether only requests of Standard Webhooks are accepted, which have no type.
    pub(super) fn is_standard(&self) -> bool {
        self.is_standard
    }

    /// Returns whether a signature by one is valid for the other; different secrets can have the same key.
    pub(super) fn has_key_of(&self, other: &Self) -> bool {
        let probe: &[&[u8]] = &[b"llm-do: are the keys equal?"];
        self.keyed(probe).is_some_and(|mac| other.is_signed(probe, &mac.finalize().into_bytes()))
    }

    /// Returns whether a client's token is the secret, in any of the forms in which a secret is written.
    pub(super) fn has_secret_of(&self, client: &Client) -> bool {
        let encoded = STANDARD.encode(&self.secret);
        let written = format!("{SECRET_PREFIX}{encoded}");
        let forms = [self.secret.as_slice(), encoded.as_bytes(), written.as_bytes()];
        forms.into_iter().any(|form| client.has_token(form))
    }

    /// Checks the signature of a request, and returns its message.
    pub(super) fn verify(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<Message, Refused> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(signatures) = text("webhook-signature") {
            let (id, time) = (text("webhook-id").ok_or(Refused)?, text("webhook-timestamp").ok_or(Refused)?);
            let sent = time.parse().ok().and_then(|second| Timestamp::from_second(second).ok()).ok_or(Refused)?;
            if now.duration_since(sent).abs() > TOLERANCE {
                return Err(Refused);
            }
            let signed = [id.as_bytes(), b".", time.as_bytes(), b".", body];
            let given = signatures.split(' ').filter_map(|signature| signature.strip_prefix("v1,"));
            let mut given = given.filter_map(|signature| STANDARD.decode(signature).ok());
            let message = Message { id: id.to_owned(), event: None };
            return if given.any(|given| self.is_signed(&signed, &given)) { Ok(message) } else { Err(Refused) };
        }
        let given = text("x-hub-signature-256").and_then(|value| value.strip_prefix("sha256=")).ok_or(Refused)?;
        let digest = decode_hex(given).filter(|_| !self.is_standard).ok_or(Refused)?;
        // `x-github-delivery` is not signed, so a recorded message could be repeated with another id.
        if !self.is_signed(&[body], &digest) {
            return Err(Refused);
        }
        Ok(Message { id: given.to_ascii_lowercase(), event: text("x-github-event").map(str::to_owned) })
    }

    /// Returns whether `given` is the signature of the parts, in constant time.
    fn is_signed(&self, parts: &[&[u8]], given: &[u8]) -> bool {
        self.keyed(parts).is_some_and(|mac| mac.verify_slice(given).is_ok())
    }

    fn keyed(&self, parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).ok()?;
        for part in parts {
            mac.update(part);
        }
        Some(mac)
    }
}

/// A signed message.
#[derive(Debug)]
pub(super) struct Message {
    id: String,
    /// The type of GitHub's event, which is not signed.
    pub(super) event: Option<String>,
}

impl Message {
    /// Returns whether GitHub only checks whether the webhook answers.
    pub(super) fn is_ping(&self) -> bool {
        self.event.as_deref() == Some("ping")
    }

    /// Returns whether the type of its event is valid: letters, digits and `_`, at most 64.
    pub(super) fn has_valid_event(&self) -> bool {
        let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        self.event.as_ref().is_none_or(|event| (1..=MAX_EVENT).contains(&event.len()) && event.bytes().all(is_valid))
    }

    /// Returns the key of a message, which is equal if it is sent again.
    pub(super) fn key(&self, webhook: &str) -> String {
        match &self.event {
            Some(event) => format!("webhook:{webhook}:{event}:{}", self.id),
            None => format!("webhook:{webhook}:{}", self.id),
        }
    }
}

/// A request is not signed with the secret, or is too old. The reason is not reported, since it would help a forger.
#[derive(Debug)]
pub(super) struct Refused;

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("name", &self.name).field("entry", &self.entry).finish_non_exhaustive()
    }
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
            _ => None,
        })
        .collect()
}
