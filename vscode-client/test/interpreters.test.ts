import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { ask, read } from "../src/interpreters";

test("the last line of an answer counts", () => {
  assert.deepEqual(read('welcome\n["/usr/bin/python3", [3, 11], "0.1.0"]\n'), {
    path: "/usr/bin/python3",
    version: [3, 11],
    server: "0.1.0",
  });
  assert.deepEqual(read('["/usr/bin/python3", [3, 9], null]'), {
    path: "/usr/bin/python3",
    version: [3, 9],
    server: undefined,
  });
});

test("what names no path is no interpreter", () => {
  assert.equal(read('["", [3, 11], null]'), undefined);
  assert.equal(read("{}"), undefined);
});

test("a program that is not there, or no Python, is none", async () => {
  assert.equal(await ask("no-such-python", tmpdir()), undefined);
  assert.equal(await ask(process.execPath, tmpdir()), undefined);
});
