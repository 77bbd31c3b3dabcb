//! The tools of MCP servers, as tools of a runtime. The servers are programs of the tests, on pipes and on loopback.

mod dry_run;
mod elicitation;
mod faults;
mod http;
mod journaled;
mod lifetime;
mod logins;
mod odd;
mod results;
mod sampling;
mod schemas;
mod script;
mod tools;
