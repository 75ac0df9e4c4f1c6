import assert from "node:assert/strict";
import { test } from "node:test";
import { correspondingStep, joinLive, linkBoxes, spaceNamed } from "../src/memoryMap/comparison";
import { byteLabels, byteTicks, formatBytes, formatTime, shortLine } from "../src/memoryMap/format";
import { liveSet, type LiveBuffer } from "../src/memoryMap/liveSet";
import { bytesAt, Module, parseDocument, type ModuleData } from "../src/memoryMap/model";
import { PixelOwners, Pieces, type Piece, type Rectangle } from "../src/memoryMap/owners";
import { EqualSteps } from "../src/memoryMap/stepAxis";

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

test("labels of an axis differ", () => {
  assert.deepEqual(byteLabels([4 << 20, 8 << 20]), ["4.00 MiB", "8.00 MiB"]);
  assert.deepEqual(byteLabels([1680, 1684, 1688].map((size) => size << 10)), ["1,680 KiB", "1,684 KiB", "1,688 KiB"]);
  assert.deepEqual(byteLabels([11_000_576, 11_000_832]), ["10.49 MiB", ""]);
  assert.deepEqual(byteLabels([]), []);
});

test("boxes without a reason of the server are kept for their last step", () => {
  const strings = [...DATA.strings, "step 7, r", "last"];
  const boxes = { ...DATA.boxes, kept: [4, 10, 4, 4] };
  const steps = Array.from({ length: 10 }, () => 11);
  const module = new Module({ ...DATA, boxes, steps, strings });
  assert.deepEqual(module.boxes.map((box) => module.reasonFor(box)), ["", "step 7, r", "step 5, last", "step 3, last"]);
});

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

test("a pair of memory spaces has different names", () => {
  const named = (name: string): Module => {
    const spaces = DATA.spaces.map((each, index) => (index === 0 ? { ...each, name, pair: "HBM -> main memory" } : each));
    return new Module({ ...DATA, spaces });
  };
  const [before, after] = [named("HBM"), named("main memory")];
  linkBoxes(before, after, { before: 0, after: 1, boxes: { before: [0], after: [0] } });
  assert.equal(before.boxes[0]?.change, "same size");
  assert.equal(spaceNamed(after, "HBM -> main memory").name, "main memory");
  assert.equal(spaceNamed(after, "HBM").number, -1);
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

test("sizes are written as by the server", () => {
  const sizes = [512, 1280, 4 << 20, 4224 << 10, 705 << 20, 3 * 2 ** 41];
  assert.deepEqual(sizes.map(formatBytes), ["512 B", "1.2 KiB", "4.00 MiB", "4.12 MiB", "705.00 MiB", "6.00 TiB"]);
});

/** Return the boxes and the rest of fixed allocations that own a part of the map, with bytes times steps. */
function pieces(): Map<string, number> {
  const { hbm } = space();
  const found = new Map<string, number>();
  for (const { box, start, end, low, high } of new Pieces(hbm, new EqualSteps(10)).cut) {
    const name = box?.name ?? "no value";
    found.set(name, (found.get(name) ?? 0) + (end - start) * (high - low));
  }
  return found;
}

test("each byte has one owner at each step", () => {
  // The 32 bytes of `c` belong to `a`; 8 bytes of the fixed allocation hold no value at the 10 steps.
  assert.deepEqual([...pieces()], [["x", 240], ["a", 192], ["b", 128], ["no value", 80]]);
});

test("times are written as by the server", () => {
  const times = [0, 15, 1_530, 63_900_000, 392e6, 1.53e9, 12e12];
  const expected = ["0.00 ns", "0.01 ns", "1.53 ns", "63.9 µs", "392 µs", "1.53 ms", "12.0 s"];
  assert.deepEqual(times.map((time) => formatTime(time)), expected);
});

test("ticks of times differ in their texts", () => {
  assert.deepEqual([0, 500e6, 1000e6, 1500e6].map((time) => formatTime(time, 500e6)), ["0 ns", "500 µs", "1.0 ms", "1.5 ms"]);
  assert.equal(formatTime(12_345_600_000, 100_000), "12.3456 ms");
});

test("steps are as wide as their time", () => {
  const time = { title: "measured time", picoseconds: [0, 2e6, -1, 6e6, 0], notes: [] };
  const module = new Module({ ...DATA, time, steps: [0, 1, 2, 3, 0], lastStep: 4 });
  const { timedSteps: axis, spaces } = module;
  const [hbm] = spaces;
  assert.ok(axis && hbm);
  assert.equal(axis.length, 8e6);
  assert.deepEqual([0, 1, 1.5, 2, 3, 3.5, 4, 5].map((step) => axis.at(step)), [0, 0, 1e6, 2e6, 2e6, 5e6, 8e6, 8e6]);
  assert.deepEqual([0, 1e6, 2e6, 7.9e6].map((position) => axis.stepAt(position)), [1, 1, 3, 3]);
  const described = [0, 1, 2, 3].map((step) => module.describeStep(step));
  assert.deepEqual(described, ["x", "a · 2.00 µs (25.0%)", "b · time unknown", "c · 6.00 µs (75.0%)"]);
  const found = new Pieces(hbm, axis).whole.map(({ box, start, end }) => [box?.name, start, end]);
  assert.deepEqual(found, [["x", 0, 8e6], ["a", 0, 8e6], ["b", 2e6, 8e6], ["c", 2e6, 8e6]]);
});

/** 48 boxes `x` with 8 bytes each above a box `a` with 4,096 bytes. */
function planted(): ModuleData {
  const each = (tiny: (row: number) => number, large: number): number[] => [
    ...Array.from({ length: 48 }, (_, row) => tiny(row)),
    large,
  ];
  const zeros = each(() => 0, 0);
  return {
    ...DATA,
    spaces: [{ space: 0, name: "HBM", allocatedBytes: 4480 }],
    allocations: { number: [0], space: [0], size: [4480], fixed: [0], kind: [9], line: [0] },
    boxes: {
      ...{ allocation: zeros, padding: zeros, start: zeros, id: zeros, assignmentLine: zeros, moduleLine: zeros },
      ...{ line: zeros, scope: zeros, opcode: zeros, shape: zeros, role: zeros },
      offset: each((row) => 8 * row, 384),
      size: each(() => 8, 4096),
      end: each(() => 9, 9),
      name: each(() => 0, 1),
      index: each(() => 4, 4),
    },
  };
}

test("a part of the map belongs to what has most of its bytes", () => {
  const [hbm] = new Module(planted()).spaces;
  assert.ok(hbm);
  const found = new Pieces(hbm, new EqualSteps(10));
  const color = ({ box }: Piece): number => (box?.name === "a" ? 1 : 0);
  const all: Rectangle = { start: 0, end: 10, low: 0, high: 4480 };
  const owner = found.ownerOf(all, color, undefined);
  assert.equal(owner?.piece.box?.name, "a");
  assert.equal(owner.boxCount, 49);
  assert.ok(Math.abs(owner.share - 4096 / 4480) < 1e-9);
  const tiny = found.ownerOf({ ...all, high: 700 }, color, undefined);
  assert.equal(tiny?.piece.box?.name, "x", "384 of 700 bytes");
  const chosen = new Set(hbm.boxes.filter(({ name }) => name === "x"));
  assert.equal(found.ownerOf(all, color, chosen)?.piece.box?.name, "x", "what is emphasized comes first");
});

test("the color of a pixel is that of most of its area", () => {
  const pixels = new PixelOwners(4, 3);
  let seed = 7;
  const random = (limit: number): number => {
    seed = (seed * 16807) % 2147483647;
    return (limit * seed) / 2147483647;
  };
  const areas = Array.from({ length: 12 }, () => Array.from({ length: 3 }, () => 0));
  for (let color = 0; color < 3; color += 1) {
    for (let number = 0; number < 20; number += 1) {
      const [left, top] = [random(5) - 0.5, random(4) - 0.5];
      const [right, bottom] = [left + random(0.6), top + random(0.6)];
      pixels.add(left, top, right, bottom);
      areas.forEach((sums, pixel) => {
        const [column, row] = [pixel % 4, Math.floor(pixel / 4)];
        const width = Math.min(right, column + 1) - Math.max(left, column);
        const height = Math.min(bottom, row + 1) - Math.max(top, row);
        sums[color] = (sums[color] ?? 0) + Math.max(0, width) * Math.max(0, height);
      });
    }
    pixels.finish(color);
  }
  areas.forEach((sums, pixel) => {
    assert.equal(pixels.owners[pixel], 1 + sums.indexOf(Math.max(...sums)), `pixel ${pixel}`);
    assert.ok(Math.abs((pixels.covered[pixel] ?? 0) - sums.reduce((sum, each) => sum + each)) < 1e-9);
  });
});

test("ticks of bytes are multiples of a power of two", () => {
  assert.deepEqual(byteTicks(100, 1000, 4), [256, 512, 768]);
});

test("Python lines are shortened to the file", () => {
  assert.deepEqual(["/home/user/train.py:27", "arguments"].map(shortLine), ["train.py:27", "arguments"]);
});
