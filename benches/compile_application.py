"""Measures the build of the smallest application: one tool and one worker, with the models of OpenAI.

`ours` is written with llm-do and its feature `openai`. `by_hand` is the same program on reqwest, serde, serde_json, schemars
and tokio, in the versions and with the features that this workspace uses: one request to the chat completions API, the
tool's schema and dispatch, and a loop until the model answers. It has no retries, no stream, no approval and no limits.

Reported are the number of crates that are compiled, build scripts' and macros' included; the CPU time of a build in an empty
folder; and the CPU time of a check after a literal in the tool has changed.

`with_script` is `ours` with the feature `script` and a script tool: what the interpreter and the checker of types cost.
"""

import json
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

# The goals: the number of crates, and multiples of by hand.
MAX_CRATES = 135
MAX_CLEAN = 1.6
MAX_TOUCHED = 1.2
LITERAL = "700000"

OURS = """use llm_do::prelude::*;

/// Count the words of a text.
#[tool(effect = read_only)]
fn count_words(text: String) -> usize {
    text.split_whitespace().take(700000).count()
}

/// Summarize the text in one sentence.
#[worker(model = "openai:gpt-5-mini", toolsets = [count_words])]
async fn summarize(input: String) -> String;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::builder().build()?;
    println!("{}", runtime.run(summarize { input: "text".into() }).await?);
    Ok(())
}
"""

BY_HAND = """use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Count the words of a text.
fn count_words(text: &str) -> usize {
    text.split_whitespace().take(700000).count()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CountWords {
    text: String,
}

#[derive(Deserialize)]
struct Response {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Clone, Default, Deserialize, Serialize)]
struct Message {
    role: String,
    content: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
}

#[derive(Clone, Deserialize, Serialize)]
struct ToolCall {
    id: String,
    r#type: String,
    function: Function,
}

#[derive(Clone, Deserialize, Serialize)]
struct Function {
    name: String,
    arguments: String,
}

fn message(role: &str, content: &str) -> Message {
    Message { role: role.into(), content: Some(content.into()), ..Message::default() }
}

fn call(call: &ToolCall) -> Message {
    let result = match serde_json::from_str::<CountWords>(&call.function.arguments) {
        _ if call.function.name != "count_words" => format!("unknown tool {}", call.function.name),
        Ok(arguments) => count_words(&arguments.text).to_string(),
        Err(error) => format!("invalid arguments: {error}"),
    };
    Message { tool_call_id: Some(call.id.clone()), ..message("tool", &result) }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = reqwest::Client::new();
    let key = std::env::var("OPENAI_API_KEY")?;
    let parameters = schema_for!(CountWords);
    let tools = json!([{ "type": "function", "function": {
        "name": "count_words", "description": "Count the words of a text.", "parameters": parameters
    } }]);
    let mut messages = vec![message("system", "Summarize the text in one sentence."), message("user", "text")];
    loop {
        let body: Value = json!({ "model": "gpt-5-mini", "messages": messages, "tools": tools });
        let request = client.post("https://api.openai.com/v1/chat/completions").bearer_auth(&key).json(&body);
        let response: Response = request.send().await?.error_for_status()?.json().await?;
        let answer = response.choices.into_iter().next().ok_or("no choice")?.message;
        if answer.tool_calls.is_empty() {
            println!("{}", answer.content.unwrap_or_default());
            return Ok(());
        }
        let results: Vec<_> = answer.tool_calls.iter().map(call).collect();
        messages.push(answer);
        messages.extend(results);
    }
}
"""

USE_SCRIPT = """    let script = llm_do::script::ScriptTool::parse("main", "def main() -> int:\\n    'Return one.'\\n    return 1")?;
    let runtime = Runtime::builder().tool(script).build()?;
"""

SOURCES = {
    "ours": OURS,
    "by_hand": BY_HAND,
    "with_script": OURS.replace("    let runtime = Runtime::builder().build()?;\n", USE_SCRIPT),
}
# The programs that are compared with each other.
COMPARED = ["ours", "by_hand"]
# The programs that are written with llm-do.
FEATURES = {"ours": ["openai"], "with_script": ["openai", "script"]}


def dependencies(workspace: Path, name: str) -> str:
    tokio = 'tokio = { version = "1", features = ["macros", "rt"] }'
    if name in FEATURES:
        return f'llm-do = {{ path = "{workspace / "llm-do"}", features = {json.dumps(FEATURES[name])} }}\n{tokio}'
    inherited = re.findall(r"^(?:reqwest|schemars|serde|serde_json) = .*$", (workspace / "Cargo.toml").read_text(), re.M)
    return "\n".join([*(line.replace('["http2"', '["http2", "json"') for line in inherited), tokio])


def write(folder: Path, workspace: Path) -> None:
    members = ", ".join(f'"{name}"' for name in SOURCES)
    (folder / "Cargo.toml").write_text(f'[workspace]\nresolver = "3"\nmembers = [{members}]\n')
    for file in ["Cargo.lock", "rust-toolchain.toml"]:
        shutil.copy(workspace / file, folder)
    for name, source in SOURCES.items():
        (folder / name / "src").mkdir(parents=True)
        (folder / name / "src" / "main.rs").write_text(source)
        (folder / name / "Cargo.toml").write_text(
            f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2024"\n\n'
            f"[dependencies]\n{dependencies(workspace, name)}\n"
        )


def crates(folder: Path, name: str) -> int:
    """Returns the number of crates that an application compiles, without itself."""
    command = ["cargo", "tree", "--package", name, "--edges", "normal,build", "--prefix", "none"]
    listed = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return len({line.removesuffix(" (*)").strip() for line in listed if line.strip()}) - 1


def measure(workspace: Path, clean_rounds: int, rounds: int, run, timed) -> bool:
    """Prints the figures, and returns whether they reach the goals.

    `run` runs cargo in a folder with a target folder, `timed` returns the CPU seconds of what it calls.
    """
    cpu = {(name, kind): [] for name in COMPARED for kind in ["clean", "touched"]}
    with tempfile.TemporaryDirectory(prefix="llm-do-application-") as temporary:
        folder = Path(temporary)
        write(folder, workspace)
        count = {name: crates(folder, name) for name in COMPARED}
        for name in COMPARED:
            for _ in range(clean_rounds):
                with tempfile.TemporaryDirectory(prefix="llm-do-clean-") as target:
                    cpu[name, "clean"].append(timed(lambda: run(folder, target, "build", "--quiet", "--package", name))[0])
        with tempfile.TemporaryDirectory(prefix="llm-do-checks-") as target:
            for turn in range(-1, rounds):
                for name in COMPARED:
                    source = SOURCES[name]
                    (folder / name / "src" / "main.rs").write_text(source.replace(LITERAL, f"{LITERAL}{turn + 1}"))
                    seconds, _ = timed(lambda: run(folder, target, "check", "--quiet", "--package", name))
                    # The first check builds the dependencies.
                    if turn >= 0:
                        cpu[name, "touched"].append(seconds)
    median = {key: statistics.median(values) for key, values in cpu.items()}
    holds = count["ours"] <= MAX_CRATES
    print(f"crates   {count['ours']} (at most {MAX_CRATES}; by hand {count['by_hand']})")
    for kind, most in [("clean", MAX_CLEAN), ("touched", MAX_TOUCHED)]:
        ours, by_hand = median["ours", kind], median["by_hand", kind]
        holds = holds and ours / by_hand <= most
        what = "clean debug build" if kind == "clean" else "check after touching the tool"
        print(f"{kind:8} {ours / by_hand:.2f} times by hand (at most {most}; {what}: {ours:.2f} s CPU, by hand {by_hand:.2f} s)")
    return holds


def measure_script(workspace: Path, run, timed) -> None:
    """Prints what the feature `script` costs; `run` and `timed` as for `measure`."""
    print(f"{'program':12} {'crates':>7} {'debug s':>8} {'release s':>10} {'release MB':>11}   (s of CPU, without symbols)")
    with tempfile.TemporaryDirectory(prefix="llm-do-application-") as temporary:
        folder = Path(temporary)
        write(folder, workspace)
        with (folder / "Cargo.toml").open("a") as manifest:
            manifest.write('\n[profile.release]\nstrip = "symbols"\n')
        for name in FEATURES:
            with tempfile.TemporaryDirectory(prefix="llm-do-clean-") as target:
                debug, _ = timed(lambda: run(folder, target, "build", "--quiet", "--package", name))
                release, _ = timed(lambda: run(folder, target, "build", "--release", "--quiet", "--package", name))
                size = (Path(target) / "release" / name).stat().st_size / 1e6
            print(f"{name:12} {crates(folder, name):7} {debug:8.0f} {release:10.0f} {size:11.1f}", flush=True)
