/** The keys of the map, without those of the page. */

import type { Viewport } from "./viewport";

export const KEYS =
  "Scroll zooms, drag pans; with Shift only steps, with Alt only bytes. Arrows pan, + and - zoom, W A S D as in " +
  "Perfetto, 0 shows everything, Shift with an arrow changes the step, / searches, P goes to the peak.";
const PAN = 0.1; // of the width or height
const ZOOM = 1.5;

/**
 * Pan, zoom, or reset the map; W, A, S, and D zoom and pan the steps as in Perfetto.
 *
 * @param pointer where the pointer is on the axis of steps, in pixels; undefined for the middle
 * @return whether the key has such a meaning
 */
export function applyKey(
  viewport: Viewport,
  { key, altKey, shiftKey }: KeyboardEvent,
  pointer: number | undefined,
): boolean {
  const scale = (factor: number): void => {
    viewport.scale(altKey ? 1 : factor, shiftKey && key !== "+" ? 1 : factor);
  };
  switch (key.length === 1 ? key.toLowerCase() : key) {
    case "w":
      viewport.scale(ZOOM, 1, pointer);
      return true;
    case "s":
      viewport.scale(1 / ZOOM, 1, pointer);
      return true;
    case "a":
    case "ArrowLeft":
      viewport.pan(PAN, 0);
      return true;
    case "d":
    case "ArrowRight":
      viewport.pan(-PAN, 0);
      return true;
    case "ArrowUp":
      viewport.pan(0, PAN);
      return true;
    case "ArrowDown":
      viewport.pan(0, -PAN);
      return true;
    case "+":
    case "=":
      scale(ZOOM);
      return true;
    case "-":
    case "_":
      scale(1 / ZOOM);
      return true;
    case "0":
    case "Home":
      viewport.reset();
      return true;
    default:
      return false;
  }
}
