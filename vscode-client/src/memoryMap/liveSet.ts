/** The buffers that occupy a memory space at a step, with each byte counted once. */

import type { Allocation, Box, Space } from "./model";

export interface LiveBuffer {
  readonly allocation: Allocation;
  /** The value; undefined for bytes of a fixed allocation that no value covers. */
  readonly box: Box | undefined;
  readonly bytes: number;
}

/**
 * Return the buffers at a step, the largest first.
 *
 * Fixed allocations count whole, and temp allocations where a live value covers them. Shared bytes
 * belong to the first value, as in `server/hlo_lsp/memory/live_set.py`.
 */
export function liveSet(space: Space, step: number): LiveBuffer[] {
  const found: LiveBuffer[] = [];
  for (const allocation of space.allocations) {
    const boxes = allocation.isFixed
      ? allocation.boxes
      : allocation.boxes.filter((box) => box.start <= step && step <= box.end);
    let covered = 0;
    const taken: (readonly [number, number])[] = [];
    for (const box of boxes) {
      const bytes = take(taken, box.offset, box.offset + box.size);
      if (bytes > 0) {
        covered += bytes;
        found.push({ allocation, box, bytes });
      }
    }
    if (allocation.isFixed && covered < allocation.size) {
      found.push({ allocation, box: undefined, bytes: allocation.size - covered });
    }
  }
  return found.sort((one, other) => other.bytes - one.bytes);
}

/** Add a byte range to disjoint ascending ranges, and return how many of its bytes are new. */
function take(taken: (readonly [number, number])[], start: number, end: number): number {
  let low = 0;
  let high = taken.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((taken[middle]?.[1] ?? 0) <= start) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  let free = end - start;
  let last = low;
  let first = start;
  let stop = end;
  for (let range = taken[last]; range !== undefined && range[0] < end; range = taken[last]) {
    free -= Math.min(end, range[1]) - Math.max(start, range[0]);
    first = Math.min(first, range[0]);
    stop = Math.max(stop, range[1]);
    last += 1;
  }
  if (free > 0) {
    taken.splice(low, last - low, [first, stop]);
  }
  return free;
}
