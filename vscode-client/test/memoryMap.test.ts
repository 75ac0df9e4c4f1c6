import assert from "node:assert/strict";
import { test } from "node:test";
import { correspondingStep, joinLive, linkBoxes } from "../src/memoryMap/comparison";
import { byteTicks, formatBytes, shortLine } from "../src/memoryMap/format";
import { liveSet, type LiveBuffer } from "../src/memoryMap/liveSet";
import { bytesAt, Module, parseDocument, type ModuleData } from "../src/memoryMap/model";

/** One fixed allocation of 32 bytes, and temporaries `a`, `b`, and `c`, of which `a` and `c` share bytes. */
const DATA: ModuleData = {
  name: "m",
  path: "folder/m.txt",
  backend: "TPU",
  lastStep: 9,
  missing: [],
  files: { assignment: "file:///m.txt", module: null },
  spaces: [
    {
      space: 0,
      name: "HBM",
      allocatedBytes: 128,
      fixedBytes: 32,
      peakStep: 2,
      peakBytes: 128,
      changeSteps: [1, 1, 2, 2],
      tempBytes: [64, 32, -64, -32],
    },
  ],
  allocations: { number: [0, 1], space: [0, 0], size: [32, 96], fixed: [1, 0], kind: [8, 9], line: [1, 3] },
  boxes: {
    allocation: [0, 1, 1, 1],
    offset: [0, 0, 64, 32],
    size: [24, 64, 32, 32],
    padding: [0, 0, 0, 0],
    start: [0, 1, 2, 3],
    end: [9, 3, 5, 3],
    name: [0, 1, 2, 3],
    index: [4, 4, 4, 4],
    id: [0, 1, 2, 3],
    assignmentLine: [2, 4, 5, 6],
    moduleLine: [-1, -1, -1, -1],
    line: [5, 6, 6, 6],
    scope: [4, 4, 4, 4],
    opcode: [4, 4, 4, 4],
    shape: [7, 7, 7, 7],
    role: [4, 4, 4, 4],
  },
  bands: { start: [], end: [], depth: [], name: [], opcode: [], line: [] },
  steps: [],
  strings: ["x", "a", "b", "c", "", "arguments", "train.py:27", "u8[64]", "parameter", "temp"],
};

function space(): { module: Module; hbm: Module["spaces"][number] } {
  const module = new Module(DATA);
  const [hbm] = module.spaces;
  assert.ok(hbm);
  return { module, hbm };
}

test("bands have known trip counts and the buffers inside", () => {
  const bands = { start: [1, 3], end: [3, 5], depth: [0, 0], name: [10, 1], opcode: [11, 11], line: [0, 0], tripCount: [33, -1] };
  const module = new Module({ ...DATA, bands, strings: [...DATA.strings, "while.5", "while"] });
  assert.deepEqual(module.bands.map(({ label }) => label), ["while.5 · 33 iterations", "while a"]);
  const inside = module.spaces[0]?.boxes.map((box) => [box.name, module.bandOf(box)?.label]);
  assert.deepEqual(inside, [["x", undefined], ["a", "while.5 · 33 iterations"], ["b", undefined], ["c", "while a"]]);
});

test("shared bytes belong to the first value", () => {
  const found = liveSet(space().hbm, 3).map(({ box, bytes }) => [box?.name, bytes]);
  assert.deepEqual(found, [["a", 64], ["b", 32], ["x", 24], [undefined, 8]]);
});

test("the live set adds up to the curve", () => {
  const { hbm } = space();
  assert.ok(hbm.curve);
  for (const step of [0, 1, 2, 3, 4, 9]) {
    const sum = liveSet(hbm, step).reduce((total, { bytes }) => total + bytes, 0);
    assert.equal(sum, bytesAt(hbm.curve, step), `step ${step}`);
  }
});

test("allocations are stacked without gaps", () => {
  assert.deepEqual(space().hbm.boxes.map(({ low }) => low), [0, 32, 96, 64]);
});

/** The same module with another name of `a`, a larger `b`, and no counterpart of `c`. */
function compared(): [Module, Module] {
  const boxes = { ...DATA.boxes, name: [0, 9, 2, 3], size: [24, 64, 48, 32] };
  const modules: [Module, Module] = [new Module(DATA), new Module({ ...DATA, boxes })];
  linkBoxes(...modules, { before: 0, after: 1, boxes: { before: [0, 1, 2], after: [0, 1, 2] } });
  return modules;
}

test("boxes are classified by their change", () => {
  const changes = compared().map(({ boxes }) => boxes.map(({ change }) => change));
  assert.deepEqual(changes, [
    ["same size", "same size", "larger", "gone"],
    ["same size", "same size", "larger", "new"],
  ]);
  assert.equal(compared()[0].boxes[1]?.match?.name, "temp");
});

test("joined buffers keep the sums of both steps", () => {
  const [before, after] = compared().map(({ spaces }) => spaces[0]);
  assert.ok(before && after);
  for (const step of [0, 1, 2, 3, 4, 9]) {
    const first: LiveBuffer[] = liveSet(before, step);
    const second: LiveBuffer[] = liveSet(after, 3);
    const joined = joinLive(first, second);
    const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);
    assert.equal(sum(joined.map((each) => each.before)), sum(first.map(({ bytes }) => bytes)));
    assert.equal(sum(joined.map(({ bytes }) => bytes)), sum(second.map(({ bytes }) => bytes)));
  }
});

test("a step corresponds to that of the last buffer in both", () => {
  const [before] = compared();
  const match = before.boxes[2]?.match;
  assert.ok(match);
  Object.assign(match, { start: 7 });
  assert.deepEqual([0, 1, 2, 9].map((step) => correspondingStep(before, step)), [0, 1, 7, 7]);
});

test("names, lines, and shapes are searched", () => {
  const { module, hbm } = space();
  const names = (text: string): string[] => [...module.search(hbm, text)].map(({ name }) => name);
  assert.deepEqual(names("train.py:27"), ["a", "b", "c"]);
  assert.deepEqual(names("U8[64]").length, 4);
  assert.deepEqual(names(" b "), ["b"]);
  assert.deepEqual(names(""), []);
});

test("a file that is not a map is refused with a reason", () => {
  assert.throws(() => parseDocument("<html>"), /not JSON/);
  assert.throws(() => parseDocument("{}"), /not a memory map/);
  assert.throws(() => parseDocument('{"format": "hlo-lsp memory map", "version": 9, "modules": []}'), /version 9/);
});

test("sizes have three digits", () => {
  assert.deepEqual([512, 4 << 20, 705 << 20].map(formatBytes), ["512 B", "4.00 MiB", "705.0 MiB"]);
});

test("ticks of bytes are multiples of a power of two", () => {
  assert.deepEqual(byteTicks(100, 1000, 4), [256, 512, 768]);
});

test("Python lines are shortened to the file", () => {
  assert.deepEqual(["/home/user/train.py:27", "arguments"].map(shortLine), ["train.py:27", "arguments"]);
});
