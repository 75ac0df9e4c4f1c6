import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { isInterpreter, isSupported, parseProbe, probe } from "../src/interpreters";

test("the last line of the output is read", () => {
  assert.deepEqual(parseProbe('welcome\n["/usr/bin/python3", [3, 11], true]\n'), {
    path: "/usr/bin/python3",
    version: [3, 11],
    hasServer: true,
  });
});

test("output without a path is not an interpreter", () => {
  assert.equal(parseProbe('["", [3, 11], false]'), undefined);
  assert.equal(parseProbe("{}"), undefined);
});

test("missing programs and programs other than Python are not interpreters", async () => {
  assert.equal(await probe("no-such-python", tmpdir()), undefined);
  assert.equal(await probe(process.execPath, tmpdir()), undefined);
});

test("Python 3.10 is the oldest supported version", () => {
  const supports = (...version: [number, number]): boolean =>
    isSupported({ path: "/python", version, hasServer: false });
  assert.ok(supports(3, 10));
  assert.ok(supports(4, 0));
  assert.ok(!supports(3, 9));
  assert.ok(!supports(2, 11));
});

test("interpreters are recognized by name", () => {
  for (const path of ["/usr/bin/python3", "C:\\Py\\python.exe", "python", "/x/pypy3.10"]) {
    assert.ok(isInterpreter(path), path);
  }
  for (const path of ["/usr/bin/hlo-lsp", "/python3/bin/hlo-lsp", "C:\\Scripts\\hlo-lsp.exe"]) {
    assert.ok(!isInterpreter(path), path);
  }
});
