//! The description of the service's interface, as an OpenAPI document.

use std::sync::{Arc, LazyLock};

use llm_do_core::declare::schema;
use llm_do_core::plane::registry::Application;
use llm_do_providers::modern_schema;
use serde_json::{Map, Value, json};

use super::access::Role;
use super::http::schemas;

/// An operation of the interface.
struct Operation {
    path: &'static str,
    method: &'static str,
    id: &'static str,
    summary: &'static str,
    role: Option<Role>,
    /// The type of the body of a request.
    request: Option<&'static str>,
    status: &'static str,
    answer: OperationAnswer,
    /// Optional parameters in the query or the header: place, name, description.
    parameters: &'static [(&'static str, &'static str, &'static str)],
}

/// What an operation returns.
enum OperationAnswer {
    /// A type in JSON.
    Json(&'static str),
    /// An object in JSON that is described in words.
    Status,
    /// A text of this media type.
    Text(&'static str),
}

const KEY: (&str, &str, &str) =
    ("header", "idempotency-key", "A request with a known key starts nothing, and returns the run of the first one.");

const MESSAGE_KEY: (&str, &str, &str) =
    ("header", "idempotency-key", "A request with a known key sends nothing, and returns the run of the first one.");

const WAIT_LIST: &[(&str, &str, &str)] = &[
    ("query", "after", "Only those after this one: `next` of the page before."),
    ("query", "limit", "The maximum number: default and at most 500; fewer if they are long."),
];

const OPERATIONS: &[Operation] = &[
    Operation {
        parameters: &[
            ("query", "state", "Only runs in this state."),
            ("query", "entry", "Only runs of this entry."),
            ("query", "chat", "Only runs of this chat."),
            ("query", "before", "Only runs before this one: `next` of the page before."),
            ("query", "since", "Only runs that were started at this time or later, such as `2026-01-31T12:00:00Z`."),
            ("query", "until", "Only runs that were started before this time."),
            ("query", "tenant", "Only runs of this tenant, for those who see several."),
            ("query", "version", "Only runs that a program of this version accepted."),
            ("query", "limit", "The maximum number of runs: default 50, at most 500; fewer if they are long."),
        ],
        ..get("/runs", "list_runs", "Lists runs, the latest first.", Role::Watch, "RunList")
    },
    Operation {
        parameters: &[KEY],
        ..post("/runs", "start_run", "Starts a run.", Role::Start, "StartRun", "201", "ChangedRun")
    },
    Operation {
        parameters: &[(
            "query",
            "wait",
            "How many seconds to wait, at most 60, until the run has ended or waits for a person or a time. Default: 0.",
        )],
        ..get("/runs/{id}", "get_run", "Returns a run, with its approvals and questions.", Role::Watch, "RunView")
    },
    Operation {
        request: None,
        ..post(
            "/runs/{id}/cancel",
            "cancel_run",
            "Cancels a run; 202 if it ends later.",
            Role::Start,
            "",
            "200",
            "ChangedRun",
        )
    },
    Operation {
        request: None,
        ..post(
            "/runs/{id}/resume",
            "resume_run",
            "Resumes a failed or cancelled run; one whose calls may have had their effect, and would be made again, requires the role `decide` too.",
            Role::Start,
            "",
            "202",
            "ChangedRun",
        )
    },
    post(
        "/runs/{id}/settle",
        "settle_call",
        "Settles what became of a call of a failed or cancelled run that may have had its effect.",
        Role::Decide,
        "SettleCall",
        "200",
        "ChangedRun",
    ),
    Operation {
        parameters: &[MESSAGE_KEY],
        ..post(
            "/runs/{id}/messages",
            "send_to_run",
            "Sends a message to an unfinished run: it joins the conversation of a worker.",
            Role::Start,
            "SendToRun",
            "202",
            "ChangedRun",
        )
    },
    Operation {
        answer: OperationAnswer::Text("text/event-stream"),
        parameters: &[
            ("query", "after", "The number of the last known event."),
            ("header", "last-event-id", "The number of the last known event, sent by clients that connect again."),
        ],
        ..get(
            "/runs/{id}/events",
            "watch_run",
            "Streams events (`event`), states (`state`) and the result while it is written (`partial`) until the run has finished.",
            Role::Watch,
            "",
        )
    },
    Operation {
        answer: OperationAnswer::Text("application/jsonl"),
        ..get(
            "/runs/{id}/records",
            "read_records",
            "Returns what the journal has of a run, a record on each line: for `harden`, `eval import`, `journal` and `check --replay`.",
            Role::Watch,
            "",
        )
    },
    Operation {
        parameters: WAIT_LIST,
        ..get("/approvals", "list_approvals", "Lists the calls that wait for a decision.", Role::Watch, "WaitList")
    },
    get("/approvals/{id}", "get_approval", "Returns an approval.", Role::Watch, "WaitView"),
    post(
        "/approvals/{id}",
        "decide",
        "Decides about a call; the first decision holds.",
        Role::Decide,
        "Decision",
        "200",
        "Answered",
    ),
    Operation {
        parameters: WAIT_LIST,
        ..get("/questions", "list_questions", "Lists the questions that wait for an answer.", Role::Watch, "WaitList")
    },
    get("/questions/{id}", "get_question", "Returns a question.", Role::Watch, "WaitView"),
    post(
        "/questions/{id}",
        "answer",
        "Answers a question; the first answer holds.",
        Role::Decide,
        "Answer",
        "200",
        "Answered",
    ),
    get("/chats", "list_chats", "Lists chats, the latest first.", Role::Watch, "ChatList"),
    post("/chats", "start_chat", "Starts a chat.", Role::Start, "StartChat", "201", "ChatView"),
    get("/chats/{id}", "get_chat", "Returns a chat; its messages are the runs with its id.", Role::Watch, "ChatView"),
    Operation {
        parameters: &[KEY],
        ..post(
            "/chats/{id}/messages",
            "send_message",
            "Sends a message: starts a run, or joins the unfinished run of the chat (202).",
            Role::Start,
            "SendMessage",
            "201",
            "ChangedRun",
        )
    },
    get(
        "/entries",
        "list_entries",
        "Lists what can be started, with the schemas of arguments.",
        Role::Watch,
        "EntryList",
    ),
    get(
        "/hybrids",
        "list_hybrids",
        "Lists the hybrids with a guarantee: what their comparisons show, and what code answered and saved.",
        Role::Administer,
        "HybridList",
    ),
    Operation {
        answer: OperationAnswer::Text("application/openmetrics-text"),
        ..get("/metrics", "metrics", "Returns figures in the format of Prometheus.", Role::Administer, "")
    },
    Operation {
        role: None,
        request: Some(""),
        ..post(
            "/webhooks/{name}",
            "receive",
            "Starts a run by a signed request, whose body is any JSON, or a form with JSON in `payload`.",
            Role::Start,
            "",
            "201",
            "ChangedRun",
        )
    },
    Operation {
        role: None,
        answer: OperationAnswer::Status,
        ..get("/health", "health", "The process answers.", Role::Watch, "")
    },
    Operation {
        role: None,
        answer: OperationAnswer::Status,
        ..get("/ready", "ready", "The process accepts runs.", Role::Watch, "")
    },
];

const fn get(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    role: Role,
    answer: &'static str,
) -> Operation {
    let (role, answer) = (Some(role), OperationAnswer::Json(answer));
    Operation { path, method: "get", id, summary, role, request: None, status: "200", answer, parameters: &[] }
}

const fn post(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    role: Role,
    request: &'static str,
    status: &'static str,
    answer: &'static str,
) -> Operation {
    let (role, request, answer) = (Some(role), Some(request), OperationAnswer::Json(answer));
    Operation { path, method: "post", id, summary, role, request, status, answer, parameters: &[] }
}

/// Returns the document.
pub(super) fn document() -> Arc<Value> {
    static DOCUMENT: LazyLock<Arc<Value>> = LazyLock::new(|| Arc::new(build()));
    Arc::clone(&DOCUMENT)
}

fn build() -> Value {
    let application = Application::current();
    let settings = schema::settings().with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    schemas(&mut generator);
    let named = generator.take_definitions(true).into_iter();
    let named: Map<_, _> = named.map(|(name, schema)| (name, modern_schema(&schema))).collect();
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let path = paths.entry(operation.path).or_insert_with(|| Value::Object(Map::new()));
        path[operation.method] = operation.describe();
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": application.name, "version": application.version(), "description": "Runs, approvals, questions and chats of one service." },
        "paths": paths,
        "components": {
            "schemas": named,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

impl Operation {
    fn describe(&self) -> Value {
        let mut described = json!({
            "operationId": self.id,
            "summary": self.summary,
            "parameters": self.described_parameters(),
            "responses": {
                (self.status): { "description": "Success", "content": self.content() },
                "default": {
                    "description": "A problem, by RFC 9457",
                    "content": { "application/problem+json": { "schema": reference("ProblemView") } },
                },
            },
        });
        if let Some(role) = self.role {
            described["security"] = json!([{ "token": [] }]);
            described["description"] = json!(format!("Requires the role `{}`.", role.as_str()));
        }
        if let Some(request) = self.request {
            let schema = if request.is_empty() { json!({}) } else { reference(request) };
            described["requestBody"] =
                json!({ "required": true, "content": { "application/json": { "schema": schema } } });
        }
        described
    }

    fn content(&self) -> Value {
        match self.answer {
            OperationAnswer::Json(name) => json!({ "application/json": { "schema": reference(name) } }),
            OperationAnswer::Status => json!({ "application/json": { "schema": { "type": "object" } } }),
            OperationAnswer::Text(media_type) => json!({ (media_type): { "schema": { "type": "string" } } }),
        }
    }

    fn described_parameters(&self) -> Value {
        let text = json!({ "type": "string" });
        let in_path = self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let in_path = in_path.map(|name| json!({ "in": "path", "name": name, "required": true, "schema": text }));
        let others = self.parameters.iter().map(|(place, name, description)| {
            json!({ "in": place, "name": name, "description": description, "schema": text })
        });
        in_path.chain(others).collect()
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}
