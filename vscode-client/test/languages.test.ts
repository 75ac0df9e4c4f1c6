import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { detectLanguage } from "../src/languages";

/** The messages of compilers that the tests of the server read. */
const MESSAGES = join(__dirname, "..", "..", "tests", "oom");
const messages = readdirSync(MESSAGES)
  .filter((name) => name.endsWith(".txt"))
  .map((name) => [`the message ${name}`, readFileSync(join(MESSAGES, name), "utf8"), "xla-oom"] as const);

const cases: readonly (readonly [string, string, string | undefined])[] = [
  ["a module", "HloModule jit_f, is_scheduled=true", "hlo"],
  ["a module after a comment", "\n// by hand\nHloModule m\n", "hlo"],
  ["a computation of a kernel", "ENTRY %main (x: f32[]) -> f32[] {", "hlo"],
  ["an assignment", "BufferAssignment:\nallocation 0: size 4:", "xla-buffer-assignment"],
  ["values after a blank line", "\nTotal bytes used: 8 (8B)\n\nUsed values:\n<0 x @0>", "xla-values"],
  ["the first generation of reports", "Total bytes used: 8 (8B)\n\nAllocations sorted by size:\n", "xla-memory-report"],
  ["a report", "Memory Space: default (color=0)", "xla-memory-report"],
  ["live ranges", "HloLiveRange (max 72):", "xla-live-range"],
  ["no live ranges", "HloLiveRange not available (finalized or constructed from proto)", "xla-live-range"],
  ["thunks", "001: kCopy         [source       | next=006 (5)] kCopy", "xla-thunks"],
  ["thunks of jax 0.4", "kWhile \t", "xla-thunks"],
  ["standard output", "I0000 compiling\nx *** Begin module_0000.jit_f.txt ***\nHloModule f", "xla-stdout"],
  ["a message in a log", "step 1\nRESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 2G", "xla-oom"],
  ["the buffers of a message", "Program hbm requirement 6.75G:\n", "xla-oom"],
  ["a message for a GPU", "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.", "xla-oom"],
  ["a message after a long log", `${"step\n".repeat(5000)}Ran out of memory in memory space hbm.`, "xla-oom"],
  ["a module after a long log", `${"step\n".repeat(5000)}HloModule jit_f`, undefined],
  ...messages,
  ["other words about memory", "12G of memory in use", undefined],
  ["flags", "--xla_tpu_foo=true", undefined],
  ["prose about HLO", "The HloModule is read", undefined],
  ["nothing", "", undefined],
];

for (const [what, text, language] of cases) {
  test(`${what}: ${language ?? "no dump"}`, () => {
    assert.equal(detectLanguage(text.split("\n")), language);
  });
}
