/** What is at a point of the map. */

import type { Band, Box, Module } from "./model";
import type { Owner, Rectangle } from "./owners";
import { BAND_HEIGHT, type Viewport } from "./viewport";

const MARGIN = 1; // pixels around an empty pixel in which a box counts as pointed at

/** What the pointer is on. */
export interface Target {
  readonly step: number;
  readonly box: Box | undefined;
  readonly band?: Band | undefined;
  /** The owner of the pixel, which has the color of the pixel. */
  readonly owner?: Owner | undefined;
}

/** Return what is at a pixel of the canvas; undefined outside of the steps. */
export function targetAt(
  viewport: Viewport,
  ownerOf: (area: Rectangle) => Owner | undefined,
  left: number,
  top: number,
): Target | undefined {
  const { times, bands, map } = viewport.areas();
  const { module } = viewport;
  if (left < map.x || left > map.x + map.width || module === undefined) {
    return undefined;
  }
  const [x, y] = [viewport.x(), viewport.y()];
  const step = clampStep(module, viewport.steps().stepAt(left - map.x));
  if (times.y <= top && top < times.y + times.height) {
    return { step, box: undefined, band: { start: step, end: step, depth: 0, label: module.describeStep(step) ?? "" } };
  }
  if (top < map.y || top > map.y + map.height) {
    const depth = Math.floor((top - bands.y) / BAND_HEIGHT);
    const band = module.bands.find((each) => each.depth === depth && each.start <= step && step <= each.end);
    return { step, box: undefined, band: top < map.y ? band : undefined };
  }
  const [column, row] = [Math.floor(left - map.x), Math.floor(top - map.y)];
  const around = (margin: number): Rectangle => ({
    start: x.invert(column - margin),
    end: x.invert(column + 1 + margin),
    low: y.invert(row + 1 + margin),
    high: y.invert(row - margin),
  });
  const owner = ownerOf(around(0)) ?? ownerOf(around(MARGIN));
  const box = owner?.piece.box ?? owner?.piece.allocation.boxes[0];
  return { step, box, owner };
}

/** Return the nearest step of a module. */
export function clampStep(module: Module | undefined, step: number): number {
  return Math.max(0, Math.min(module?.lastStep ?? 0, step));
}
