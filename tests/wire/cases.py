"""Requests of many kinds, in the forms of the library's own messages, tools and settings."""

import base64
import random

HISTORIES = 400
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"
FILES = {
    "a picture": ("image/png", PNG),
    "a photograph": ("image/jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01"),
    "a moving picture": ("image/gif", b"GIF89a\x01\0\x01\0\0\0\0\0"),
    "a picture for pages": ("image/webp", b"RIFF\x24\0\0\0WEBPVP8 "),
    "a document": ("application/pdf", b"%PDF-1.7\n%1234567890"),
    "a recording": ("audio/wav", b"RIFF\x24\0\0\0WAVEfmt "),
    "a song": ("audio/mpeg", b"ID3\x04\0\0\0\0\0\0"),
    "a text": ("text/plain", b"plain"),
    "a table": ("text/csv", b"a,b\n1,2\n"),
    "data": ("application/json", b'{"a": [1, null]}'),
}
# What a tool of a server may return, and no model of OpenAI's takes.
ODD_FILES = {
    "a drawing": ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    "a bitmap": ("image/bmp", b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0"),
    "a file of another type than it says": ("image/jpeg", PNG),
    "an archive": ("application/zip", b"PK\3\4"),
    "nothing": ("image/png", b""),
    "a stream": ("audio/ogg", b"OggS"),
}
TEXTS = ["Hello.", "", " ", "two\nlines", "\"quoted\" é 😀", "nul\0 tab\t \x1b[31m", "<|im_start|>system", "x" * 20_000]
IDS = ["call_1", "", "toolu_01A", "chatcmpl-tool-0123456789abcdef0123456789abcdef", "c" * 80, "functions.bash:0", "call|1.é", "a b\n"]
NAMES = ["add", "find_word", "multi_tool_use.parallel", "", "get weather", "höhe", "n" * 90, "9-lives"]
ARGUMENTS = ["{}", "", '{"a": 1.0}', '{"a": [1, {"b": null}]}', "not JSON", '{"a"', "[]", "null", '{"a": "\\ud83d"}', '{"a": 1, "a": 2}']
DATA = [
    ("openai-responses", {"type": "reasoning", "id": "rs_1", "encrypted_content": "e", "summary": []}),
    ("openai-responses", {"type": "reasoning", "id": "rs_2", "encrypted_content": "e", "summary": [{"type": "summary_text", "text": "t"}]}),
    ("openai-responses", {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}),
    ("openai-responses", {"id": "msg_1", "status": "completed"}),
    ("openai-responses", {"id": "fc_1"}),
    ("anthropic", {"type": "thinking", "signature": "s"}),
    ("anthropic", {"type": "redacted_thinking", "data": "d"}),
    ("gemini", {"thoughtSignature": "s", "id": "g"}),
    ("gemini", {"part": {"text": "t", "thoughtSignature": "s"}}),
    ("deepseek", {"model": "m", "field": "reasoning_content"}),
    ("mistral", {"chunks": [{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}]}),
]


def parameters(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)[:1], "additionalProperties": False}


WORD = {"type": "string", "description": "A word."}
SCHEMAS = {
    "nothing": {"type": "object"},
    "a word": parameters(word=WORD),
    "many types": parameters(
        word=WORD,
        number={"type": "number", "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 0.5},
        whole={"type": "integer", "default": 3},
        yes={"type": "boolean"},
        listed={"type": "array", "items": WORD, "minItems": 1, "uniqueItems": True},
        choice={"enum": ["a", 1, None]},
        fixed={"const": "x"},
        day={"type": "string", "format": "date", "pattern": "^2"},
        open={"type": "object", "additionalProperties": {"type": "number"}},
        perhaps={"type": ["string", "null"]},
    ),
    "references": {
        **parameters(node={"$ref": "#/$defs/node", "description": "The root."}),
        "$defs": {"node": parameters(value=WORD, children={"type": "array", "items": {"$ref": "#/$defs/node"}})},
    },
    "alternatives": parameters(value={"anyOf": [WORD, {"type": "integer"}, parameters(kind={"const": "a"})]}),
    "alternatives at the root": {"anyOf": [parameters(kind={"const": "a"}, a=WORD), parameters(kind={"const": "b"}, b=WORD)], "type": "object"},
    "a tuple of an older draft": {"$schema": "http://json-schema.org/draft-07/schema#", **parameters(pair={"type": "array", "items": [WORD, {"type": "integer"}]})},
    "look-around": parameters(word={"type": "string", "pattern": "^(?!x)a+$"}),
    "anything": parameters(value=True, other={}),
    "conditions": {**parameters(word=WORD), "if": {"properties": {"word": {"const": "a"}}}, "then": {"required": ["more"]}},
    "many values": parameters(choice={"type": "string", "enum": [f"value{n}" for n in range(1200)]}),
    "odd names": parameters(**{"a b": WORD, "$ref": WORD, "é": WORD, "x" * 80: WORD}),
}
SETTINGS = [
    {},
    {"temperature": 0.5},
    {"top_p": 0.9, "max_tokens": 100},
    {"seed": 7, "stop": ["a", "b"]},
    {"presence_penalty": 1.5, "frequency_penalty": -0.5},
    {"thinking": "high"},
    {"thinking": "off"},
    {"thinking": 2000},
    {"parallel_tool_calls": False},
    {"service_tier": "flex", "cache_prompt": True},
    {"temperature": 2, "thinking": "low", "max_tokens": 16, "seed": 2**63, "service_tier": "priority"},
]
# Beyond what OpenAI takes.
BEYOND = [{"max_tokens": 1}, {"stop": ["a", "b", "c", "d", "e", "f"]}, {"temperature": 3}]
CHOICES = ["auto", "required", "none", "tool_0"]
SERVER_SIDE = ["web_search", "web_fetch", "code_execution", "image_generation", "programmatic_tool_calling"]


def attachment(named):
    media_type, data = named
    return {"media_type": media_type, "data": base64.b64encode(data).decode()}


def user(*parts):
    return {"role": "user", "parts": list(parts)}


def text(value):
    return {"type": "text", "text": value}


def tool(n, schema):
    return {"name": f"tool_{n}", "description": f"Do {n}.", "parameters": schema}


def case(name, messages=None, **fields):
    """Returns a request; `may_refuse` if a model may lack what it asks for."""
    common = {"instructions": None, "tools": [], "deferred_tools": [], "choice": "auto", "server_side_tools": [], "output": None, "settings": {}}
    return {"case": name, "messages": messages or [user(text("Hello."))], "may_refuse": False, **common, **fields}


def single():
    """Returns requests with one special thing each."""
    for n, value in enumerate(TEXTS):
        yield case(f"text {n}", [user(text(value))], instructions=value)
    for name, file in FILES.items():
        # Responses takes no sound.
        may_refuse = file[0].startswith("audio")
        yield case(name, [user(text("Look."), {"type": "attachment", **attachment(file)})], may_refuse=may_refuse)
        named = {"type": "attachment", "name": "a.b", **attachment(file)}
        yield case(f"{name} alone, with a name", [user(named)], may_refuse=may_refuse)
    for name, file in ODD_FILES.items():
        yield case(name, [user(text("Look."), {"type": "attachment", **attachment(file)})], may_refuse=True)
    for name, schema in SCHEMAS.items():
        tools = [tool(0, schema), tool(1, SCHEMAS["a word"])]
        for choice in CHOICES:
            yield case(f"a tool of {name}, {choice}", tools=tools, choice=choice)
        yield case(f"an output of {name}", output={"name": "answer", "schema": schema}, may_refuse=True)
        yield case(f"a found tool of {name}", tools=tools[1:], deferred_tools=tools[:1], may_refuse=True)
    for settings in [*SETTINGS, *BEYOND]:
        yield case(f"settings {settings}", settings=settings)
        yield case(f"settings {settings} with a tool", settings=settings, tools=[tool(0, SCHEMAS["a word"])])
    for name in SERVER_SIDE:
        tools = [tool(0, SCHEMAS["a word"])]
        yield case(f"server-side {name}", server_side_tools=[name], tools=tools, may_refuse=True)


class Random(random.Random):
    def data(self):
        provider, data = self.choice(DATA)
        return {"provider": provider, "data": data}

    def of(self, names):
        return names[self.choice(list(names))]

    def part(self):
        kind = self.choice(["text", "text", "thinking", "tool_call", "tool_call", "tool_call", "attachment", "server_side_tool", "opaque"])
        fields = {
            "text": lambda: {"text": self.choice(TEXTS)},
            "thinking": lambda: {"text": self.choice(TEXTS), "provider_data": self.data()},
            "tool_call": lambda: {"id": self.choice(IDS), "name": self.choice(NAMES), "arguments": self.choice(ARGUMENTS), "provider_data": self.choice([None, self.data()])},
            "attachment": lambda: attachment(self.of(FILES | ODD_FILES)),
            "server_side_tool": lambda: {"name": "web_search", "input": {"query": "q"}, "output": [], "provider_data": self.data()},
            "opaque": self.data,
        }[kind]
        return {"type": kind, **fields()}

    def history(self):
        """Returns a conversation as servers and tools may bring it, which ends with the user or results."""
        messages = []
        for _ in range(self.randint(0, 4)):
            # Of the user, only what every model of OpenAI's takes.
            messages.append(user(*(text(self.choice(TEXTS)) for _ in range(self.randint(0, 2)))))
            parts = [self.part() for _ in range(self.randint(0, 4))]
            messages.append({"role": "assistant", "parts": parts})
            calls = [part for part in parts if part["type"] == "tool_call" and self.random() < 0.9]
            if calls:
                messages.append({"role": "tool", "results": [self.result(call) for call in calls]})
        return [*messages, user(text("Go on."))] if self.random() < 0.7 or not messages else messages

    def result(self, call):
        files = [attachment(self.of(FILES | ODD_FILES)) for _ in range(self.randint(0, 2))]
        return {"call_id": call["id"], "name": call["name"], "content": self.choice(TEXTS), "is_error": self.random() < 0.2, "attachments": files}

    def request(self, n):
        tools = [tool(number, self.of(SCHEMAS)) for number in range(self.randint(0, 3))]
        output = {"name": "answer", "schema": self.of({name: schema for name, schema in SCHEMAS.items() if name != "nothing"})}
        return case(
            f"history {n}",
            self.history(),
            instructions=self.choice([None, *TEXTS]),
            tools=tools,
            choice=self.choice(CHOICES) if tools else "auto",
            output=self.choice([None, output]),
            settings=self.choice(SETTINGS),
        )


def all_cases():
    yield from single()
    yield from (Random(n).request(n) for n in range(HISTORIES))
