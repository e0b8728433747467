// The TypeScript SDK's client against `bulkhead mcp`.
//
//   node sdk_client.mjs PROGRAM WORKSPACE
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  EmptyResultSchema,
  LoggingMessageNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

import { Checks, alive, eventually, sleep } from "./checks.mjs";

const [program, workspace] = process.argv.slice(2);
const checks = new Checks("typescript");
const transport = new StdioClientTransport({
  command: program,
  args: ["mcp", "--workspace", workspace],
  cwd: workspace,
  env: process.env,
});
const client = new Client({ name: "bulkhead-tests", version: "1" });
const unexpected = [];
client.onerror = (error) => unexpected.push(error);
const logs = [];
client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => logs.push(n.params));

const said = (result) => result.content.map((part) => part.text ?? "").join("\n");
const call = (name, args, options) =>
  client.callTool({ name, arguments: args }, undefined, { timeout: 50_000, ...options });
const fails = async (promise, code) => {
  await assert.rejects(promise, (error) => {
    assert.equal(error.code, code);
    return true;
  });
};

let tools = [];
await checks.run("initialize", async () => {
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, "bulkhead");
  assert.match(client.getServerVersion().version, /^\d+\.\d+\.\d+/);
  assert.ok(client.getServerCapabilities().tools);
  assert.ok(client.getServerCapabilities().logging);
  assert.ok(client.getInstructions().length > 20);
});
await checks.run("ping", async () => {
  await client.ping();
});
await checks.run("tools are listed, the same each time", async () => {
  const first = await client.listTools();
  tools = first.tools;
  const execute = tools.find((tool) => tool.name === "sandbox_execute");
  assert.ok(execute, "there is no sandbox_execute");
  assert.equal(execute.inputSchema.type, "object");
  assert.equal(execute.annotations.readOnlyHint, false);
  assert.equal(execute.annotations.destructiveHint, true);
  assert.equal(execute.outputSchema.type, "object");
  assert.deepEqual(await client.listTools(), first);
});
await checks.run("errors carry their codes", async () => {
  await fails(client.callTool({ name: "no_such_tool", arguments: {} }), -32602);
  await fails(client.listTools({ cursor: "bm9uc2Vuc2U=" }), -32602);
  await fails(client.request({ method: "resources/list" }, EmptyResultSchema), -32601);
  await fails(
    client.request({ method: "logging/setLevel", params: { level: "loud" } }, EmptyResultSchema),
    -32602,
  );
});
await checks.run("a bad argument is a result that names it", async () => {
  for (const [args, name] of [
    [{ code: 7 }, /code/],
    [{}, /code/],
    [{ code: "1", colour: "red" }, /colour/],
  ]) {
    const result = await call("sandbox_execute", args);
    assert.equal(result.isError, true);
    assert.match(said(result), name);
    assert.equal(result._meta["bulkhead/fault"].code, "INVALID_ARGUMENT");
  }
});
await checks.run("logging is answered", async () => {
  await client.setLoggingLevel("debug");
  await client.setLoggingLevel("warning");
});

if (tools.some((tool) => tool.name === "echo"))
  await checks.run("a plugin in C answers", async () => {
    const result = await call("echo", { text: "grüße \u{1F600}\n\"quoted\"" });
    assert.ok(!result.isError, said(result));
    assert.ok(said(result).includes("grüße \u{1F600}\n\"quoted\""), said(result));
  });
else checks.skip("a plugin in C answers", "the sample plugin was not built");

const probe = tools.length ? await call("sandbox_run", { argv: ["true"] }).catch((e) => e) : null;
const fault = probe?._meta?.["bulkhead/fault"];
const noSandbox =
  fault && ["UNAVAILABLE", "FAILED_PRECONDITION", "NOT_FOUND"].includes(fault.code)
    ? fault.message
    : "";
const inSandbox = async (name, body) => {
  if (noSandbox) checks.skip(name, `no sandbox can be made here: ${noSandbox}`);
  else await checks.run(name, body);
};

await inSandbox("code runs and its answer is structured", async () => {
  const result = await call("sandbox_execute", { code: "print(6 * 7)" });
  assert.ok(!result.isError, said(result));
  assert.match(said(result), /^42$/m);
  assert.equal(typeof result.structuredContent, "object");
});
await inSandbox("what fails in the sandbox is told", async () => {
  const result = await call("sandbox_execute", { code: "exit 3", language: "bash" });
  assert.match(said(result), /exit code: 3/);
});
await inSandbox("a program gets its arguments as they are", async () => {
  const odd = "a b; $(id) \"'\n*";
  const result = await call("sandbox_run", { argv: ["printf", "%s", odd] });
  assert.ok(said(result).includes(odd), said(result));
});
await inSandbox("files stay from one call to the next", async () => {
  await call("sandbox_execute", { code: "open('kept.txt', 'w').write('still here')" });
  const result = await call("sandbox_execute", { code: "cat kept.txt", language: "bash" });
  assert.match(said(result), /still here/);
});
await inSandbox("a slow call holds nobody back", async () => {
  const order = [];
  const slow = call("sandbox_run", { argv: ["sleep", "4"] }).then(() => order.push("slow"));
  await sleep(200);
  await Promise.all([
    client.ping().then(() => order.push("ping")),
    call("sandbox_run", { argv: ["true"] }).then(() => order.push("quick")),
  ]);
  assert.ok(!order.includes("slow"), `the slow call came first: ${order}`);
  await slow;
  assert.equal(order.at(-1), "slow");
});
await inSandbox("many calls at once are answered, each with its own", async () => {
  const numbers = Array.from({ length: 16 }, (_, i) => i);
  const answers = await Promise.all(
    numbers.map((i) => call("sandbox_run", { argv: ["printf", "n%sn", `${i}`] })),
  );
  answers.forEach((answer, i) => assert.ok(said(answer).includes(`n${i}n`), said(answer)));
});
await inSandbox("progress grows, carries the output, and ends with the answer", async () => {
  const seen = [];
  const result = await call(
    "sandbox_run",
    {
      argv: ["sh", "-c", "for i in 1 2 3 4 5; do echo line $i; sleep 0.3; done"],
      stream: true,
    },
    { onprogress: (p) => seen.push(p) },
  );
  const atTheEnd = seen.length;
  assert.ok(!result.isError, said(result));
  assert.ok(seen.length >= 2, `only ${seen.length} came`);
  seen.reduce((before, p) => {
    assert.ok(p.progress > before, `${p.progress} after ${before}`);
    return p.progress;
  }, 0);
  const text = seen.map((p) => p.message ?? "").join("");
  for (const i of [1, 5]) assert.match(text, new RegExp(`line ${i}\n`));
  await sleep(300);
  assert.equal(seen.length, atTheEnd);
});
await inSandbox("a cancelled call is stopped, with what it started", async () => {
  const beat = `beat-${randomBytes(6).toString("hex")}`;
  const file = join(workspace, beat);
  const abort = new AbortController();
  const code = `(while :; do echo x >>${beat}; sleep 0.05; done) & wait`;
  const started = call("sandbox_execute", { code, language: "bash" }, { signal: abort.signal });
  const outcome = started.then(
    () => "answered",
    () => "aborted",
  );
  assert.ok(await eventually(() => existsSync(file), 20_000), "it did not begin");
  abort.abort("enough");
  assert.equal(await outcome, "aborted");
  let size = -1;
  const still = async () => {
    const before = size;
    size = statSync(file).size;
    await sleep(400);
    return before === size && statSync(file).size === size;
  };
  assert.ok(await eventually(still, 10_000), "it still writes");
  assert.ok(readFileSync(file).length > 0);
  assert.match(said(await call("sandbox_execute", { code: "print('on')" })), /on/);
});
await inSandbox("a time limit is told", async () => {
  const result = await call("sandbox_execute", {
    code: "import time\nprint('begun', flush=True)\ntime.sleep(60)",
    timeout_seconds: 1,
  });
  assert.equal(result.isError, true);
  assert.match(said(result), /begun/);
});

await checks.run("the server goes when its client does, also in the middle of a call", async () => {
  const pid = transport.pid;
  if (!noSandbox) call("sandbox_run", { argv: ["sleep", "300"] }).catch(() => {});
  await sleep(300);
  await client.close();
  assert.ok(await eventually(() => !alive(pid), 10_000), "it is still there");
});
await checks.run("everything on stdout was protocol", async () => {
  assert.deepEqual(unexpected, []);
});
checks.finish();
