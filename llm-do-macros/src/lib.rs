//! The attribute macros of llm-do. Use them through the crate `llm-do`, whose documentation has examples.
//!
//! Each attribute on a function emits the function as written, so it can still be called directly. It also generates a
//! struct with the same name (a function and a struct with braces can share one): the struct holds the arguments, has
//! their JSON schema, is passed to the typed call `ctx.call(name { .. })`, and is what `toolsets = [name]` refers to. All
//! errors of an item are reported in one compilation, at the tokens that caused them.
//!
//! # How it works
//!
//! `args` parses the arguments of the attributes, `input` checks attribute and function together, and `expand` generates
//! the code. The code refers only to `::llm_do::__private`, under the name that the user's Cargo.toml gives the crate, so
//! imports and shadowed prelude items of the user cannot change its meaning.

mod args;
mod errors;
mod expand;
mod fallback;
mod input;
mod runtime;
#[cfg(test)]
mod tests;
mod worker_file;

use proc_macro::TokenStream;

/// Registers a function as a tool, which models and other functions can call.
///
/// The function, `fn` or `async fn`, stays as written. It needs a doc comment, which the model reads as the tool's
/// description; the doc comments of the parameters describe the arguments. It cannot be generic or `unsafe`.
///
/// | Key of `#[tool(..)]` | Meaning |
/// |---|---|
/// | `name = ".."` | The registered name: 1 to 64 ASCII letters, digits, `_` or `-`. Default: the function's name |
/// | `args = Ident` | The name of the argument struct. Default: the function's name |
/// | `effect = read_only` | What a call may change, see [below](#effects). Default: unknown, so calls need approval |
/// | `approval = ask` | Whether calls need approval, see [below](#approval). Default: set by a toolset, or else by the effect |
/// | `on_unknown = report` | What is done about a call whose outcome is unknown, see [below](#unknown-outcomes). Default: set by a toolset, or else by the runtime |
/// | `reconcile = path` | A read-only tool that finds out whether a call has happened, see [below](#unknown-outcomes). Default: none |
/// | `summary = "write to {path}"` | One line that describes a call to the approver, see [below](#approval). Default: `name(argument="..", ..)` |
/// | `preview = path` | A function whose text shows the approver what the call would do, see [below](#approval). Default: none |
/// | `max_result = N` | How many bytes of a result a model gets, at least 1,024; it reads the rest in parts. Default: set by the worker or the runtime |
/// | `private = true` | Its results are private: what is made from them does not leave to other people without an approval |
/// | `reach = own` | Where what it gets may arrive: at the user's own data only, or at other people. Default: `outside` for a tool that may change something |
/// | `background` | Whether a model may start a call in the background, by a parameter `background` that it sees; see [workers](https://docs.rs/llm-do/latest/llm_do/attr.worker.html#background-calls). Default: not |
/// | `inline` | Runs a quick sync tool on the async thread. Default: a sync tool runs on a blocking thread |
/// | `error = Type` | The type of the errors that a journal keeps, see [below](#errors). Default: the function's own, if it can be kept |
/// | `timeout = "30s"` | The maximum duration of a call, also as a constant `Duration`, see [below](#timeout). Default: the caller's |
/// | `toolsets = [path, "name"]` | What the function may call, as [members](#members). Default: every registered item |
/// | `description = ".."` | The description, instead of the doc comment: any `&'static str`, such as `include_str!(..)` |
///
/// Keys can be given in any order, each at most once. An unknown key is an error that lists the keys.
///
/// # Effects
///
/// | `effect` | A call | Approval |
/// |---|---|---|
/// | `read_only` | changes nothing | not needed |
/// | `idempotent` | changes something, but repeating it changes nothing more, such as setting a value | needed |
/// | `destructive` | makes a change that cannot be undone, such as deleting, sending or paying | needed |
/// | not set | none of these, such as appending a line or adding a row | needed |
///
/// A call that is both idempotent and destructive, such as deleting a file, is `destructive`.
///
/// A tool that declares `read_only` or `idempotent` does not compile if its `toolsets` contain something with a stronger effect. From
/// the weakest to the strongest, the effects are `read_only`, `idempotent`, not set, and `destructive`.
///
/// | Member | Its effect in this comparison |
/// |---|---|
/// | A tool | The one that it declares |
/// | A worker | The strongest of its toolsets, also through other workers, at most 8 in a row; not set with `code_execution` or `programmatic_tool_calling`; the one that it states, with a reason |
/// | An entry | Not set |
/// | A tool of an MCP server | `destructive` with that hint of the server; otherwise not set, since hints that weaken an effect are not trusted |
/// | A `"name"` | Compared when the runtime is built, since the compiler does not know what it refers to |
///
/// A tool that changes nothing itself, but calls tools that do, leaves out `effect`. With `approval = pre_approved`, its own call needs no
/// approval, and each call that it makes is approved by its own rule.
///
/// # Unknown outcomes
///
/// A call that is neither `read_only` nor `idempotent`, and that was interrupted before its result was recorded, may have had its effect. When
/// its run is resumed, it is not made again:
///
/// | `on_unknown` | Such a call |
/// |---|---|
/// | `ask` | is asked about: it has happened, with a result to give; it has not, so it runs; the run ends. Without an approver, it is reported |
/// | `report` | fails with an error that code and models can handle |
/// | `rerun` | is made again, once it is approved again: for tools that send the idempotency key of the call |
///
/// The tool of `reconcile` is asked first. It has the same parameters, and returns an `Option` of the result: `None` if the call has not
/// happened. In it, `ctx.idempotency_key()` is the key of the call. It has `effect = read_only`. The compiler checks all three.
///
/// # Approval
///
/// | `approval` | Before a call that the user did not make directly |
/// |---|---|
/// | `ask` | the approver is asked, for every effect |
/// | `pre_approved` | the approver is not asked, for any effect |
/// | `blocked("reason")` | the call is refused, even if all calls are approved; the caller sees the reason |
///
/// A policy of the runtime can override `ask` and `pre_approved`, but not `blocked`.
///
/// In a `summary`, `{parameter}` is replaced by the value of that parameter, truncated if it is long; `{{` and `}}` are literal
/// braces. Format specifiers, expressions and flattened parameters are not supported.
///
/// The function of `preview` is a `fn(&CallContext, &name) -> Result<String>`, where `name` is the argument struct. It runs on a
/// blocking thread right before the approver is asked, and not at all for a call that needs no question. If it fails, the
/// approver reads the error.
///
/// # Timeout
///
/// A timeout is a string of numbers with units, such as `30s`, `1h 30m`, `1.5h`, `500ms` or `PT1M30S`, or a constant expression
/// of type `Duration`, such as `Duration::from_secs(30)`. It must be greater than 0. It starts with the call, after approval. A
/// call that takes longer is dropped, its instances are closed, and it fails with `CallError::Timeout`, which a model sees. A
/// call never outlasts the timeout of its caller. The thread of a sync tool cannot be stopped: the runtime stops waiting for its
/// result, and `ctx.is_cancelled()` returns `true`. An `inline` tool cannot have a timeout.
/// `Runtime::builder().timeout("name", ..)` overrides this key.
///
/// # The struct's name
///
/// Structs and modules share a namespace, so a module with the tool's name that is declared in the same module (E0428) or
/// imported there (E0255) conflicts with the argument struct. `args = SearchArguments` gives the struct another name; the tool
/// keeps its own. A struct with the name of a primitive type, such as `str` or `char`, is an error: set `args` there too.
///
/// # Parameters
///
/// An argument type implements `Serialize`, `Deserialize` and `JsonSchema`, owns its data and is `Send`; [`macro@data`] derives
/// the three traits. Four parameter types borrow from a field of the struct:
///
/// | Parameter | Field of the struct |
/// |---|---|
/// | `&str` | `String` |
/// | `&Path` | `PathBuf` |
/// | `&[T]` | `Vec<T>` |
/// | `Cow<'_, T>` | `Cow<'static, T>` |
///
/// The caller, often a model, writes the arguments. Values of the application are not arguments: take them as
/// [`State<T>`](#injected-parameters). Therefore a lock, a cell or an atomic, such as `Mutex<T>` or `Arc<AtomicU64>`, is an
/// error as an argument, as a field of a [`macro@data`] type, and as the output of a worker.
///
/// An `Option<T>`, also under an alias, is optional. Unknown arguments are rejected. A parameter has a plain name and no
/// `#[cfg]`.
///
/// | Key of `#[arg(..)]` | Meaning |
/// |---|---|
/// | `default = expr` | The value if the argument is missing; shown in the schema. Default: none, so the argument is required |
/// | `default` | The same with the `Default` of the type |
/// | `rename = ".."` | The name in the schema: 1 to 64 ASCII letters, digits, `_`, `-` or `.`. Default: the parameter's name |
/// | `description = ".."` | The description, instead of the doc comment: any `&'static str`. Default: the doc comment |
/// | `example = expr` | An example value, in the schema's `examples`. Default: none |
/// | `flatten` | Replaces the argument by the fields of its type, a struct with named fields. No other key is allowed |
///
/// A string literal as `default` or `example` can be used for every type that is `From<&'static str>`, such as `String` and
/// `PathBuf`. `name::new(..)` takes the required arguments, in the order of the function, as their types in the struct: those
/// without a default that are not written as an `Option`. `name { limit: 3, ..name::new(text) }` sets an optional one too. The
/// struct implements `Default` if every argument has a default or is written as an `Option`.
///
/// `#[schemars(..)]` on a parameter extends its schema, mostly with constraints: `range(min = 1)`, `length(max = 80)`,
/// `regex(pattern = "..")`, `title = ".."`. A call that violates them is rejected. `rename`, `default`, `flatten`, `description`
/// and `example` belong in `#[arg]` and are errors there; so are `alias` and `skip`.
///
/// `#[serde(..)]` on a parameter is an error: an argument is serialized and deserialized by its type. Put the attribute on a
/// field of your own struct, and use the struct as the parameter's type, or its fields with `flatten`.
///
/// # Injected parameters
///
/// The runtime fills in these parameters. They are not in the schema, callers do not pass them, and they can have any position.
///
/// | Parameter | What it is |
/// |---|---|
/// | `&CallContext`, `CallContext` | The context of the call, for a tool without `toolsets` |
/// | `&CallContext<its_own_name>` | The same for a tool with `toolsets`: `ctx.call` compiles for their members |
/// | `&dyn ToolContext` | The context as a trait object, which a test can stub |
/// | `State<T>`, `&State<T>` | A value from `Runtime::builder().state(..)`, or `state_for` for a [named instance](macro@toolset); `build()` reports every missing one |
/// | `#[ctx] x: T`, `#[ctx] x: &T` | A type that implements `FromContext`; an alias of the types above needs `#[ctx]` too |
///
/// A tool takes at most one context. `#[arg]`, `#[serde]` and `#[schemars]` are not allowed on injected parameters.
///
/// # Returns
///
/// | Return type | What a caller gets |
/// |---|---|
/// | `T: Serialize` | The value as JSON, also for `impl Serialize`. Its schema is known if `T: JsonSchema` |
/// | `ToolReturn` | A text or value, with files for the model and a note for the operator only |
/// | `Result<T, E>` under any alias | One of the above, or an error; `E` is an `Error` or any type with `Display` |
///
/// A typed `ctx.call` deserializes the value, so it requires `T: DeserializeOwned`; for `impl Serialize` it returns a
/// `serde_json::Value`. A panic becomes an error of that call.
///
/// # Methods
///
/// On an `impl`, the attribute registers the methods that are marked with `#[tool(..)]`, each with the keys above, and a
/// toolset with the name of the type: `toolsets = [Database]`. Each call that declares the toolset, or one of its tools, gets
/// its own instance, which is opened before the call runs and closed when the call has ended, also after an error, a panic or
/// a cancellation. If the caller does not declare it, a tool call gets an instance for that call only.
///
/// | In the `impl` | Meaning |
/// |---|---|
/// | `#[tool] fn name(&self, ..)` | A tool. Calls may be concurrent, so it takes `&self` or no receiver |
/// | `fn open(..) -> Self` | Creates an instance from injected parameters; can be `async` and return a `Result`. Default: `Default` |
/// | `fn close(self)` | Closes it; can be `async` and return a `Result`, whose error fails the call. Default: drop |
///
/// | Key | Meaning |
/// |---|---|
/// | `name = ".."` | The registered name of the toolset, for `toolsets = ["name"]`. Default: the name of the type |
/// | `description = ".."` | The description of the toolset. Default: the doc comment of the `impl` |
/// | `approval = ask` | Whether calls of its tools need [approval](#approval), for tools without `approval`. Default: by each tool's effect |
/// | `on_unknown = report` | What is done about a call of its tools whose outcome is [unknown](#unknown-outcomes), for tools without `on_unknown`. Default: set by the runtime |
///
/// The argument structs are generated outside the `impl`, so their types cannot mention `Self`.
///
/// # Members
///
/// | Member of `toolsets` | Meaning |
/// |---|---|
/// | `path` | A tool, worker or entry in scope, or all members of a [`macro@toolset`] or of a type with methods |
/// | `path::*` | All tools of an MCP server in a [`macro@toolset`] |
/// | `prefixed("fs_", member)` | The same tools, each with the prefix in front of its name |
/// | `member.only([path, ..])` | Only the listed members |
/// | `member.except([path, ..])` | All members except the listed ones |
/// | `"name"` | The tool or toolset that is registered under the name when the runtime is built; not in a form |
///
/// The forms can be nested: `prefixed("fs_", filesystem.only([read_file]))`. A prefix applies to calls by name: those of a
/// model and `ctx.call_tool`. Typed calls such as `ctx.call(read_file { .. })`, events, approvals and the errors that code gets
/// use the registered name, so a declaration can contain a tool under several names. These do not compile: two tools with the
/// same name, a name of more than 64 bytes, a listed path that is not a member, a typed call of an excluded tool, and a member with a
/// stronger [effect](#effects) than the tool declares.
///
/// # Linking
///
/// Tools of a library are registered when the library is linked, and a library that no code refers to is not linked. Refer to
/// it with `use my_tools as _;`.
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(args.into(), &item.into()).into()
}

/// Registers a signature as a worker: a tool that a model implements.
///
/// The signature is an `async fn`. The model gets the arguments and returns the output, as the JSON schema of the return type
/// requires. The return type implements `Serialize`, `Deserialize` and `JsonSchema`, or is a `ToolReturn`, which is a text with
/// the files that the model created, or a `Result` of one of these. The doc comment is required: the models of callers read it
/// as the description. Functions call a worker like a tool, through the context; a call as a function, `name(..)`, does not
/// compile.
///
/// | Key of `#[worker(..)]` | Meaning |
/// |---|---|
/// | `name = ".."` | The registered name. Default: the function's name |
/// | `args = Ident` | The name of the argument struct. Default: the function's name |
/// | `file = ".."` | A worker file that sets other keys, relative to the source file. Default: none |
/// | `model = ".."` | The model, as `provider:model`; other forms do not compile. Default: the model of the run |
/// | `compatible_models = ["..", ..]` | Patterns for the models of a run that the worker can use, ignoring case; not with `model`. Default: any |
/// | `instructions = ".."` | The system prompt: any `&'static str`, such as `include_str!(..)`. Default: the description |
/// | `instructions_with = path` | A function that [computes](#instructions-by-code) the system prompt for each call; not with `instructions`. Default: none |
/// | `toolsets = [path, "name"]` | What the model may call, as [members](macro@tool#members). Default: nothing |
/// | `code = true` | Whether the model calls its tools by code, in one tool `run_code`; needs the feature `script`. Default: false |
/// | `server_side_tools = [web_search, ..]` | Tools that the provider runs, see [below](#server-side-tools). Default: none |
/// | `effect = read_only` | What a call may change, see [below](#effect). Default: all that its tools may change |
/// | `effect_reason = ".."` | Why a call changes less than its tools may; only with `effect` |
/// | `settings = expr` | `Settings` of its requests; each field overrides that of the runtime. Default: those of the runtime |
/// | `hints = ["..", ..]` | What the worker is good at, for choosing a worker. Default: none |
/// | `output = auto` | How the model returns the output, see [below](#output): `auto`, `native`, `tool` or `prompted`. Default: `auto` |
/// | `max_turns = N` | The maximum number of requests per call, at least 1. Default: 20 |
/// | `retries = N` | The maximum number of consecutive attempts of the model to correct the same error. Default: 2 |
/// | `limits = expr` | `Limits` for a call and all nested calls together. Default: those of the run |
/// | `max_result = N` | How many bytes of a result of a tool the model gets, at least 1,024; it reads the rest in parts. Default: set by the runtime |
/// | `quarantined = true` | It reads untrusted text for others: it has no tools, and returns a `Bounded` type or `Untrusted<..>` |
/// | `flow_reason = ".."` | Why its own tools may read untrusted text, read private data and send |
/// | `attachments = expr` | `AttachmentPolicy` of the files that its prompt may have. Default: any, of at most 20 MiB each if they are read |
/// | `background` | Whether the model of a caller may start a call in the background, see [below](#background-calls). Default: not |
/// | `timeout = "30s"` | The maximum duration of a call, [as for a tool](macro@tool#timeout). Default: the caller's |
/// | `description = ".."` | The description, instead of the doc comment |
///
/// `settings`, `limits` and `attachments` are evaluated once, when the registry is built. `max_turns` and `retries` are `u32` constants, `max_result` is a `u64` constant.
/// Parameters and `#[arg]` are the same as for [`macro@tool`].
///
/// # Prompt
///
/// | Signature | The prompt |
/// |---|---|
/// | `(input: String);` | The text |
/// | `(prompt: Prompt);` with any name | The text and the files |
/// | `(..);` | All arguments as one JSON object, with defaults filled in |
/// | `(..) { .. }` | The value of the body: a `String`, a `&str` or a `Prompt`; `?` returns any error |
///
/// A body is async and runs before the first request. Only a worker with a body can have
/// [injected parameters](macro@tool#injected-parameters), since a model cannot use them. If the body returns an error or
/// panics, the call fails and no request is made.
///
/// # Instructions by code
///
/// `instructions_with = path` names a function, `fn` or `async fn`, that returns a `String` or a `Result<String, E>` with an error that `?`
/// converts. It takes at most 8 [injected parameters](macro@tool#injected-parameters): `&CallContext` or `&dyn ToolContext`, and by value
/// `State<T>` and any type that implements `FromContext`. It runs once for each call of the worker, at its start, and a `fn` runs on a thread
/// for blocking code. If it fails or panics, the call fails with an error that names it, and no request is made. If it returns an empty text,
/// the description is the system prompt.
///
/// A journal records the text, so a resumed run has the same instructions. The function does not run again then, unless it takes something
/// other than state: its calls through the context are steps of the worker, so it makes them again as recorded, and its text is ignored.
///
/// # Server-side tools
///
/// These are `web_search`, `web_fetch`, `code_execution`, `image_generation` and `programmatic_tool_calling`. The provider runs
/// them on its own servers while it answers. Their calls need no approval under any policy, are not subject to limits on tool
/// calls, and are not shown to guards before they run: to give a worker such a tool is to approve all its calls. Events report
/// the start and end of each call, and usage includes what the provider counts; created files are part of the result of the worker, see
/// [below](#output). `web_search(max_uses = 3, allowed_domains = [".."], blocked_domains = [".."])` limits the search; a
/// provider that does not support a limit rejects the request. A call fails before any request if the model does not support
/// one of the tools.
///
/// With `programmatic_tool_calling` the provider runs code that calls the worker's own tools; these calls are approved, limited and
/// reported like those of the model itself.
///
/// # Effect
///
/// A worker has the [effect](macro@tool#effects) of its tools: of several, the strongest. A worker whose tools are all `read_only`, or that
/// has none, is `read_only`. Of the server-side tools, `web_search`, `web_fetch` and `image_generation` change nothing. What code reaches
/// that a model wrote is the provider's matter, so the effect of `code_execution` and `programmatic_tool_calling` is unknown, as is that
/// of the fields `tools` and `mcp_servers` of `extra_body`, in the settings of the worker or of the session. The code of a body, or of
/// `instructions_with`, is not counted.
///
/// `effect` states another effect. One that is weaker than that of a tool is an error when the runtime is built, unless `effect_reason`
/// states why it holds, such as that the provider's container has no network. The runtime believes it.
///
/// Calls of `read_only` workers in one answer of a model run together, as those of tools do; `Runtime::builder().max_concurrent_calls(..)`
/// limits their number. Calls of a worker need no approval by their effect: each call that it makes is approved by itself.
///
/// # Output
///
/// | `output` | How the model returns it |
/// |---|---|
/// | `auto` | `native` if the model supports it, else `tool` if the model can call tools, else `prompted` |
/// | `native` | With the structured output of the provider; the call fails before any request if the model has none |
/// | `tool` | As the arguments of the tool `final_result`; the call fails before any request if the model cannot call tools |
/// | `prompted` | As JSON in the text; the instructions contain the schema, and a code fence or text around the object is ignored |
///
/// The `profile` of a `Model` states what it supports. If an answer contains no valid output, the model is asked again, with
/// the error, up to `retries` times.
///
/// A plain text needs no structured output: `native` and `prompted` are then errors when the registry is built, and with `tool`
/// the model returns the text through the tool, separate from its other text.
///
/// Files that the model creates, such as images, are returned with the output: those of all answers in the call, except answers
/// that a guard refused. A model that called the worker sees them. Code gets them from a worker that returns a `ToolReturn`,
/// which then needs no text, and from any root call with `Start::with_files`. JSON events contain the media type and the size
/// of a file; histories and journals contain the whole file.
///
/// # Worker files
///
/// `file = "reviewer.worker"` is a path relative to the directory of the source file. The file is read at compile time, and a
/// change of it recompiles the source. It begins with keys in YAML; the rest is the instructions:
///
/// ```text
/// ---
/// description: Review one source file for defects.
/// model: openai:gpt-5
/// toolsets: [read_file, crate::fs::list_files]
/// server_side_tools: [web_fetch, { tool_type: web_search, max_uses: 3 }]
/// settings: { temperature: 0.2 }
/// limits: { requests: 10, cost: 0.25 }
/// timeout: 2m
/// output_schema:
///   type: object
///   properties: { score: { type: integer } }
///   required: [score]
/// ---
/// You are a senior reviewer. Read the file, then judge it.
/// ```
///
/// With an attribute, all [keys](#keys-of-a-worker-file) are optional; unknown keys are errors. The text below them is the
/// instructions; without it, the model gets the `description`. A file has no code, so it has no `instructions_with`, and its text
/// cannot be combined with that key. It is an error to give a key, or the instructions, both here and in the attribute. One reader serves the attribute and the run time: both accept the same files, and report the same faults with
/// their lines. In an editor that does not report where a source file is, the worker is expanded without its file, unless the path
/// can be found from `src`.
///
/// A duration is a number of seconds, or a text such as `90s`, `1h 30m`, `1 minute, 30 seconds`, `1:30:00` or `PT1M30S`. An amount
/// of money is a number of US dollars, or a text such as `$0.25` or `0.25 USD`, with at most 12 decimal places.
///
/// A file has at most 1 MiB. Its front matter has at most 100 nested lists and maps, and 100,000 values and 16 MiB of text once
/// each alias is replaced by its target.
#[doc = include_str!("../docs/worker_file_keys.md")]
#[proc_macro_attribute]
pub fn worker(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::worker(args.into(), &item.into()).into()
}

/// Registers a function as an entry: a root call, from the command line or from code.
///
/// The function, `fn` or `async fn`, stays as written. The command line shows its doc comment, which is optional.
///
/// | Key of `#[entry(..)]` | Meaning |
/// |---|---|
/// | `name = ".."` | The registered name, as for [`macro@tool`]. Default: the function's name |
/// | `args = Ident` | The name of the argument struct. Default: the function's name |
/// | `error = Type` | The type of the errors that a journal keeps, [as for a tool](macro@tool#errors). Default: the function's own, if it can be kept |
/// | `timeout = "30s"` | The maximum duration of a run, [as for a tool](macro@tool#timeout). Default: that of the session |
/// | `toolsets = [path, "name"]` | What the function may call, as [members](macro@tool#members). Default: every registered item |
/// | `description = ".."` | The description, instead of the doc comment: any `&'static str`. Default: the doc comment |
///
/// Parameters, injected parameters and return types are the same as for [`macro@tool`]. With `&CallContext<its_own_name>`, calls
/// outside `toolsets` do not compile. A call of an entry by the user needs no approval; a call by a model or by code needs it,
/// like a call of a tool without an effect.
///
/// The command line runs the only entry, or the entry named `main`, unless another is given. An entry whose only argument is a
/// `Prompt` takes the prompt as text and files with `--attach`.
#[proc_macro_attribute]
pub fn entry(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::entry(args.into(), &item.into()).into()
}

/// Defines groups of tools: `toolset! { /// docs \n pub name = [path, ..]; }`, any number of them.
///
/// | Part | Meaning |
/// |---|---|
/// | Attributes | A doc comment, which lists show, and other attributes of a type. Default: none |
/// | Visibility | The visibility of the name. Default: private |
/// | `name` | A type, which `toolsets = [name]` and other groups refer to; also the registered name |
/// | `(approval = ask)` | Whether calls of the members need [approval](macro@tool#approval), for tools without `approval`. Default: set by other toolsets and each tool's effect |
/// | `(on_unknown = report)` | What is done about a call of the members whose outcome is [unknown](macro@tool#unknown-outcomes), for tools without `on_unknown`. Default: set by other toolsets and the runtime |
/// | `[path, ..]` | The members |
///
/// A member is a tool, worker, entry or another toolset, or a form of one: `prefixed("fs_", member)`,
/// `member.only([path, ..])` or `member.except([path, ..])`, as in [`toolsets = [..]`](macro@tool#members). A `"name"` is not
/// allowed. `toolsets = [name]` declares all members. Two members with the same name do not compile.
///
/// `pub name = instance(TYPE);` makes the tools of a type with [methods](macro@tool#methods) again, each as `name__tool` and with state
/// of its own. `name::of(tool { .. })` is a call of such a tool.
///
/// With the feature `mcp-snapshots` of `llm-do`, `pub name = mcp("name.mcp.json");` defines a module with a struct for each tool of an MCP
/// server, from a snapshot of them. The path is relative to the directory of the source file. `toolsets = [name::*]` declares all
/// tools of the server.
///
/// `approval` and `on_unknown` apply to the tools, not to the way they are declared: they hold wherever the members are called, and if
/// several toolsets contain a tool, the strictest value applies: of `on_unknown`, `ask` before `report` before `rerun`.
#[proc_macro]
pub fn toolset(tokens: TokenStream) -> TokenStream {
    expand::toolset(tokens.into()).into()
}

/// Derives `Serialize`, `Deserialize`, `JsonSchema` and `Debug` for the argument types of tools and the output types of workers.
///
/// It is the same as the derives, but the user's crate does not have to depend on serde and schemars. The attributes
/// `#[serde(..)]` and `#[schemars(..)]` below it work as usual. Other derives stand below it too.
///
/// | Key of `#[data(..)]` | Meaning |
/// |---|---|
/// | `debug = false` | Leaves out `Debug`, for a type that implements it by hand, or has a field without it. Default: true, unless a derive below adds it |
///
/// These are errors: a field that holds a lock, a cell or an atomic, since a model cannot write shared state, and a lifetime
/// parameter or a reference, since a value that is read from JSON owns its data.
#[proc_macro_attribute]
pub fn data(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::data(&args.into(), &item.into()).into()
}
