import assert from "node:assert/strict";
import { test } from "node:test";
import { distinguishing, shortened } from "../src/dumpLabels";

test("compiles are named by what differs", () => {
  const labels = (...paths: string[]): string[] =>
    distinguishing(
      paths.map((path) => ({ folder: path.slice(0, path.lastIndexOf("/")), title: path.slice(path.lastIndexOf("/") + 1) })),
    );
  assert.deepEqual(labels("runs/v5e/module_1", "runs/v5p/module_2"), ["v5e", "v5p"]);
  assert.deepEqual(labels("runs/v5e/module_1", "runs/v5e/module_2"), ["module_1", "module_2"]);
  assert.deepEqual(labels("a/x/module_1", "a/x/module_2", "a/y/module_1"), ["x/module_1", "x/module_2", "y/module_1"]);
  assert.deepEqual(labels("./module_1", "after/module_1"), ["module_1", "after"]);
  assert.deepEqual(labels("http://a/run/module_1", "run/module_1"), ["http://a/run", "run"]);
});

test("a long label keeps its beginning and its end", () => {
  assert.equal(shortened("jit_train_step"), "jit_train_step");
  assert.equal(shortened("jit__multi_device_train_step"), "jit__multi…_train_step");
});
