"""Kills the client of other people's MCP servers again and again, and compares what the servers keep with what they keep without a kill.

`killed.py PROGRAM BIN`: the program `stock`, and the folder of the servers. Each domain of tau2 has tasks with the calls that solve them.
A script of a project makes the calls of a task, with a journal. Its process is killed at random points, half of them while a call that
writes is under way, or the server is. The judge settles what was interrupted by the log of the server, as a person would.

The servers do not say what their tools change: a policy declares what reads, and everything else may not be made twice.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, BIN = map(pathlib.Path, sys.argv[1:])
KILLS = int(os.environ.get("LLM_DO_KILLS", "50"))
READING = ("find_", "get_", "list_", "search_", "calculate")
# Longer than a server takes to end after its client.
END = 10.0


def fail(what: str):
    sys.exit(f"killed.py: {what}")


class Domain:
    """A server, and its tasks that write."""

    def __init__(self, name: str):
        self.name = name
        self.server = BIN / f"tau2-{name}-mcp-eval"
        self.variable = f"TAU2_{name.upper()}_MCP_STATE_DIR"
        [tasks] = BIN.parent.glob(f"lib/python*/site-packages/tau2_{name}_mcp/data/tau2/domains/{name}/tasks.json")
        calls = [task["evaluation_criteria"]["actions"] or [] for task in json.loads(tasks.read_text())]
        self.tasks = [task for task in calls if sum(writes(call["name"]) for call in task) > 1]
        self.random = random.Random(f"kills of {name}")


def writes(tool: str) -> bool:
    return not tool.startswith(READING)


def script(calls: list) -> str:
    """A tool that makes the calls of a task, in order."""
    lines = []
    for call in calls:
        arguments = ", ".join(f"{name}={value!r}" for name, value in call["arguments"].items())
        lines.append(f"        mcp__shop__{call['name']}({arguments})[\"parsed_content\"],")
    head = '    """\n    ---\n    toolsets: [mcp__shop]\n    ---\n    Make the calls of a task.\n    """'
    return "\n".join(["from typing import Any", "", "def replay() -> list[Any]:", head, "    return [", *lines, "    ]", ""])


class Run:
    """A run of a task, in a folder of its own: the project, the journal, and what the server keeps."""

    def __init__(self, domain: Domain, calls: list, folder: pathlib.Path):
        self.folder, self.kept, self.journal = folder, folder / "kept", folder / "run.jsonl"
        (folder / "tools").mkdir(parents=True)
        (folder / "tools" / "replay.py").write_text(script(calls))
        shop = {"command": str(domain.server), "args": [], "env": {domain.variable: str(self.kept)}}
        (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"shop": shop}}))
        effects = {f"mcp__shop__{call['name']}": "read_only" for call in calls if not writes(call["name"])}
        (folder / "policy.json").write_text(json.dumps({"effects": effects}))

    def command(self, *arguments: str) -> subprocess.Popen:
        environment = os.environ | {"LLM_DO_CONFIG": ""}
        return subprocess.Popen([PROGRAM, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def start(self) -> subprocess.Popen:
        project = ["--project", str(self.folder), "--trust-project", "--policy", str(self.folder / "policy.json")]
        return self.command("call", "replay", *project, "--approve-all", "--journal", str(self.journal))

    def listed(self, *options: str) -> list:
        """What `journal` lists."""
        if not self.journal.exists():
            return []
        lines, fault = self.command("journal", str(self.journal), "--json", *options).communicate()
        if fault:
            fail(f"journal: {fault}")
        return [json.loads(line) for line in lines.splitlines()]

    def begun(self) -> int:
        return self.journal.read_bytes().count(b'"kind":"begun"') if self.journal.exists() else 0

    def state(self) -> dict:
        """What the server keeps; nothing before the first call."""
        files = list(self.kept.glob("*.json"))
        return json.loads(files[0].read_text()) if files else {"calls": [], "db": None}

    def written(self) -> list:
        """The calls that write, as the server has logged them: the tool, its arguments, and what it returned."""
        logged = [(call["tau2_tool_call"], call["tau2_tool_message"]) for call in self.state()["calls"]]
        return [(made["name"], made["arguments"], answer) for made, answer in logged if writes(made["name"])]

    def servers(self) -> list:
        """The processes that keep anything in the folder."""
        processes = pathlib.Path("/proc").glob("[0-9]*")
        return [int(process.name) for process in processes if str(self.kept).encode() in environment(process)]

    def wait_for_servers(self):
        """Waits until they have ended: one that outlives its client may still write."""
        until = time.monotonic() + END
        while self.servers():
            if time.monotonic() > until:
                fail(f"a server outlives its client by {END} s")
            time.sleep(0.005)

    def unknown(self) -> list:
        return [call for call in self.listed("--unknown") if call["settled"] is None]

    def settle(self, step: str, *outcome: str):
        settling = self.command("journal", str(self.journal), "--settle", step, *outcome)
        if fault := settling.communicate()[1]:
            fail(f"`{step}` cannot be settled: {fault}")


def environment(process: pathlib.Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


def kill_at_random(run: Run, chance: random.Random, usual: float) -> str | None:
    """Kills the run at some time, or soon after a call that writes has begun; returns the result if it had ended."""
    before, process = run.begun(), run.start()
    if chance.random() < 0.5:
        while process.poll() is None and run.begun() == before:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.015))
    else:
        time.sleep(chance.uniform(0, usual))
    if chance.random() < 0.25:
        for server in run.servers():
            kill(server)
    else:
        process.kill()
    result, fault = process.communicate()
    run.wait_for_servers()
    if process.returncode > 0 and not run.unknown():
        fail(f"the run failed, without a call with an unknown outcome: {fault}")
    return result if process.returncode == 0 else None


def kill(process: int):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def settle_by_log(run: Run, figures: dict, chance: random.Random):
    """Settles what was interrupted; without an answer, the resumed run reports it, and writes nothing."""
    unknown = run.unknown()
    if not unknown:
        return
    [call] = unknown
    figures["unknown"] += 1
    written = run.written()
    if chance.random() < 0.5:
        reporting = run.start()
        _, report = reporting.communicate()
        run.wait_for_servers()
        figures["reported"] += 1
        if reporting.returncode == 0 or "unknown" not in report or run.written() != written:
            fail(f"an unknown outcome was not reported, or its call made again: {report}")
    records = run.listed()
    [arguments] = [record["input"] for record in records if record["key"] == f"{call['step']}/begun"]
    done = sum(is_done(record, call["tool"], arguments) for record in records)
    tool = call["tool"].removeprefix("mcp__shop__")
    answers = [answer for name, given, answer in written if (name, given) == (tool, arguments)]
    if len(answers) > done:
        figures["happened"] += 1
        run.settle(call["step"], "--result", json.dumps({"parsed_content": parsed(answers[-1]["content"])}))
    else:
        run.settle(call["step"], "--not-done")


def is_done(record: dict, tool: str, arguments: dict) -> bool:
    """Whether a record has the result of a call; that its outcome is unknown is recorded too."""
    of_call = record["kind"] == "call" and record["name"] == tool and record["input"] == arguments
    return of_call and "outcome_unknown" not in record["value"]


def parsed(content: str):
    try:
        return json.loads(content)
    except json.JSONDecodeError:
        return content


def uninterrupted(domain: Domain, calls: list, folder: pathlib.Path):
    """The run without a kill, how long it takes, and its result; nothing if the server refuses a call of the task."""
    run, began = Run(domain, calls, folder), time.monotonic()
    process = run.start()
    result, _ = process.communicate()
    run.wait_for_servers()
    return (run, time.monotonic() - began, result) if process.returncode == 0 else None


def judge(domain: Domain, folder: pathlib.Path):
    figures = dict.fromkeys(["runs", "kills", "writes", "unknown", "reported", "happened"], 0)
    while figures["kills"] < KILLS:
        calls = domain.random.choice(domain.tasks)
        one = folder / str(figures["runs"])
        figures["runs"] += 1
        whole = uninterrupted(domain, calls, one / "whole")
        if whole is None:
            continue
        whole, usual, expected = whole
        run, result = Run(domain, calls, one / "killed"), None
        while result is None:
            result = kill_at_random(run, domain.random, usual)
            figures["kills"] += result is None
            settle_by_log(run, figures, domain.random)
        made = [(name, arguments) for name, arguments, _ in run.written()]
        if made != [(name, arguments) for name, arguments, _ in whole.written()]:
            fail(f"{domain.name}: other calls than without a kill: {made}")
        if run.state()["db"] != whole.state()["db"]:
            fail(f"{domain.name}: the database differs from that without a kill")
        if result != expected:
            fail(f"{domain.name}: the result differs from that without a kill: {result}")
        figures["writes"] += len(made)
    print("{}: {kills} kills in {runs} runs; {writes} calls that write, none made twice or lost; {unknown} unknown outcomes, "
          "of which {happened} had happened; {reported} were reported first; databases as without a kill".format(domain.name, **figures))


for name in ["retail", "airline"]:
    with tempfile.TemporaryDirectory() as folder:
        judge(Domain(name), pathlib.Path(folder))
