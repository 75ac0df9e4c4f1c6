/** The boxes of two modules that correspond, and how they differ. */

import type { LiveBuffer } from "./liveSet";
import type { Box, ComparisonData, Module, Space } from "./model";

export const CHANGES = [
  "new",
  "larger",
  "now at the peak",
  "moved",
  "gone",
  "smaller",
  "no longer at the peak",
  "same size",
] as const;
export type Change = (typeof CHANGES)[number];

/** Link the corresponding boxes of two modules, and classify the changes of all boxes. */
export function linkBoxes(before: Module, after: Module, { boxes }: ComparisonData): void {
  boxes.before.forEach((row, index) => {
    const [box, other] = [before.boxes[row], after.boxes[boxes.after[index] ?? -1]];
    if (box !== undefined && other !== undefined) {
      box.match = other;
      other.match = box;
    }
  });
  before.isBefore = true;
  after.isBefore = false;
  for (const box of before.boxes) {
    box.change = box.match === undefined ? "gone" : changeBetween(box, box.match);
  }
  for (const box of after.boxes) {
    box.change = box.match === undefined ? "new" : changeBetween(box.match, box);
  }
}

/** Return the side of a comparison on which the match of a box is. */
export function sideOfMatch(box: Box): string {
  return box.module.isBefore === true ? "after" : "before";
}

function changeBetween(before: Box, after: Box): Change {
  const [from, to] = [before.module.spaceOf(before), after.module.spaceOf(after)];
  if (from?.pair !== to?.pair) {
    return "moved";
  }
  if (before.size !== after.size) {
    return before.size < after.size ? "larger" : "smaller";
  }
  const [was, is] = [isAtPeak(before, from), isAtPeak(after, to)];
  return was === is ? "same size" : is ? "now at the peak" : "no longer at the peak";
}

/** Return whether a box occupies bytes at the peak of its memory space; false if the peak is unknown. */
export function isAtPeak({ allocation, start, end }: Box, space: Space | undefined): boolean {
  const peak = space?.curve?.peakStep;
  return peak !== undefined && (allocation.isFixed || (start <= peak && peak <= end));
}

/** A buffer that occupies bytes at a step of one module or of both. */
export interface ChangedBytes extends LiveBuffer {
  readonly before: number;
}

/** Join the buffers at a step of each module; the sums stay the same. The largest change is first. */
export function joinLive(before: readonly LiveBuffer[], after: readonly LiveBuffer[]): ChangedBytes[] {
  const found = new Map<unknown, ChangedBytes>();
  const add = (key: unknown, buffer: LiveBuffer, from: number, to: number): void => {
    const known = found.get(key);
    found.set(key, {
      allocation: buffer.allocation,
      box: buffer.box,
      before: (known?.before ?? 0) + from,
      bytes: (known?.bytes ?? 0) + to,
    });
  };
  for (const buffer of before) {
    add(buffer.box ?? buffer.allocation.kind, buffer, buffer.bytes, 0);
  }
  for (const buffer of after) {
    add(buffer.box?.match ?? buffer.box ?? buffer.allocation.kind, buffer, 0, buffer.bytes);
  }
  const change = ({ before: from, bytes }: ChangedBytes): number => Math.abs(bytes - from);
  return [...found.values()].sort((one, other) => change(other) - change(one) || other.bytes - one.bytes);
}

/** Return the step of the other module at which the last buffer begins that both have and that begins until a step. */
export function correspondingStep(module: Module, step: number): number {
  let last: Box | undefined;
  for (const box of module.boxes) {
    if (box.start <= step && box.start > (last?.start ?? -1) && box.match !== undefined && box.match.start >= 0) {
      last = box;
    }
  }
  return last?.match?.start ?? 0;
}

/** Return a memory space of a module by the name of its pair, or an empty one if the module does not use it. */
export function spaceNamed(module: Module, name: string): Space {
  const curve = { fixedBytes: 0, peakStep: 0, peakBytes: 0, steps: new Float64Array(), bytes: new Float64Array(), localPeaks: [] };
  const none = { allocations: [], boxes: [], notes: [], donation: [], advice: [] };
  const empty = { number: -1, name, pair: name, allocatedBytes: 0, mappedBytes: 0, curve, ...none };
  return module.spaces.find((space) => space.pair === name) ?? empty;
}
