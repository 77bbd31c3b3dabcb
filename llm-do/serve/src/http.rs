//! The service over HTTP: its routes, and the checks of every request.

mod approvals;
mod body;
mod chats;
mod events;
mod gate;
mod messages;
mod page;
mod problem;
mod records;
mod runs;
mod status;
mod view;
mod webhooks;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use http::request::Parts;

use self::gate::Gate;
use self::problem::Problem;
use super::access::{Identity, Role};
use super::engine::Shared;

pub(super) use self::events::Streams;
pub(super) use self::view::schemas;
pub use self::view::{MAX_LIST, RunListQuery};
pub(super) use self::view::{RunList, RunView};

/// The state of all handlers.
type App = axum::extract::State<Arc<Shared>>;

/// Returns the routes of a service.
pub(super) fn router(shared: &Arc<Shared>) -> Router {
    let gate = Arc::new(Gate::new(Arc::clone(shared)));
    let limit = shared.options.max_body_bytes;
    let router = Router::new()
        .route("/runs", get(runs::list).post(runs::start))
        .route("/runs/{id}", get(runs::one))
        .route("/runs/{id}/cancel", post(runs::cancel))
        .route("/runs/{id}/resume", post(runs::resume))
        .route("/runs/{id}/settle", post(runs::settle))
        .route("/runs/{id}/messages", post(messages::send))
        .route("/runs/{id}/events", get(events::stream))
        .route("/runs/{id}/records", get(records::stream))
        .route("/approvals", get(approvals::approvals))
        .route("/approvals/{id}", get(approvals::approval).post(approvals::decide))
        .route("/questions", get(approvals::questions))
        .route("/questions/{id}", get(approvals::question).post(approvals::answer))
        .route("/chats", get(chats::list).post(chats::start))
        .route("/chats/{id}", get(chats::one))
        .route("/chats/{id}/messages", post(chats::send))
        .route("/entries", get(status::entries))
        .route("/hybrids", get(status::hybrids))
        .route("/metrics", get(status::metrics))
        .route_layer(from_fn_with_state(Arc::clone(&gate), gate::authenticate))
        // These need no token: they contain no data of a run, or verify a signature.
        .route(
            "/webhooks/{name}",
            post(webhooks::receive).route_layer(from_fn_with_state(Arc::clone(&gate), gate::limit_webhooks)),
        )
        .route("/health", get(status::health))
        .route("/ready", get(status::ready))
        .route("/openapi.json", get(status::openapi))
        .merge(page::routes())
        .fallback(status::unknown_path)
        .method_not_allowed_fallback(status::wrong_method);
    router
        .layer(DefaultBodyLimit::max(limit))
        .layer(from_fn_with_state(gate, gate::guard))
        .with_state(Arc::clone(shared))
}

/// The id or the name in a path.
struct Id(String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let id = Path::from_request_parts(parts, state).await;
        id.map(|Path(id)| Self(id)).map_err(|_| Problem::invalid("the path is not valid UTF-8"))
    }
}

impl Identity {
    /// Returns an error if the client does not have this role.
    fn require(&self, role: Role) -> Result<(), Problem> {
        if self.may(role) { Ok(()) } else { Err(Problem::forbidden(role.as_str())) }
    }

    /// Returns whether the client may see what belongs to this tenant.
    fn sees(&self, tenant: &str) -> bool {
        self.scope().is_none_or(|own| *own == *tenant)
    }
}

/// The client that [`gate::authenticate`] has found.
impl<S: Sync> FromRequestParts<S> for Identity {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Problem::unauthenticated)
    }
}
