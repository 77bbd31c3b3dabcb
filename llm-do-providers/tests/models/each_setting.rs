//! Settings that a server may not support, or a model may not accept.

use llm_do_providers::{Message, Model, Request, Settings, ThinkingLevel};

use crate::question::add;
use crate::server::{Reply, Server};

/// Checks that each setting changes the request to a model, or else is the only warning of the response.
pub(crate) async fn is_sent_or_causes_a_warning<M: Model>(
    name: &str,
    service_tier: &str,
    answer: &Reply,
    model: impl Fn(&Server) -> M,
) {
    let of = Settings::new;
    let each = [
        ("", of()),
        ("temperature", of().temperature(0.5)),
        ("top_p", of().top_p(0.5)),
        ("seed", of().seed(7)),
        ("stop", of().stop("END")),
        ("presence_penalty", of().presence_penalty(0.5)),
        ("frequency_penalty", of().frequency_penalty(0.5)),
        ("parallel_tool_calls", of().parallel_tool_calls(false)),
        ("service_tier", of().service_tier(service_tier)),
        ("thinking", of().thinking(ThinkingLevel::High)),
        ("compact_at", of().compact_at(100_000)),
    ];
    let mut bodies = Vec::new();
    for (setting, settings) in each {
        let server = Server::scripted([answer.clone()]).await;
        let (messages, tools) = ([Message::user("hi")], [add()]);
        let response = model(&server).request(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
        bodies.push(server.requests().remove(0).body);
        let warned: Vec<_> = response.warnings.iter().map(|warning| warning.setting.as_str()).collect();
        let is_sent = setting.is_empty() || bodies.last() != bodies.first();
        assert_eq!(warned, if is_sent { vec![] } else { vec![setting] }, "{name} {setting}");
    }
}
