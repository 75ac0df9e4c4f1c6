import assert from "node:assert/strict";
import { test } from "node:test";
import type { Interpreter } from "../src/interpreters";
import { findLaunch, LaunchError, type LaunchOptions } from "../src/launch";

const SCRIPT = "/extension/bundled/tool/hlo_lsp_main.py";

function python(path: string, minor: number, hasServer = false): Interpreter {
  return { path, version: [3, minor], hasServer };
}

/** Return a machine with interpreters, of which `commands` are on PATH, and the program /opt/hlo-lsp. */
function machine(setting: string, known: readonly Interpreter[], commands = known.map(({ path }) => path)): {
  readonly options: LaunchOptions;
  readonly probed: string[];
} {
  const probed: string[] = [];
  const programs = ["/opt/hlo-lsp", ...known.map(({ path }) => path)];
  const options = {
    setting,
    script: SCRIPT,
    findProgram: (path: string) => Promise.resolve(programs.find((program) => program === path)),
    interpreters: () => Promise.resolve(commands),
    probe: (command: string) => {
      probed.push(command);
      return Promise.resolve(known.find(({ path }) => path === command));
    },
  };
  return { options, probed };
}

test("a program in the setting runs without arguments", async () => {
  const { options, probed } = machine("/opt/hlo-lsp", [python("/usr/bin/python3", 12)]);
  assert.deepEqual(await findLaunch(options), { command: "/opt/hlo-lsp", args: [] });
  assert.deepEqual(probed, []);
});

test("an interpreter in the setting runs its own hlo-lsp", async () => {
  const { options } = machine("/env/bin/python3.12", [python("/env/bin/python3.12", 12, true)]);
  assert.deepEqual(await findLaunch(options), { command: "/env/bin/python3.12", args: ["-m", "hlo_lsp"] });
});

test("an interpreter in the setting without hlo-lsp runs the bundled server", async () => {
  const { options } = machine("/env/bin/python", [python("/env/bin/python", 12)]);
  assert.deepEqual(await findLaunch(options), { command: "/env/bin/python", args: [SCRIPT] });
});

test("a wrong setting is an error even if an interpreter exists", async () => {
  const { options } = machine("/gone/hlo-lsp", [python("/usr/bin/python3", 12)]);
  await assert.rejects(findLaunch(options), (error) => error instanceof LaunchError && error.message.includes("/gone/"));
});

test("an old interpreter in the setting is an error", async () => {
  const { options } = machine("/old/python3", [python("/old/python3", 9, true), python("/usr/bin/python3", 12)]);
  await assert.rejects(findLaunch(options), /hlo\.server\.path requires Python 3\.10 or newer: \/old\/python3/);
});

test("the first supported interpreter runs the bundled server", async () => {
  const interpreters = [python("/a/python", 9), python("/b/python", 10, true), python("/c/python", 13)];
  const commands = ["/gone/python", ...interpreters.map(({ path }) => path)];
  const { options, probed } = machine("", interpreters, commands);
  assert.deepEqual(await findLaunch(options), { command: "/b/python", args: [SCRIPT] });
  assert.deepEqual(probed, ["/gone/python", "/a/python", "/b/python"]);
});

test("no supported interpreter is an error", async () => {
  const { options } = machine("", [python("/old/python3", 9, true)]);
  await assert.rejects(findLaunch(options), /requires Python 3\.10 or newer, but none was found/);
});
