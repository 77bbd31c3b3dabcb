"""Has mcp-groundtruth compare what our tools for files do with what `llm-do mcp` says of them.

`annotated.py PROGRAM BIN`: the program `stock`, and the folder of the judge. Each tool gets a fresh folder, and is called once, twice, and
twice at once; what it says that it does not do must then be true of the files.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, BIN = map(pathlib.Path, sys.argv[1:])
# What a tool says by its effect, and so what the judge tests.
TESTED = {"read_only": ["read_only"], "idempotent": ["sequential_idempotence", "concurrent_idempotence"], "other": []}
CALLS = [
    ("read_only", "read_file", {"path": "data/a.txt"}),
    ("read_only", "list_files", {"include_ignored": True}),
    ("read_only", "search_files", {"regex": "one|two"}),
    ("idempotent", "write_file", {"path": "data/a.txt", "content": "new\n"}),
    ("idempotent", "write_file", {"path": "data/new/b.txt", "content": "new\n"}),
    ("other", "edit_file", {"path": "data/a.txt", "old_text": "one", "new_text": "one one"}),
    ("other", "move_file", {"from": "data/a.txt", "to": "data/moved.txt"}),
    ("other", "delete_file", {"path": "data/a.txt"}),
]


def toml(value) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)


def definition() -> str:
    command = [str(PROGRAM), "mcp", "--expose", "filesystem_cwd", "--approve-all", "--files", "{state}"]
    lines = ["[fixture]", 'name = "files"', f"command = {toml(command)}", f"env = {toml({'LLM_DO_CONFIG': ''})}"]
    lines += ["[state]", 'locations = ["fs:."]']
    lines += ["[[adapters]]", 'kind = "fs"', 'label = "."', 'seed = "seed"', 'business = ["data"]', "modes = true"]
    for number, (effect, tool, arguments) in enumerate(CALLS):
        lines += ["[[tools]]", f'name = "cwd_{tool}"', f'variant = "{number}"', f"arguments = {toml(arguments)}"]
        for test in TESTED[effect]:
            lines += [f"[tools.expected.{test}]", 'verdict = "PASS"']
    return "\n".join(lines) + "\n"


with tempfile.TemporaryDirectory() as folder:
    fixture = pathlib.Path(folder) / "files"
    (fixture / "seed" / "data").mkdir(parents=True)
    (fixture / "seed" / "data" / "a.txt").write_text("one\ntwo\n")
    (fixture / "fixture.toml").write_text(definition())
    command = [BIN / "mcpgt", "run", fixture, "--concurrent-attempts", "8", "--runs-dir", pathlib.Path(folder) / "runs"]
    judged = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=os.environ)
    if judged.returncode:
        sys.exit(f"annotated.py: {judged.stdout}{judged.stderr}")
    [matched] = [line.strip() for line in judged.stdout.splitlines() if "expectations:" in line]
    print(f"mcp-groundtruth over the tools for files: {matched}")
