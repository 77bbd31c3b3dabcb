//! Chats: conversations whose messages are runs.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use uuid::Uuid;

use super::body::Json as Body;
use super::messages::start_or_join;
use super::problem::Problem;
use super::runs::{new_run, offered};
use super::view::{ChatList, ChatView, MAX_LIST, SendMessage, StartChat};
use super::{App, Id, Identity, Role};
use crate::engine::Shared;
use crate::store::{ChatRow, NewRun};

pub(super) async fn start(
    State(shared): App,
    client: Identity,
    Body(StartChat { entry }): Body<StartChat>,
) -> Result<(StatusCode, Json<ChatView>), Problem> {
    client.require(Role::Start)?;
    if shared.is_elsewhere() {
        let text = "runs that live in Restate have no chats";
        return Err(Problem::new(StatusCode::NOT_IMPLEMENTED, "no_chats", text));
    }
    offered(&shared, &entry)?;
    let id = Uuid::now_v7().to_string();
    let chat = shared.store.insert_chat(id, Arc::clone(&client.tenant), entry, shared.now()).await?;
    Ok((StatusCode::CREATED, Json(chat.into())))
}

pub(super) async fn list(State(shared): App, client: Identity) -> Result<Json<ChatList>, Problem> {
    client.require(Role::Watch)?;
    let chats = shared.store.chats(client.scope(), MAX_LIST).await?;
    Ok(Json(ChatList { chats: chats.into_iter().map(ChatView::from).collect() }))
}

pub(super) async fn one(State(shared): App, client: Identity, Id(id): Id) -> Result<Json<ChatView>, Problem> {
    client.require(Role::Watch)?;
    Ok(Json(visible(&shared, &client, &id).await?.into()))
}

pub(super) async fn send(
    State(shared): App,
    client: Identity,
    Id(id): Id,
    headers: HeaderMap,
    Body(SendMessage { arguments, interrupt }): Body<SendMessage>,
) -> Result<Response, Problem> {
    client.require(Role::Start)?;
    let chat = visible(&shared, &client, &id).await?;
    let new = new_run(&shared, &client, &headers, chat.entry, arguments, Some(chat.id))?;
    // Not the tenant of an administrator: those who see the chat see its messages.
    let new = NewRun { tenant: chat.tenant.into(), ..new };
    start_or_join(&shared, &client, new, interrupt).await
}

async fn visible(shared: &Shared, client: &Identity, id: &str) -> Result<ChatRow, Problem> {
    let chat = shared.store.chat(id).await?;
    chat.filter(|chat| client.sees(&chat.tenant)).ok_or_else(|| Problem::unknown("chat"))
}
