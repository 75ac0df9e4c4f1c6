/** Makes the environment that users get, from the wheels of the vsix: `npm run bundle` comes first. */

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { isNewEnough } from "../src/discovery";
import { ask, usualNames } from "../src/interpreters";
import { PrivateEnvironment } from "../src/privateEnvironment";
import { run } from "../src/run";

const WHEELS = resolve("bundled", "wheels");
const UNPACK = resolve("python", "unpack.py");
const DUMP = resolve("bundled", "dump");
const skip = existsSync(WHEELS) ? false : "there are no wheels: npm run bundle";

let root = "";
let base = "";

before(async () => {
  root = await mkdtemp(join(tmpdir(), "hlo-environment-"));
  const wanted = process.env["HLO_TEST_PYTHON"];
  for (const name of wanted === undefined ? usualNames(process.platform) : [wanted]) {
    const interpreter = await ask(name, root);
    if (interpreter !== undefined && isNewEnough(interpreter)) {
      base = interpreter.path;
      return;
    }
  }
  assert.fail("there is no Python from 3.10 on");
});

after(() => rm(root, { recursive: true, force: true }));

test("it is made with no network, runs every command of the server, and is found again", { skip }, async () => {
  const storage = join(root, "one");
  const own = new PrivateEnvironment(storage, WHEELS, UNPACK);
  assert.equal(await own.interpreter(), undefined);
  assert.equal(await own.wasMadeBefore(), false);

  const steps: string[] = [];
  const python = await own.make(base, (step) => steps.push(step), new AbortController().signal);
  assert.equal(steps.length, 3);
  assert.equal(await own.interpreter(), python);
  assert.equal(await own.wasMadeBefore(), true);
  assert.equal(readdirSync(storage).length, 1, "nothing is left beside it");

  const printed = (...args: string[]): Promise<string> =>
    run(python, ["-m", "hlo_lsp", ...args], { cwd: root, timeout: 60_000 });
  assert.match(await printed("--version"), /^hlo-lsp \d/);
  const module = readdirSync(DUMP).find((name) => name.endsWith("after_optimizations.txt")) ?? "";
  assert.match(await printed("inspect", join(DUMP, module), "--instruction", "copy-start"), /copy-start/);
  assert.match(await printed("check", "--exit-zero", DUMP), /\S/);
  assert.match(await printed("rule", "overlap"), /overlap/);
});

test("other wheels want another one, and the old one goes", { skip }, async () => {
  const storage = join(root, "two");
  const wheels = join(root, "wheels");
  await cp(WHEELS, wheels, { recursive: true });
  const old = await new PrivateEnvironment(storage, wheels, UNPACK).make(base, () => undefined, new AbortController().signal);

  const [wheel = ""] = readdirSync(wheels).filter((name) => name.startsWith("mdurl"));
  const content = await readFile(join(wheels, wheel));
  await writeFile(join(wheels, wheel), Buffer.concat([content, Buffer.from("\n")])); // still an archive
  const young = new PrivateEnvironment(storage, wheels, UNPACK);
  assert.equal(await young.interpreter(), undefined);
  assert.equal(await young.wasMadeBefore(), true);
  const python = await young.make(base, () => undefined, new AbortController().signal);
  assert.notEqual(python, old);
  assert.ok(!existsSync(old));
});

test("what cannot be made leaves nothing behind, and Python's words", { skip }, async () => {
  const storage = join(root, "three");
  const own = new PrivateEnvironment(storage, WHEELS, join(root, "gone.py"));
  await assert.rejects(own.make(base, () => undefined, new AbortController().signal), /gone\.py/);
  assert.deepEqual(readdirSync(storage), []);
  assert.equal(await own.interpreter(), undefined);
});

test("whoever stops it has none", { skip }, async () => {
  const own = new PrivateEnvironment(join(root, "four"), WHEELS, UNPACK);
  const stop = new AbortController();
  await assert.rejects(own.make(base, () => { stop.abort(); }, stop.signal));
  assert.equal(await own.interpreter(), undefined);
});
