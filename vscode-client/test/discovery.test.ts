import assert from "node:assert/strict";
import { test } from "node:test";
import { discover, isInterpreter, type Interpreter, type Places } from "../src/discovery";

function python(path: string, minor: number, server?: string): Interpreter {
  return { path, version: [3, minor], server };
}

function places(told: {
  setting?: string;
  programs?: string[];
  interpreters?: Interpreter[];
  own?: string;
  asked?: string[];
}): Places {
  return {
    setting: told.setting,
    program: (path) => Promise.resolve(told.programs?.find((program) => program === path)),
    // eslint-disable-next-line @typescript-eslint/require-await -- the real ones wait for processes
    async *interpreters() {
      for (const each of told.interpreters ?? []) {
        told.asked?.push(each.path);
        yield each;
      }
    },
    privateInterpreter: () => Promise.resolve(told.own),
  };
}

const everything = {
  setting: "/opt/hlo-lsp",
  programs: ["/opt/hlo-lsp"],
  interpreters: [python("/env/bin/python", 11, "0.1.0")],
  own: "/private/bin/python",
};

test("the setting goes before all others", async () => {
  const found = await discover(places(everything));
  assert.deepEqual(found, {
    kind: "found",
    launch: { command: "/opt/hlo-lsp", args: [], origin: "setting" },
  });
});

test("an interpreter in the setting runs the module", async () => {
  const found = await discover(places({ setting: "/env/bin/python3.12", programs: ["/env/bin/python3.12"] }));
  assert.deepEqual(found, {
    kind: "found",
    launch: { command: "/env/bin/python3.12", args: ["-m", "hlo_lsp"], origin: "setting" },
  });
});

test("a wrong setting is told, and nothing else is taken in its place", async () => {
  const found = await discover(places({ ...everything, setting: "/gone/hlo-lsp" }));
  assert.deepEqual(found, { kind: "setting-wrong", setting: "/gone/hlo-lsp" });
});

test("then the first Python that has the server, and no further one is started", async () => {
  const asked: string[] = [];
  const interpreters = [python("/a", 11), python("/b", 12, "0.1.0"), python("/c", 13, "0.2.0")];
  const found = await discover(places({ interpreters, own: "/private", asked }));
  assert.deepEqual(found, { kind: "found", launch: { command: "/b", args: ["-m", "hlo_lsp"], origin: "python" } });
  assert.deepEqual(asked, ["/a", "/b"]);
});

test("a Python that is too old is passed over, whatever it has", async () => {
  const found = await discover(places({ interpreters: [python("/old", 9, "0.1.0")], own: "/private" }));
  assert.equal(found.kind === "found" && found.launch.origin, "private");
});

test("then the private environment", async () => {
  const found = await discover(places({ interpreters: [python("/a", 11)], own: "/private/bin/python" }));
  assert.deepEqual(found, {
    kind: "found",
    launch: { command: "/private/bin/python", args: ["-m", "hlo_lsp"], origin: "private" },
  });
});

test("nothing: the first Python that is new enough can be its base", async () => {
  const found = await discover(places({ interpreters: [python("/old", 8), python("/a", 10), python("/b", 13)] }));
  assert.deepEqual(found, { kind: "none", base: python("/a", 10) });
});

test("nothing, and no Python", async () => {
  assert.deepEqual(await discover(places({})), { kind: "none", base: undefined });
});

test("interpreters are told from other programs by name", () => {
  for (const path of ["/usr/bin/python3", "C:\\Py\\python.exe", "python", "/x/pypy3.10"]) {
    assert.ok(isInterpreter(path), path);
  }
  for (const path of ["/usr/bin/hlo-lsp", "/python3/bin/hlo-lsp", "C:\\Scripts\\hlo-lsp.exe"]) {
    assert.ok(!isInterpreter(path), path);
  }
});
