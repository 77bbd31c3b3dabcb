//! The server's responses: five calls of the first tool in the request, then a text.

use std::sync::Arc;

use cost::http;
use memchr::memmem;

/// Number of tool calls in a run before its answer.
pub(crate) const CALLS: usize = 5;

/// Returns the response to a request: streamed or not, a tool call or a text.
pub(crate) fn answer(_: &str, body: &[u8]) -> Arc<[u8]> {
    let turn = memmem::find_iter(body, br#""role":"tool""#).count();
    let tool = (turn < CALLS).then(|| first_name(body));
    match memmem::find(body, br#""stream":true"#) {
        Some(_) => streamed(turn, tool),
        None => whole(turn, tool),
    }
}

fn first_name(body: &[u8]) -> &str {
    const KEY: &[u8] = br#""name":""#;
    let rest = memmem::find(body, KEY).map_or(&b"unknown"[..], |at| &body[at + KEY.len()..]);
    let end = memchr::memchr(b'"', rest).unwrap_or(rest.len());
    str::from_utf8(&rest[..end]).unwrap_or_default()
}

const USAGE: &str = r#""usage":{"prompt_tokens":212,"completion_tokens":24,"total_tokens":236,"prompt_tokens_details":{"cached_tokens":128},"completion_tokens_details":{"reasoning_tokens":0}}"#;
const TEXT: [&str; 8] = ["The", " sum", " of", " all", " of", " them", " is", " 42."];
const ARGUMENTS: [&str; 6] = [r#"{\"left"#, r#"\":"#, r" 19,", r#" \"right"#, r#"\":"#, r" 23}"];

fn whole(turn: usize, tool: Option<&str>) -> Arc<[u8]> {
    let (message, finish) = match tool {
        Some(tool) => {
            let arguments = ARGUMENTS.concat();
            let call = format!(
                r#"{{"index":0,"id":"call_{turn}_abcdefgh","type":"function","function":{{"name":"{tool}","arguments":"{arguments}"}}}}"#
            );
            (format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#), "tool_calls")
        }
        None => (format!(r#"{{"role":"assistant","content":"{}"}}"#, TEXT.concat()), "stop"),
    };
    let body = format!(
        r#"{{"id":"chatcmpl-0123456789","object":"chat.completion","created":1760000000,"model":"bench-0","choices":[{{"index":0,"message":{message},"logprobs":null,"finish_reason":"{finish}"}}],{USAGE},"system_fingerprint":"fp_0"}}"#
    );
    http::whole(&body)
}

fn streamed(turn: usize, tool: Option<&str>) -> Arc<[u8]> {
    let mut deltas = Vec::new();
    if let Some(tool) = tool {
        deltas.push(format!(
            r#""role":"assistant","content":null,"tool_calls":[{{"index":0,"id":"call_{turn}_abcdefgh","type":"function","function":{{"name":"{tool}","arguments":""}}}}]"#
        ));
        let piece = |more| format!(r#""tool_calls":[{{"index":0,"function":{{"arguments":"{more}"}}}}]"#);
        deltas.extend(ARGUMENTS.map(piece));
    } else {
        deltas.push(r#""role":"assistant","content":"""#.to_owned());
        deltas.extend(TEXT.map(|more| format!(r#""content":"{more}""#)));
    }
    let choice = |delta: &str, finish: &str| {
        format!(r#"{{"index":0,"delta":{{{delta}}},"logprobs":null,"finish_reason":{finish}}}"#)
    };
    let mut choices: Vec<_> = deltas.iter().map(|delta| choice(delta, "null")).collect();
    choices.push(choice("", if tool.is_some() { r#""tool_calls""# } else { r#""stop""# }));
    let mut events: Vec<_> = choices.iter().map(|choice| piece(choice, "")).collect();
    events.extend([piece("", &format!(",{USAGE}")), "[DONE]".to_owned()]);
    http::streamed(events.into_iter().map(|event| format!("data: {event}")))
}

fn piece(choices: &str, more: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1760000000,"model":"bench-0","system_fingerprint":"fp_0","choices":[{choices}]{more}}}"#
    )
}
