#![doc = include_str!("../docs/http.md")]

mod answer;
mod client;
mod fault;
mod host;
mod html;
mod page;
mod request;
mod settings;
mod target;
mod text;
mod tools;

pub use self::settings::Http;
pub use self::tools::{fetch, fetch_asked, http};
