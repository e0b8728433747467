// What `bulkhead mcp` with the sample plugin is compared with: the same tool on the TypeScript SDK,
// as its documentation writes one.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "echo", version: "1.0.0" });
server.registerTool(
  "echo",
  {
    title: "Echo",
    description: "Gives the text back.",
    inputSchema: { text: z.string().describe("What to say.") },
    outputSchema: { text: z.string() },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  ({ text }) => ({ content: [{ type: "text", text }], structuredContent: { text } }),
);
await server.connect(new StdioServerTransport());
