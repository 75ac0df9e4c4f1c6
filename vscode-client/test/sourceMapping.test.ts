import assert from "node:assert/strict";
import { test } from "node:test";
import { defines, mappingOf, unmapped, type LocalFile } from "../src/sourceMapping";

/** Return a file in the workspace folder /ws. */
function local(path: string): LocalFile {
  return { path: `/ws/${path}`, depth: path.split("/").length };
}

test("the longest common end of the path decides", () => {
  const found = [local("other/train.py"), local("src/models/train.py")];
  assert.deepEqual(mappingOf(["/home/user/models/train.py"], found), { prefix: "/home/user", folder: "/ws/src" });
});

test("most files decide", () => {
  const missing = ["/a/pkg/one.py", "/a/pkg/two.py", "/b/three.py"];
  const found = [local("pkg/one.py"), local("pkg/two.py"), local("tests/three.py")];
  assert.deepEqual(mappingOf(missing, found), { prefix: "/a", folder: "/ws" });
});

test("equal candidates and names without meaning give no mapping", () => {
  assert.equal(mappingOf(["/a/train.py"], [local("x/train.py"), local("y/train.py")]), undefined);
  assert.equal(mappingOf(["/a/__init__.py"], [local("x/__init__.py")]), undefined);
  assert.equal(mappingOf(["/a/train.py"], [local("x/model.py")]), undefined);
});

test("no folder above the workspace is mapped", () => {
  const found = mappingOf(["/far/ws/train.py"], [local("train.py")]);
  assert.deepEqual([found?.prefix, found?.folder], ["/far/ws", "/ws"]);
});

test("folders in the root are mapped", () => {
  const found = [local("app/train.py")];
  assert.deepEqual(mappingOf(["/app/train.py"], found), { prefix: "/", folder: "/ws" });
  assert.deepEqual(mappingOf(["C:\\app\\train.py"], found), { prefix: "C:\\", folder: "/ws" });
});

test("relative names and paths of Windows are mapped", () => {
  const found = mappingOf(["train.py"], [local("x/train.py")]);
  assert.deepEqual([found?.prefix, found?.folder], [".", "/ws/x"]);
  const mapping = { prefix: "C:\\work", folder: "/ws" };
  assert.deepEqual(mappingOf(["C:\\work\\models\\train.py"], [local("models/train.py")]), mapping);
});

test("files below a prefix of the setting are not offered again", () => {
  const files = ["/home/user/models/train.py", "/home/user2/other.py", "C:\\work\\x.py", "y.py"];
  assert.deepEqual(unmapped(files, ["/home/user/", "."]), ["/home/user2/other.py", "C:\\work\\x.py"]);
  assert.deepEqual(unmapped(files, ["C:\\work", "/"]), ["y.py"]);
});

test("one file with the same name only needs the functions of the dump", () => {
  const found = [local("x/train.py"), local("x/model.py")];
  assert.deepEqual(mappingOf(["/a/train.py"], found)?.onlyName, { file: "/a/train.py", path: "/ws/x/train.py" });
  assert.equal(mappingOf(["/a/train.py", "/a/model.py"], found)?.onlyName, undefined);
  assert.equal(mappingOf(["/a/x/train.py"], found)?.onlyName, undefined);
});

test("a text defines functions by their qualified names", () => {
  const text = "class Model:\n  def step(self):\n    loss = lambda x: x\n";
  assert.ok(defines(text, ["<module>", "Model.step", "Model.step.<locals>.<lambda>"]));
  assert.ok(!defines(text, ["Model.step", "main"]));
  assert.ok(!defines(text, ["<module>"]));
});
