import assert from "node:assert/strict";
import { test } from "node:test";
import { registerTools, toolRunner } from "../src/languageModelTools";

class Part {
  constructor(readonly value: unknown) {}
}

const TOKEN = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };

test("a registered tool returns the answer as text", async () => {
  const registered = new Map<string, { invoke(options: object, token: object): Promise<Part> }>();
  const api = {
    lm: {
      registerTool: (name: string, tool: never) => {
        registered.set(name, tool);
        return { dispose: () => undefined };
      },
    },
    LanguageModelToolResult: Part,
    LanguageModelTextPart: Part,
  };
  registerTools(api, ["hlo_find"], (name, input) => Promise.resolve(`${name} ${JSON.stringify(input)}`));
  const result = await registered.get("hlo_find")?.invoke({ input: { query: "a" } }, TOKEN);
  assert.deepEqual(result, new Part([new Part('find {"query":"a"}')]));
});

test("older versions of VS Code get no tools", () => {
  assert.deepEqual(registerTools({}, ["hlo_find"], () => Promise.resolve("")), []);
});

test("a tool runs the program with its arguments", async () => {
  const script = 'process.argv[1] === "mcp" ? console.log(process.argv.slice(2).join(" ")) : process.exit(1)';
  const program = { command: process.execPath, args: ["-e", script, "--"] };
  const run = toolRunner({ program: () => Promise.resolve(program) }, process.cwd(), () => "/work");
  const answer = await run("find", { query: "a" }, TOKEN);
  assert.equal(answer.trim(), '--call find --arguments {"query":"a"} --directory /work');
});

test("the message of a failed tool is its error", async () => {
  const program = { command: process.execPath, args: ["-e", 'console.error("no dumps"); process.exit(2)', "--"] };
  const run = toolRunner({ program: () => Promise.resolve(program) }, process.cwd(), () => undefined);
  await assert.rejects(run("find", {}, TOKEN), { message: "no dumps" });
});
