/**
 * Tokens of real dump excerpts (test/grammar/SCOPE/*.txt), compared with snapshots.
 *
 * `UPDATE_SNAPSHOTS=1 npm test` updates the snapshots; review the difference before you commit it.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { loadWASM, OnigScanner, OnigString } from "vscode-oniguruma";
import { INITIAL, parseRawGrammar, Registry, type IGrammar } from "vscode-textmate";

interface Manifest {
  contributes: { grammars: { scopeName: string; path: string }[] };
}

const ROOT = resolve(".");
const FOLDER = join(ROOT, "test", "grammar");
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
const paths = new Map(manifest.contributes.grammars.map(({ scopeName, path }) => [scopeName, join(ROOT, path)]));

const registry = new Registry({
  onigLib: (async () => {
    const wasm = createRequire(join(ROOT, "package.json")).resolve("vscode-oniguruma/release/onig.wasm");
    await loadWASM(readFileSync(wasm).buffer);
    return {
      createOnigScanner: (patterns: string[]) => new OnigScanner(patterns),
      createOnigString: (text: string) => new OnigString(text),
    };
  })(),
  loadGrammar: (scope) => {
    const path = paths.get(scope);
    return Promise.resolve(path === undefined ? null : parseRawGrammar(readFileSync(path, "utf8"), path));
  },
});

interface Token {
  readonly text: string;
  /** The scopes without that of the file; empty if no pattern matches. */
  readonly scopes: string;
}

async function grammarOf(scope: string): Promise<IGrammar> {
  const grammar = await registry.loadGrammar(scope);
  assert.ok(grammar, scope);
  return grammar;
}

function tokenize(grammar: IGrammar, text: string): Token[][] {
  let state = INITIAL;
  return text.split("\n").map((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens
      .map(({ startIndex, endIndex, scopes }) => ({
        text: line.slice(startIndex, endIndex),
        scopes: scopes.slice(1).join(" "),
      }))
      .filter(({ text }) => text.trim() !== "");
  });
}

function printed(text: string, tokens: readonly Token[][]): string {
  return text
    .split("\n")
    .flatMap((line, number) => [
      `> ${line}`.trimEnd(),
      ...(tokens[number] ?? []).map(({ text, scopes }) => `    ${text.trim()}  ${scopes}`.trimEnd()),
    ])
    .join("\n");
}

for (const scope of ["hlo", "xla-memory", "xla-thunks", "xla-stdout", "xla-oom"]) {
  for (const name of readdirSync(join(FOLDER, scope)).filter((each) => each.endsWith(".txt"))) {
    test(`tokens of ${scope}/${name}`, async () => {
      const text = readFileSync(join(FOLDER, scope, name), "utf8").trimEnd();
      const actual = `${printed(text, tokenize(await grammarOf(`source.${scope}`), text))}\n`;
      const snapshot = join(FOLDER, scope, name.replace(/txt$/, "snap"));
      if (process.env["UPDATE_SNAPSHOTS"] === "1") {
        writeFileSync(snapshot, actual);
      }
      assert.ok(existsSync(snapshot), "no snapshot: run UPDATE_SNAPSHOTS=1 npm test");
      assert.equal(actual, readFileSync(snapshot, "utf8"));
    });
  }
}

for (const scope of ["xla-memory", "xla-thunks"]) {
  test(`every word of real ${scope} files has a scope`, async () => {
    const grammar = await grammarOf(`source.${scope}`);
    for (const name of readdirSync(join(FOLDER, scope)).filter((each) => each.endsWith(".txt"))) {
      const text = readFileSync(join(FOLDER, scope, name), "utf8");
      const plain = tokenize(grammar, text).flat().filter((token) => token.scopes === "" && /\w/.test(token.text));
      assert.deepEqual(plain, [], name);
    }
  });
}

test("an unfinished line does not change the tokens of the next line", async () => {
  const beginnings: Record<string, string[]> = {
    hlo: ["  %x = f32[8,", "  %x = f32[8]{1,0:T(8,", '  x = f32[] add(y), metadata={op_name="jit(f', "  c = call(), called_computations={%a, "],
    "xla-memory": ["allocation 0: size 4, output shape is |f32[8", " value: <1 x @0> (size=4,offset", ' from instruction: %x = f32[] add(y), m={n="', "<12 x{"],
    "xla-thunks": ["001: kCopy [source", "kKernel\t, kernel = "],
  };
  const next: Record<string, string> = { hlo: "ENTRY %main {", "xla-memory": "BufferAssignment:", "xla-thunks": "002: kCopy" };
  for (const [scope, lines] of Object.entries(beginnings)) {
    const grammar = await grammarOf(`source.${scope}`);
    const wanted = tokenize(grammar, next[scope] ?? "")[0];
    for (const line of lines) {
      assert.deepEqual(tokenize(grammar, `${line}\n${next[scope] ?? ""}`)[1], wanted, line);
    }
  }
});

test("all element types of the server have a scope", async () => {
  const grammar = await grammarOf("source.hlo");
  const words = readFileSync(join(ROOT, "..", "server", "hlo_lsp", "hlo", "element_types.toml"), "utf8");
  const types = [...words.matchAll(/^\[([a-z]\w*)\]$/gm)].map((found) => found[1] ?? "");
  assert.ok(types.length > 30);
  for (const type of types) {
    assert.equal(tokenize(grammar, `${type}[8]`)[0]?.[0]?.scopes, "storage.type.element.hlo", type);
  }
});

test("all opcodes of the server have a scope", async () => {
  const grammar = await grammarOf("source.hlo");
  const words = readFileSync(join(ROOT, "..", "server", "hlo_lsp", "hlo", "opcodes.toml"), "utf8");
  const opcodes = [...words.matchAll(/^\[([a-z][\w-]*)\]$/gm)].map((found) => found[1] ?? "");
  assert.ok(opcodes.length > 100);
  for (const opcode of opcodes) {
    const tokens = tokenize(grammar, `  %x = f32[] ${opcode}(%y)`)[0];
    assert.equal(tokens?.find(({ text }) => text === opcode)?.scopes, "support.function.opcode.hlo", opcode);
  }
});

test("computations in attributes have a scope", async () => {
  const grammar = await grammarOf("source.hlo");
  const words = readFileSync(join(ROOT, "..", "server", "hlo_lsp", "hlo", "attributes.toml"), "utf8");
  const kinds = [...words.matchAll(/^\[([a-z][\w-]*)\]\nkind = "(computations?)"$/gm)];
  assert.ok(kinds.length > 8);
  for (const [, attribute = "", kind] of kinds) {
    const named = kind === "computation" ? "%c.1" : "{%b.2, %c.1}";
    const tokens = tokenize(grammar, `  x = f32[] call(y), ${attribute}=${named}`)[0];
    assert.equal(tokens?.find(({ text }) => text === "%c.1")?.scopes, "entity.name.function.computation.hlo", attribute);
  }
});
