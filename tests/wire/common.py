"""What the judges share: the program that is judged, the server that answers it, and the findings."""

import fnmatch
import json
import os
import subprocess
import threading
import time
from collections import Counter
from urllib.parse import urlsplit

# Read by the library when it is imported: answers without chance.
os.environ["LLMOCK_RESPONSE_STYLE"] = "static"
import uvicorn  # noqa: E402
from llmock.main import create_app  # noqa: E402

# Where a server of the judge speaks each protocol: the provider's variable, and the path.
PATHS = {
    "openai": ("OPENAI", "/v1"),
    "openai-responses": ("OPENAI", "/v1"),
    "anthropic": ("ANTHROPIC", "/anthropic"),
    "gemini": ("GEMINI", "/gemini/v1beta"),
    "mistral": ("MISTRAL", "/mistral/v1"),
    "groq": ("GROQ", "/groq/openai/v1"),
}
SHOWN = 5


class Findings:
    """Findings by judge; those that the file lists are named with its reasons."""

    def __init__(self, file):
        self.listed = json.loads(file.read_text())
        self.found = {}

    def add(self, judge, finding, example):
        self.found.setdefault((judge, finding), []).append(example)

    def report(self):
        """Prints the findings, and returns 1 if one is not listed."""
        failed, used = 0, set()
        for (judge, finding), examples in sorted(self.found.items()):
            number = next((n for n, entry in enumerate(self.listed) if self.is_of(entry, judge, finding)), None)
            used.add(number)
            reason = "NOT LISTED" if number is None else self.listed[number]["reason"]
            failed |= number is None
            print(f"\n{judge}: {finding}\n  {len(examples)} times; {reason}")
            for example in examples[: SHOWN if number is None else 1]:
                print(f"  {example}"[:400])
        for number, entry in enumerate(self.listed):
            if number not in used and any(judge == entry["judge"] for judge, _ in self.found):
                print(f"\nlisted, and not found: {entry['judge']}: {entry['finding']}")
        print(f"\n{len(self.found)} findings, {'some of them not listed' if failed else 'all of them listed'}")
        return int(failed)

    @staticmethod
    def is_of(entry, judge, finding):
        return entry["judge"] == judge and fnmatch.fnmatchcase(finding, entry["finding"])


class Program:
    """The program that is judged, whose requests go to `url`; it answers lines in any order."""

    def __init__(self, path, arguments, url):
        variables = {f"{name}_BASE_URL": url + path for name, path in PATHS.values()}
        keys = {f"{name}_API_KEY": "key" for name, _ in PATHS.values()}
        env = {"PATH": os.environ["PATH"], "NO_PROXY": urlsplit(url).hostname, **variables, **keys}
        self.process = subprocess.Popen(
            [path, *arguments], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the program ended too early")
        return json.loads(line)

    def ask(self, lines):
        """Returns the answers by id."""
        writer = threading.Thread(target=self._write, args=(lines,))
        writer.start()
        answers = [self.read() for _ in lines]
        writer.join()
        return {answer["id"]: answer for answer in answers}

    def _write(self, lines):
        for line in lines:
            self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise SystemExit("the program failed")


def mock():
    """Starts the server that breaks its answers on demand; returns its state and its URL."""
    app = create_app()
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", timeout_keep_alive=60)
    server = uvicorn.Server(config)
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    return app.state.llmock, f"http://127.0.0.1:{port}"


def turn(model, prompt, tools=(), structured=False, timeout=20.0):
    """Returns the arguments of a worker's turn."""
    return {"model": model, "prompt": prompt, "tools": list(tools), "structured": structured, "timeout": timeout}


def table(title, columns, rows):
    """Prints a table of counters: a row of cells for each name."""
    print(f"\n{title}\n")
    lines = [["", *columns]] + [[name, *(str(cells[column]) for column in columns)] for name, cells in rows.items()]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns) + 1)]
    for line in lines:
        print("  " + "  ".join(cell.ljust(width) if n == 0 else cell.rjust(width) for n, (cell, width) in enumerate(zip(line, widths))))


class Rates:
    """How many of how many, by row and column."""

    def __init__(self):
        self.rows, self.columns = {}, []

    def count(self, row, column, good):
        if column not in self.columns:
            self.columns.append(column)
        self.rows.setdefault(row, {}).setdefault(column, Counter())[bool(good)] += 1

    def print(self, title):
        rows = {}
        for name, cells in [*self.rows.items(), ("all", self._all())]:
            rows[name] = {column: self._of(cells.get(column)) for column in self.columns}
        table(title, self.columns, rows)

    def _all(self):
        total = {}
        for cells in self.rows.values():
            for column, counted in cells.items():
                total.setdefault(column, Counter()).update(counted)
        return total

    @staticmethod
    def _of(counted):
        return "-" if counted is None else f"{counted[True]} of {counted.total()}"
