/** Runs the bundled server: `npm run bundle` comes first. */

import assert from "node:assert/strict";
import { execFile, spawn, type ExecFileOptions } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { interpreterNames, isSupported, probe } from "../src/interpreters";

const SCRIPT = resolve("bundled", "tool", "hlo_lsp_main.py");
const DUMP = resolve("bundled", "dump");
const skip = existsSync(resolve("bundled", "libs")) ? false : "bundled/libs is missing: npm run bundle";

let folder = "";
let python = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlo-bundled-"));
  const chosen = process.env["HLO_TEST_PYTHON"];
  for (const name of chosen === undefined ? interpreterNames(process.platform) : [chosen]) {
    const interpreter = await probe(name, folder);
    if (interpreter !== undefined && isSupported(interpreter)) {
      python = interpreter.path;
      return;
    }
  }
  assert.fail("no Python 3.10 or later was found");
});

after(() => rm(folder, { recursive: true, force: true }));

/** Options that keep the folder of the extension clean. */
function options(env: NodeJS.ProcessEnv = {}): Pick<ExecFileOptions, "cwd" | "timeout" | "env"> {
  return { cwd: folder, timeout: 60_000, env: { ...process.env, PYTHONPYCACHEPREFIX: folder, ...env } };
}

/** Return the output of the bundled hlo-lsp, without any package of the interpreter's own. */
async function output(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)(python, ["-S", SCRIPT, ...args], options(env));
  return stdout;
}

test("every command of hlo-lsp runs without installed packages", { skip }, async () => {
  const module = readdirSync(DUMP).find((name) => name.endsWith("after_optimizations.txt")) ?? "";
  assert.match(await output(["--version"]), /^hlo-lsp \d/);
  assert.match(await output(["inspect", join(DUMP, module), "--instruction", "copy-start"]), /copy-start/);
  assert.equal(await output(["check", "--severity", "warning", DUMP]), "");
  const text = await readFile(join(DUMP, module), "utf8");
  const part = join(folder, module);
  await writeFile(part, text.slice(0, text.length / 2));
  assert.match(await output(["check", "--exit-zero", part]), /\[truncated\]/);
  assert.match(await output(["rule", "overlap"]), /overlap/);
});

test("bundled packages precede those of the environment", { skip }, async () => {
  for (const name of ["hlo_lsp", "pygls", "lark", "rich"]) {
    await mkdir(join(folder, "packages", name), { recursive: true });
    await writeFile(join(folder, "packages", name, "__init__.py"), "raise ImportError('not the bundled package')\n");
  }
  assert.match(await output(["rule", "overlap"], { PYTHONPATH: join(folder, "packages") }), /overlap/);
});

test("the server answers initialize", { skip }, async () => {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { processId: null, rootUri: null, capabilities: {} },
  });
  const server = spawn(python, ["-S", SCRIPT, "--stdio"], options());
  server.stdin.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  let reply = "";
  for await (const data of server.stdout) {
    reply += String(data);
    if (reply.includes("serverInfo")) {
      server.kill();
    }
  }
  assert.match(reply, /"serverInfo":\{"name":"hlo-lsp"/);
});
