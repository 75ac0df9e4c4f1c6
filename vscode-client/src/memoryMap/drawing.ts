/** Drawing of boxes, curves, and bands on a canvas. */

import type { ScaleLinear } from "d3-scale";
import { NEUTRAL_COLOR, type Groups, type Theme } from "./colors";
import { formatBytes } from "./format";
import { bytesAt, type Band, type Box, type Curve, type Space } from "./model";

export type Scale = ScaleLinear<number, number>;

/** A rectangle in pixels. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The height of the curve's scale, relative to the peak. */
export const CURVE_HEADROOM = 1.12;
const DIM_ALPHA = 0.13;
const MIN_GAP_PIXELS = 4; // larger boxes are separated by a gap
const MIN_LABEL_WIDTH = 56;
const MIN_LABEL_HEIGHT = 13;
const MAX_LABELS = 400;
const FONT = "11px system-ui, sans-serif";
const CHARACTER_PIXELS = 6.1;

/** The boxes of a memory space in typed arrays, ordered by color so that it changes rarely. */
export class BoxLayer {
  readonly boxes: readonly Box[];
  private readonly places: Float64Array; // start, exclusive end, first byte, exclusive last byte
  private readonly colors: Uint8Array;

  constructor(space: Space, groups: Groups) {
    const colored = space.boxes
      .filter((box) => box.start >= 0)
      .map((box) => ({ box, color: groups.of(box)?.color ?? NEUTRAL_COLOR }));
    colored.sort((one, other) => other.color - one.color);
    this.boxes = colored.map(({ box }) => box);
    this.colors = Uint8Array.from(colored, ({ color }) => color);
    this.places = new Float64Array(4 * colored.length);
    this.boxes.forEach((box, index) => {
      this.places.set([box.start, box.end + 1, box.low, box.low + box.size], 4 * index);
    });
  }

  /**
   * Draw all boxes that are in an area.
   *
   * @param chosen the boxes to emphasize; the others are dimmed unless it is undefined
   * @return the boxes with room for a label
   */
  draw(
    context: CanvasRenderingContext2D,
    area: Area,
    x: Scale,
    y: Scale,
    theme: Theme,
    chosen: ReadonlySet<Box> | undefined,
  ): number[] {
    const large: number[] = [];
    if (chosen === undefined) {
      this.drawSome(context, area, x, y, theme, () => true, large);
    } else {
      context.globalAlpha = DIM_ALPHA;
      this.drawSome(context, area, x, y, theme, (box) => !chosen.has(box), []);
      context.globalAlpha = 1;
      this.drawSome(context, area, x, y, theme, (box) => chosen.has(box), large);
    }
    return large;
  }

  private drawSome(
    context: CanvasRenderingContext2D,
    area: Area,
    x: Scale,
    y: Scale,
    theme: Theme,
    isWanted: (box: Box) => boolean,
    large: number[],
  ): void {
    const { places, colors, boxes } = this;
    const xScale = x(1) - x(0);
    const yScale = y(1) - y(0); // negative: the first byte is at the bottom
    const xZero = x(0) + area.x;
    const yZero = y(0) + area.y;
    const right = area.x + area.width;
    const bottom = area.y + area.height;
    // A pixel that a box smaller than a pixel has colored is not drawn again.
    const columns = Math.ceil(area.width) + 1;
    const painted = new Uint8Array(columns * (Math.ceil(area.height) + 1));
    let color = -1;
    for (let index = 0; index < boxes.length; index += 1) {
      const place = 4 * index;
      const left = xZero + (places[place] ?? 0) * xScale;
      const end = xZero + (places[place + 1] ?? 0) * xScale;
      const top = yZero + (places[place + 3] ?? 0) * yScale;
      const base = yZero + (places[place + 2] ?? 0) * yScale;
      if (end < area.x || left > right || base < area.y || top > bottom) {
        continue;
      }
      const box = boxes[index];
      if (box === undefined || !isWanted(box)) {
        continue;
      }
      const visibleLeft = Math.max(left, area.x - 2);
      const visibleTop = Math.max(top, area.y - 2);
      let width = Math.min(end, right + 2) - visibleLeft;
      let height = Math.min(base, bottom + 2) - visibleTop;
      if (width < 1 && height < 1) {
        const pixel = ((visibleTop - area.y) | 0) * columns + ((visibleLeft - area.x) | 0);
        if (painted[pixel] === 1) {
          continue;
        }
        painted[pixel] = 1;
      }
      if (colors[index] !== color) {
        color = colors[index] ?? NEUTRAL_COLOR;
        context.fillStyle = theme.colors[color] ?? theme.muted;
      }
      if (width > MIN_LABEL_WIDTH && height > MIN_LABEL_HEIGHT && large.length < MAX_LABELS) {
        large.push(index);
      }
      width = width > MIN_GAP_PIXELS ? width - 1 : Math.max(width, 1);
      height = height > MIN_GAP_PIXELS ? height - 1 : Math.max(height, 1);
      context.fillRect(visibleLeft, visibleTop, width, height);
    }
  }

  /** Outline large boxes, and write names and sizes into them where no other label is. */
  drawLabels(
    context: CanvasRenderingContext2D,
    area: Area,
    x: Scale,
    y: Scale,
    theme: Theme,
    large: readonly number[],
  ): void {
    context.font = FONT;
    context.textBaseline = "middle";
    context.fillStyle = theme.label;
    context.strokeStyle = theme.background;
    context.lineWidth = 1;
    const labels: { left: number; right: number; middle: number }[] = [];
    for (const index of large) {
      const box = this.boxes[index];
      if (box === undefined) {
        continue;
      }
      const left = Math.max(area.x, area.x + x(box.start));
      const right = Math.min(area.x + area.width, area.x + x(box.end + 1));
      const top = Math.max(area.y, area.y + y(box.low + box.size));
      const bottom = Math.min(area.y + area.height, area.y + y(box.low));
      context.strokeRect(left - 0.5, top - 0.5, right - left, bottom - top);
      const room = Math.floor((right - left - 8) / CHARACTER_PIXELS);
      const middle = (top + bottom) / 2;
      if (room < 4 || bottom - top < MIN_LABEL_HEIGHT) {
        continue;
      }
      const size = formatBytes(box.size);
      const whole = `${box.name}  ${size}`;
      const text = whole.length <= room ? whole : box.name.length <= room ? box.name : `${box.name.slice(0, room - 1)}…`;
      const end = left + 8 + text.length * CHARACTER_PIXELS;
      const isFree = labels.every(
        (other) => other.right < left || end < other.left || Math.abs(other.middle - middle) > MIN_LABEL_HEIGHT,
      );
      if (isFree) {
        labels.push({ left, right: end, middle });
        context.fillText(text, left + 4, middle);
      }
    }
  }
}

/** Draw the fixed allocations, which are occupied at all steps. */
export function drawFixed(
  context: CanvasRenderingContext2D,
  area: Area,
  y: Scale,
  theme: Theme,
  space: Space,
): void {
  context.fillStyle = theme.fixed;
  for (const { base, size, isFixed } of space.allocations) {
    const top = Math.max(area.y, area.y + y(base + size));
    const bottom = Math.min(area.y + area.height, area.y + y(base));
    if (isFixed && bottom > top) {
      context.fillRect(area.x, top, area.width, bottom - top > MIN_GAP_PIXELS ? bottom - top - 1 : bottom - top);
    }
  }
}

/**
 * Draw the occupied bytes by step as a filled curve, and mark its local peaks.
 *
 * @param peakBytes the largest peak on the scale of the curve
 */
export function drawCurve(
  context: CanvasRenderingContext2D,
  area: Area,
  x: Scale,
  theme: Theme,
  curve: Curve,
  peakBytes: number,
): void {
  const height = (bytes: number): number => area.height * (1 - bytes / Math.max(1, peakBytes * CURVE_HEADROOM));
  const from = x.invert(0);
  const stepsPerPixel = x.invert(1) - from;
  const path = new Path2D();
  path.moveTo(area.x, area.y + area.height);
  let index = firstAfter(curve.steps, from);
  let current = bytesAt(curve, Math.floor(from));
  for (let pixel = 0; pixel <= area.width; pixel += 1) {
    const end = from + (pixel + 1) * stepsPerPixel;
    let largest = current;
    for (; (curve.steps[index] ?? Infinity) < end; index += 1) {
      current = curve.bytes[index] ?? 0;
      largest = Math.max(largest, current);
    }
    path.lineTo(area.x + pixel, area.y + height(largest));
    path.lineTo(area.x + pixel + 1, area.y + height(largest));
  }
  path.lineTo(area.x + area.width, area.y + area.height);
  context.fillStyle = theme.area;
  context.fill(path);
  context.strokeStyle = theme.accent;
  context.lineWidth = 1;
  context.stroke(path);
  const fixed = area.y + height(curve.fixedBytes);
  context.fillStyle = theme.fixed;
  context.fillRect(area.x, fixed, area.width, area.y + area.height - fixed);
  drawPeaks(context, area, x, theme, curve, height);
}

const MIN_MARK_DISTANCE = 12; // pixels between two peaks
const MIN_LABEL_DISTANCE = 74; // pixels between the label of a peak and another peak

function drawPeaks(
  context: CanvasRenderingContext2D,
  area: Area,
  x: Scale,
  theme: Theme,
  curve: Curve,
  height: (bytes: number) => number,
): void {
  context.font = FONT;
  context.textBaseline = "alphabetic";
  context.fillStyle = theme.foreground;
  const marks: { left: number; top: number; bytes: number }[] = [];
  const peaks = [...curve.localPeaks].sort(([, one], [, other]) => other - one);
  for (const [step, bytes] of [[curve.peakStep, curve.peakBytes] as const, ...peaks]) {
    const left = area.x + x(step + 0.5);
    if (left < area.x || left > area.x + area.width || marks.some((other) => Math.abs(other.left - left) < MIN_MARK_DISTANCE)) {
      continue;
    }
    const top = area.y + height(bytes);
    marks.push({ left, top, bytes });
    context.beginPath();
    context.moveTo(left, top - 1);
    context.lineTo(left - 4, top - 8);
    context.lineTo(left + 4, top - 8);
    context.fill();
  }
  for (const { left, top, bytes } of marks) {
    const isRight = left + MIN_LABEL_DISTANCE > area.x + area.width;
    const hasRoom = marks.every((other) => {
      const distance = isRight ? left - other.left : other.left - left;
      return distance <= 0 || distance > MIN_LABEL_DISTANCE;
    });
    if (hasRoom || bytes === curve.peakBytes) {
      const text = formatBytes(bytes);
      context.textAlign = isRight ? "right" : "left";
      context.fillText(text, isRight ? left - 7 : left + 7, Math.max(top - 2, area.y + 10));
    }
  }
  context.textAlign = "left";
}

/** Draw loops, calls, and conditionals as bands, the outermost first. */
export function drawBands(
  context: CanvasRenderingContext2D,
  area: Area,
  x: Scale,
  theme: Theme,
  bands: readonly Band[],
  rowHeight: number,
): void {
  context.font = FONT;
  context.textBaseline = "middle";
  for (const { start, end, depth, label } of bands) {
    const left = Math.max(area.x, area.x + x(start));
    const right = Math.min(area.x + area.width, area.x + x(end + 1));
    const top = area.y + depth * rowHeight;
    if (right < area.x || left > area.x + area.width || top + rowHeight > area.y + area.height + 1) {
      continue;
    }
    context.fillStyle = theme.line;
    context.fillRect(left, top, Math.max(1, right - left - 1), rowHeight - 2);
    const room = Math.floor((right - left - 8) / CHARACTER_PIXELS);
    if (room > 5) {
      context.fillStyle = theme.foreground;
      context.fillText(label.length > room ? `${label.slice(0, room - 1)}…` : label, left + 4, top + rowHeight / 2);
    }
  }
}

function firstAfter(steps: Float64Array, step: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] ?? 0) <= step) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** Draw inside of an area only. */
export function clipped(context: CanvasRenderingContext2D, area: Area, draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(area.x, area.y, area.width, area.height);
  context.clip();
  draw();
  context.restore();
}
