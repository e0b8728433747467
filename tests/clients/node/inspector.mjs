// The Inspector's command line against `bulkhead mcp`: one process of it for each question.
//
//   node inspector.mjs PROGRAM WORKSPACE
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

import { Checks } from "./checks.mjs";

const [program, workspace] = process.argv.slice(2);
const checks = new Checks("inspector");
const launcher = fileURLToPath(
  import.meta.resolve("@modelcontextprotocol/inspector/package.json"),
).replace(/package\.json$/, "clients/launcher/build/index.js");

function inspect(...args) {
  return new Promise((done) => {
    const argv = [launcher, "--cli", program, "mcp", "--workspace", workspace, ...args];
    execFile(process.execPath, argv, { cwd: workspace, timeout: 50_000 }, (error, stdout, stderr) =>
      done({ code: error ? (error.code ?? -1) : 0, stdout, stderr }),
    );
  });
}
const call = (tool, ...args) => inspect("--method", "tools/call", "--tool-name", tool, ...args);

await checks.run("tools/list", async () => {
  const answer = await inspect("--method", "tools/list");
  assert.equal(answer.code, 0, answer.stderr);
  const names = JSON.parse(answer.stdout).tools.map((tool) => tool.name);
  assert.ok(names.includes("sandbox_execute"), names.join(" "));
});
await checks.run("tools/call", async () => {
  const answer = await call("sandbox_execute", "--tool-arg", "code=print(6*7)");
  const result = JSON.parse(answer.stdout);
  const fault = result._meta?.["bulkhead/fault"];
  const text = result.content.map((part) => part.text ?? "").join("\n");
  // Where no sandbox can be made the refusal has to come through, in words.
  if (fault && fault.code !== "INVALID_ARGUMENT") assert.ok(fault.message.length > 10, text);
  else assert.match(text, /^42$/m);
});
await checks.run("a bad argument is a result that names it", async () => {
  const answer = await call("sandbox_execute", "--tool-arg", "code=pass", "--tool-arg", "colour=red");
  const result = JSON.parse(answer.stdout);
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /colour/);
});
await checks.run("an unknown tool is refused", async () => {
  const answer = await call("no_such_tool");
  assert.notEqual(answer.code, 0);
});
checks.finish();
