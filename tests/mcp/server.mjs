// A server made with the official TypeScript SDK, which llm-do uses.

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "typescript", version: "1.0.0" });
const numbers = { a: z.number(), b: z.number() };
server.registerTool("add", { description: "Add two numbers.", inputSchema: numbers }, ({ a, b }) => ({
  content: [{ type: "text", text: String(a + b) }],
}));
await server.connect(new StdioServerTransport());
