//! The attributes of llm-do. Use them through the crate `llm-do`, whose documentation shows them at work.
//!
//! Each attribute stands on a function, and emits it as written: it can still be called as a plain function. Beside it
//! comes one struct of the same name (a function and a braced struct can share one): the arguments, their JSON schema,
//! the typed call `ctx.call(name { .. })`, and what `toolsets = [name]` refers to. All faults of an item are reported
//! in one compilation, at the tokens at fault.
//!
//! # How it works
//!
//! `args` reads the grammar of the attributes, `input` checks attribute and function together, `expand` turns what was
//! read into code. The code names nothing but `::llm_do::__private`, by the name that the user's Cargo.toml gives the
//! crate, so no import and no shadowed prelude of the user's can change its meaning.

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

/// Registers a function as a tool: models and other functions may call it.
///
/// The function, `fn` or `async fn`, stays as written. Its doc comment is what the model reads, and is required; the doc
/// comments of its parameters describe the arguments. It is neither generic nor `unsafe`.
///
/// | Key of `#[tool(..)]` | Meaning |
/// |---|---|
/// | `name = ".."` | The registered name. Default: the function's. 1 to 64 of `A-Z`, `a-z`, `0-9`, `_` and `-` |
/// | `args = Ident` | The argument struct's name. Default: the function's |
/// | `effect = read_only` | What a call may change, see [below](#effects). Default: it says nothing, so it asks |
/// | `approval = ask` | Whether calls need approval, see [below](#approval). Default: a toolset says so, or the effect |
/// | `summary = "write to {path}"` | How a call is told to who approves it, see [below](#approval). Default: `name(argument="..", ..)` |
/// | `inline` | Runs a quick sync tool in place. Default: a sync tool runs off the async threads |
/// | `timeout = "30s"` | How long a call may take, also a constant `Duration`, see [below](#timeout). Default: as long as its caller |
/// | `toolsets = [path, "name"]` | What it may call, as [members](#members). Default: whatever is registered |
/// | `description = ".."` | What the model reads instead of the doc comment: any `&'static str`, also `include_str!` |
///
/// Each key stands at most once, in any order. A key that is none is told with the whole grammar.
///
/// # Effects
///
/// | `effect` | A call | Before it |
/// |---|---|---|
/// | `read_only` | changes nothing | nobody is asked |
/// | `idempotent` | changes something, but twice is like once | the approver is asked |
/// | `destructive` | changes something for good | the approver is asked |
/// | none | may do anything | the approver is asked |
///
/// # Approval
///
/// | `approval` | Before a call that is not the user's own |
/// |---|---|
/// | `ask` | the approver is asked, whatever the effect |
/// | `pre_approved` | nobody is asked, whatever the effect |
/// | `blocked("reason")` | it is refused, also where all calls are approved; callers are told the reason |
///
/// A policy given to the runtime may say something else, but it cannot free what is blocked.
///
/// In a `summary`, `{argument}` stands for the value of the parameter of that name, cut if it is long; `{{` and `}}` are
/// braces. It takes no formats and no expressions, and what is flattened is no argument.
///
/// # Timeout
///
/// It is a text such as `30s`, `1h 30m`, `1.5h`, `500ms` or `PT1M30S`, or an expression that is a constant `Duration`, such
/// as `Duration::from_secs(30)`; never 0. It counts from the start of the call, after approval. A call that takes longer is
/// dropped, its instances are closed, and it fails with `CallError::Timeout`, which a model is told. A call ends at the
/// latest when its caller must, whatever its own timeout. The thread of a sync tool cannot be stopped: its result is no
/// longer waited for, and `ctx.is_cancelled()` tells it so. What runs `inline` has no timeout.
/// `Runtime::builder().timeout("name", ..)` wins.
///
/// # The struct's name
///
/// Structs and modules share one namespace, so a module of the tool's name, declared beside it (E0428) or imported there
/// (E0255), clashes with the argument struct. `args = SearchArguments` names the struct otherwise, and the tool keeps
/// its name. A struct of a primitive type's name, such as `str` or `char`, is refused: name it otherwise as well.
///
/// # Parameters
///
/// An argument is of a type that implements `Serialize`, `Deserialize` and `JsonSchema`, borrows nothing and is `Send`;
/// [`macro@data`] derives the three. Four types borrow from the struct, which owns:
///
/// | Parameter | Field of the struct |
/// |---|---|
/// | `&str` | `String` |
/// | `&Path` | `PathBuf` |
/// | `&[T]` | `Vec<T>` |
/// | `Cow<'_, T>` | `Cow<'static, T>` |
///
/// The caller writes the arguments, and often a model does. The application's own values are no arguments: take them as
/// [`State<T>`](#injected-parameters). So a lock, a cell or an atomic, such as `Mutex<T>` or `Arc<AtomicU64>`, is refused as
/// an argument, as the field of a [`macro@data`] type, and as the output of a worker.
///
/// An `Option<T>`, under an alias too, may be absent. Unknown arguments are refused. A parameter has a plain name, and
/// no `#[cfg]`.
///
/// | Key of `#[arg(..)]` | Meaning |
/// |---|---|
/// | `default = expr` | The value of an absent argument, shown in the schema. Default: none, so that it is required |
/// | `default` | The same with the `Default` of its type |
/// | `rename = ".."` | The argument's name in the schema: 1 to 64 letters, digits, `_`, `-` and `.`. Default: the parameter's |
/// | `description = ".."` | What the model reads instead of the doc comment: any `&'static str`. Default: the comment |
/// | `example = expr` | A value to show the model, in the schema's `examples`. Default: none |
/// | `flatten` | The fields of the value stand in its place; its type is a struct of named fields, which may flatten others. No other key |
///
/// A string literal as `default` or `example` serves every type that is `From<&'static str>`: `String`, `PathBuf`.
/// The struct implements `Default` if every argument has a default or is spelled as an `Option`.
///
/// `#[schemars(..)]` on a parameter adds to its schema, constraints most of all: `range(min = 1)`, `length(max = 80)`,
/// `regex(pattern = "..")`, `title = ".."`. A call that does not keep to them is refused. What `#[arg]` says, `#[arg]`
/// alone says: `rename`, `default`, `flatten`, `description` and `example` are refused there, `alias` and `skip` too.
///
/// `#[serde(..)]` on a parameter is refused: each argument is read and written as its type says, and there is no derive
/// that could be told otherwise of one place. It belongs on a type of your own, which is then the parameter's, or
/// whose fields are, by `flatten`.
///
/// # Injected parameters
///
/// They are in no schema, and no caller gives them; they stand anywhere among the others.
///
/// | Parameter | What it is |
/// |---|---|
/// | `&CallContext`, `CallContext` | The call's context, for a tool that declares no toolsets |
/// | `&CallContext<its_own_name>` | The same for one that does: `ctx.call` compiles for what is declared |
/// | `&dyn ToolContext` | The same as a trait, which a test can stub |
/// | `State<T>`, `&State<T>` | What `Runtime::builder().state(..)` was given; all that is missing is told by `build()` |
/// | `#[ctx] x: T`, `#[ctx] x: &T` | What `T` makes of the context by `FromContext`; an alias of the above needs it too |
///
/// A tool takes at most one context. `#[arg]`, `#[serde]` and `#[schemars]` do not go with what is injected.
///
/// # Returns
///
/// | Return type | What a caller gets |
/// |---|---|
/// | `T: Serialize` | The value, as JSON; an `impl Serialize` too. Its schema is known if `T: JsonSchema` |
/// | `ToolReturn` | A text or value, with files for the model and a note that only the operator sees |
/// | `Result<T, E>` under any alias | One of the above, or an error; `E` is an `Error` or any type with `Display` |
///
/// A typed `ctx.call` reads the value back, so it asks for `T: DeserializeOwned`, and gives a `serde_json::Value` for an
/// `impl Serialize`. A panic is an error of that call.
///
/// # Methods
///
/// On an `impl`, the attribute makes tools of the methods that are marked `#[tool(..)]` in it, each with the keys above,
/// and a toolset of the type: `toolsets = [Database]`. Each call that declares it, or one of its tools, has an instance
/// of its own, which is opened before the call runs and closed when it has ended: after an error, a panic or a
/// cancellation too. A caller that does not declare it gets one for the one call of a tool.
///
/// | In the `impl` | Meaning |
/// |---|---|
/// | `#[tool] fn name(&self, ..)` | A tool. Calls may run side by side, so it takes `&self`, or none |
/// | `fn open(..) -> Self` | Makes an instance, from injected parameters only; `async`, or a `Result`. Default: `Default` |
/// | `fn close(self)` | Ends it; `async`, or a `Result`, whose error fails the call. Default: dropped |
///
/// | Key | Meaning |
/// |---|---|
/// | `name = ".."` | The toolset's registered name, for `toolsets = ["name"]`. Default: the type's |
/// | `description = ".."` | What the toolset is for. Default: the doc comment of the `impl` |
/// | `approval = ask` | Whether calls of its tools need [approval](#approval), where a tool does not say so. Default: each tool's effect |
///
/// The argument structs stand beside the `impl`, where `Self` is no name of the type.
///
/// # Members
///
/// | Member of `toolsets` | Stands for |
/// |---|---|
/// | `path` | A tool, worker or entry in scope, or all members of a [`macro@toolset`] or of a type with methods |
/// | `prefixed("fs_", member)` | The same, each shown under its name with that text before it |
/// | `member.only([path, ..])` | Those of its members that are listed |
/// | `member.except([path, ..])` | All of its members but those |
/// | `"name"` | The tool or toolset registered under that name when the runtime is built; in no form |
///
/// Forms stand in one another: `prefixed("fs_", filesystem.only([read_file]))`. A prefix is for whoever calls by name: a
/// model and `ctx.call_tool`. A typed `ctx.call(read_file { .. })`, events, approvals and the errors that code gets go by
/// the registered name, so a declaration may hold one tool under several names. Two tools that are shown by one name,
/// a name of more than 64 bytes, a pick that is no member, and a typed call of what is left out do not compile.
///
/// # Linking
///
/// A library's tools are registered when it is linked, and a library that no code names is not. Name it:
/// `use my_tools as _;`.
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(args.into(), &item.into()).into()
}

/// Registers a signature as a worker: a tool that a model implements.
///
/// The signature is an `async fn`. The model is given the arguments and returns the output, which its type's schema
/// constrains: a type that implements `Serialize`, `Deserialize` and `JsonSchema`, or a `ToolReturn`, which is a text with the
/// files that the model made, or a `Result` of one of these. Its doc comment
/// is what callers' models read, and is required. Other functions call a worker as they call a tool; it is no function,
/// so there is nothing else to call.
///
/// | Key of `#[worker(..)]` | Meaning |
/// |---|---|
/// | `name = ".."` | The registered name. Default: the function's |
/// | `args = Ident` | The argument struct's name. Default: the function's |
/// | `file = ".."` | The worker file that gives other keys, beside the source. Default: none |
/// | `model = ".."` | The model, as `provider:model`; any other form does not compile. Default: the run's |
/// | `compatible_models = ["..", ..]` | Globs of the run's models that may implement it, in any case; not beside `model`. Default: any |
/// | `instructions = ".."` | The system prompt: any `&'static str`, also `include_str!`. Default: the description |
/// | `toolsets = [path, "name"]` | What the model may call, as [members](macro@tool#members). Default: nothing |
/// | `server_side_tools = [web_search, ..]` | What the provider runs by itself, see below. Default: nothing |
/// | `settings = expr` | `Settings` of its requests; each field it sets wins over the runtime's. Default: the runtime's |
/// | `hints = ["..", ..]` | What it is good for, to choose it by. Default: none |
/// | `output = auto` | How the model gives the output, see below. Also `native`, `tool`, `prompted`. Default: `auto` |
/// | `max_turns = N` | How many requests one call may make, 1 or more. Default: 20 |
/// | `retries = N` | How often in a row the model may mend the same fault. Default: 2 |
/// | `limits = expr` | `Limits` of what a call, and all below it, may use together. Default: what the run may |
/// | `timeout = "30s"` | How long a call may take, [as a tool](macro@tool#timeout). Default: as long as its caller |
/// | `description = ".."` | What callers' models read instead of the doc comment |
///
/// `settings` and `limits` are evaluated once, when the registry is built. `max_turns` and `retries` are constants of `u32`.
/// Parameters are as those of [`macro@tool`], and `#[arg]` too.
///
/// # Prompt
///
/// | Signature | What the model is asked |
/// |---|---|
/// | `(input: String);` | The text |
/// | `(prompt: Prompt);` of any name | Its text, and its files |
/// | `(..);` | All arguments as one JSON object, defaults filled in |
/// | `(..) { .. }` | What the body gives: a `String`, a `&str` or a `Prompt`; any error leaves it by `?` |
///
/// A body is async, and runs before the model is asked. Only a worker with a body takes
/// [injected parameters](macro@tool#injected-parameters): a model can use none. An error or a panic in it is an
/// error of that call, and no request is made.
///
/// # Server-side tools
///
/// They are `web_search`, `web_fetch`, `code_execution` and `image_generation`. The provider runs them on its servers, while it
/// answers. So no call of them is asked about, whatever the policy says, none is held to limits on tool calls, and no guard
/// sees one before it ran: who lets a worker have one approves of all that its model does with it. Events tell of each that it
/// began and ended, and what a provider counts is in the usage; files that were made come with the worker's result, see
/// below. `web_search(max_uses = 3, allowed_domains = [".."],
/// blocked_domains = [".."])` limits the search; a provider that cannot keep to a limit refuses the request. A call of a
/// worker whose model lacks one of its tools fails before anything is asked.
///
/// # Output
///
/// | `output` | The model gives it |
/// |---|---|
/// | `auto` | As `native` if the model can, else as `tool` if it calls tools, else as `prompted` |
/// | `native` | By the provider's structured output; with a model that has none, the call fails before it is asked |
/// | `tool` | As arguments of the tool `final_result`; with a model that calls no tools, the call fails before it is asked |
/// | `prompted` | As JSON in its text; the instructions tell of the schema, and a fence or words around the one object are left out |
///
/// What the model can do is in the `profile` of its `Model`. An answer that holds no such output is asked for again, with what
/// is wrong with it, within `retries`.
///
/// An output of plain text needs none of this: `native` and `prompted` are then refused when the registry is built, and
/// `tool` lets the model give the text through the tool, apart from what else it says.
///
/// Files that the model makes, such as images, go with the output, those of all its answers in the call, but for answers that
/// a guard refused. A model that called the worker is shown them; code gets them from a worker that returns a `ToolReturn`,
/// whose answer needs no text then, and of any root call by `Start::with_files`. What is said of a file in JSON events is its
/// media type and its size; histories and journals keep it whole.
///
/// # Worker files
///
/// `file = "reviewer.worker"` names a file by its path from the source's directory; it is read while compiling, and a
/// change of it compiles the source again. It begins with keys in YAML, and the rest of it is the instructions:
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
/// | Key | Value |
/// |---|---|
/// | `name`, `description`, `model` | Texts, as in the attribute |
/// | `compatible_models`, `hints` | Lists of texts, as in the attribute |
/// | `toolsets` | A list of paths, resolved where the attribute stands and checked by the compiler |
/// | `server_side_tools` | A list of names, or of maps with `tool_type` and the settings of `web_search` |
/// | `settings` | A map with `temperature`, `top_p`, `max_tokens` and `seed` |
/// | `output`, `max_turns`, `retries` | As in the attribute |
/// | `limits` | A map with `requests`, `tool_calls`, `input_tokens`, `output_tokens`, `cached_tokens`, `reasoning_tokens`, `total_tokens`, `cost` in dollars, `allow_unpriced`, and `wall_time` as `timeout` |
/// | `timeout` | A text such as `1h 30m`, or a number of seconds |
/// | `input_schema` | A JSON schema; its property names and `required` must be those of the signature |
/// | `output_schema` | A JSON schema; what it says of names, `required` and simple types must hold for the return type, which is checked when the registry is built |
///
/// None is required. A key that the attribute gives as well is a fault, and so are instructions in both. Editors that do
/// not tell where a source is are shown the worker without its file, unless the path leads to it from `src`.
#[proc_macro_attribute]
pub fn worker(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::worker(args.into(), &item.into()).into()
}

/// Registers a function as an entry: a root call, from the command line or from code.
///
/// The function, `fn` or `async fn`, stays as written. Its doc comment is what the command line lists; none is required.
///
/// | Key of `#[entry(..)]` | Meaning |
/// |---|---|
/// | `name = ".."` | The registered name, as of [`macro@tool`]. Default: the function's |
/// | `args = Ident` | The argument struct's name. Default: the function's |
/// | `timeout = "30s"` | How long a run may take, [as a tool](macro@tool#timeout). Default: as long as the session allows |
/// | `toolsets = [path, "name"]` | What it may call, as [members](macro@tool#members). Default: whatever is registered |
/// | `description = ".."` | What users read instead of the doc comment: any `&'static str`. Default: the comment |
///
/// Parameters, injected ones and returns are as those of [`macro@tool`]. Calls to what is not declared do not compile:
/// `&CallContext<its_own_name>` carries the declaration. The user's own call of an entry is not asked about; one that a
/// model or code calls is, as a tool without an effect.
///
/// The command line runs the only entry, or the one that is called `main`, unless it is told another. An entry whose
/// one argument is a `Prompt` takes a text as its prompt and files by `--attach`.
#[proc_macro_attribute]
pub fn entry(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::entry(args.into(), &item.into()).into()
}

/// Names groups of tools: `toolset! { /// docs \n pub name = [path, ..]; }`, any number of them.
///
/// | Part | Meaning |
/// |---|---|
/// | Attributes | A doc comment, which lists show, and what else stands on a type. Default: none |
/// | Visibility | That of the name. Default: private |
/// | `name` | A type, which `toolsets = [name]` and other groups refer to; registered under it as well |
/// | `(approval = ask)` | Whether calls of its members need [approval](macro@tool#approval), where a tool does not say so. Default: other toolsets and each tool's effect say it |
/// | `[path, ..]` | Its members |
///
/// A member is a tool, worker, entry or another toolset, or a form of one: `prefixed("fs_", member)`,
/// `member.only([path, ..])` or `member.except([path, ..])`, as in [`toolsets = [..]`](macro@tool#members); a `"name"` is
/// none. `toolsets = [name]` then stands for all of them. Two members that are shown by one name do not compile.
///
/// `approval` is of the tools, not of the way to them: it holds for the members wherever they are called, and where
/// several toolsets hold a tool, the strictest counts.
#[proc_macro]
pub fn toolset(tokens: TokenStream) -> TokenStream {
    expand::toolset(tokens.into()).into()
}

/// Derives `Serialize`, `Deserialize` and `JsonSchema` for a type that tools take and workers return.
///
/// The same as the three derives, but the user's crate needs neither serde nor schemars of its own. Attributes
/// `#[serde(..)]` and `#[schemars(..)]` below it work as they do below the derives. It takes no arguments. A field that
/// holds a lock, a cell or an atomic is refused, since a model cannot write shared state.
#[proc_macro_attribute]
pub fn data(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::data(&args.into(), &item.into()).into()
}
