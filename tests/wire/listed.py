"""An MCP server of the tools in a file, each of which returns its arguments."""

import json
import sys

PAGE = 200


def answer(method, params, tools):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "listed", "version": "1"}}
    if method == "tools/list":
        start = int(params.get("cursor", 0))
        page = {"tools": tools[start : start + PAGE]}
        return page | ({"nextCursor": str(start + PAGE)} if start + PAGE < len(tools) else {})
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps({"got": params.get("arguments")})}]}
    return None


def main():
    with open(sys.argv[1]) as file:
        tools = json.load(file)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {}, tools)
        outcome = {"error": {"code": -32601, "message": "unknown method"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)


main()
