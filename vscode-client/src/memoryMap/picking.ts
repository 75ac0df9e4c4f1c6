/** What is at a point of the map. */

import Flatbush from "flatbush";
import type { Allocation, Band, Box, Module, Space } from "./model";
import { BAND_HEIGHT, type Viewport } from "./viewport";

const MARGIN = 1.5; // pixels around the pointer in which a box counts as pointed at

/** What the pointer is on. */
export interface Target {
  readonly step: number;
  readonly box: Box | undefined;
  readonly allocation: Allocation | undefined;
  readonly band?: Band | undefined;
}

/** The boxes of a memory space, to be found by their position. */
export class BoxIndex {
  private readonly index: Flatbush | undefined;

  constructor(private readonly boxes: readonly Box[]) {
    if (boxes.length === 0) {
      return; // Flatbush needs at least one
    }
    this.index = new Flatbush(boxes.length);
    for (const { start, end, low, size } of boxes) {
      this.index.add(start, low, end + 1, low + size);
    }
    this.index.finish();
  }

  /** Return the smallest box at a step and byte, or the smallest one near it if there is none. */
  at(point: readonly [number, number], margin: readonly [number, number]): Box | undefined {
    const search = (dx: number, dy: number): Box | undefined => {
      const found = this.index?.search(point[0] - dx, point[1] - dy, point[0] + dx, point[1] + dy) ?? [];
      const boxes = found.flatMap((number) => this.boxes[number] ?? []);
      return boxes.sort((one, other) => areaOf(one) - areaOf(other))[0];
    };
    return search(0, 0) ?? search(margin[0] * MARGIN, margin[1] * MARGIN);
  }
}

/** Return what is at a pixel of the canvas; undefined outside of the steps. */
export function targetAt(
  viewport: Viewport,
  index: BoxIndex | undefined,
  left: number,
  top: number,
): Target | undefined {
  const { bands, map } = viewport.areas();
  const { module, space } = viewport;
  if (left < map.x || left > map.x + map.width || module === undefined || space === undefined) {
    return undefined;
  }
  const [x, y] = [viewport.x(), viewport.y()];
  const step = clampStep(module, Math.floor(x.invert(left - map.x)));
  if (top < map.y || top > map.y + map.height) {
    const depth = Math.floor((top - bands.y) / BAND_HEIGHT);
    const band = module.bands.find((each) => each.depth === depth && each.start <= step && step <= each.end);
    return { step, box: undefined, allocation: undefined, band: top < map.y ? band : undefined };
  }
  const margin = [Math.abs(x.invert(1) - x.invert(0)), Math.abs(y.invert(1) - y.invert(0))] as const;
  const point = [x.invert(left - map.x), y.invert(top - map.y)] as const;
  return { step, box: index?.at(point, margin), allocation: allocationAt(space, point[1]) };
}

/** Return the nearest step of a module. */
export function clampStep(module: Module | undefined, step: number): number {
  return Math.max(0, Math.min(module?.lastStep ?? 0, step));
}

function allocationAt(space: Space, byte: number): Allocation | undefined {
  return space.allocations.find(({ base, size }) => base <= byte && byte < base + size);
}

function areaOf(box: Box): number {
  return box.size * (box.end - box.start + 1);
}
