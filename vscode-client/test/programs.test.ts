import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { findProgram, isBelow, isStoredBelow, type SearchContext } from "../src/programs";

let root = "";
let context: SearchContext;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "hlo-programs-"));
  await mkdir(join(root, "bin"));
  await writeFile(join(root, "bin", "hlo-lsp"), "");
  await chmod(join(root, "bin", "hlo-lsp"), 0o755);
  await writeFile(join(root, "bin", "notes"), "");
  context = { folder: root, home: root, path: ["", ".", join(root, "bin")].join(delimiter) };
});

after(() => rm(root, { recursive: true }));

test("a program is found by path, folder variable, or name", async () => {
  const there = join(root, "bin", "hlo-lsp");
  for (const setting of [there, "~/bin/hlo-lsp", "${workspaceFolder}/bin/hlo-lsp", "./bin/hlo-lsp", "bin/hlo-lsp", "hlo-lsp"]) {
    assert.equal(await findProgram(setting, context), there, setting);
  }
});

test("folders and files that are not executable are not programs", { skip: process.platform === "win32" }, async () => {
  for (const setting of ["./bin/notes", "notes", "./bin", "./bin/gone", "gone"]) {
    assert.equal(await findProgram(setting, context), undefined, setting);
  }
});

test("relative paths need a workspace folder", async () => {
  for (const setting of ["./bin/hlo-lsp", "${workspaceFolder}/bin/hlo-lsp"]) {
    assert.equal(await findProgram(setting, { ...context, folder: undefined }), undefined, setting);
  }
});

test("paths in a folder are below it in every spelling", () => {
  const folder = join(root, "project");
  for (const path of [".venv/bin/python", "..hidden/python", "a/../python"]) {
    assert.ok(isBelow(`${folder}/${path}`, folder), path);
  }
  for (const path of ["python3", ".venv/bin/python", folder, `${folder}2/python`, `${folder}/../python`]) {
    assert.ok(!isBelow(path, folder), path);
  }
});

test("a program in a folder is found behind links", { skip: process.platform === "win32" }, async () => {
  const folder = join(root, "project");
  await mkdir(join(folder, ".venv", "bin"), { recursive: true });
  await symlink("/usr/bin/env", join(folder, ".venv", "bin", "python"));
  await symlink(folder, join(root, "link"));
  for (const [program, below] of [["link", folder], ["project", join(root, "link")]] as const) {
    assert.ok(await isStoredBelow(join(root, program, ".venv", "bin", "python"), below), program);
  }
  assert.ok(!(await isStoredBelow("python3", folder)));
});
