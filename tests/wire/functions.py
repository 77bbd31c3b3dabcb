"""Descriptions of functions that others wrote, as tools of MCP servers, and calls of them: with the data of BFCL."""

import functools
import importlib.metadata
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from jsonschema import Draft202012Validator
from llmock.scenarios import Match, Reply, ToolCall

from common import Program, Rates, mock, table, turn

META = Draft202012Validator(Draft202012Validator.META_SCHEMA)
WIRES = ["openai", "openai-responses", "anthropic", "gemini"]
TYPES = {"float": "number", "dict": "object", "tuple": "array", "bool": "boolean", "list": "array", "String": "string",
         "Bigint": "integer", "long": "integer", "double": "number", "char": "string", "byte": "integer", "short": "integer",
         "ArrayList": "array", "Array": "array", "Queue": "array", "Stack": "array", "Set": "array", "HashMap": "object",
         "Hashtable": "object", "Boolean": "boolean"}
KNOWN = ["array", "boolean", "integer", "null", "number", "object", "string"]
# Names of types that say nothing.
UNKNOWN = ["any", "Any"]
VARIANTS = 3
TOOLS_OF_A_SERVER = 900
QUESTIONS_AT_A_TIME = 200
# The longest wait for an answer, in seconds, on a busy machine.
LONGEST = 300


def data():
    return Path(importlib.metadata.distribution("bfcl-eval").locate_file("bfcl_eval/data"))


def rows(file):
    """Returns the JSON lines of a file; nothing if it has others, or is missing."""
    if not file.exists():
        return []
    try:
        return [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    except json.JSONDecodeError:
        return []


def schema(value):
    """Returns a schema with the types of JSON Schema in place of those of Python, Java and JavaScript."""
    if not isinstance(value, dict):
        return value
    made = dict(value)
    if made.get("type") in UNKNOWN:
        del made["type"]
    elif isinstance(made.get("type"), str):
        made["type"] = TYPES.get(made["type"], made["type"])
    if isinstance(made.get("properties"), dict):
        made["properties"] = {name: schema(part) for name, part in made["properties"].items()}
    if isinstance(made.get("items"), dict):
        made["items"] = schema(made["items"])
    return made


def judged_schema(value):
    """Returns a schema without the types that no draft knows, which judge nothing."""
    if isinstance(value, list):
        return [judged_schema(part) for part in value]
    if not isinstance(value, dict):
        return value
    is_known = not isinstance(value.get("type"), str) or value["type"] in KNOWN
    return {name: judged_schema(part) for name, part in value.items() if name != "type" or is_known}


class Functions:
    """All functions, each under one name on one of the servers."""

    def __init__(self):
        self.by_text, self.tools, self.schemas, names = {}, [], [], set()
        self.questions = []
        for file in sorted(data().glob("BFCL_v4_*.json")):
            answers = {row["id"]: row["ground_truth"] for row in rows(data() / "possible_answer" / file.name)}
            for row in rows(file):
                if row.get("function"):
                    numbers = {function["name"]: self.add(function, names) for function in row["function"]}
                    self.questions.append((row["id"], numbers, answers.get(row["id"], [])))
        for file in sorted((data() / "multi_turn_func_doc").glob("*.json")):
            functions = rows(file)
            for start in range(0, len(functions), 20):
                part = functions[start : start + 20]
                numbers = {function["name"]: self.add(function, names) for function in part}
                self.questions.append((f"{file.stem} {start}", numbers, []))

    def add(self, function, names):
        """Returns the number of a function, which is one of the tools from now on."""
        text = json.dumps(function, sort_keys=True)
        if text in self.by_text:
            return self.by_text[text]
        name = unique = function["name"]
        # A server has no name twice.
        while unique in names:
            unique = f"{name}-{len(names)}"
        names.add(unique)
        self.by_text[text] = len(self.tools)
        description = f"{function.get('description', '')} [{len(self.tools)}]"
        self.tools.append({"name": unique, "description": description, "inputSchema": schema(function["parameters"])})
        self.schemas.append(judged_schema(self.tools[-1]["inputSchema"]))
        return self.by_text[text]

    def calls(self, numbers, answers):
        """Returns the calls that answer a question: pairs of a function's number and its arguments, each in some variants."""
        for answer in answers if isinstance(answers, list) else []:
            for name, parameters in answer.items() if isinstance(answer, dict) else []:
                if name in numbers:
                    own = self.schemas[numbers[name]]
                    variants = {json.dumps(arguments(parameters, own, n)): n for n in range(VARIANTS)}
                    yield from ((numbers[name], json.loads(text)) for text in variants)


def validator(schema):
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def is_valid(schema, value):
    return validator(schema).is_valid(value)


def arguments(parameters, own, n):
    """Returns the n-th of the possible arguments; an empty text stands for an optional argument that is absent."""
    chosen = {}
    for name, values in parameters.items():
        if not isinstance(values, list):
            chosen[name] = values
            continue
        is_required = name in own.get("required", [])
        given = [value for value in values if value != "" or (is_required and len(values) == 1)]
        if not given or ("" in values and n >= len(given)):
            continue
        part = own.get("properties", {}).get(name, {})
        forms = [given[n % len(given)]]
        forms += [form(forms[0]) for form in (shallow, deep)]
        fitting = [value for value in forms if is_valid(part, value)]
        chosen[name] = (fitting or forms)[0]
    return chosen


def shallow(value):
    """Returns an object whose fields have lists of possible values with the first of each."""
    if isinstance(value, dict):
        return {name: first(values) for name, values in value.items() if values != [""]}
    return [shallow(item) for item in value] if isinstance(value, list) else value


def deep(value):
    if isinstance(value, dict):
        return {name: deep(first(values)) for name, values in value.items() if values != [""]}
    return [deep(item) for item in value] if isinstance(value, list) else value


def first(values):
    return values[0] if isinstance(values, list) and values else values


def sent_tools(wire, body):
    """Returns the schemas of the tools in a request, by name."""
    if wire == "openai":
        return {tool["function"]["name"]: tool["function"].get("parameters") for tool in body.get("tools", [])}
    if wire == "openai-responses":
        return {tool["name"]: tool["parameters"] for tool in body.get("tools", []) if tool["type"] == "function"}
    if wire == "anthropic":
        return {tool["name"]: tool["input_schema"] for tool in body.get("tools", []) if "input_schema" in tool}
    declared = [function for tool in body.get("tools", []) for function in tool.get("functionDeclarations", [])]
    return {function["name"]: function.get("parametersJsonSchema", function.get("parameters")) for function in declared}


def results(wire, body):
    """Returns the results in a request, in order, as texts."""
    if wire == "openai":
        return [message["content"] for message in body["messages"] if message["role"] == "tool"]
    if wire == "openai-responses":
        return [item["output"] for item in body["input"] if item.get("type") == "function_call_output"]
    if wire == "anthropic":
        blocks = [block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]]
        return [whole_text(block["content"]) for block in blocks if block["type"] == "tool_result"]
    parts = [part for content in body["contents"] for part in content["parts"] if "functionResponse" in part]
    return [whole_text(next(iter(part["functionResponse"]["response"].values()))) for part in parts]


def whole_text(content):
    if isinstance(content, list):
        return "".join(block.get("text", "") for block in content)
    return content if isinstance(content, str) else json.dumps(content)


def received(result):
    """Returns what a tool was called with; `None` if the call was refused."""
    try:
        return json.dumps(json.loads(result)["got"], sort_keys=True)
    except (ValueError, KeyError, TypeError):
        return None


@functools.cache
def schema_faults(text):
    schema = json.loads(text)
    # A function without arguments may have none.
    return [] if schema is None else [error.message[:80] for error in META.iter_errors(schema)]


class Judge:
    def __init__(self, functions, names, description, findings):
        self.functions, self.names, self.description, self.findings = functions, names, description, findings
        self.rates, self.refusals, self.described = Rates(), Counter(), {}

    def question(self, wire, form, question, calls, answer, records):
        identity, numbers, _ = question
        where = f"{wire}, {form}"
        bodies = [record.body for record in records]
        if "error" in answer or not bodies:
            self.rates.count(where, "bodies valid", False)
            self.findings.add("functions", f"a failed run: {wire}", f"{where}, {identity}: {answer}")
            return
        faults = self.body_faults(wire, bodies[0], numbers)
        self.rates.count(where, "bodies valid", not faults)
        for fault in faults:
            self.findings.add("functions", f"{wire}: {fault}", f"{where}, {identity}")
        if not calls:
            return
        got = results(wire, bodies[-1])
        if len(got) != len(calls):
            self.findings.add("functions", f"{wire}: {len(got)} results of {len(calls)} calls", f"{where}, {identity}")
            return
        sent = sent_tools(wire, bodies[0])
        for (number, given), result in zip(calls, got):
            self.call(where, wire, identity, number, given, result, sent.get(self.names.get(number)))

    def body_faults(self, wire, body, numbers):
        """Returns what is wrong with a request and its tools."""
        sent = sent_tools(wire, body)
        faults = [f"a tool is missing: {self.functions.tools[n]['name']}" for n in numbers.values() if self.names.get(n) not in sent]
        for name, parameters in sent.items():
            faults += [f"not a schema: {name}: {fault}" for fault in schema_faults(json.dumps(parameters))]
        if self.description is not None and wire.startswith("openai"):
            key = wire + json.dumps(body.get("tools"), sort_keys=True)
            if key not in self.described:
                self.described[key] = self.description.judge(wire, body)
            faults += self.described[key]
        return faults

    def call(self, where, wire, identity, number, given, result, sent):
        tool, own, got = self.functions.tools[number], self.functions.schemas[number], received(result)
        example = f"{where}, {identity}, {tool['name']}: {json.dumps(given)[:150]}: {result[:200]}"
        if not is_valid(own, given):
            reason = self.reason(own, given)
            self.refusals[f"{reason}: {'refused' if got is None else 'run'}"] += 1
            self.rates.count(where, "answers against the schema refused", got is None)
            if got is not None:
                self.findings.add("functions", f"run against its schema: {reason}", example)
            return
        self.rates.count(where, "valid answers decoded equal", got == json.dumps(given, sort_keys=True))
        if got is None:
            self.findings.add("functions", f"{wire}: a valid answer was refused", example)
        elif got != json.dumps(given, sort_keys=True):
            self.findings.add("functions", f"{wire}: other arguments", example)
        if isinstance(sent, dict) and not is_valid(judged_schema(sent), given):
            self.findings.add("functions", f"{wire}: the sent schema refuses a valid answer", f"{example}: {json.dumps(sent)[:200]}")

    @staticmethod
    def reason(own, given):
        """Returns why arguments are against their schema."""
        without = {name: value for name, value in given.items() if value is not None or name in own.get("required", [])}
        if is_valid(own, without):
            return "null for an optional argument"
        error = next(validator(own).iter_errors(given))
        return f"by `{error.validator}`"


def judge(program, description, findings):
    functions = Functions()
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for start in range(0, len(functions.tools), TOOLS_OF_A_SERVER):
            files.append(f"{folder}/{start}.json")
            Path(files[-1]).write_text(json.dumps(functions.tools[start : start + TOOLS_OF_A_SERVER]))
        judged = Judge(functions, {}, description, findings)
        for form in ["whole", "streamed"]:
            judge_form(program, form, files, judged)
    print(f"\n{len(functions.tools)} functions, {len(functions.questions)} sets of them")
    judged.rates.print("Functions of BFCL as tools: requests, and the arguments that a tool gets")
    table("Answers against their own schema", ["answers"], {name: {"answers": times} for name, times in judged.refusals.most_common()})


def judge_form(program, form, files, judged):
    functions = judged.functions
    state, url = mock()
    server = str(Path(__file__).parent / "listed.py")
    run = Program(program, ["run", form, sys.executable, server, *files], url)
    listed = run.read()
    by_description = {description.rsplit(" [", 1)[-1]: name for description, name in listed["tools"].items() if description.endswith("]")}
    judged.names = {n: by_description.get(f"{n}]") for n in range(len(functions.tools))}
    for n, name in judged.names.items():
        if name is None:
            judged.findings.add("functions", "a tool is left out", f"{functions.tools[n]['name']}; {listed['warnings'][:3]}")
    for wire in WIRES:
        for start in range(0, len(functions.questions), QUESTIONS_AT_A_TIME):
            batch(run, state, judged, wire, form, functions.questions[start : start + QUESTIONS_AT_A_TIME])
    run.end()


def batch(run, state, judged, wire, form, questions):
    functions, names, lines, calls = judged.functions, judged.names, [], []
    for n, (identity, numbers, answers) in enumerate(questions):
        calls.append([call for call in functions.calls(numbers, answers) if names[call[0]] is not None])
        made = tuple(ToolCall(names[number], given) for number, given in calls[-1])
        match = Match(model=f"q{n}")
        # Without an answer the model calls nothing.
        state.scenarios.add(Reply(tool_calls=made, match=match) if made else Reply(text="No.", match=match))
        tools = [names[number] for number in numbers.values() if names[number] is not None]
        lines.append({"id": n, "arguments": turn(f"{wire}:q{n}", identity, tools, timeout=LONGEST)})
    answers = run.ask(lines)
    records = {}
    for record in state.journal.records(wait=2):
        records.setdefault(record.model, []).append(record)
    for n, question in enumerate(questions):
        judged.question(wire, form, question, calls[n], answers[n], records.get(f"q{n}", []))
    state.reset()
