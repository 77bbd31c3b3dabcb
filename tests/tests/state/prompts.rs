//! Prompts of workers, and their files.

use std::sync::{Arc, Mutex};

use llm_do::approval::ApprovalMode;
use llm_do::error::chain;
use llm_do::event::EventKind;
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall, UserPart};
use llm_do::prelude::*;
use llm_do::prompt::Attached;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use llm_do::{Attachment, Registry, json};
use serde_json::Value;

/// The house style.
struct Style(&'static str);

/// Translate a text.
#[worker(instructions = "You translate.")]
async fn translate(text: &str, #[arg(default = "English")] to: String, style: State<Style>) -> String {
    let number: u32 = text.split_whitespace().next().unwrap_or("0").parse()?;
    format!("Into {to}, {}: {}", style.0, text.repeat(usize::try_from(number)?))
}

/// Describe pictures.
#[worker]
async fn describe_files(mut paths: Vec<PathBuf>, ctx: &CallContext) -> String {
    paths.sort();
    let prompt = Prompt::new(format!("{} at depth {}", paths.len(), ctx.depth()));
    paths.into_iter().fold(prompt, |prompt, path| prompt.attach_file(path))
}

/// Answer.
#[worker]
async fn answer_prompt(prompt: Prompt) -> String;

/// Answer in the end.
#[worker]
async fn panics(input: String) -> String {
    assert_ne!(input, "panic");
    if input.is_empty() {
        return Ok("Say something.".into());
    }
    input
}

/// Answers, with files.
#[entry(toolsets = [answer_prompt])]
async fn root(ctx: &CallContext<root>, prompt: Prompt) -> Result<String> {
    Ok(ctx.call(answer_prompt { prompt: prompt.attach(Attachment::new("image/gif", b"GIF89a".to_vec())) }).await?)
}

/// Draw a picture.
#[tool(effect = read_only)]
fn draw() -> ToolReturn {
    let picture = Attachment::new("image/png", vec![1, 2]).named("a.png");
    ToolReturn::default().attach(picture).note("took no time")
}

/// Draw, then describe the drawing.
#[worker(toolsets = [draw])]
async fn look_at_drawing(input: String) -> String;

type Asked = Arc<Mutex<Vec<Vec<Message>>>>;

/// A model that records its requests and answers "ok", after a call of `draw` if that is available.
fn asked() -> (RuntimeBuilder, Asked) {
    let asked = Asked::default();
    let keep = Arc::clone(&asked);
    let model = FunctionModel::new(move |request: Request<'_>| {
        keep.lock().unwrap().push(request.messages.to_vec());
        let part = match (request.tools, request.messages) {
            ([tool, ..], [_]) => {
                let call = ToolCall::new("1", tool.name.to_string(), "{}");
                ResponsePart::ToolCall(call)
            }
            _ => ResponsePart::Text { text: "ok".into() },
        };
        Ok(Response::new("m", vec![part], Usage::of_request(1, 1)))
    });
    let builder = crate::own_builder().approval_mode(ApprovalMode::ApproveAll).state(Style("politely"));
    (builder.force_model(model), asked)
}

/// The parts of the first message of the first request.
fn parts(asked: &Asked) -> Vec<UserPart> {
    match &asked.lock().unwrap()[0][0] {
        Message::User { parts } => parts.clone(),
        other => panic!("no user message: {other:?}"),
    }
}

fn text(text: &str) -> UserPart {
    UserPart::Text { text: text.to_owned() }
}

#[tokio::test]
async fn a_body_renders_the_prompt_from_arguments_and_state() {
    let (builder, asked) = asked();
    let runtime = builder.build().unwrap();
    runtime.run(translate { text: "2 dogs ".into(), to: "German".into() }).await.unwrap();
    assert_eq!(parts(&asked), [text("Into German, politely: 2 dogs 2 dogs ")]);
}

#[tokio::test]
async fn an_error_in_a_body_fails_the_call_before_the_model_is_asked() {
    let (builder, asked) = asked();
    let error = builder.build().unwrap().run_named("translate", json!({ "text": "dogs" })).await.unwrap_err();
    assert_eq!(chain(&error), "`translate` failed: invalid digit found in string");
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_panic_in_a_body_is_an_error_of_that_call() {
    let error = asked().0.build().unwrap().run(panics { input: "panic".into() }).await.unwrap_err();
    assert!(error.to_string().starts_with("`panics` panicked"), "{error}");
}

#[tokio::test]
async fn a_body_may_return_its_prompt_early() {
    let (builder, asked) = asked();
    builder.build().unwrap().run(panics { input: String::new() }).await.unwrap();
    assert_eq!(parts(&asked), [text("Say something.")]);
}

#[tokio::test]
async fn files_of_a_prompt_are_read_below_the_root_with_a_media_type_by_content_then_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "1,2").unwrap();
    std::fs::write(folder.path().join("b.txt"), b"\x89PNG\r\n\x1a\n").unwrap();
    let (builder, asked) = asked();
    let runtime = builder.project_root(folder.path()).build().unwrap();
    runtime.run(describe_files { paths: vec!["b.txt".into(), folder.path().join("a.csv")] }).await.unwrap();
    let parts = parts(&asked);
    assert!(parts.contains(&text("2 at depth 1")));
    assert!(parts.contains(&UserPart::Attachment(Attachment::new("text/csv", "1,2").named("a.csv"))), "{parts:?}");
    let picture = Attachment::new("image/png", b"\x89PNG\r\n\x1a\n".to_vec()).named("b.txt");
    assert!(parts.contains(&UserPart::Attachment(picture)), "{parts:?}");
}

#[tokio::test]
async fn a_file_that_is_missing_or_a_folder_or_outside_the_root_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir_all(root.join("sub")).unwrap();
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    let runtime = asked().0.project_root(&root).build().unwrap();
    let error = async |path: &str| {
        let call = describe_files { paths: vec![path.into()] };
        chain(&runtime.run(call).await.unwrap_err())
    };
    let missing = format!("attachment not found: {}", root.join("nowhere").display());
    assert!(error("nowhere").await.contains(&missing), "{}", error("nowhere").await);
    assert!(error("sub").await.contains("the attachment `sub` is a folder"), "{}", error("sub").await);
    for path in ["../secret", folder.path().join("secret").to_str().unwrap()] {
        let outside = format!("the attachment `{path}` is not below the project's root `{}`", root.display());
        assert!(error(path).await.contains(&outside), "{}", error(path).await);
    }
}

#[tokio::test]
async fn a_root_that_is_missing_is_named_and_not_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("nowhere");
    let runtime = asked().0.project_root(&root).build().unwrap();
    let error = chain(&runtime.run(describe_files { paths: vec!["a.txt".into()] }).await.unwrap_err());
    assert!(error.contains(&format!("cannot open the project's root `{}`", root.display())), "{error}");
}

#[tokio::test]
async fn an_invalid_attachment_is_an_error_that_names_the_valid_forms() {
    let call = json!({ "input": "", "attachments": [{ "media_type": "image/png", "data": "no base64" }] });
    let error = asked().0.build().unwrap().run_named("answer_prompt", call).await.unwrap_err().model_message();
    assert!(error.contains("a path, or a `media_type` with `data` in Base64"), "{error}");
}

/// Nothing writes to the pipe, so opening it would block forever.
#[cfg(unix)]
#[tokio::test]
async fn a_pipe_is_rejected_without_blocking() {
    let folder = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    let runtime = asked().0.project_root(folder.path()).build().unwrap();
    let error = chain(&runtime.run(describe_files { paths: vec!["pipe".into()] }).await.unwrap_err());
    assert!(error.contains("the attachment `pipe` is a pipe, a socket or a device"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_symbolic_link_out_of_the_root_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink("../secret", root.join("link")).unwrap();
    let runtime = asked().0.project_root(&root).build().unwrap();
    let error = chain(&runtime.run(describe_files { paths: vec!["link".into()] }).await.unwrap_err());
    assert!(error.contains("the attachment `link` is not below the project's root"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn an_absolute_path_below_a_root_that_is_a_link_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let [root, link] = ["root", "link"].map(|name| folder.path().canonicalize().unwrap().join(name));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a.txt"), "bees").unwrap();
    std::os::unix::fs::symlink(&root, &link).unwrap();
    let runtime = asked().0.project_root(&link).build().unwrap();
    for path in [root.join("a.txt"), link.join("a.txt")] {
        runtime.run(describe_files { paths: vec![path] }).await.unwrap();
    }
}

#[tokio::test]
async fn a_prompt_without_text_or_with_an_unknown_field_is_rejected() {
    let runtime = asked().0.build().unwrap();
    let error = async |prompt: Value| runtime.run_named("root", prompt).await.unwrap_err().to_string();
    let missing = error(json!({ "attachments": [] })).await;
    assert!(missing.contains("`input` is missing"), "{missing}");
    let unknown = error(json!({ "input": "a", "files": [] })).await;
    assert!(unknown.contains("unknown field `files`, expected `input`, `attachments`"), "{unknown}");
}

#[tokio::test]
async fn a_media_type_comes_from_the_extension_if_the_content_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let types = [
        ("a.TXT", "text/plain"),
        ("a.csv", "text/csv"),
        ("a.jpeg", "image/jpeg"),
        ("a.json", "application/json"),
        ("a.md", "text/markdown"),
        ("a.mp3", "audio/mpeg"),
        ("a.no_such_ending", "text/plain"),
        ("a.pdf", "application/pdf"),
        ("a.svg", "image/svg+xml"),
    ];
    let (builder, asked) = asked();
    let runtime = builder.project_root(folder.path()).build().unwrap();
    for (name, _) in types {
        std::fs::write(folder.path().join(name), "plain").unwrap();
    }
    std::fs::write(folder.path().join("bytes"), [0xff, 0xfe, 0]).unwrap();
    let names = types.iter().map(|(name, _)| *name).chain(["bytes"]);
    runtime.run(describe_files { paths: names.map(PathBuf::from).collect() }).await.unwrap();
    let told: Vec<_> = parts(&asked).into_iter().filter_map(media_type).collect();
    let expected: Vec<_> = types.iter().map(|(_, kind)| *kind).chain(["application/octet-stream"]).collect();
    assert_eq!(told, expected);
}

fn media_type(part: UserPart) -> Option<String> {
    match part {
        UserPart::Attachment(attachment) => Some(attachment.media_type().to_owned()),
        _ => None,
    }
}

#[test]
fn the_fields_of_a_single_prompt_are_the_arguments() {
    let registry = Registry::collect().unwrap();
    let schema = registry.get("root").unwrap().parameters();
    assert_eq!(schema["required"], json!(["input"]));
    assert_eq!(schema["properties"]["input"]["type"], "string");
    assert_eq!(schema["properties"]["attachments"]["type"], "array");
    assert!(registry.get("answer_prompt").unwrap().takes_prompt());
    assert!(!registry.get("panics").unwrap().takes_prompt());
}

#[tokio::test]
async fn a_prompt_is_passed_from_the_root_to_the_model_with_its_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.md"), "# A").unwrap();
    let (builder, asked) = asked();
    let runtime = builder.project_root(folder.path()).build().unwrap();
    let result = runtime.run_named("root", json!({ "input": "What?", "attachments": ["a.md"] })).await.unwrap();
    assert_eq!(result, "ok");
    let parts = parts(&asked);
    assert_eq!(parts[0], text("What?"));
    assert_eq!(parts[1], UserPart::Attachment(Attachment::new("text/markdown", "# A").named("a.md")));
    assert_eq!(parts[2], UserPart::Attachment(Attachment::new("image/gif", b"GIF89a".to_vec())));
}

#[tokio::test]
async fn the_model_sees_a_tools_files_and_the_operator_its_note() {
    let (builder, asked) = asked();
    let recorder = Recorder::new();
    builder.sink(recorder.clone()).build().unwrap().run(look_at_drawing { input: "look".into() }).await.unwrap();
    let Message::Tool { results } = asked.lock().unwrap()[1][2].clone() else { panic!("no results") };
    assert_eq!(results[0].attachments, [Attachment::new("image/png", vec![1, 2]).named("a.png")]);
    assert_eq!(results[0].content, "see the files");
    assert!(!format!("{:?}", asked.lock().unwrap()).contains("took no time"));
    let finished = recorder.kinds().into_iter().find_map(|kind| match kind {
        EventKind::CallFinished { attachments, note, .. } if note.is_some() => Some((attachments, note)),
        _ => None,
    });
    assert_eq!(finished, Some((vec!["a.png".to_owned()], Some("took no time".to_owned()))));
}

#[tokio::test]
async fn typed_code_gets_a_tools_files_too() {
    let returned = asked().0.build().unwrap().run(draw {}).await.unwrap();
    assert_eq!((returned.value(), returned.attachments().len()), (&Value::Null, 1));
}

/// Returns the names and media types of the files of a call.
fn files(ctx: &dyn ToolContext) -> Vec<(String, Option<String>)> {
    let named = |file: &Attached| file.name().unwrap_or_default().into_owned();
    ctx.attachments().iter().map(|file| (named(file), file.media_type().map(str::to_owned))).collect()
}

/// Name the files of a prompt.
#[tool(effect = read_only)]
fn name_files(prompt: Prompt, ctx: &CallContext) -> Vec<(String, Option<String>)> {
    assert_eq!(prompt.attachments(), ctx.attachments());
    files(ctx)
}

/// Name the files of two prompts.
#[tool(effect = read_only)]
fn name_all(ctx: &dyn ToolContext, title: &str, first: Prompt, second: Prompt) -> Vec<(String, Option<String>)> {
    assert!(first.text() < second.text() && !title.is_empty());
    files(ctx)
}

/// Name no files, since the call has none.
#[tool(effect = read_only)]
fn name_none(ctx: &CallContext) -> Vec<(String, Option<String>)> {
    files(ctx)
}

/// Returns the files of its prompt.
#[worker]
async fn name_in_body(prompt: Prompt, ctx: &CallContext) -> String {
    format!("{} {:?}", prompt.text(), files(ctx))
}

/// Reads the files of its prompt, and calls a tool that returns its own.
#[entry(toolsets = [name_none])]
async fn read_files(ctx: &CallContext<read_files>, prompt: Prompt) -> Result<Vec<String>> {
    let mut read = vec![prompt.text().to_owned()];
    for file in ctx.attachments() {
        let text = match file {
            Attached::Path(path) => ctx.attachment(path).await?.data().to_vec(),
            Attached::Data(data) => data.data().to_vec(),
            _ => return Err("no such kind of file is known".into()),
        };
        read.push(String::from_utf8(text)?);
    }
    assert_eq!(ctx.call(name_none {}).await?, []);
    Ok(read)
}

fn with_files(text: &str) -> Prompt {
    let data = Attachment::new("text/plain", b"in memory".to_vec());
    Prompt::new(text).attach_file("notes/a.txt").attach(data.clone()).attach(data.named("b.txt"))
}

fn named() -> Vec<(String, Option<String>)> {
    let plain = || Some("text/plain".to_owned());
    vec![("a.txt".into(), None), (String::new(), plain()), ("b.txt".into(), plain())]
}

#[tokio::test]
async fn a_call_lists_the_files_of_its_prompt() {
    let (builder, asked) = asked();
    let runtime = builder.build().unwrap();
    assert_eq!(runtime.run(name_files { prompt: with_files("a") }).await.unwrap(), named());
    assert_eq!(runtime.run(name_files { prompt: "a".into() }).await.unwrap(), []);
    let both = name_all { title: "both".into(), first: with_files("a"), second: Prompt::new("b").attach_file("c") };
    let expected = [named(), vec![("c".into(), None)]].concat();
    assert_eq!(runtime.run(both).await.unwrap(), expected);

    runtime.run(name_in_body { prompt: with_files("In a body:") }).await.unwrap();
    assert_eq!(parts(&asked), [text(&format!("In a body: {:?}", named()))]);
}

#[tokio::test]
async fn the_files_of_a_prompt_can_be_read_and_do_not_include_those_of_nested_calls() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("notes")).unwrap();
    std::fs::write(folder.path().join("notes/a.txt"), "on disk").unwrap();
    let runtime = asked().0.project_root(folder.path()).build().unwrap();
    let read = runtime.run(read_files { prompt: with_files("go") }).await.unwrap();
    assert_eq!(read, ["go", "on disk", "in memory", "in memory"]);
}
