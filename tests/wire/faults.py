"""Faults of servers: what can be recovered is recovered, and what is cut off is never taken as whole."""

import json
import re
from dataclasses import dataclass, field

from llmock.scenarios import Fail, Match, Reply, StreamFault, ToolFault
from llmock.verdict import judge as judge_calls

from common import PATHS, Program, Rates, mock, turn

TEXT = "The harbour of the town was built by three brothers, who had sold their ships to pay for the stones of it."
PASSING = [408, 409, 429, 500, 502, 503, 504, 529]
LASTING = [400, 401, 402, 403, 404, 413, 422]
BROKEN_CALLS = ["malformed_arguments", "unknown_tool"]
CUTS = [0, 1, 2, 3, 5, 8, 12]
# What an answer may be: a text, an object, or a text after a call.
TITLE = """Faults of servers: what passes, and what is odd, is answered in whole; what is cut is not taken as whole; what lasts has one request,
or some if it may pass"""
SHAPES = ["text", "object", "call", "after a call"]
# Faults of one request.
ONCE = ["passes", "is odd"]
# Findings of the library that are judged here by what became of the answer.
BY_OUTCOME = {"truncated_stream_accepted", "malformed_chunk_ignored"}


@dataclass(frozen=True)
class Nth(Match):
    """The n-th request that the rest matches."""

    n: int = 1
    seen: list = field(default_factory=list, compare=False)

    def accepts(self, info):
        if not super().accepts(info):
            return False
        self.seen.append(info)
        return len(self.seen) == self.n


@dataclass
class Cell:
    wire: str
    shape: str
    fault: str
    kind: str
    behaviors: object
    model: str = ""


def passing(streamed):
    """Returns the faults that pass: a name, and the behaviours for a way to match requests."""
    for status in PASSING:
        yield f"status {status}", lambda match, status=status: [Fail(status, match=match())]
    yield "status 503 twice", lambda match: [Fail(503, match=match()), Fail(503, match=match())]
    yield "status 429 with a time", lambda match: [Fail(429, retry_after=1, match=match())]
    if streamed:
        for kind in ["disconnect", "truncate"]:
            for cut in CUTS[kind == "truncate" : 5]:
                yield f"{kind} at {cut}", lambda match, kind=kind, cut=cut: [StreamFault(kind, cut, match=match())]


def odd():
    """Returns the faults that may pass, though a server with another protocol answers so too."""
    yield "nothing", lambda match: [StreamFault("truncate", 0, match=match())]
    for cut in CUTS[:5]:
        yield f"malformed at {cut}", lambda match, cut=cut: [StreamFault("malformed", cut, match=match())]


def cells(streamed):
    for wire in PATHS:
        for shape in SHAPES:
            for name, behaviors in passing(streamed):
                yield Cell(wire, shape, name, "passes", behaviors)
            for name, behaviors in odd() if streamed else []:
                yield Cell(wire, shape, name, "is odd", behaviors)
        for kind in BROKEN_CALLS:
            yield Cell(wire, "call", kind, "passes", lambda match, kind=kind: [ToolFault(kind, match=match())])
        for shape in SHAPES[:3]:
            for cut in CUTS if streamed else []:
                for kind in ["truncate", "disconnect", "malformed"]:
                    behaviors = lambda match, kind=kind, cut=cut: [StreamFault(kind, cut, times=None, match=match())]
                    yield Cell(wire, shape, f"{kind} at {cut} always", "is cut", behaviors)
        # The server has no answer of Responses that a filter stopped.
        for reason in ["length", *(["content_filter"] if wire != "openai-responses" else [])]:
            behaviors = lambda match, reason=reason: [Reply("The harbour of", finish_reason=reason, times=None, match=match())]
            yield Cell(wire, "text", f"ends with {reason}", "is cut", behaviors)
        for status in LASTING:
            yield Cell(wire, "text", f"status {status} always", "lasts", lambda match, status=status: [Fail(status, times=None, match=match())])
        for status in [429, 503]:
            yield Cell(wire, "text", f"status {status} always", "is tried", lambda match, status=status: [Fail(status, times=None, match=match())])


def queue(state, cell):
    """Queues what the server does to a cell's requests."""
    n = 2 if cell.shape == "after a call" else 1

    def match():
        return Nth(model=cell.model, n=n) if cell.kind in ONCE else Match(model=cell.model)

    behaviors = cell.behaviors(match)
    state.scenarios.add(*behaviors)
    if cell.shape == "text" and not any(isinstance(behavior, Reply) for behavior in behaviors):
        state.scenarios.add(Reply(TEXT, times=None, match=Match(model=cell.model)))


def expected(cell):
    return {"text": TEXT, "object": {"word": "mock-word"}}.get(cell.shape, f"Mock response from {cell.model}.")


def results(records):
    """Returns the words that the tool was called with, as later requests have them."""
    bodies = "".join(json.dumps(record.body) for record in records)
    return set(re.findall(r"found ([^.]*)\.", bodies))


def judge(program, _, findings):
    state, url = mock()
    rates = Rates()
    for form in ["whole", "streamed"]:
        listed = list(cells(form == "streamed"))
        for n, cell in enumerate(listed):
            cell.model = f"{form}-{n}"
            queue(state, cell)
        judged = Program(program, ["run", form], url)
        judged.read()
        lines = [{"id": cell.model, "arguments": arguments(cell)} for cell in listed]
        answers = judged.ask(lines)
        judged.end()
        records = {}
        for record in state.journal.records(wait=2):
            records.setdefault(record.model, []).append(record)
        for cell in listed:
            judge_cell(cell, form, answers[cell.model], records.get(cell.model, []), rates, findings)
        state.reset()
    rates.print(TITLE)


def arguments(cell):
    tools = ["look_up"] if cell.shape in ["call", "after a call"] else []
    return turn(f"{cell.wire}:{cell.model}", "Look the word up.", tools, cell.shape == "object")


def judge_cell(cell, form, answer, records, rates, findings):
    is_whole = answer.get("answer") == expected(cell)
    is_error = "error" in answer
    words = results(records)
    good = {
        "passes": is_whole,
        "is odd": is_whole,
        "is cut": (is_error or is_whole),
        "lasts": is_error and len(records) == 1,
        "is tried": is_error and 1 < len(records) <= 10,
    }[cell.kind]
    if not words <= {"mock-word"}:
        good = False
    # After a call that could not be made, the server answers in text.
    if cell.shape in ["call", "after a call"] and is_whole and not words and cell.fault not in BROKEN_CALLS:
        good = False
    rates.count(cell.wire, f"{form}, {cell.kind}", good)
    example = f"{cell.wire}, {form}, {cell.shape}, {cell.fault}: {len(records)} requests, words {sorted(words)}, {answer}"
    if not good:
        findings.add("faults", f"{cell.kind}: {cell.wire}, {form}, {cell.shape}, {cell.fault}", example)
    for finding in judge_calls(records).findings:
        if is_finding(finding, is_whole or len(records) > 1):
            findings.add("faults", f"{finding.code}: {cell.wire}, {form}, {cell.shape}, {cell.fault}", f"{finding.title} {example}")


def is_finding(finding, went_on):
    # Only the last piece was lost of an answer after which the worker went on. Delays that double, with chance, may be nearly equal.
    is_by_chance = finding.code == "no_backoff" and "no delay" not in finding.title
    return not (finding.code in BY_OUTCOME or is_by_chance or (finding.code == "gave_up" and went_on))
