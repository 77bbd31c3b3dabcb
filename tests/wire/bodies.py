"""Request bodies of many kinds, by OpenAI's own description of its API."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cases import all_cases
from common import Program, Rates, table

MODELS = [
    "openai:gpt-4o",
    "openai:gpt-5.1",
    "openai:o3",
    "openai:gpt-4o-search-preview",
    "openai-responses:gpt-4o",
    "openai-responses:gpt-5.1",
    "openai-responses:o3",
]
REFUSAL = json.dumps({"error": {"message": "refused", "type": "invalid_request_error"}}).encode()


class Refusing(BaseHTTPRequestHandler):
    """Keeps the bodies, by id, and refuses all."""

    protocol_version = "HTTP/1.1"
    bodies = {}

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.bodies.setdefault(json.loads(self.headers["x-id"]), []).append(json.loads(body))
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(REFUSAL)))
        self.end_headers()
        self.wfile.write(REFUSAL)

    def log_message(self, *_):
        pass


def judge(program, description, findings):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    judged = Program(program, ["send"], f"http://127.0.0.1:{server.server_port}")
    requests = []
    for model in MODELS:
        for case in all_cases():
            streamed = len(requests) % 2 == 1
            requests.append({**case, "id": len(requests), "model": model, "streamed": streamed})
    answers = judged.ask(requests)
    judged.end()
    server.shutdown()
    rates, refused = Rates(), Counter()
    for request in requests:
        judge_request(request, answers[request["id"]], Refusing.bodies.get(request["id"], []), description, findings, rates, refused)
    rates.print("Request bodies: sent, and valid by OpenAI's description")
    rows = {reason: {"times": times} for reason, times in refused.most_common(12)}
    table("Refused before anything was sent, of what a model may lack", ["times"], rows)


def judge_request(request, answer, bodies, description, findings, rates, refused):
    name = f"{request['model']}, {request['case']}"
    if not bodies:
        reason = answer["error"].replace(request["model"], "MODEL")[:150]
        if request["may_refuse"]:
            refused[reason] += 1
        else:
            findings.add("bodies", f"refused before it was sent: {reason}", name)
            rates.count(request["model"], "sent", False)
        return
    rates.count(request["model"], "sent", len(bodies) == 1)
    if len(bodies) > 1:
        findings.add("bodies", "sent again after it was refused", name)
    if description is None:
        return
    wire = request["model"].split(":")[0]
    faults = faults_of(wire, bodies[0], description)
    rates.count(request["model"], "valid", not faults)
    for fault in faults:
        findings.add("bodies", f"{wire}: {fault}", f"{name}: {json.dumps(bodies[0])[:300]}")


def faults_of(wire, body, description):
    """Returns the faults of a request, with those behind the one fault that many have."""
    faults = description.judge(wire, body)
    if not faults or wire != "openai-responses":
        return faults
    items = [whole_answer(item) for item in body["input"]]
    return description.judge(wire, {**body, "input": items}) or ["an answer goes back without `id`, `status` or `logprobs`"]


def whole_answer(item):
    if item.get("role") != "assistant" or not isinstance(item["content"], list):
        return item
    content = [{"logprobs": [], **part} for part in item["content"]]
    return {"id": "msg_1", "status": "completed", **item, "content": content}
