/** The data of a memory map, as `server/hlo_lsp/reports/memory_map.py` writes it. */

import { countNoun, formatCount, formatTime } from "./format";
import { EqualSteps, TimedSteps, type StepAxis, type TimeData } from "./stepAxis";

const FORMAT = "hlo-lsp memory map";
const VERSION = 1;
const MIN_SHOWN_SHARE = 0.1; // percent of the time

export const GROUPINGS = ["line", "scope", "opcode", "shape", "role"] as const;
type GroupColumn = (typeof GROUPINGS)[number];
/** What the boxes of a group have in common; `change` only in a comparison. */
export type Grouping = GroupColumn | "change";

export const GROUPING_TITLES: Record<Grouping, string> = {
  change: "change",
  line: "Python line",
  scope: "scope",
  opcode: "opcode",
  shape: "shape",
  role: "role",
};
export interface MemoryMapDocument {
  readonly format: string;
  readonly version: number;
  readonly modules: readonly ModuleData[];
  /** Pairs of modules, with the rows of their corresponding boxes; only in the result of a comparison. */
  readonly comparisons?: readonly ComparisonData[];
}

export interface ComparisonData {
  readonly before: number;
  readonly after: number;
  readonly boxes: Readonly<Record<"before" | "after", readonly number[]>>;
}

export interface ModuleData {
  readonly name: string;
  readonly path: string;
  readonly backend: string;
  readonly lastStep: number | null;
  readonly missing: readonly string[];
  readonly files: { readonly assignment: string | null; readonly module: string | null };
  readonly spaces: readonly SpaceData[];
  readonly allocations: Record<"number" | "space" | "size" | "fixed" | "kind" | "line", readonly number[]> & {
    // Maps of older versions do not have these.
    readonly donation?: readonly number[];
    readonly whole?: readonly number[]; // of wholeArrays, -1 without one
  };
  /** The arrays of which arguments are the part of one device. */
  readonly wholeArrays?: readonly WholeArray[];
  readonly boxes: Record<BoxColumn, readonly number[]> & {
    // Maps of older versions do not have these.
    readonly argument?: readonly number[];
    readonly kept?: readonly number[];
  };
  readonly bands: Record<"start" | "end" | "depth" | "name" | "opcode" | "line", readonly number[]> & {
    readonly tripCount?: readonly number[]; // -1 if unknown; maps of older versions do not have it
  };
  readonly steps: readonly number[];
  readonly strings: readonly string[];
  readonly time?: TimeData; // only if it is known
  /** Only if the chip is known. */
  readonly timeAdvice?: readonly string[];
}

/** An array with its cut, and a table of the devices that have each part. */
export interface WholeArray {
  readonly text: string;
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

type BoxColumn =
  | "allocation"
  | "offset"
  | "size"
  | "padding"
  | "start"
  | "end"
  | "name"
  | "index"
  | "id"
  | "assignmentLine"
  | "moduleLine"
  | GroupColumn;

interface SpaceData {
  readonly space: number;
  readonly name: string;
  /** In a comparison of two platforms, the names of both main memories. */
  readonly pair?: string;
  readonly allocatedBytes: number;
  /** The space is tiny in itself and beside the largest one; maps of older versions do not have it. */
  readonly isSmall?: boolean;
  readonly fixedBytes?: number;
  readonly peakStep?: number;
  readonly peakBytes?: number;
  readonly changeSteps?: readonly number[];
  readonly tempBytes?: readonly number[];
  readonly localPeaks?: readonly (readonly [number, number])[];
  /** Sentences on lost bytes and donation; pieces of advice with what they save. */
  readonly notes?: readonly string[];
  /** Name, size, and state of each argument that has or could have an output. */
  readonly donation?: readonly (readonly [string, string, string])[];
  readonly advice?: readonly (readonly [string, string])[];
}

/** Return the document in a JSON text; throw an error that describes what is wrong. */
export function parseDocument(text: string): MemoryMapDocument {
  let found: Partial<MemoryMapDocument> | null;
  try {
    found = JSON.parse(text) as Partial<MemoryMapDocument> | null;
  } catch {
    throw new Error("This file is not JSON.");
  }
  if (found?.format !== FORMAT || !Array.isArray(found.modules)) {
    throw new Error("This file is not a memory map. Write one with `hlo-lsp report DUMP -o map.json`.");
  }
  if (found.version !== VERSION) {
    throw new Error(`This memory map has version ${String(found.version)}; this page reads version ${VERSION}.`);
  }
  return found as MemoryMapDocument;
}

/** A live range of a value as a rectangle: steps and byte offsets in the memory space. */
export interface Box {
  readonly module: Module;
  /** The number of the box in its module. */
  readonly number: number;
  readonly allocation: Allocation;
  /** First byte in the memory space, in which allocations lie one after another. */
  readonly low: number;
  readonly offset: number;
  readonly size: number;
  readonly padding: number;
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly instruction: string;
  /** The argument whose data the box has, such as `p['w']`; empty for computed data. */
  readonly argument: string;
  /** The argument for its own buffer, else the name. */
  readonly label: string;
  readonly shape: string;
  readonly assignmentLine: number;
  readonly moduleLine: number;
  /** The corresponding box of the other module in a comparison. */
  match?: Box;
  /** How the box differs from the other module in a comparison. */
  change?: string;
}

export interface Allocation {
  readonly number: number;
  readonly space: number;
  readonly base: number;
  readonly size: number;
  readonly isFixed: boolean;
  readonly kind: string;
  /** Whether the caller donates the buffer; empty if it is not that of an argument. */
  readonly donation: string;
  readonly whole: WholeArray | undefined;
  readonly line: number;
  readonly boxes: Box[];
}

export interface Band {
  readonly start: number;
  readonly end: number;
  readonly depth: number;
  readonly label: string;
}

/** One memory space of a module. */
export interface Space {
  readonly number: number;
  readonly name: string;
  /** The name that corresponding memory spaces of two modules have. */
  readonly pair: string;
  readonly allocatedBytes: number;
  /** The size of the allocations in the map: all but those that are thread-local. */
  readonly mappedBytes: number;
  readonly allocations: readonly Allocation[];
  readonly boxes: readonly Box[];
  readonly curve: Curve | undefined;
  readonly notes: readonly string[];
  readonly donation: readonly (readonly [string, string, string])[];
  readonly advice: readonly (readonly [string, string])[];
}

/** Occupied bytes by step. */
export interface Curve {
  readonly fixedBytes: number;
  readonly peakStep: number;
  readonly peakBytes: number;
  /** Steps at which the occupied bytes change, and the bytes from each of them on. */
  readonly steps: Float64Array;
  readonly bytes: Float64Array;
  readonly localPeaks: readonly (readonly [number, number])[];
}

/** A module with its memory spaces, the most relevant first. */
export class Module {
  readonly spaces: readonly Space[];
  readonly boxes: readonly Box[];
  readonly bands: readonly Band[];
  readonly lastStep: number;
  readonly equalSteps: StepAxis;
  /** The time of the steps, undefined if it is unknown. */
  readonly timedSteps: TimedSteps | undefined;
  /** True for the first module of a comparison, false for the second. */
  isBefore?: boolean;

  constructor(readonly data: ModuleData) {
    this.lastStep = data.lastStep ?? 0;
    this.equalSteps = new EqualSteps(this.lastStep + 1);
    this.timedSteps = data.time === undefined ? undefined : new TimedSteps(data.time, this.lastStep + 1);
    const allocations = this.readAllocations();
    this.boxes = this.readBoxes(allocations);
    this.spaces = data.spaces.map((space): Space => {
      const mine = allocations.filter((each) => each.space === space.space);
      return {
        number: space.space,
        name: space.name,
        pair: space.pair ?? space.name,
        allocatedBytes: space.allocatedBytes,
        mappedBytes: mine.reduce((sum, { size }) => sum + size, 0),
        allocations: mine,
        boxes: mine.flatMap(({ boxes }) => boxes),
        curve: curveOf(space),
        notes: space.notes ?? [],
        donation: space.donation ?? [],
        advice: space.advice ?? [],
      };
    });
    this.bands = data.bands.start.map((start, index) => ({
      start,
      end: at(data.bands.end, index),
      depth: at(data.bands.depth, index),
      label: labelOf(
        this.text(at(data.bands.opcode, index)),
        this.text(at(data.bands.name, index)),
        at(data.bands.tripCount ?? [], index),
      ),
    }));
  }

  /** Return the group of a box. */
  group(box: Box, grouping: Grouping): string {
    return grouping === "change" ? (box.change ?? "") : this.text(at(this.data.boxes[grouping], box.number));
  }

  /** Return the memory space of a box. */
  spaceOf({ allocation }: Box): Space | undefined {
    return this.spaces.find(({ number }) => number === allocation.space);
  }

  /** Return the innermost band that contains the whole live range of a box. */
  bandOf({ start, end }: Box): Band | undefined {
    return start < 0 ? undefined : this.bands.filter((band) => band.start <= start && end <= band.end).at(-1);
  }

  /** Return for what a box is kept; without a reason from the server, the instruction at its last step. */
  reasonFor({ number, allocation, end }: Box): string {
    const known = this.text(at(this.data.boxes.kept ?? [], number));
    const last = allocation.isFixed ? undefined : this.data.steps[end];
    return known === "" && last !== undefined ? `step ${formatCount(end)}, ${this.text(last)}` : known;
  }

  /** Return the name of the instruction at a step, with its time if it takes any. */
  describeStep(step: number): string | undefined {
    const name = this.data.steps[step];
    if (name === undefined || this.timedSteps === undefined) {
      return name === undefined ? undefined : this.text(name);
    }
    const time = this.timedSteps.timeOf(step);
    if (time === undefined) {
      return `${this.text(name)} · time unknown`;
    }
    const share = (100 * time) / this.timedSteps.length;
    const shown = share < MIN_SHOWN_SHARE ? "" : ` (${share.toFixed(1)}%)`;
    return time === 0 ? this.text(name) : `${this.text(name)} · ${formatTime(time)}${shown}`;
  }

  /** Return the boxes of which a name, a Python line, a scope, an opcode, a role, or a shape contains a text. */
  search(space: Space, text: string): Set<Box> {
    const wanted = text.trim().toLowerCase();
    if (wanted === "") {
      return new Set();
    }
    const hits = this.data.strings.map((each) => each.toLowerCase().includes(wanted));
    const columns = [this.data.boxes.name, this.data.boxes.argument ?? [], ...GROUPINGS.map((grouping) => this.data.boxes[grouping])];
    return new Set(
      space.boxes.filter(
        (box) =>
          columns.some((column) => hits[at(column, box.number)] === true) || box.name.toLowerCase().includes(wanted),
      ),
    );
  }

  /** Return a text of the table of strings. */
  text(number: number): string {
    return this.data.strings[number] ?? "";
  }

  private readAllocations(): Allocation[] {
    const { allocations } = this.data;
    const ends = new Map<number, number>();
    return allocations.number.map((number, index) => {
      const space = at(allocations.space, index);
      const base = ends.get(space) ?? 0;
      const size = at(allocations.size, index);
      ends.set(space, base + size);
      return {
        number,
        space,
        base,
        size,
        isFixed: at(allocations.fixed, index) === 1,
        kind: this.text(at(allocations.kind, index)).replace("_", "-"),
        donation: this.text(at(allocations.donation ?? [], index)),
        whole: this.data.wholeArrays?.[allocations.whole?.[index] ?? -1],
        line: at(allocations.line, index),
        boxes: [],
      };
    });
  }

  private readBoxes(allocations: readonly Allocation[]): Box[] {
    const { boxes } = this.data;
    return boxes.id.flatMap((_, number) => {
      const allocation = allocations[at(boxes.allocation, number)];
      if (allocation === undefined) {
        return [];
      }
      const offset = at(boxes.offset, number);
      const instruction = this.text(at(boxes.name, number));
      const name = instruction + this.text(at(boxes.index, number));
      const argument = this.text(at(boxes.argument ?? [], number));
      const isArgument = allocation.kind === "parameter" && argument !== "";
      const box: Box = {
        module: this,
        number,
        allocation,
        low: allocation.base + offset,
        offset,
        size: at(boxes.size, number),
        padding: at(boxes.padding, number),
        start: at(boxes.start, number),
        end: at(boxes.end, number),
        name,
        instruction,
        argument,
        label: isArgument ? argument : name,
        shape: this.text(at(boxes.shape, number)),
        assignmentLine: at(boxes.assignmentLine, number),
        moduleLine: at(boxes.moduleLine, number),
      };
      allocation.boxes.push(box);
      return [box];
    });
  }
}

/** Return the occupied bytes at a step. */
export function bytesAt(curve: Curve, step: number): number {
  let low = 0;
  let high = curve.steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((curve.steps[middle] ?? 0) <= step) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low === 0 ? curve.fixedBytes : (curve.bytes[low - 1] ?? 0);
}

function curveOf(space: SpaceData): Curve | undefined {
  const { changeSteps, tempBytes, fixedBytes, peakStep, peakBytes } = space;
  if (
    changeSteps === undefined ||
    tempBytes === undefined ||
    fixedBytes === undefined ||
    peakStep === undefined ||
    peakBytes === undefined
  ) {
    return undefined;
  }
  return {
    fixedBytes,
    peakStep,
    peakBytes,
    steps: sums(changeSteps, 0),
    bytes: sums(tempBytes, fixedBytes),
    localPeaks: space.localPeaks ?? [],
  };
}

/** Undo the differences in which the server sends ascending numbers. */
function sums(differences: readonly number[], offset: number): Float64Array {
  const found = new Float64Array(differences.length);
  let sum = 0;
  differences.forEach((difference, index) => {
    sum += difference;
    found[index] = sum + offset;
  });
  return found;
}

/** Return `while.5 · 33 iterations`, or `while loop` for a name without the opcode and an unknown trip count. */
function labelOf(opcode: string, name: string, tripCount: number): string {
  const label = name.startsWith(opcode) ? name : `${opcode} ${name}`;
  return tripCount < 0 ? label : `${label} · ${countNoun(tripCount, "iteration")}`;
}

function at(column: readonly number[], index: number): number {
  return column[index] ?? -1;
}
