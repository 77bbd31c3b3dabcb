"""The official Python SDK's client calls the fixture server, in both eras and over both transports."""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult, TextContent


async def accept(context, params):
    """Fills in every form with a name."""
    return ElicitResult(action="accept", content={"user_name": "Ann"})


def text(result) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextContent))


async def check(server, mode: str) -> None:
    async with Client(server, mode=mode, elicitation_callback=accept) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == sorted(names) and "greet" in names, names
        assert text(await client.call_tool("greet", {"name": "Ann"})) == "Hello, Ann!"
        assert text(await client.call_tool("test_input_required_result_elicitation", {})) == "Hello, Ann!"
        failed = await client.call_tool("test_error_handling", {})
        assert failed.is_error and "intentionally" in text(failed), failed
        prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        assert "arg1='a', arg2='b'" in prompt.messages[0].content.text, prompt
        read = await client.read_resource("test://static-text")
        assert "static text resource" in read.contents[0].text, read


async def main(program: str, url: str) -> None:
    for server in [StdioServerParameters(command=program), url]:
        for mode in ["legacy", "2026-07-28", "auto"]:
            await check(server, mode)
            print(f"python client, {mode}: {'HTTP' if server == url else 'stdio'}")


asyncio.run(main(*sys.argv[1:]))
