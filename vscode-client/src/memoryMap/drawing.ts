/** Drawing of boxes, curves, and bands on a canvas. */

import type { ScaleLinear } from "d3-scale";
import type { Theme } from "./colors";
import { formatBytes } from "./format";
import { bytesAt, type Band, type Curve } from "./model";
import type { TimedSteps } from "./stepAxis";

export type Scale = ScaleLinear<number, number>;

/** Where steps are in pixels of an area. */
export interface StepScale {
  pixel(step: number): number;
  stepAt(pixel: number): number;
}

/** A rectangle in pixels. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const FONT = "11px system-ui, sans-serif";
const MIN_CHARACTERS = 4; // of a name that is cut

/** Return a text, or as much of its start as has room, with an ellipsis; empty if there is hardly any room. */
export function textOfLength(context: CanvasRenderingContext2D, text: string, pixels: number): string {
  const width = context.measureText(text).width;
  if (width <= pixels) {
    return text;
  }
  let cut = "";
  for (let count = Math.floor((text.length * pixels) / width); count >= MIN_CHARACTERS && cut === ""; count -= 1) {
    const shorter = `${text.slice(0, count)}…`;
    cut = context.measureText(shorter).width <= pixels ? shorter : "";
  }
  return cut;
}

/**
 * Draw the occupied bytes by step as a filled curve, and mark its local peaks.
 *
 * @param y the scale from bytes to pixels of the area
 */
export function drawCurve(
  context: CanvasRenderingContext2D,
  area: Area,
  x: StepScale,
  y: Scale,
  theme: Theme,
  curve: Curve,
): void {
  const first = x.stepAt(0);
  const path = new Path2D();
  path.moveTo(area.x, area.y + area.height);
  let index = firstAfter(curve.steps, first);
  let current = bytesAt(curve, first);
  for (let pixel = 0; pixel <= area.width; pixel += 1) {
    let largest = current;
    for (; index < curve.steps.length && x.pixel(curve.steps[index] ?? 0) < pixel + 1; index += 1) {
      current = curve.bytes[index] ?? 0;
      largest = Math.max(largest, current);
    }
    path.lineTo(area.x + pixel, area.y + y(largest));
    path.lineTo(area.x + pixel + 1, area.y + y(largest));
  }
  path.lineTo(area.x + area.width, area.y + area.height);
  context.fillStyle = theme.area;
  context.fill(path);
  context.strokeStyle = theme.accent;
  context.lineWidth = 1;
  context.stroke(path);
  const fixed = area.y + y(curve.fixedBytes);
  context.fillStyle = theme.fixed;
  context.fillRect(area.x, fixed, area.width, area.y + area.height - fixed);
  drawPeaks(context, area, x, y, theme, curve);
}

const MIN_MARK_DISTANCE = 12; // pixels between two peaks
const LABEL_WIDTH = 74; // pixels of the label of a peak

function drawPeaks(
  context: CanvasRenderingContext2D,
  area: Area,
  x: StepScale,
  y: Scale,
  theme: Theme,
  curve: Curve,
): void {
  context.font = FONT;
  context.textBaseline = "alphabetic";
  context.fillStyle = theme.foreground;
  const marks: { left: number; top: number; bytes: number }[] = [];
  const peaks = [...curve.localPeaks].sort(([, one], [, other]) => other - one);
  for (const [step, bytes] of [[curve.peakStep, curve.peakBytes] as const, ...peaks]) {
    const left = area.x + x.pixel(step + 0.5);
    if (left < area.x || left > area.x + area.width || marks.some((other) => Math.abs(other.left - left) < MIN_MARK_DISTANCE)) {
      continue;
    }
    const top = area.y + y(bytes);
    marks.push({ left, top, bytes });
    context.beginPath();
    context.moveTo(left, top - 1);
    context.lineTo(left - 4, top - 8);
    context.lineTo(left + 4, top - 8);
    context.fill();
  }
  const end = area.x + area.width;
  const labels: (readonly [number, number])[] = [];
  for (const { left, top, bytes } of marks) {
    const sides = [[left, left + LABEL_WIDTH], [left - LABEL_WIDTH, left]] as const;
    const isFree = ([from, to]: readonly [number, number]): boolean =>
      from >= area.x &&
      to <= end &&
      marks.every((other) => other.left <= from || to <= other.left) &&
      labels.every(([start, stop]) => stop <= from || to <= start);
    const isPeak = bytes === curve.peakBytes && labels.length === 0;
    const side = sides.find(isFree) ?? (isPeak ? sides[left + LABEL_WIDTH > end ? 1 : 0] : undefined);
    if (side !== undefined) {
      labels.push(side);
      const isOnLeft = side[0] < left;
      context.textAlign = isOnLeft ? "right" : "left";
      context.fillText(formatBytes(bytes), isOnLeft ? left - 7 : left + 7, Math.max(top - 2, area.y + 10));
    }
  }
  context.textAlign = "left";
}

const MIN_TIME_ALPHA = 0.08; // of a step with a time

/**
 * Draw the time of the steps as a band of colors: that of the longest step of each pixel.
 *
 * @param most the time with the full color
 */
export function drawTimes(
  context: CanvasRenderingContext2D,
  area: Area,
  x: StepScale,
  theme: Theme,
  times: TimedSteps,
  most: number,
): void {
  const height = area.height - 2;
  for (let pixel = 0; pixel < area.width; pixel += 1) {
    let longest = 0;
    let isUnknown = false;
    const last = x.stepAt(pixel + 1);
    for (let step = x.stepAt(pixel); step <= last; step += 1) {
      const time = times.timeOf(step);
      isUnknown ||= time === undefined;
      longest = Math.max(longest, time ?? 0);
    }
    if (longest > 0) {
      // The root shows differences of short steps, too.
      context.globalAlpha = MIN_TIME_ALPHA + (1 - MIN_TIME_ALPHA) * Math.sqrt(longest / most);
      context.fillStyle = theme.time;
      context.fillRect(area.x + pixel, area.y, 1, height);
    } else if (isUnknown) {
      context.globalAlpha = 1;
      context.fillStyle = theme.line;
      context.fillRect(area.x + pixel, area.y + height / 2, 1, height / 2);
    }
  }
  context.globalAlpha = 1;
}

/** Draw loops, calls, and conditionals as bands, the outermost first. */
export function drawBands(
  context: CanvasRenderingContext2D,
  area: Area,
  x: StepScale,
  theme: Theme,
  bands: readonly Band[],
  rowHeight: number,
): void {
  context.font = FONT;
  context.textBaseline = "middle";
  context.lineWidth = 1;
  for (const { start, end, depth, label } of bands) {
    const left = Math.max(area.x, area.x + x.pixel(start));
    const right = Math.min(area.x + area.width, area.x + x.pixel(end + 1));
    const top = area.y + depth * rowHeight;
    if (right < area.x || left > area.x + area.width || top + rowHeight > area.y + area.height + 1) {
      continue;
    }
    const width = Math.max(1, right - left - 1);
    context.fillStyle = theme.fixed;
    context.fillRect(left, top, width, rowHeight - 2);
    // High contrast themes have lines in the color of texts, which are not visible on them.
    context.strokeStyle = theme.line;
    context.strokeRect(left + 0.5, top + 0.5, width - 1, rowHeight - 3);
    context.fillStyle = theme.foreground;
    context.fillText(textOfLength(context, label, right - left - 8), left + 4, top + rowHeight / 2);
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
