// The official TypeScript SDK's client calls the fixture server, over both transports.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [program, url] = process.argv.slice(2);
const transports = {
  stdio: new StdioClientTransport({ command: program }),
  HTTP: new StreamableHTTPClientTransport(new URL(url)),
};

for (const [name, transport] of Object.entries(transports)) {
  const client = new Client({ name: "judge", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { user_name: "Ann" } }));
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "greet"));
  const call = async (name, args = {}) => (await client.callTool({ name, arguments: args })).content[0].text;
  assert.equal(await call("greet", { name: "Ann" }), "Hello, Ann!");
  assert.equal(await call("test_input_required_result_elicitation"), "Hello, Ann!");
  const failed = await client.callTool({ name: "test_error_handling", arguments: {} });
  assert.equal(failed.isError, true);
  const prompt = await client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "a", arg2: "b" } });
  assert.match(prompt.messages[0].content.text, /arg1='a', arg2='b'/);
  await client.close();
  console.log(`TypeScript client: ${name}`);
}
