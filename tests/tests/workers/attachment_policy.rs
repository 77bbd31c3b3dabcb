//! Which files a worker takes.

use llm_do::Attachment;
use llm_do::json;
use llm_do::prelude::*;
use llm_do::prompt::AttachmentPolicy;
use llm_do::testing::ScriptedModel;
use llm_do::worker::WorkerSpec;

/// Look at pictures.
#[worker(attachments = AttachmentPolicy::new().count(2).bytes(1_000).types(["image/*", "application/pdf"]))]
async fn picture_viewer(prompt: Prompt) -> String;

/// Look at files of any type.
#[worker(attachments = AttachmentPolicy::new().bytes(21 << 20))]
async fn large_viewer(prompt: Prompt) -> String;

/// Look at anything.
#[worker]
async fn any_viewer(prompt: Prompt) -> String;

fn file(name: &str, media_type: &str, bytes: usize) -> Attachment {
    Attachment::new(media_type, vec![b'a'; bytes]).named(name)
}

/// Returns the error of a call with these files, or the number of requests.
async fn outcome(files: Vec<Attachment>) -> Result<usize, String> {
    let script = ScriptedModel::new().text("seen").repeat_last();
    let runtime = Runtime::builder().force_model(script.clone()).build().unwrap();
    let prompt = files.into_iter().fold(Prompt::new("Look."), Prompt::attach);
    let seen = runtime.run(picture_viewer { prompt }).await;
    let requests = script.requests().len();
    match seen {
        Ok(_) => Ok(requests),
        Err(error) => {
            assert_eq!(requests, 0);
            Err(llm_do::error::chain(&error))
        }
    }
}

#[tokio::test]
async fn files_that_the_policy_allows_reach_the_model() {
    assert_eq!(outcome(Vec::new()).await, Ok(1));
    let files = vec![file("a.png", "image/PNG", 1_000), file("b.pdf", "application/pdf", 1)];
    assert_eq!(outcome(files).await, Ok(1));
}

#[tokio::test]
async fn other_files_are_refused_before_the_model_is_asked() {
    let picture = || file("a.png", "image/png", 1);
    let cases = [
        (
            vec![picture(), picture(), picture()],
            "the prompt has 3 attachments, but the worker takes at most 2; attach fewer",
        ),
        (
            vec![picture(), file("b.png", "image/png", 1_001)],
            "the attachment `b.png` is larger than 1000 bytes; attach a smaller file",
        ),
        (
            vec![file("c.wav", "audio/wav", 1)],
            "the attachment `c.wav` is `audio/wav`, but the worker takes only `image/*`, `application/pdf`; attach another \
             file, or convert it",
        ),
    ];
    for (files, fault) in cases {
        let error = outcome(files).await.unwrap_err();
        assert!(error.contains(fault), "{error}");
    }
}

#[tokio::test]
async fn a_policy_decides_how_much_of_a_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("large.txt"), vec![b'a'; (20 << 20) + 1]).unwrap();
    let script = ScriptedModel::new().text("seen").repeat_last();
    let runtime = Runtime::builder().project_root(folder.path()).force_model(script).build().unwrap();
    let prompt = || Prompt::new("Look.").attach_file("large.txt");
    let error = runtime.run(any_viewer { prompt: prompt() }).await.unwrap_err();
    let error = llm_do::error::chain(&error);
    assert!(error.contains("the attachment `large.txt` is larger than 20 MiB; attach a smaller file"), "{error}");
    assert_eq!(runtime.run(large_viewer { prompt: prompt() }).await.unwrap(), "seen");
}

#[tokio::test]
async fn a_worker_that_is_a_value_or_a_file_has_a_policy_too() {
    let text = "---\nname: invoice_file\nattachments: { count: 0 }\n---\nRead.\n";
    let of_file: WorkerSpec = text.parse().unwrap();
    let of_value = WorkerSpec::new("invoice_value", "Read.").attachments(AttachmentPolicy::new().count(0));
    let builder = Runtime::builder().worker(of_file).worker(of_value).force_model(ScriptedModel::new());
    let runtime = builder.build().unwrap();
    for name in ["invoice_file", "invoice_value"] {
        let picture = json!({ "media_type": "image/png", "data": "" });
        let error = runtime.run_named(name, json!({ "input": "x", "attachments": [picture] })).await.unwrap_err();
        let error = llm_do::error::chain(&error);
        assert!(error.contains("the prompt has 1 attachments, but the worker takes at most 0"), "{error}");
    }
}

#[test]
fn a_pattern_of_another_form_is_refused() {
    let policy = AttachmentPolicy::new().types(["image"]);
    let worker = WorkerSpec::new("odd_policy", "Read.").attachments(policy);
    let error = Runtime::builder().worker(worker).build().unwrap_err().to_string();
    assert!(error.contains("`attachments`: `image` is not a media type: write one such as `image/png`"), "{error}");
}
