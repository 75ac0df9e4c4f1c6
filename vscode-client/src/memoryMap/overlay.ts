/** What follows the pointer, on a canvas of its own: lines at steps, and frames of boxes. */

import type { Theme } from "./colors";
import { clipped, type Area, type Scale, type StepScale } from "./drawing";
import { bytesAt, type Box, type Curve } from "./model";
import type { Target } from "./picking";
import type { Viewport } from "./viewport";

const CURVE_POINT_RADIUS = 3.5;

/** What the overlay emphasizes. */
export interface Emphasis {
  readonly hovered: Target | undefined;
  /** A box that corresponds to the hovered one of another map. */
  readonly marked: Box | undefined;
  readonly pinned: number | undefined;
  readonly selected: Box | undefined;
}

export function drawOverlay(
  context: CanvasRenderingContext2D,
  viewport: Viewport,
  theme: Theme,
  { hovered, marked, pinned, selected }: Emphasis,
): void {
  const ratio = window.devicePixelRatio;
  const { curve, map } = viewport.areas();
  const [x, y] = [viewport.steps(), viewport.y()];
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, viewport.width, viewport.height);
  clipped(context, { ...map, y: 0, height: map.y + map.height }, () => {
    const line = (step: number, dash: number[], color: string): void => {
      context.strokeStyle = color;
      context.setLineDash(dash);
      context.lineWidth = 1;
      context.beginPath();
      const left = Math.round(map.x + x.pixel(step + 0.5)) + 0.5;
      context.moveTo(left, curve.y);
      context.lineTo(left, map.y + map.height);
      context.stroke();
      context.setLineDash([]);
    };
    if (pinned !== undefined) {
      line(pinned, [], theme.accent);
    }
    if (hovered !== undefined) {
      line(hovered.step, [3, 3], theme.muted);
      if (viewport.space?.curve !== undefined) {
        drawCurvePoint(context, curve, x, viewport.curveY(), theme, viewport.space.curve, hovered.step);
      }
    }
    for (const [box, width] of [[hovered?.box, 1.5], [marked, 1.5], [selected, 3]] as const) {
      if (box !== undefined && box.start >= 0) {
        const top = map.y + y(box.low + box.size);
        context.strokeStyle = theme.foreground;
        context.lineWidth = width;
        const height = Math.max(2, y(box.low) - y(box.low + box.size));
        const [left, right] = [x.pixel(box.start), x.pixel(box.end + 1)];
        context.strokeRect(map.x + left, top, Math.max(2, right - left), height);
      }
    }
  });
}

function drawCurvePoint(
  context: CanvasRenderingContext2D,
  area: Area,
  x: StepScale,
  y: Scale,
  theme: Theme,
  curve: Curve,
  step: number,
): void {
  const top = area.y + y(bytesAt(curve, step));
  context.fillStyle = theme.accent;
  context.beginPath();
  context.arc(area.x + x.pixel(step + 0.5), top, CURVE_POINT_RADIUS, 0, 2 * Math.PI);
  context.fill();
}
